//! What spans crates: proofs on enumerable models, end-to-end runs, resume after kill.
