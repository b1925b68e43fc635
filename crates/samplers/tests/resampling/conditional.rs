//! Given one slot's ancestor, the schemes have their conditional law.

use helmholtz_random::{Enumerator, enumerate};
use helmholtz_samplers::SamplerError;
use helmholtz_samplers::resampling::*;

use crate::law::*;

/// The problems here are small: the law over slots, not over counts, is compared.
const CASES: [Case; 5] = [
    Case {
        weights: &[1, 2, 3],
        slots: 3,
    },
    Case {
        weights: &[0, 3, 0, 1, 0],
        slots: 3,
    },
    Case {
        weights: &[5, 1, 1, 1],
        slots: 3,
    },
    Case {
        weights: &[2, 7],
        slots: 2,
    },
    Case {
        weights: &[1, 1, 1],
        slots: 3,
    },
];

/// The law with the slots rotated, all M rotations alike.
fn rotated(law: &Law, slots: usize) -> Law {
    let mut turned = Law::new();
    for (ancestors, p) in law {
        for shift in 0..slots {
            let mut ancestors = ancestors.clone();
            ancestors.rotate_left(shift);
            *turned.entry(ancestors).or_default() += p / slots as f64;
        }
    }
    turned
}

/// The law given that `slot` has `ancestor`, with the probability of that.
fn given(law: &Law, slot: usize, ancestor: u32) -> (f64, Law) {
    let kept = law.iter().filter(|(a, _)| a[slot] == ancestor);
    let total: f64 = kept.clone().map(|(_, p)| p).sum();
    (total, kept.map(|(a, p)| (a.clone(), p / total)).collect())
}

fn draw_given(
    scheme: &impl ConditionalResampler<Uniforms>,
    slot: usize,
    ancestor: u32,
    case: &Case,
    uniforms: &mut Uniforms,
) -> Vec<u32> {
    let mut ancestors = vec![u32::MAX; case.slots];
    scheme
        .resample_given(
            slot,
            ancestor,
            &case.log_weights(),
            uniforms,
            &mut ancestors,
        )
        .expect("weights");
    ancestors
}

fn assert_conditional(
    scheme: &impl ConditionalResampler<Uniforms>,
    shape: Shape,
    case: &Case,
    unconditional: &Law,
) {
    let total: u32 = case.weights.iter().sum();
    for (ancestor, &weight) in (0..).zip(case.weights).filter(|(_, w)| **w > 0) {
        for slot in 0..case.slots {
            let (probability, expected) = given(unconditional, slot, ancestor);
            let marginal = f64::from(weight) / f64::from(total);
            assert!(
                (probability - marginal).abs() < TOLERANCE,
                "every slot has ancestor j with probability W_j"
            );
            let law = law(shape, &|u| draw_given(scheme, slot, ancestor, case, u));
            let error = difference(&law, &expected);
            assert!(
                error < TOLERANCE,
                "{:?}, {slot}, {ancestor}: {error:e}",
                case.weights
            );
        }
    }
}

#[test]
fn systematic_given_a_slot_is_turned_systematic_given_that_slot() {
    for case in CASES {
        let law = law_of_steps(&Systematic, &case.log_weights(), case.slots);
        assert_conditional(&Systematic, Shape::Steps, &case, &rotated(&law, case.slots));
    }
}

#[test]
fn stratified_given_a_slot_is_turned_stratified_given_that_slot() {
    for case in CASES {
        let law = law_of_steps(&Stratified, &case.log_weights(), case.slots);
        assert_conditional(&Stratified, Shape::Steps, &case, &rotated(&law, case.slots));
    }
}

#[test]
fn multinomial_given_a_slot_is_independent_choices_given_that_slot() {
    for case in CASES {
        let law = law_of_coins(&MultinomialByChoice, &case.log_weights(), case.slots);
        assert_conditional(
            &Multinomial,
            Shape::Sorted(case.slots.saturating_sub(2)),
            &case,
            &law,
        );
    }
}

/// The law with the slots in any order, all M! alike.
fn shuffled(law: &Law, slots: usize) -> Law {
    let mut all = vec![Vec::new()];
    for i in 0..slots {
        all = (all.iter())
            .flat_map(|order: &Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, i);
                    longer
                })
            })
            .collect();
    }
    let mut turned = Law::new();
    for (ancestors, p) in law {
        for order in &all {
            let ancestors = order.iter().map(|&i| ancestors[i]).collect();
            *turned.entry(ancestors).or_default() += p / all.len() as f64;
        }
    }
    turned
}

