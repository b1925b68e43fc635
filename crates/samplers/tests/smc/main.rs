//! SMC samplers, proved by enumerating all that can happen to a small population, and tried on an Ising model.

mod broken;
mod conditional;
mod evidence;
mod genealogy;
mod ising;
#[allow(dead_code)] // shared with the proofs of the schemes
#[path = "../resampling/law.rs"]
mod law;
mod particle_gibbs;
mod tempered;
mod toy;
mod waste_free;
