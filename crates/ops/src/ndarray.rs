//! burn's backend `NdArray`: the portable definitions.

use burn_ndarray::NdArray;

use crate::Backend;

impl Backend for NdArray {}
