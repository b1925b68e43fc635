//! The effective sample size of weights.

use std::cell::RefCell;

use helmholtz_invariance::families::{for_every, hostile_log_weights};
use helmholtz_samplers::effective_sample_size;

#[test]
fn it_is_the_number_of_equal_weights_and_one_for_one_that_dwarfs_the_rest() {
    for n in 1..40 {
        for level in [-800.0, 0.0, 800.0] {
            assert_eq!(effective_sample_size(&vec![level; n]), n as f64);
        }
        let mut one_hot = vec![-800.0; n];
        one_hot[n / 2] = 800.0;
        assert_eq!(effective_sample_size(&one_hot), 1.0);
    }
}

#[test]
fn it_ignores_scale_and_lies_between_one_and_the_number_of_finite_weights() {
    let finite_cases = RefCell::new(0);
    for_every(hostile_log_weights(0..=9), |log_w| {
        let ess = effective_sample_size(log_w);
        let finite = log_w.iter().filter(|l| l.is_finite()).count();
        if finite == 0 {
            assert_eq!(ess, 0.0);
            return Ok(());
        }
        assert!((1.0 - 1e-12..=finite as f64 + 1e-12).contains(&ess));
        let shifted: Vec<f64> = log_w.iter().map(|l| l + 512.0).collect();
        assert!((effective_sample_size(&shifted) - ess).abs() < 1e-9);
        *finite_cases.borrow_mut() += 1;
        Ok(())
    });
    assert!(*finite_cases.borrow() > 30);
}
