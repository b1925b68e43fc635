//! Score functions with a learning signal of its own for each layer, less learned baselines.

mod moments;
mod muprop;
mod nvil;

pub use moments::Moments;
pub use muprop::MuProp;
pub use nvil::Nvil;
