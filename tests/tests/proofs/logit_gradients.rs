//! ARM, DisARM and ARMS: their mean over the uniforms is the gradient of the ELBO.

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise};
use helmholtz_estimators::{
    Arm, Arms, Disarm, Joint, Layered, LogitGradient, Logits, Method, Objective, estimate_logits,
};
use helmholtz_ops::{Backend, Values, sample_bernoulli};
use helmholtz_random::Stream;
use helmholtz_tests::statistics::{STUDENT_LIMIT_OF_MANY, largest_t};
use helmholtz_tests::uniforms::{Listed, cells, each_choice};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Batch, Exact, Reference, flat_gradient};

use crate::{TOLERANCE, WRONG, data};

const ARM: Method = Method::Logits(Logits::Arm(Arm));
const DISARM: Method = Method::Logits(Logits::Disarm(Disarm));
const ARMS: Method = Method::Logits(Logits::Arms(Arms));

/// The uniforms of one estimate on T1 with one datum: of the path, then of the pair. An estimate is a polynomial between
/// the breakpoints σ(a) and 1 − σ(a), linear in each uniform, so the integral is exact.
pub(crate) struct T1 {
    pub(crate) exact: Exact,
    pub(crate) batch: Batch,
    path: Vec<Vec<(f64, f32)>>,
    pair: Vec<Vec<[(f64, f32); 3]>>,
}

impl T1 {
    pub(crate) fn new() -> Self {
        let model = Reference::t1();
        let x = data(1);
        let exact = Exact::new(&model, &x[0]);
        let ones = &model.recognition_thresholds(&x[0], &exact.states[0])[0];
        // The path enters by its bits alone: one point of each side.
        let bits = |&p: &f64| vec![(p, (0.5 * p) as f32), (1.0 - p, (0.5 + 0.5 * p) as f32)];
        Self {
            path: ones.iter().map(bits).collect(),
            pair: ones.iter().map(|&p| cells(vec![p, 1.0 - p])).collect(),
            batch: Batch::new(&model, &x),
            exact,
        }
    }

    pub(crate) fn expectation(&self, estimate: impl Fn(&mut Listed) -> Vec<f64>) -> Vec<f64> {
        let pair = self.pair.iter().map(|cells| cells.concat());
        let places: Vec<_> = self.path.iter().cloned().chain(pair).collect();
        let mut mean = vec![0.0; self.exact.grad_q[0].len()];
        each_choice(&places, |weight, uniforms| {
            add_scaled(&mut mean, weight, &estimate(&mut Listed(uniforms)));
        });
        mean
    }

    /// The mean over the paths, of what does not depend on the pair.
    pub(crate) fn mean_over_paths(&self, value: impl Fn(&mut Listed) -> f64) -> f64 {
        let any = self.pair.iter().map(|_| vec![(1.0, 0.5)]);
        let places: Vec<_> = self.path.iter().cloned().chain(any).collect();
        let mut mean = 0.0;
        each_choice(&places, |weight, uniforms| {
            mean += weight * value(&mut Listed(uniforms));
        });
        mean
    }

    fn error(&self, method: &Method) -> f64 {
        let learned = self.batch.learned(method, 1);
        let mean = self.expectation(|noise| self.batch.gradient(method, &learned, 1, noise));
        relative_error(&mean, &self.exact.bound_gradient(1))
    }
}

#[test]
fn arm_and_disarm_are_unbiased_for_the_elbo_exactly() {
    let t1 = T1::new();
    for method in [ARM, DISARM] {
        let error = t1.error(&method);
        assert!(error < TOLERANCE, "{method:?}: {error}");
    }
}

/// ARM with other parts.
pub(crate) struct Changed {
    /// What is subtracted from u.
    pub(crate) centre: f64,
    /// Whether b₁ = 1[u > σ(a)], the complement of b₂, in place of 1[u > σ(−a)].
    pub(crate) complement: bool,
}

