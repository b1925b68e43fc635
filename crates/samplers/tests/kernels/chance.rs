//! Chance that is not the crate's own, choices at the smallest numbers, and how streams are shown.

use helmholtz_random::{Chance, Enumerator, Purpose, Stream, enumerate};

/// Chance that has coins and choices by log-weights alone.
struct Least<'a>(&'a mut Enumerator);

impl Chance for Least<'_> {
    fn accept(&mut self, log_prob: f64) -> bool {
        self.0.accept(log_prob)
    }

    fn choose(&mut self, log_weights: &[f64]) -> Option<usize> {
        self.0.choose(log_weights)
    }
}

#[test]
fn a_choice_by_weight_needs_no_more_than_one_by_log_weight() {
    let outcomes = |weights: &[f64]| enumerate(|chance| Least(chance).choose_by_weight(weights));
    let found = outcomes(&[0.2, 0.0, 0.5, 0.8, 0.0, 0.5]);
    let expected = [(0.1, 0), (0.25, 2), (0.4, 3), (0.25, 5)];
    assert_eq!(found.len(), expected.len());
    for ((p, k), (expected_p, expected_k)) in found.into_iter().zip(expected) {
        assert!((p - expected_p).abs() < 1e-15 && k == Some(expected_k));
    }
    for weights in [
        &[][..],
        &[0.0, 0.0],
        &[1.0, f64::INFINITY],
        &[f64::NAN, 1.0],
    ] {
        assert_eq!(outcomes(weights), [(1.0, None)], "{weights:?}");
    }
}

/// u times the smallest positive number is rounded to it, for u above one half: beyond all cumulative sums.
#[test]
fn a_weight_of_zero_is_not_chosen_after_the_smallest_one() {
    let mut stream = Stream::new(1, Purpose::new("test"), [0, 0]);
    for _ in 0..64 {
        let chosen = stream.choose_by_weight(&[0.0, f64::from_bits(1), 0.0]);
        assert_eq!(chosen, Some(1));
    }
}

#[test]
fn streams_show_how_far_they_are_and_not_their_key() {
    let purpose = Purpose::new("noise");
    assert_eq!(format!("{purpose:?}"), "Purpose(noise)");
    let mut stream = Stream::new(77, purpose, [0, 0]);
    stream.uniform_f64();
    assert_eq!(format!("{stream:?}"), "Stream { words_drawn: 2, .. }");
}
