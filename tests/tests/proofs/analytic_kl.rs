//! The divergence in closed form: its value, its gradient, and the estimators that are given it.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{
    Arm, Ars, Arsm, Batch as Given, EstimateError, Factored, GumbelSoftmax, LatentKind, Layered,
    Method, Propose, StraightThrough, estimate_logits_with_kl, estimate_pathwise,
    estimate_pathwise_with_kl, kl_to_prior,
};
use helmholtz_ops::Values;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::statistics::{STUDENT_LIMIT_OF_MANY, largest_t};
use helmholtz_tests::uniforms::{Listed, each_choice};
use helmholtz_tests::vectors::{add_scaled, log_sum_exp, relative_error};
use helmholtz_tests::{Batch, Categories, Enumerable, Reference, Tape, build, flat_gradient};

use crate::logit_gradients::T1;
use crate::{TOLERANCE, WRONG, data};

/// KL(q(h | x) ‖ p(h)) and its gradient, over all states, with log p(h) = ln Σ_x p(x, h) over all x.
fn enumerated(model: &impl Enumerable, x: &[f64]) -> (f64, Vec<f64>) {
    let (mut kl, mut gradient) = (0.0, vec![0.0; model.parameters().len()]);
    for h in model.states() {
        let (log_q, of_q) = model.log_q(x, &h);
        let joint: Vec<_> = model
            .observations()
            .iter()
            .map(|x| model.log_p(x, &h))
            .collect();
        let log_p = log_sum_exp(joint.iter().map(|(log_p, _)| *log_p));
        let q = log_q.exp();
        kl += q * (log_q - log_p);
        add_scaled(&mut gradient, q * (log_q - log_p), &of_q);
        for (log_joint, of_joint) in &joint {
            add_scaled(&mut gradient, -q * (log_joint - log_p).exp(), of_joint);
        }
    }
    (kl, gradient)
}

fn number(tensor: &Tensor<Tape, 1>) -> f64 {
    let data = tensor.clone().into_data();
    data.iter().next().expect("one number")
}

/// The production divergence of one datum.
fn production<R: Enumerable>(model: &R, x: &[f64]) -> Result<(f64, Vec<f64>), EstimateError>
where
    R::Production<Tape>: Layered<Tape> + Factored<Tape>,
{
    let taped = build::<Tape, R>(model, DType::F64);
    let x = TensorData::new(x.to_vec(), [1, x.len()]);
    let x = Tensor::from_data(x, (&Default::default(), DType::F64));
    let kl = kl_to_prior(&taped, x.clone(), taped.encode(x))?;
    let value = number(&kl);
    Ok((value, flat_gradient(&kl, &taped)))
}

#[test]
fn the_divergence_and_its_gradient_are_those_of_the_states() {
    fn error<R: Enumerable>(model: &R, x: &[f64]) -> [f64; 2]
    where
        R::Production<Tape>: Layered<Tape> + Factored<Tape>,
    {
        let ((kl, gradient), (found, of_found)) =
            (enumerated(model, x), production(model, x).unwrap());
        [
            (found - kl).abs() / kl,
            relative_error(&of_found, &gradient),
        ]
    }
    for x in data(3) {
        let t3 = Categories::t3();
        let learned = t3.clone().with_learned_prior();
        for errors in [
            error(&Reference::t1(), &x),
            error(&t3, &x),
            error(&learned, &x),
        ] {
            assert!(errors.iter().all(|&error| error < TOLERANCE), "{errors:?}");
        }
        let refused = production(&Reference::t2(), &x).unwrap_err();
        assert!(matches!(
            refused,
            EstimateError::SeveralLayers { layers: 2 }
        ));
    }
}

#[test]
fn arm_with_the_divergence_is_unbiased_for_the_elbo_exactly() {
    let t1 = T1::new();
    let (model, x) = (t1.batch.model(), t1.batch.x());
    let error = |without: bool| {
        let mean = t1.expectation(|noise| {
            let estimate = estimate_logits_with_kl(&Arm, model, x.clone(), 1, noise).unwrap();
            let kl = kl_to_prior(model, x.clone(), model.encode(x.clone())).unwrap();
            let loss = match without {
                true => estimate.loss - kl.mean(),
                false => estimate.loss,
            };
            flat_gradient(&loss, model)
                .into_iter()
                .map(|g| -g)
                .collect()
        });
        relative_error(&mean, &t1.exact.bound_gradient(1))
    };
    assert!(error(false) < TOLERANCE, "{}", error(false));
    // The twin: log p(x | h) alone.
    assert!(error(true) > WRONG, "{}", error(true));
}

#[test]
fn arm_with_the_divergence_reports_the_elbo() {
    let t1 = T1::new();
    let (model, x) = (t1.batch.model(), t1.batch.x());
    let mean = t1.mean_over_paths(|noise| {
        let estimate = estimate_logits_with_kl(&Arm, model, x.clone(), 1, noise);
        estimate.unwrap().elbo
    });
    let terms = t1.exact.q.iter().zip(&t1.exact.log_w);
    let elbo: f64 = terms.map(|(q, log_w)| q * log_w).sum();
    assert!((mean - elbo).abs() < TOLERANCE, "{mean}, {elbo}");
}

