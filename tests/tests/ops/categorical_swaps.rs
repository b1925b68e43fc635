//! Races with two rates swapped: the fast path and the portable definition against the races themselves, class by class.

use std::panic::catch_unwind;

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_ops::swapped_classes;
use proptest::prelude::*;

use crate::data::{Matrix, cases, read};

/// All pairs of classes in both orders, also equal ones.
fn pairs(classes: usize) -> Vec<(usize, usize)> {
    let all = |c| (0..classes).map(move |j| (c, j));
    (0..classes).flat_map(all).collect()
}

/// The one-hot values of each pair, each row and each variable, by a race of its own.
fn races(logits: &Matrix, logarithms: &Matrix, classes: usize) -> Vec<f64> {
    let mut values = vec![];
    for (c, j) in pairs(classes) {
        for row in 0..logarithms.rows {
            let variables = logits.row(row).chunks_exact(classes);
            for (phi, ln_pi) in variables.zip(logarithms.row(row).chunks_exact(classes)) {
                let mut ln_pi = ln_pi.to_vec();
                ln_pi.swap(c, j);
                let entries: Vec<f32> = phi.iter().zip(ln_pi).map(|(a, b)| a - b).collect();
                let most = entries.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let first = entries.iter().position(|&entry| entry == most);
                values.extend((0..classes).map(|c| f64::from(u8::from(Some(c) == first))));
            }
        }
    }
    values
}

fn found(logits: &Matrix, logarithms: &Matrix, classes: usize, dtype: DType) -> Vec<f64> {
    let [logits, logarithms] = [logits, logarithms].map(|m| m.tensor::<Flex>(dtype));
    read(swapped_classes(
        logits,
        logarithms,
        classes,
        &pairs(classes),
    ))
}

proptest! {
    #![proptest_config(cases(100))]

    /// Entries of a few whole numbers, so that several are largest, under logits that are repeated or not.
    #[test]
    fn swapped_races_are_won_by_the_first_of_the_largest_entries(
        [data, variables, classes] in [1usize..4, 1usize..5, 2usize..12],
        particles in 1usize..4,
        scale in prop::sample::select(vec![1.0f32, 3.0, 40.0]),
        seed in any::<u64>(),
    ) {
        let columns = variables * classes;
        let logits = Matrix::symmetric([data, columns], scale, seed).map(f32::round);
        let logarithms = Matrix::symmetric([data * particles, columns], scale, seed.wrapping_add(1));
        let logarithms = logarithms.map(f32::round);
        let expected = races(&logits, &logarithms, classes);
        for dtype in [DType::F32, DType::F64] {
            prop_assert_eq!(&found(&logits, &logarithms, classes, dtype), &expected);
        }
    }
}

/// Entries of −∞ lose; where all are, or none is a number, the value is one-hot still.
#[test]
fn swapped_races_have_a_winner_whatever_their_entries() {
    let of = |value: f32| Matrix::uniform([2, 6], 1).map(|_| value);
    let logarithms = Matrix::symmetric([2, 6], 2.0, 2);
    let mut impossible = Matrix::symmetric([2, 6], 2.0, 3);
    impossible.elements[1] = f32::NEG_INFINITY;
    let expected = races(&impossible, &logarithms, 3);
    assert_eq!(found(&impossible, &logarithms, 3, DType::F32), expected);
    for value in [f32::NEG_INFINITY, f32::NAN] {
        let values = found(&of(value), &logarithms, 3, DType::F32);
        assert!(
            values
                .chunks_exact(3)
                .all(|value| value.iter().sum::<f64>() == 1.0)
        );
    }
}

#[test]
fn what_is_no_race_is_refused() {
    let try_with = |logits: [usize; 2], classes: usize, pair: (usize, usize)| {
        let swapped = || {
            let logits = Matrix::uniform(logits, 1).tensor::<Flex>(DType::F32);
            let logarithms = Matrix::uniform([4, 6], 2).tensor(DType::F32);
            swapped_classes(logits, logarithms, classes, &[pair])
        };
        catch_unwind(swapped).is_ok()
    };
    assert!(try_with([2, 6], 3, (0, 2)));
    assert!(!try_with([2, 6], 3, (0, 3)), "a class that there isn't");
    assert!(!try_with([2, 6], 1, (0, 0)), "one class");
    assert!(!try_with([2, 6], 4, (0, 1)), "a part of a variable");
    assert!(!try_with([2, 9], 3, (0, 1)), "other variables");
    assert!(!try_with([3, 6], 3, (0, 1)), "rows that do not repeat");
}
