//! Adam on a parameter and its moments in one pass.

use burn_flex::FlexTensor;

use super::{dispatch, elements, multiply_add};
use crate::AdamStep;

/// See [`crate::Backend::adam`]. In place where the tensors are not shared.
pub fn update(
    mut parameter: FlexTensor,
    grad: &FlexTensor,
    mut moment_1: FlexTensor,
    mut moment_2: FlexTensor,
    step: AdamStep,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let (first, second) = step.bias_corrections();
    let scalars = Scalars {
        keep_1: step.beta_1 as f32,
        take_1: (1.0 - step.beta_1) as f32,
        keep_2: step.beta_2 as f32,
        take_2: (1.0 - step.beta_2) as f32,
        rate: (step.learning_rate / first) as f32,
        root_scale: (1.0 / second.sqrt()) as f32,
        epsilon: step.epsilon as f32,
    };
    dispatch!(pass(
        parameter.storage_mut(),
        elements(grad),
        moment_1.storage_mut(),
        moment_2.storage_mut(),
        scalars,
    ));
    (parameter, moment_1, moment_2)
}

/// θ ← θ − (α/(1−β₁ᵗ)) m / (√v · 1/√(1−β₂ᵗ) + ε).
#[derive(Clone, Copy)]
struct Scalars {
    keep_1: f32,
    take_1: f32,
    keep_2: f32,
    take_2: f32,
    rate: f32,
    root_scale: f32,
    epsilon: f32,
}

#[inline(always)]
fn pass<const FMA: bool>(
    (parameter, grad, m, v, s): (&mut [f32], &[f32], &mut [f32], &mut [f32], Scalars),
) {
    let moments = m.iter_mut().zip(v.iter_mut());
    for ((p, &g), (m, v)) in parameter.iter_mut().zip(grad).zip(moments) {
        *m = multiply_add::<FMA>(s.keep_1, *m, s.take_1 * g);
        *v = multiply_add::<FMA>(s.keep_2, *v, s.take_2 * (g * g));
        let root = *v * inverse_root::<FMA>(*v);
        let step = *m * inverse::<FMA>(multiply_add::<FMA>(root, s.root_scale, s.epsilon));
        *p = multiply_add::<FMA>(-s.rate, step, *p);
    }
}

/// 1/√x for x ≥ 0 to 2 units in the last place (some large number for 0), without the divider, which a division and a
/// root for every parameter would keep busy three times as long as all the rest: a first guess from the exponent (good
/// to 3.5 %), and three Newton steps r ← r (3/2 − x r²/2), each of which squares the error. Never a
/// finite number for infinity or NaN.
#[inline(always)]
fn inverse_root<const FMA: bool>(x: f32) -> f32 {
    let mut r = f32::from_bits(0x5f37_59df_u32.wrapping_sub(x.to_bits() >> 1));
    for _ in 0..3 {
        r *= multiply_add::<FMA>(-0.5 * x * r, r, 1.5);
    }
    r
}

/// 1/x for x > 0 (up to 2¹²⁵) to 2 units in the last place: as [`inverse_root`], r ← r (2 − x r).
#[inline(always)]
fn inverse<const FMA: bool>(x: f32) -> f32 {
    let mut r = f32::from_bits(0x7ef3_11c7_u32.wrapping_sub(x.to_bits()));
    for _ in 0..3 {
        r *= multiply_add::<FMA>(-x, r, 2.0);
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverses_are_good_to_a_few_units_in_the_last_place() {
        // Every exponent that a second moment may have, and a thousand fractions of each.
        for exponent in -120..120 {
            for fraction in 0..1000 {
                let x = (1.0 + fraction as f32 / 1000.0) * 2f32.powi(exponent);
                for inverse in [inverse::<true>(x), inverse::<false>(x)] {
                    let error = f64::from(inverse) * f64::from(x) - 1.0;
                    assert!(error.abs() < 3e-7, "1 / {x}: {error}");
                }
                for root in [inverse_root::<true>(x), inverse_root::<false>(x)] {
                    let error = f64::from(root) * f64::from(x).sqrt() - 1.0;
                    assert!(error.abs() < 3e-7, "1 / sqrt {x}: {error}");
                }
            }
        }
        assert_eq!(0.0 * inverse_root::<true>(0.0), 0.0);
    }

    #[test]
    fn what_is_no_number_stays_none() {
        for x in [f32::NAN, -f32::NAN] {
            assert!(inverse::<true>(x).is_nan() && inverse_root::<true>(x).is_nan());
        }
        assert!(!inverse_root::<true>(f32::INFINITY).is_finite());
    }
}
