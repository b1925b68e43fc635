//! Resampling schemes, proved on small weights and tried on any.
//!
//! The laws here are those of the production code: `law` integrates it over its uniforms, whose breakpoints are found by
//! bisection on the 2^53 values that a uniform can take; schemes that need only coins are enumerated.

mod broken;
mod check;
mod conditional;
mod law;
mod schemes;
mod support;