/// For the schemes that need only coins and choices.
fn assert_conditional_by_coins(
    scheme: &impl ConditionalResampler<Enumerator>,
    case: &Case,
    unconditional: &Law,
) {
    for (ancestor, _) in (0..).zip(case.weights).filter(|(_, w)| **w > 0) {
        for slot in 0..case.slots {
            let (_, expected) = given(unconditional, slot, ancestor);
            let mut law = Law::new();
            for (p, drawn) in enumerate(|chance: &mut Enumerator| {
                let mut ancestors = vec![u32::MAX; case.slots];
                let log_weights = case.log_weights();
                scheme
                    .resample_given(slot, ancestor, &log_weights, chance, &mut ancestors)
                    .expect("weights");
                ancestors
            }) {
                *law.entry(drawn).or_default() += p;
            }
            let error = difference(&law, &expected);
            assert!(
                error < TOLERANCE,
                "{:?}, {slot}, {ancestor}: {error:e}",
                case.weights
            );
        }
    }
}

const MORE: [Case; 4] = [
    Case {
        weights: &[4, 1, 3, 2],
        slots: 4,
    },
    Case {
        weights: &[7, 2, 2],
        slots: 4,
    },
    Case {
        weights: &[2, 3, 1, 2, 4],
        slots: 3,
    },
    Case {
        weights: &[0, 1, 0],
        slots: 3,
    },
];

#[test]
fn ssp_residual_and_choices_given_a_slot_are_shuffled_ones_given_that_slot() {
    for case in CASES.iter().chain(&MORE) {
        let (log_weights, slots) = (case.log_weights(), case.slots);
        let ssp = shuffled(&law_of_coins(&Ssp, &log_weights, slots), slots);
        assert_conditional_by_coins(&Ssp, case, &ssp);
        let residual = shuffled(&law_of_sorted(&Residual, &log_weights, slots), slots);
        assert_conditional_by_coins(&Residual, case, &residual);
        let choices = law_of_coins(&MultinomialByChoice, &log_weights, slots);
        assert_conditional_by_coins(&MultinomialByChoice, case, &choices);
    }
}

/// Twin: the counts as they are without the condition, with one copy of the pinned particle put first.
struct CountsUnchanged;

impl ConditionalResampler<Enumerator> for CountsUnchanged {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        chance: &mut Enumerator,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        Ssp.resample(log_weights, chance, ancestors)?;
        let at = ancestors
            .iter()
            .position(|&a| a == ancestor)
            .unwrap_or(slot);
        ancestors.swap(at, slot);
        ancestors[slot] = ancestor;
        Ok(())
    }
}

#[test]
#[should_panic(expected = "[1, 2, 3]")]
fn a_copy_put_in_its_slot_is_not_conditioning() {
    let case = &CASES[0];
    let law = law_of_coins(&Ssp, &case.log_weights(), case.slots);
    assert_conditional_by_coins(&CountsUnchanged, case, &shuffled(&law, case.slots));
}

/// What pinning by hand does: draw all slots, then overwrite one.
struct Overwritten;

impl ConditionalResampler<Uniforms> for Overwritten {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        draws: &mut Uniforms,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        Systematic.resample(log_weights, draws, ancestors)?;
        ancestors[slot] = ancestor;
        Ok(())
    }
}

#[test]
#[should_panic(expected = "[1, 2, 3]")]
fn overwriting_a_slot_is_not_conditioning() {
    let case = &CASES[0];
    let law = law_of_steps(&Systematic, &case.log_weights(), case.slots);
    assert_conditional(&Overwritten, Shape::Steps, case, &rotated(&law, case.slots));
}

/// Without turning, the slots of systematic resampling do not have the marginals that conditional SMC needs.
#[test]
#[should_panic(expected = "every slot has ancestor j with probability W_j")]
fn the_order_of_systematic_resampling_is_not_exchangeable() {
    let case = &CASES[0];
    let law = law_of_steps(&Systematic, &case.log_weights(), case.slots);
    assert_conditional(&Systematic, Shape::Steps, case, &law);
}

#[test]
fn what_cannot_be_pinned_is_refused() {
    let log_weights = [0.0, f64::NEG_INFINITY, -800.0, 1.0];
    let mut ancestors = [7; 3];
    for (slot, ancestor) in [(3, 0), (0, 4), (0, 1), (0, 2)] {
        let mut refused = |scheme: &dyn ConditionalResampler<Uniforms>| {
            let error = scheme.resample_given(
                slot,
                ancestor,
                &log_weights,
                &mut Uniforms::zeros(),
                &mut ancestors,
            );
            assert!(matches!(error, Err(SamplerError::Pinned { .. })));
            assert_eq!(ancestors, [7; 3]);
        };
        refused(&Multinomial);
        refused(&Stratified);
        refused(&Systematic);
        refused(&MultinomialByChoice);
        refused(&Residual);
        refused(&Ssp);
    }
}
