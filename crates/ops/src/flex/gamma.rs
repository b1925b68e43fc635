//! ln Γ and ψ in one pass: the formulas of [`special`](crate::backend::special), with as many steps and terms as f32 can tell.

use burn_flex::FlexTensor;

use super::exp::ln;
use super::{dispatch, multiply_add};

/// The steps from x to y.
pub const STEPS: f32 = 4.0;

/// √(2π/e) e⁻⁴.
const C: f32 = 0.027_846_125;

/// See [`crate::Backend::log_gamma`].
pub fn log_gamma(mut x: FlexTensor) -> FlexTensor {
    dispatch!(log_gammas(x.storage_mut()));
    x
}

/// See [`crate::Backend::digamma`].
pub fn digamma(mut x: FlexTensor) -> FlexTensor {
    dispatch!(digammas(x.storage_mut()));
    x
}

#[inline(always)]
fn log_gammas<const FMA: bool>((all,): (&mut [f32],)) {
    for at in all {
        *at = beyond(*at, log_gamma_of::<FMA>(*at), f32::INFINITY);
    }
}

/// (x − ½)(ln y − 1) + ln(c Π y / (x + i)) + Σₖ B₂ₖ / (2k (2k − 1) y²ᵏ⁻¹), for x > 0.
#[inline(always)]
pub fn log_gamma_of<const FMA: bool>(x: f32) -> f32 {
    // The least normal number stands for those below it, whose product would be infinite.
    let x = x.max(f32::MIN_POSITIVE);
    let y = x + STEPS;
    let product = C * y / x * (y / (x + 1.0)) * (y / (x + 2.0)) * (y / (x + 3.0));
    let leading = multiply_add::<FMA>(x - 0.5, ln::<FMA>(y) - 1.0, ln::<FMA>(product));
    leading + stirling::<FMA>(y)
}

/// √(2π/e) e⁻⁴ Π y / (x + i), for x up to 10¹⁸.
#[inline(always)]
pub fn product(x: f32) -> f32 {
    let y = x + STEPS;
    C * (y * y / (x * (x + 1.0))) * (y * y / ((x + 2.0) * (x + 3.0)))
}

/// Σₖ B₂ₖ / (2k (2k − 1) y²ᵏ⁻¹).
#[inline(always)]
pub fn stirling<const FMA: bool>(y: f32) -> f32 {
    const SERIES: [f32; 4] = [-1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    let r = 1.0 / y;
    series::<FMA>(1.0 / 1188.0, &SERIES, r * r) * r
}

#[inline(always)]
fn digammas<const FMA: bool>((all,): (&mut [f32],)) {
    for at in all {
        *at = beyond(*at, digamma_of::<FMA>(*at), f32::NEG_INFINITY);
    }
}

/// ln y − 1/(2y) − Σₖ B₂ₖ / (2k y²ᵏ) − Σ 1 / (x + i), for x > 0.
#[inline(always)]
pub fn digamma_of<const FMA: bool>(x: f32) -> f32 {
    const SERIES: [f32; 4] = [-1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0];
    let x = x.max(f32::MIN_POSITIVE);
    let y = x + STEPS;
    let sum = 1.0 / x + 1.0 / (x + 1.0) + 1.0 / (x + 2.0) + 1.0 / (x + 3.0);
    let r = 1.0 / y;
    let w = r * r;
    let series = series::<FMA>(1.0 / 132.0, &SERIES, w) * w;
    ln::<FMA>(y) - r * 0.5 - series - sum
}

/// The polynomial of w with this highest coefficient, and the lower ones after it.
#[inline(always)]
fn series<const FMA: bool>(highest: f32, lower: &[f32; 4], w: f32) -> f32 {
    let add = |sum, &coefficient: &f32| multiply_add::<FMA>(sum, w, coefficient);
    lower.iter().fold(highest, add)
}

/// The value for x > 0, the limit at 0, and NaN elsewhere.
#[inline(always)]
fn beyond(x: f32, value: f32, limit: f32) -> f32 {
    let at_zero = if x == 0.0 { limit } else { f32::NAN };
    if x > 0.0 { value } else { at_zero }
}
