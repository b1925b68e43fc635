//! Proofs of the kernels on discrete sites, by enumeration of the code that runs in production.
//!
//! Each on every assignment of the log-densities -inf, 0 and 1.3 to up to eight states, with exact and with rough
//! differences; and on random targets with ties, ±300 nats and impossible states.

mod field;
mod kernels;
mod langevin;
mod path;
