//! Log-densities of beta laws and their derivatives, element by element.
//!
//! Of three log-gammas of numbers near a large sum little is left when they are subtracted. So Stirling's formula is subtracted
//! first: with c = a + b, y_z = z + n and ln Γ(z) = (z − ½)(ln y_z − 1) + ln P_z + S_z as in [`special`](crate::backend::special),
//!
//! > ln p = a ln(x y_c / y_a) + b ln((1 − x) y_c / y_b) + ln(√(y_a y_b / y_c) P_c / (P_a P_b x (1 − x))) − ½ − S_a − S_b + S_c,
//!
//! in which the large terms are small where x is near its mean.

use burn_flex::FlexTensor;

use super::exp::ln;
use super::gamma::{STEPS, digamma_of, product, stirling};
use super::{dispatch, elements, multiply_add};

/// See [`crate::Backend::beta_log_prob`].
pub fn log_prob(a: &FlexTensor, b: &FlexTensor, mut x: FlexTensor) -> FlexTensor {
    dispatch!(densities(elements(a), elements(b), x.storage_mut()));
    x
}

#[inline(always)]
fn densities<const FMA: bool>((a, b, x): (&[f32], &[f32], &mut [f32])) {
    for ((x, &a), &b) in x.iter_mut().zip(a).zip(b) {
        *x = density::<FMA>(a, b, *x);
    }
}

#[inline(always)]
fn density<const FMA: bool>(a: f32, b: f32, x: f32) -> f32 {
    let (c, rest) = (a + b, 1.0 - x);
    let [y_a, y_b, y_c] = [a + STEPS, b + STEPS, c + STEPS];
    let own = multiply_add::<FMA>(a, ln::<FMA>(x * (y_c / y_a)), -0.5);
    let other = b * ln::<FMA>(rest * (y_c / y_b));
    // In an order in which nothing is too large or too small.
    let products = product(c) / product(a) / x / (product(b) * rest);
    let between = ln::<FMA>((y_a * (y_b / y_c)).sqrt() * products);
    let series = stirling::<FMA>(y_a) + stirling::<FMA>(y_b) - stirling::<FMA>(y_c);
    let value = own + other + between - series;
    if is_inside(a, b, x) { value } else { f32::NAN }
}

#[inline(always)]
fn is_inside(a: f32, b: f32, x: f32) -> bool {
    x > 0.0 && x < 1.0 && a > 0.0 && b > 0.0
}

/// See [`crate::Backend::beta_log_prob_backward`].
pub fn backward(
    mut a: FlexTensor,
    mut b: FlexTensor,
    mut x: FlexTensor,
    grad: &FlexTensor,
) -> [FlexTensor; 3] {
    let all = [a.storage_mut(), b.storage_mut(), x.storage_mut()];
    dispatch!(differentiate(all, elements(grad)));
    [a, b, x]
}

#[inline(always)]
fn differentiate<const FMA: bool>(([a, b, x], grad): ([&mut [f32]; 3], &[f32])) {
    let all = a.iter_mut().zip(b).zip(x).zip(grad);
    for (((a, b), x), &g) in all {
        let rest = 1.0 - *x;
        let of_sum = digamma_of::<FMA>(*a + *b);
        let in_a = ln::<FMA>(*x) - digamma_of::<FMA>(*a) + of_sum;
        let in_b = ln::<FMA>(rest) - digamma_of::<FMA>(*b) + of_sum;
        let in_x = (*a - 1.0) / *x - (*b - 1.0) / rest;
        let inside = is_inside(*a, *b, *x);
        // Nothing of an element whose gradient is zero, whatever it holds.
        let weigh = |slope: f32| {
            let slope = if inside { slope } else { f32::NAN };
            if g == 0.0 { 0.0 } else { g * slope }
        };
        (*a, *b, *x) = (weigh(in_a), weigh(in_b), weigh(in_x));
    }
}
