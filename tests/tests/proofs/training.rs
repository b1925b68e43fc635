//! Joint stochastic approximation ends at the maximum of the likelihood, which methods of the ELBO do not exceed.

use burn::tensor::DType;
use helmholtz_datasets::Images;
use helmholtz_estimators::Method;
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_samplers::{Scan, ScanOrder};
use helmholtz_tests::vectors::{add_scaled, max_difference};
use helmholtz_tests::{Enumerable, Exact, Reference, Tape, build, flat_parameters};
use helmholtz_training::{Betas, ChainStart, Optimizer, TrainConfig, Trainer};

/// Data drawn from a network of T1's shape: each x with its number of copies.
fn drawn(rows: usize) -> Vec<(Vec<f64>, usize)> {
    let teacher = Reference::random(4, &[3], 7);
    let x = teacher.observations();
    let log_p: Vec<f64> = x
        .iter()
        .map(|x| Exact::new(&teacher, x).log_evidence())
        .collect();
    let mut stream = Stream::new(7, Purpose::new("data"), [0, 0]);
    let mut counts = vec![0; x.len()];
    (0..rows).for_each(|_| counts[stream.choose(&log_p).expect("a distribution")] += 1);
    x.into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// The mean of log p(x) over data, and its gradient in θ.
fn likelihood(model: &Reference, data: &[(Vec<f64>, usize)]) -> (f64, Vec<f64>) {
    let rows: usize = data.iter().map(|(_, count)| count).sum();
    let mut gradient = vec![0.0; model.parameters.len()];
    let mut log_p = 0.0;
    for (x, count) in data {
        let (exact, share) = (Exact::new(model, x), *count as f64 / rows as f64);
        log_p += share * exact.log_evidence();
        for (p, grad_p) in exact.posterior().iter().zip(&exact.grad_p) {
            add_scaled(&mut gradient, share * p, grad_p);
        }
    }
    (log_p, gradient)
}

/// The largest mean log-likelihood, by gradient ascent whose step grows while it ascends and shrinks where it does not.
fn maximum(start: &Reference, data: &[(Vec<f64>, usize)]) -> f64 {
    let (mut model, mut step) = (start.clone(), 1.0);
    let (mut value, mut gradient) = likelihood(&model, data);
    for _ in 0..1000 {
        let mut parameters = model.parameters.clone();
        add_scaled(&mut parameters, step, &gradient);
        let moved = model.with_parameters(parameters);
        let (moved_value, moved_gradient) = likelihood(&moved, data);
        if moved_value > value {
            (model, value, gradient) = (moved, moved_value, moved_gradient);
            step *= 1.3;
        } else {
            step *= 0.5;
        }
    }
    let slope = max_difference(&gradient, &vec![0.0; gradient.len()]);
    assert!(slope < 1e-2, "the ascent ended on a slope of {slope}");
    value
}

/// Trains T1 with K = 2 and gives its mean log-likelihood: stage I at a rate of 1e-2, then stage II at 1e-2 and 1e-3.
fn trained(method: Method, data: &[(Vec<f64>, usize)]) -> f64 {
    let rows: Vec<&Vec<f64>> = data
        .iter()
        .flat_map(|(x, count)| std::iter::repeat_n(x, *count))
        .collect();
    let images = Images::from_fn(rows.len(), 4, |i, j| rows[i][j] == 1.0);
    let mut model = build::<Tape, _>(&Reference::t1(), DType::F32);
    for (seed, learning_rate, epochs, switch_epoch) in [(1, 1e-2, 1200, 300), (2, 1e-3, 1200, 0)] {
        let config = TrainConfig {
            seed,
            method,
            epochs,
            switch_epoch,
            chain_start: ChainStart::Proposal,
            batch: 100,
            particles: 2,
            analytic_kl: false,
            optimizer: Optimizer::Adam,
            betas: Betas::default(),
            learning_rate,
            inference_rate: None,
            prior_rate: None,
            sleep_every: None,
            gradient_beta: None,
            patience: None,
            scan: ScanOrder::Shuffled,
            check_every: epochs,
            valid_samples: 1,
            valid_images: None,
            test_samples: 1,
            test_images: None,
            train_images: None,
            final_samples: vec![],
            test_at_checks: true,
            checkpoint_seconds: 1.0,
            threads: 1,
            device_name: "cpu".into(),
        };
        let mut scan = Scan::new(config.scan, seed, rows.len() as u32, config.batch).unwrap();
        let device = Default::default();
        let mut trainer = Trainer::new(model, config, &images, device).unwrap();
        for epoch in 0..epochs {
            if epoch == switch_epoch && method.keeps_chains() {
                trainer.start_chains(&images).unwrap();
            }
            for step in 0..scan.steps_per_epoch() {
                let batch = scan.batch(epoch, step).unwrap();
                trainer.step(&images, &batch, epoch, step).unwrap();
            }
        }
        model = trainer.model().clone();
    }
    let model = Reference::t1().with_parameters(flat_parameters(&model));
    likelihood(&model, data).0
}

#[test]
fn jsa_reaches_the_maximum_of_the_likelihood_and_rloo_does_not_pass_it() {
    let data = drawn(200);
    let start = Reference::t1();
    let others = [11, 12].map(|seed| Reference::random(4, &[3], seed));
    let optimum = others
        .iter()
        .chain([&start])
        .map(|start| maximum(start, &data))
        .fold(f64::NEG_INFINITY, f64::max);
    let jsa = trained("jsa".parse().unwrap(), &data);
    assert!(jsa > optimum - 0.01, "{jsa} against {optimum}");
    assert!(jsa < optimum + 1e-3, "nothing is better than the maximum");
    let rloo = trained("rloo".parse().unwrap(), &data);
    assert!(
        rloo < jsa,
        "{rloo} against {jsa}: the ELBO has another maximum"
    );
}