#[test]
fn swaps_with_the_divergence_are_unbiased_for_the_elbo() {
    let subject = subject_of(&Categories::t3().with_learned_prior());
    let ars = |s: &mut Stream| {
        subject.gradient(|model, x| estimate_logits_with_kl(&Ars::default(), model, x, 1, s))
    };
    let arsm = |s: &mut Stream| {
        subject.gradient(|model, x| estimate_logits_with_kl(&Arsm, model, x, 1, s))
    };
    let t = [
        largest_t(&subject.elbo, ars),
        largest_t(&subject.elbo, arsm),
    ];
    assert!(t.iter().all(|t| *t < STUDENT_LIMIT_OF_MANY), "{t:?}");
    // The power of it: a tenth off is told.
    let off: Vec<f64> = subject.elbo.iter().map(|g| 1.1 * g).collect();
    let t = largest_t(&off, arsm);
    assert!(t > STUDENT_LIMIT_OF_MANY, "{t}");
}

/// With f = log p(h) − log q(h), linear in the bits, straight-through is exact in the logits: it is the divergence's gradient,
/// whatever the bits are.
#[test]
fn straight_through_bits_have_the_same_gradient_in_q_with_it() {
    let model = Reference::t1();
    let batch = Batch::new(&model, &data(1));
    let exact = T1::new().exact.bound_gradient(1);
    let p = &model.recognition_thresholds(&data(1)[0], &model.states()[0])[0];
    let place = |&p: &f64| vec![(p, (0.5 * p) as f32), (1.0 - p, (0.5 + 0.5 * p) as f32)];
    let places: Vec<_> = p.iter().map(place).collect();
    let mut mean = vec![0.0; exact.len()];
    each_choice(&places, |probability, uniforms| {
        let gradient = |with: bool| -> Vec<f64> {
            let (model, noise) = (batch.model(), &mut Listed(uniforms));
            let estimate = match with {
                true => estimate_pathwise_with_kl(&StraightThrough, model, batch.x(), 1, noise),
                false => estimate_pathwise(&StraightThrough, model, batch.x(), 1, noise),
            };
            let gradient = flat_gradient(&estimate.unwrap().loss, model);
            gradient.into_iter().map(|g| -g).collect()
        };
        let [with, without] = [true, false].map(gradient);
        let (phi, theta) = (model.phi(), model.theta());
        assert!(relative_error(&with[phi.clone()], &without[phi]) < TOLERANCE);
        assert!(relative_error(&with[theta.clone()], &without[theta]) > WRONG);
        add_scaled(&mut mean, probability, &with);
    });
    // In θ both are unbiased.
    let theta = model.theta();
    assert!(relative_error(&mean[theta.clone()], &exact[theta]) < TOLERANCE);
}

#[test]
fn relaxed_bits_with_the_divergence_have_the_gradient_of_their_loss() {
    let reference = Reference::t1();
    let soft = GumbelSoftmax {
        temperature: 0.7,
        hard: false,
    };
    let loss = |parameters: Vec<f64>| {
        let batch = Batch::new(&reference.with_parameters(parameters), &data(1));
        let noise = &mut Listed(&[0.31, 0.77, 0.52]);
        let estimate =
            estimate_pathwise_with_kl(&soft, batch.model(), batch.x(), 1, noise).unwrap();
        let value = number(&estimate.loss);
        assert!((value + estimate.elbo).abs() < 1e-12);
        (value, flat_gradient(&estimate.loss, batch.model()))
    };
    let step = 1e-6;
    let moved = |place: usize, by: f64| {
        let mut parameters = reference.parameters().to_vec();
        parameters[place] += by;
        loss(parameters).0
    };
    let differences: Vec<f64> = (0..reference.parameters().len())
        .map(|place| (moved(place, step) - moved(place, -step)) / (2.0 * step))
        .collect();
    let (_, gradient) = loss(reference.parameters().to_vec());
    let error = relative_error(&gradient, &differences);
    assert!(error < 1e-7, "{error}");
}

#[test]
fn methods_without_a_form_with_it_refuse_it_and_the_others_take_it() {
    let batch = Batch::new(&Reference::t1(), &data(2));
    let takes = [
        "ar",
        "ars",
        "arsm",
        "gumbel-softmax",
        "st-gumbel-softmax",
        "st-gumbel-softmax-learned",
        "st-gumbel-softmax-decoupled",
        "gumbel-rao",
        "straight-through",
        "reinmax",
        "reinmax-rao",
        "reinmax-cv",
    ];
    for entry in Method::CATALOGUE.of(LatentKind::Bits) {
        let given = Given::<Tape, dyn ChainStore> {
            x: Values::binary(batch.x()),
            chains: None,
            particles: 2,
            epoch: 0,
            analytic_kl: true,
        };
        let mut learned = batch.learned(&entry.method, 1);
        let stream = |name| Stream::new(3, Purpose::new(name), [0, 0]);
        let (mut noise, mut chance) = (stream("noise"), stream("chance"));
        let model = batch.model();
        let estimated = entry
            .method
            .estimate(model, &mut learned, given, &mut noise, &mut chance);
        let taken = takes.contains(&entry.name);
        assert_eq!(entry.method.takes_analytic_kl(), taken, "{}", entry.name);
        match taken {
            true => assert!(estimated.is_ok(), "{}", entry.name),
            false => assert!(
                matches!(estimated, Err(EstimateError::SampledKl)),
                "{}",
                entry.name
            ),
        }
    }
}
