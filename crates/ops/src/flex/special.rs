//! ln Γ and its derivatives: one pass in place, in f64 for each f32.

use burn_flex::FlexTensor;

use super::dispatch;
use crate::special::Order;

/// `function` of each element; NaN for a negative one.
pub fn pass(mut x: FlexTensor, function: impl Fn(f64, Order) -> f64) -> FlexTensor {
    dispatch!(each(x.storage_mut(), function));
    x
}

#[inline(always)]
fn each<const FMA: bool>((x, function): (&mut [f32], impl Fn(f64, Order) -> f64)) {
    for x in x {
        *x = if *x < 0.0 {
            f32::NAN
        } else {
            function(f64::from(*x), Order::SINGLE) as f32
        };
    }
}
