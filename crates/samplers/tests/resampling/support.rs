//! Any log-weights, extremes among them.

use proptest::prelude::*;

use crate::check::{check, check_bytes};

/// Log-weights as they come, and as they should not.
fn log_weight() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -5.0..5.0,
        2 => Just(0.0),
        2 => Just(f64::NEG_INFINITY),
        2 => -2000.0..2000.0,
        1 => any::<f64>().prop_filter("a log-weight", |l| !l.is_nan() && *l != f64::INFINITY),
        1 => prop_oneof![Just(f64::MAX), Just(f64::MIN), Just(-745.13), Just(-708.4), Just(1e-300), Just(-36.7)],
    ]
}

proptest! {
    #[test]
    fn every_scheme_draws_possible_particles_or_names_the_error(
        log_weights in prop::collection::vec(log_weight(), 0..40),
        slots in 0usize..60,
        seed: u64,
    ) {
        check(&log_weights, slots, seed);
    }

    #[test]
    fn a_bad_log_weight_is_named_wherever_it_is(
        mut log_weights in prop::collection::vec(log_weight(), 1..20),
        at: prop::sample::Index,
        bad in prop_oneof![Just(f64::NAN), Just(f64::INFINITY)],
    ) {
        let at = at.index(log_weights.len());
        log_weights[at] = bad;
        check(&log_weights, 5, 0);
    }

    #[test]
    fn any_bytes_can_be_given(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_bytes(&bytes);
    }
}

#[test]
fn extremes_are_taken_in_stride() {
    let ninf = f64::NEG_INFINITY;
    let tiny = -745.0;
    for log_weights in [
        vec![],
        vec![ninf],
        vec![ninf; 7],
        vec![0.0],
        vec![f64::MIN; 3],
        vec![f64::MAX; 3],
        vec![f64::MAX, f64::MIN, ninf],
        vec![tiny, 0.0, tiny],
        vec![ninf, tiny, ninf, 0.0, ninf],
        vec![0.1f64.ln(); 10],
        (0..50).map(|i| f64::from(i * i)).collect(),
        (0..50).map(|i| -f64::from(i * i)).collect(),
        (1..60).map(|i| f64::from(i).ln()).collect(),
    ] {
        for slots in [0, 1, 2, 3, 10, 59, 1000] {
            check(&log_weights, slots, 5);
        }
    }
}
