//! Kernels that need of their states only log-weights, and answer with indices.

mod barker;
mod cis;
mod frozen_reference;
mod index_kernel;
mod mis;
pub(crate) mod mtmis;
mod visits;

pub use barker::Barker;
pub use cis::Cis;
pub use frozen_reference::FrozenReferenceMis;
pub use index_kernel::IndexKernel;
pub use mis::Mis;
pub use mtmis::Mtmis;
pub use visits::Visits;
