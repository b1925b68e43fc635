//! NVIL and MuProp: over all latents, their mean is the gradient of the ELBO.

use burn::tensor::DType;
use helmholtz_estimators::{Layered, Learned, Method, Model, Moments, MuProp, Nvil, Signals};
use helmholtz_tests::expectation::{each_proposal, exact};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Batch, Conditional, Enumerable, Reference, Tape};

use crate::{TOLERANCE, WRONG, batch_mean, data};

const NVIL: Method = Method::Signals(Signals::Nvil(Nvil { normalise: false }));
const NORMALISED: Method = Method::Signals(Signals::Nvil(Nvil { normalise: true }));
const MUPROP: Method = Method::Signals(Signals::MuProp(MuProp));

/// Both networks, with numbers of data and of particles that can be enumerated.
fn models() -> [(Reference, usize, usize); 5] {
    [
        (Reference::t1(), 1, 1),
        (Reference::t1(), 2, 1),
        (Reference::t1(), 1, 2),
        (Reference::t2(), 1, 1),
        (Reference::t2(), 1, 2),
    ]
}

/// Baselines with random weights, and running averages that are not zero.
fn learned<R: Enumerable>(batch: &Batch<R>, method: &Method) -> Learned<Tape> {
    let moments = Moments {
        mean: -3.0,
        variance: 4.0,
    };
    Learned {
        moments: vec![moments; Layered::<Tape>::layers(batch.model()).len()],
        ..batch.learned(method, 3)
    }
}

/// The relative error of the expected gradient against that of the ELBO, the largest over models: the networks, and one whose
/// prior is another for each datum.
fn error(method: &Method, change: impl Fn(Learned<Tape>) -> Learned<Tape>) -> f64 {
    let errors = models()
        .map(|(model, count, particles)| error_in(&model, count, particles, method, &change));
    let conditional = [(1, 2), (2, 1)]
        .map(|(count, particles)| error_in(&Conditional::t4(), count, particles, method, &change));
    errors.into_iter().chain(conditional).fold(0.0, f64::max)
}

fn error_in<R: Enumerable>(
    model: &R,
    count: usize,
    particles: usize,
    method: &Method,
    change: impl Fn(Learned<Tape>) -> Learned<Tape>,
) -> f64
where
    R::Production<Tape>: Model<Tape>,
{
    let x = data(count);
    let batch = Batch::new(model, &x);
    let learned = change(learned(&batch, method));
    let mut gradient = vec![0.0; model.parameters().len()];
    each_proposal(&exact(model, &x), particles, |probability, tuples| {
        let estimate = batch.gradient(method, &learned, particles, &mut batch.proposing(tuples));
        add_scaled(&mut gradient, probability, &estimate);
    });
    let elbo = batch_mean(model, &x, |exact| exact.bound_gradient(1));
    relative_error(&gradient, &elbo)
}

fn with_scales(eta: f64) -> impl Fn(Learned<Tape>) -> Learned<Tape> {
    move |learned| Learned {
        controls: learned.controls.map(|controls| controls.with_scales(eta)),
        ..learned
    }
}

#[test]
fn nvil_without_normalisation_is_unbiased_for_the_elbo() {
    let error = error(&NVIL, |learned| learned);
    assert!(error < TOLERANCE, "{error}");
}

#[test]
fn nvil_with_normalisation_left_on_is_not() {
    let error = error(&NORMALISED, |learned| learned);
    assert!(error > WRONG, "{error}");
}

#[test]
fn muprop_is_unbiased_for_the_elbo_at_every_scale() {
    for eta in [0.0, 0.4, 1.0, 1.7] {
        let error = error(&MUPROP, with_scales(eta));
        assert!(error < TOLERANCE, "eta {eta}: {error}");
    }
}

#[test]
fn muprop_without_its_expansion_is_nvil_at_every_draw() {
    for (model, count, particles) in models() {
        let x = data(count);
        let batch = Batch::new(&model, &x);
        let muprop = with_scales(0.0)(batch.learned(&MUPROP, 3));
        let nvil = batch.learned(&NVIL, 3);
        each_proposal(&exact(&model, &x), particles, |_, tuples| {
            let noise = || batch.proposing(tuples);
            let a = batch.gradient(&MUPROP, &muprop, particles, &mut noise());
            let b = batch.gradient(&NVIL, &nvil, particles, &mut noise());
            assert!(relative_error(&a, &b) < 1e-12);
        });
    }
}

#[test]
fn muprop_is_its_formula_for_one_bit() {
    // g = (f(h) − η f(μ) − η f'(μ) (h − μ)) (h − μ) + η f'(μ) μ (1 − μ) in the logit; at data that are the mean the baseline is 0.
    let model = Reference::random(4, &[1], 6);
    let x = data(1);
    let batch = Batch::new(&model, &x);
    let layers = Layered::<Tape>::layers(batch.model());
    let (mean, device) = (x[0].iter().map(|&x| x as f32).collect(), Default::default());
    let learned = Learned::init(&MUPROP.controls(), || mean, &layers, 1, DType::F64, &device);
    let f = |h: f64| {
        let h = vec![vec![h]];
        model.log_p(&x[0], &h).0 - model.log_q(&x[0], &h).0
    };
    for eta in [0.4, 1.7] {
        let learned = with_scales(eta)(learned.clone());
        for h in model.states() {
            let mut noise = batch.proposing(&[vec![&h]]);
            let gradient = batch.gradient(&MUPROP, &learned, 1, &mut noise);
            let mu = model.recognition_thresholds(&x[0], &h)[0][0];
            let slope = (f(mu + 1e-4) - f(mu - 1e-4)) / 2e-4;
            let score = h[0][0] - mu;
            let signal = f(h[0][0]) - eta * f(mu) - eta * slope * score;
            let expected = signal * score + eta * slope * mu * (1.0 - mu);
            assert!(
                (gradient[4] - expected).abs() < 1e-6,
                "{} {expected}",
                gradient[4]
            );
        }
    }
}
