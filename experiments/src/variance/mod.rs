//! Noise of the gradient estimates of several methods at the same parameters, and the cost of an estimate: the protocol
//! of Ou & Song (2020), figure 3, for any method.
//!
//! * [`request`]: what is measured; the parameters, fresh or of a run folder.
//! * [`report`]: the rows, with what must be known to read them.
//! * [`show`]: the report as a document and as CSV.

pub mod document;
pub mod report;
pub mod request;