impl LogitGradient<Bits> for Changed {
    fn layer<B: Backend, M: Layered<B, Variables = Bits> + Joint<B>>(
        &self,
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        _particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2> {
        let logits = objective.logits(below);
        let u = objective.uniforms(rows, logits.dims()[1], noise);
        let second = sample_bernoulli(logits.clone(), u.clone());
        let first = match self.complement {
            true => second.clone().neg() + 1.0,
            false => sample_bernoulli(logits, u.clone().neg() + 1.0),
        };
        let mut value = |layer: Tensor<B, 2>| {
            let layers = [below, &[layer.into()]].concat();
            objective.value(&objective.complete(layers, rows, noise))
        };
        let difference = value(first) - value(second);
        (u - self.centre) * difference.reshape([rows, 1])
    }
}

/// The relative error of the mean of a changed ARM.
fn error_of(changed: &Changed) -> f64 {
    let t1 = T1::new();
    let (model, x) = (t1.batch.model(), t1.batch.x());
    let mean = t1.expectation(|noise| {
        let estimate = estimate_logits(changed, model, Tensor::clone(&x), 1, noise).unwrap();
        let gradient = flat_gradient(&estimate.loss, model);
        gradient.into_iter().map(|g| -g).collect()
    });
    relative_error(&mean, &t1.exact.bound_gradient(1))
}

#[test]
fn arm_with_the_complement_for_its_twin_is_biased() {
    let error = error_of(&Changed {
        centre: 0.5,
        complement: true,
    });
    assert!(error > WRONG, "{error}");
}

#[test]
fn arm_with_u_not_centred_keeps_its_mean() {
    // Both latents have the law q, so E[f(b₁) − f(b₂)] = 0: centring lowers the variance alone.
    let error = error_of(&Changed {
        centre: 0.0,
        complement: false,
    });
    assert!(error < TOLERANCE, "{error}");
}

#[test]
fn disarm_is_the_mean_of_arm_given_both_latents() {
    let t1 = T1::new();
    let learned = t1.batch.learned(&ARM, 1);
    let path = vec![0.1f32; 3];
    let first = |cells: &Vec<[(f64, f32); 3]>, i: usize| cells[i].to_vec();
    for cell in 0..27 {
        let own = [cell % 3, cell / 3 % 3, cell / 9];
        let places: Vec<_> = t1.pair.iter().zip(own).map(|(c, i)| first(c, i)).collect();
        let (mut total, mut mean) = (0.0, vec![0.0; t1.exact.grad_q[0].len()]);
        let mut middle = Vec::new();
        each_choice(&places, |weight, uniforms| {
            let uniforms = [path.clone(), uniforms.to_vec()].concat();
            let estimate = t1.batch.gradient(&ARM, &learned, 1, &mut Listed(&uniforms));
            add_scaled(&mut mean, weight, &estimate);
            total += weight;
            middle = uniforms;
        });
        mean.iter_mut().for_each(|g| *g /= total);
        let disarm = t1
            .batch
            .gradient(&DISARM, &learned, 1, &mut Listed(&middle));
        assert!(relative_error(&mean, &disarm) < TOLERANCE);
    }
}

#[test]
fn arms_with_two_samples_is_disarm_at_every_draw() {
    // The copula makes u and 1 − u of d = e₁ / (e₁ + e₂): the pair of DisARM is (u₂, u₁).
    let t1 = T1::new();
    let learned = t1.batch.learned(&ARMS, 1);
    let path = [0.3f32, 0.8, 0.6];
    for seed in 0..50 {
        let mut stream = Stream::new(seed, helmholtz_random::Purpose::new("arms"), [0, 0]);
        let mut v = [0.0f32; 6];
        stream.fill_uniform_f32(&mut v);
        let arms = [&path[..], &v].concat();
        let arms = t1.batch.gradient(&ARMS, &learned, 2, &mut Listed(&arms));
        let e = v.map(|v| -(-f64::from(v)).ln_1p());
        let pair: Vec<f32> = (0..3)
            .map(|i| (e[3 + i] / (e[i] + e[3 + i])) as f32)
            .collect();
        let disarm = [&path[..], &pair].concat();
        let disarm = t1
            .batch
            .gradient(&DISARM, &learned, 1, &mut Listed(&disarm));
        assert!(relative_error(&arms, &disarm) < 1e-9, "seed {seed}");
    }
}

/// The largest t of the mean of many estimates, for the models with two layers and for many samples, where enumeration
/// would take too long.
fn sampled(model: &Reference, method: &Method, particles: usize) -> f64 {
    const COPIES: usize = 400;
    let x = data(1);
    let batch = Batch::new(model, &vec![x[0].clone(); COPIES]);
    let learned = batch.learned(method, 1);
    let expected = Exact::new(model, &x[0]).bound_gradient(1);
    largest_t(&expected, |stream| {
        batch.gradient(method, &learned, particles, stream)
    })
}

#[test]
fn arm_disarm_and_arms_are_unbiased_with_two_layers_and_many_samples() {
    for (model, method, particles) in [
        (Reference::t2(), ARM, 1),
        (Reference::t2(), DISARM, 2),
        (Reference::t1(), ARMS, 2),
        (Reference::t1(), ARMS, 5),
        (Reference::t2(), ARMS, 3),
    ] {
        let t = sampled(&model, &method, particles);
        assert!(
            t < STUDENT_LIMIT_OF_MANY,
            "{method:?}, K = {particles}: {t}"
        );
    }
}
