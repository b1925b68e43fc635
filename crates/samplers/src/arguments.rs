//! Checks of the numbers that kernels are given.

use crate::SamplerError;

/// # Errors
/// [`SamplerError::Parameter`] unless `found` is positive and finite.
pub(crate) fn positive(what: &'static str, found: f64) -> Result<f64, SamplerError> {
    if found > 0.0 && found.is_finite() {
        Ok(found)
    } else {
        Err(SamplerError::Parameter {
            what,
            found,
            allowed: "positive and finite",
        })
    }
}

/// # Errors
/// [`SamplerError::Parameter`] unless `found` is above 0 and below 1.
pub(crate) fn open_unit(what: &'static str, found: f64) -> Result<f64, SamplerError> {
    if found > 0.0 && found < 1.0 {
        Ok(found)
    } else {
        Err(SamplerError::Parameter {
            what,
            found,
            allowed: "between 0 and 1",
        })
    }
}

/// # Errors
/// [`SamplerError::Parameter`] unless `found` is at least 1 and finite.
pub(crate) fn one_or_more(what: &'static str, found: f64) -> Result<f64, SamplerError> {
    if found >= 1.0 && found.is_finite() {
        Ok(found)
    } else {
        Err(SamplerError::Parameter {
            what,
            found,
            allowed: "at least 1, and finite",
        })
    }
}

/// # Errors
/// [`SamplerError::Parameter`] for zero.
pub(crate) fn at_least_one(what: &'static str, found: usize) -> Result<usize, SamplerError> {
    match found {
        0 => Err(SamplerError::Parameter {
            what,
            found: 0.0,
            allowed: "at least 1",
        }),
        found => Ok(found),
    }
}

/// # Errors
/// [`SamplerError::Parameter`] for zero and one.
pub(crate) fn at_least_two(what: &'static str, found: usize) -> Result<usize, SamplerError> {
    if found >= 2 {
        return Ok(found);
    }
    Err(SamplerError::Parameter {
        what,
        found: found as f64,
        allowed: "at least 2",
    })
}
