//! Exact proofs on small enumerable targets. Every matrix here is built from the production kernels: proposals are
//! enumerated as tuples with their probability under q, coins by the enumerator.

mod broken;
mod chance;
mod exact;
mod frozen_reference;
mod info;
mod invariance;
mod mis_theory;
