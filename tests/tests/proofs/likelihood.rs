//! The importance-sampled likelihood, through the evaluation's own code. It evaluates in f32.

use burn::tensor::DType;
use helmholtz_datasets::Images;
use helmholtz_evaluation::{Evaluation, Nll, nll};
use helmholtz_random::Purpose;
use helmholtz_tests::statistics::NORMAL_LIMIT;
use helmholtz_tests::{Enumerable, Exact, Inner, Reference, build};

use crate::data;

/// T1 with parameters that f32 holds.
fn model() -> Reference {
    rounded(&Reference::t1())
}

fn rounded(model: &Reference) -> Reference {
    let parameters = model.parameters.iter().map(|&p| f64::from(p as f32));
    model.with_parameters(parameters.collect())
}

/// The NLL of `copies` copies of x, each with samples of its own.
fn evaluate(model: &Reference, x: &[f64], copies: usize, samples: usize) -> Nll {
    let images = Images::from_fn(copies, x.len(), |_, j| x[j] == 1.0);
    let evaluation = Evaluation {
        samples,
        seed: 1,
        purpose: Purpose::new("test"),
        threads: 1,
    };
    let model = build::<Inner, _>(model, DType::F32);
    nll::<Inner, _>(&model, &images, &evaluation, &Default::default(), &|_| true).unwrap()
}

#[test]
fn the_bound_is_tighter_with_more_samples_and_below_the_evidence() {
    let model = model();
    for x in model.observations() {
        let exact = Exact::new(&model, &x);
        let bounds = [1, 2, 3].map(|k| exact.bound(k));
        assert!(bounds[0] < bounds[1] && bounds[1] < bounds[2]);
        assert!(bounds[2] < exact.log_evidence());
    }
}

#[test]
fn its_mean_is_the_exact_bound_for_one_two_and_three_samples() {
    // Six comparisons of the suite's.
    let (model, copies) = (model(), 20_000);
    for x in &data(2) {
        let exact = Exact::new(&model, x);
        for samples in 1..=3 {
            let nll = evaluate(&model, x, copies, samples);
            let z = (nll.mean + exact.bound(samples)) / nll.standard_error;
            assert!(z.abs() < NORMAL_LIMIT, "S = {samples}: z = {z}");
            let z = (nll.mean + exact.log_evidence()) / nll.standard_error;
            assert!(
                z > 2.0 * NORMAL_LIMIT,
                "S = {samples}: it is no estimate of the evidence"
            );
            if samples == 1 {
                assert!((nll.mean + nll.elbo).abs() < 1e-12, "S = 1 is the ELBO");
            }
        }
    }
}

#[test]
fn its_standard_error_is_that_of_its_mean() {
    // Var(−ℓ) of one sample is known; its estimate from n data is off by √(kurtosis / n) of itself at most.
    let (model, copies) = (model(), 20_000);
    let exact = Exact::new(&model, &data(1)[0]);
    let moment = |power| -> f64 {
        let terms = exact.q.iter().zip(&exact.log_w);
        terms
            .map(|(q, l)| q * (l - exact.bound(1)).powi(power))
            .sum()
    };
    let expected = (moment(2) / copies as f64).sqrt();
    let relative_sd = 0.5 * ((moment(4) / moment(2).powi(2) - 1.0) / copies as f64).sqrt();
    let nll = evaluate(&model, &exact.x, copies, 1);
    let z = (nll.standard_error / expected - 1.0) / relative_sd;
    assert!(z.abs() < NORMAL_LIMIT, "z = {z}");
}

#[test]
fn a_hundred_thousand_samples_give_the_evidence_to_a_thousandth() {
    // One datum's error has the standard deviation √(χ² / S), χ² = Var_q(w) / p(x)²: that is 0.01 for T1, whose χ² is 11,
    // so a q nearer to the posterior is taken for this, and T1 within its own deviations.
    let samples = 100_000;
    let mut near = Reference::with_exact_posterior();
    for i in near.phi() {
        near.parameters[i] += if i.is_multiple_of(2) { 0.1 } else { -0.1 };
    }
    for (model, copies, within) in [(rounded(&near), 8, 1e-3), (model(), 8, 0.025)] {
        let exact = Exact::new(&model, &data(1)[0]);
        let squares = exact.posterior().into_iter().zip(&exact.q);
        let chi_squared: f64 = squares.map(|(p, q)| p * p / q).sum::<f64>() - 1.0;
        let deviation = (chi_squared / (samples * copies) as f64).sqrt();
        assert!(NORMAL_LIMIT * deviation < within, "χ² = {chi_squared}");
        let nll = evaluate(&model, &exact.x, copies, samples);
        assert!((nll.mean + exact.log_evidence()).abs() < within);
    }
}

#[test]
fn with_the_exact_posterior_one_sample_is_exact() {
    let model = rounded(&Reference::with_exact_posterior());
    for x in model.observations() {
        let exact = Exact::new(&model, &x);
        let nll = evaluate(&model, &x, 50, 1);
        assert!((nll.mean + exact.log_evidence()).abs() < 1e-5);
        assert!(nll.standard_error < 1e-6);
    }
}
