//! Counts: straight-through gradients by enumeration, exact for polynomials up to their order and not beyond; and estimators on a
//! model of counts.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_count_vae::{CountVae, CountVaeConfig};
use helmholtz_distributions::{Counts, Noise, Variables};
use helmholtz_estimators::{
    Batch, Chains, Declaration, Estimate, EstimateError, FiniteOrder, LatentKind, Learned, Method,
    Model, Propose, ReinMax, Reparameterise, Rloo, StraightThrough, Target, Weighting, estimate,
    estimate_pathwise,
};
use helmholtz_invariance::gradients::Subject;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::MemoryStore;
use helmholtz_tests::uniforms::Listed;
use helmholtz_tests::{Reference, Tape, build, flat_gradient};

const LOGITS: [f64; 5] = [-4.0, -1.2, 0.1, 0.9, 2.5];
/// Beyond it the largest Poisson mean here, 12.2, has probabilities below 10⁻³⁰.
const MOST: usize = 80;

fn matrix<const R: usize, const C: usize>(rows: &[[f64; C]]) -> Tensor<Tape, 2> {
    assert!(rows.len() == R || R == 0);
    let data = TensorData::new(rows.as_flattened().to_vec(), [rows.len(), C]);
    Tensor::from_data(data, (&Default::default(), DType::F64))
}

fn column(values: &[f64]) -> Tensor<Tape, 2> {
    let rows: Vec<[f64; 1]> = values.iter().map(|&value| [value]).collect();
    matrix::<0, 1>(&rows)
}

fn numbers<const D: usize>(tensor: Tensor<Tape, D>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

fn binomial(trials: u32) -> Counts {
    Counts::Binomial {
        variables: 1,
        trials,
    }
}

const POISSON: Counts = Counts::Poisson { variables: 1 };

/// P(k) and the middle of the uniforms that give k, of every count with a probability that matters.
fn support(counts: Counts, logit: f64) -> Vec<(f64, f64)> {
    let most = match counts {
        Counts::Poisson { .. } => MOST,
        Counts::Binomial { trials, .. } => trials as usize,
    };
    let all: Vec<f64> = (0..=most).map(|k| k as f64).collect();
    let log_p = numbers(counts.log_prob(column(&[logit]), column(&all)));
    let mut below = 0.0;
    let point = |log_p: f64| {
        let p = log_p.exp();
        below += p;
        (p, below - 0.5 * p)
    };
    let points = log_p.into_iter().map(point);
    // A uniform in f64 reaches no further.
    points.take_while(|&(p, u)| p > 1e-13 || u < 0.5).collect()
}

/// P(k) and the Jacobian of k, as the estimator draws them.
fn jacobians(
    estimator: &impl Reparameterise<Tape, Counts>,
    counts: Counts,
    logit: f64,
) -> Vec<(f64, f64)> {
    let (p, uniforms): (Vec<f64>, Vec<f64>) = support(counts, logit).into_iter().unzip();
    let logits = column(&vec![logit; p.len()]).require_grad();
    let drawn = estimator.sample(counts, logits.clone(), column(&uniforms));
    let expected: Vec<f64> = (0..p.len()).map(|k| k as f64).collect();
    assert_eq!(numbers(drawn.clone()), expected);
    let gradients = drawn.sum().backward();
    let jacobians = Tensor::from_inner(logits.grad(&gradients).expect("a gradient"));
    p.into_iter().zip(numbers(jacobians)).collect()
}

/// By how much E[f′(k) w(k)] is off from ∂ E f(k) for f = k^degree, relative to that.
fn error(
    estimator: &impl Reparameterise<Tape, Counts>,
    counts: Counts,
    logit: f64,
    degree: i32,
) -> f64 {
    let mean = numbers(counts.mean(column(&[logit])))[0];
    let all = jacobians(estimator, counts, logit);
    let (mut found, mut exact) = (0.0, 0.0);
    for (k, (p, w)) in all.into_iter().enumerate() {
        let k = k as f64;
        found += p * w * f64::from(degree) * k.powi(degree - 1);
        exact += p * (k - mean) * k.powi(degree);
    }
    ((found - exact) / exact).abs()
}

fn is_exact_up_to(estimator: &impl Reparameterise<Tape, Counts>, counts: Counts, order: i32) {
    for logit in LOGITS {
        for degree in 1..=order {
            let error = error(estimator, counts, logit, degree);
            // Of what lies in the tail beyond 10⁻¹³, where a weight is up to k² / 12λ.
            assert!(error < 1e-7, "{counts:?}, {logit}, {degree}: {error:e}");
        }
    }
}

fn is_not_exact_at(estimator: &impl Reparameterise<Tape, Counts>, counts: Counts, degree: i32) {
    let errors = LOGITS.map(|logit| error(estimator, counts, logit, degree));
    let largest = errors.into_iter().fold(0.0, f64::max);
    assert!(largest > 1e-2, "{counts:?}: {largest:e}");
}

#[test]
fn gradients_of_powers_are_exact_up_to_the_order_and_not_beyond() {
    for counts in [POISSON, binomial(8), binomial(3)] {
        is_exact_up_to(&StraightThrough, counts, 1);
        is_not_exact_at(&StraightThrough, counts, 2);
        is_exact_up_to(&FiniteOrder::Second, counts, 2);
        is_not_exact_at(&FiniteOrder::Second, counts, 3);
        is_exact_up_to(&FiniteOrder::Third, counts, 3);
        is_not_exact_at(&FiniteOrder::Third, counts, 4);
    }
    is_exact_up_to(&FiniteOrder::Third, binomial(2), 3);
}

/// Two values carry no polynomial beyond the second order; there the formula of bits is as exact, and on counts it is none: a twin.
#[test]
fn one_trial_is_a_bit_and_the_formula_of_bits_is_not_one_of_counts() {
    for estimator in [FiniteOrder::Second, FiniteOrder::Third] {
        is_exact_up_to(&estimator, binomial(1), 2);
        is_not_exact_at(&estimator, binomial(1), 3);
    }
    is_exact_up_to(&ReinMax, binomial(1), 2);
    for counts in [POISSON, binomial(8)] {
        is_not_exact_at(&ReinMax, counts, 2);
    }
}

/// f = z₁³ z₂² + 2 z₁ z₂³, of degree 3 in each count alone, by every pair of counts.
#[test]
fn products_of_powers_in_several_counts_are_exact_too() {
    for one in [POISSON, binomial(5)] {
        let two = match one {
            Counts::Poisson { .. } => Counts::Poisson { variables: 2 },
            Counts::Binomial { trials, .. } => Counts::Binomial {
                variables: 2,
                trials,
            },
        };
        let logits = [0.4, -0.7];
        let supports = logits.map(|logit| support(one, logit));
        let (mut p, mut uniforms) = (Vec::new(), Vec::new());
        for &(p_1, u_1) in &supports[0] {
            for &(p_2, u_2) in &supports[1] {
                p.push(p_1 * p_2);
                uniforms.push([u_1, u_2]);
            }
        }
        let rows = vec![logits; p.len()];
        let gradient = |estimator: FiniteOrder| {
            let logits = matrix::<0, 2>(&rows).require_grad();
            let z = estimator.sample(two, logits.clone(), matrix::<0, 2>(&uniforms));
            let [a, b] = [0, 1].map(|i| z.clone().narrow(1, i, 1));
            let f =
                a.clone().powi_scalar(3) * b.clone().powi_scalar(2) + a * b.powi_scalar(3) * 2.0;
            let gradients = (f.clone() * column(&p)).sum().backward();
            let found = Tensor::from_inner(logits.grad(&gradients).expect("a gradient"));
            (numbers(found.sum_dim(0)), numbers(f), numbers(z))
        };
        let (found, f, z) = gradient(FiniteOrder::Third);
        let mean = numbers(two.mean(matrix::<1, 2>(&[logits])));
        for i in 0..2 {
            let term = |n: usize| p[n] * f[n] * (z[2 * n + i] - mean[i]);
            let exact: f64 = (0..p.len()).map(term).sum();
            let off = ((found[i] - exact) / exact).abs();
            assert!(off < 1e-9, "{one:?}: {} and {exact}", found[i]);
            // The twin is of an order too few.
            let off = ((gradient(FiniteOrder::Second).0[i] - exact) / exact).abs();
            assert!(i == 1 || off > 1e-3, "{one:?}, {i}: {off:e}");
        }
    }
}

/// Logits so far out that means underflow have finite weights, in f32 too.
#[test]
fn weights_are_finite_at_extreme_logits() {
    for dtype in [DType::F64, DType::F32] {
        for counts in [POISSON, binomial(1), binomial(8)] {
            for estimator in [FiniteOrder::Second, FiniteOrder::Third] {
                for logit in [-800.0, -90.0, 0.0, 20.0, 90.0] {
                    if matches!(counts, Counts::Poisson { .. }) && logit > 0.0 {
                        continue;
                    }
                    let like = (&Default::default(), dtype);
                    let logits = Tensor::<Tape, 2>::full([1, 1], logit, like).require_grad();
                    let uniform = Tensor::full([1, 1], 0.5, like);
                    let drawn = estimator.sample(counts, logits.clone(), uniform);
                    let gradient = logits.grad(&drawn.sum().backward()).unwrap();
                    let weight: f64 = gradient.into_data().iter().next().unwrap();
                    assert!(weight.is_finite(), "{estimator:?}, {counts:?}, {logit}");
                }
            }
        }
    }
}

/// 20 parameters of q, and then those of p.
const OF_Q: usize = 20;

fn model() -> CountVae<Tape> {
    let config = CountVaeConfig {
        visible: 3,
        variables: 2,
        trials: Some(2),
        hidden: vec![3],
        slope: 0.3,
        learned_prior: true,
    };
    config.init(3, DType::F64, &Default::default()).unwrap()
}

const DATUM: [f64; 3] = [1.0, 0.0, 1.0];

fn datum() -> Tensor<Tape, 2> {
    matrix::<1, 3>(&[DATUM])
}

/// Of every state of the two counts: q(h | x), and uniforms that draw it.
fn states(model: &CountVae<Tape>) -> Vec<(f64, [f32; 2])> {
    let logits = numbers(model.encode(datum()));
    let supports = [0, 1].map(|i| support(binomial(2), logits[i]));
    let mut all = Vec::new();
    for &(p_1, u_1) in &supports[0] {
        for &(p_2, u_2) in &supports[1] {
            all.push((p_1 * p_2, [u_1 as f32, u_2 as f32]));
        }
    }
    assert_eq!(all.len(), 9);
    all
}

/// −∇ ELBO.
fn exact() -> Vec<f64> {
    let elbo = Subject::of_binomial(model(), &DATUM, 2).elbo.clone();
    elbo.into_iter().map(|g| -g).collect()
}

/// The mean of an estimate from K particles, over all their states.
fn mean_of(
    particles: u32,
    estimate: impl Fn(&CountVae<Tape>, &[f32]) -> Estimate<Tape>,
) -> Vec<f64> {
    let model = model();
    let states = states(&model);
    let mut mean = vec![0.0; flat_gradient(&estimate(&model, &[0.5; 4]).loss, &model).len()];
    for choice in 0..9usize.pow(particles) {
        let own = (0..particles).map(|k| states[choice / 9usize.pow(k) % 9]);
        let (p, uniforms): (Vec<f64>, Vec<[f32; 2]>) = own.unzip();
        let gradient = flat_gradient(&estimate(&model, uniforms.as_flattened()).loss, &model);
        let p: f64 = p.iter().product();
        mean.iter_mut()
            .zip(gradient)
            .for_each(|(sum, g)| *sum += p * g);
    }
    mean
}

fn pathwise(estimator: impl Reparameterise<Tape, Counts>) -> Vec<f64> {
    mean_of(1, |model, uniforms| {
        estimate_pathwise(&estimator, model, datum(), 1, &mut Listed(uniforms)).unwrap()
    })
}

fn weighted(estimator: impl Weighting) -> Vec<f64> {
    mean_of(2, |model, uniforms| {
        let mut chance = Stream::new(1, Purpose::new("chance"), [0, 0]);
        let (noise, none) = (&mut Listed(uniforms), None::<Chains<'_, MemoryStore>>);
        estimate(&estimator, model, datum(), none, 2, noise, &mut chance).unwrap()
    })
}

fn distance(found: &[f64], exact: &[f64]) -> f64 {
    let squares = found.iter().zip(exact).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

#[test]
fn on_a_model_of_counts_leave_one_out_is_unbiased_and_orders_beyond_the_first_are_nearer() {
    let exact = exact();
    assert!(distance(&weighted(Rloo), &exact) < 1e-12);
    let found = [
        pathwise(StraightThrough),
        pathwise(FiniteOrder::Second),
        pathwise(FiniteOrder::Third),
    ];
    for found in &found {
        assert!(
            distance(&found[OF_Q..], &exact[OF_Q..]) < 1e-12,
            "θ is exact"
        );
    }
    let [first, second, third] = found.map(|found| distance(&found[..OF_Q], &exact[..OF_Q]));
    for nearer in [second, third] {
        assert!(nearer < 0.5 * first, "{first}, {second}, {third}");
    }
}

/// Every estimator of the catalogue that is defined for counts and claims a gradient of the ELBO, over all states of K counts.
#[test]
fn what_estimators_of_counts_claim_of_the_elbo_is_exact() {
    let exact = exact();
    let mut checked = Vec::new();
    for entry in Method::CATALOGUE.of(LatentKind::Counts) {
        if entry.target != Target::Elbo {
            continue;
        }
        let method = entry.method.claimed();
        let particles = entry.least_particles();
        let found = mean_of(particles as u32, |model, uniforms| {
            named(&method, model, particles, uniforms).unwrap()
        });
        let off = distance(&found, &exact);
        assert!(off < 1e-12, "{}: {off:e}", entry.name);
        checked.push(entry.name);
    }
    assert!(checked.len() >= 5, "{checked:?}");
}

#[test]
fn estimators_of_other_latents_refuse_counts() {
    let model = model();
    for entry in Method::CATALOGUE.iter() {
        let defined = entry.method.domain().takes(LatentKind::Counts);
        let particles = entry.least_particles().max(2);
        let found = named(&entry.method, &model, particles, &[0.5; 12]);
        match found {
            Err(EstimateError::NotDefined { domain, .. }) => {
                assert!(
                    !defined && domain == entry.method.domain(),
                    "{}",
                    entry.name
                );
            }
            found => assert!(defined && found.is_ok(), "{}", entry.name),
        }
    }
}

#[test]
fn estimators_of_counts_refuse_bits() {
    let bits = build::<Tape, _>(&Reference::t1(), DType::F64);
    for name in ["finite-2", "finite-3"] {
        let method: Method = name.parse().unwrap();
        let (model, x) = (&bits, matrix::<1, 4>(&[[1.0, 0.0, 1.0, 1.0]]));
        let refused = of_model(&method, model, x, 1, &[0.5]).err().unwrap();
        let text = refused.to_string();
        assert!(
            text.contains("defined for counts") && text.contains("bits"),
            "{text}"
        );
    }
}

/// An estimate by a method of the catalogue.
fn named(
    method: &Method,
    model: &CountVae<Tape>,
    particles: usize,
    uniforms: &[f32],
) -> Result<Estimate<Tape>, EstimateError> {
    of_model(method, model, datum(), particles, uniforms)
}

fn of_model<M: Model<Tape>>(
    method: &Method,
    model: &M,
    x: Tensor<Tape, 2>,
    particles: usize,
    uniforms: &[f32],
) -> Result<Estimate<Tape>, EstimateError> {
    let device = Default::default();
    let (needed, layers) = (method.controls(), model.layers());
    let mean = || vec![0.4; x.dims()[1]];
    let mut learned = Learned::<Tape>::init(&needed, mean, &layers, 1, DType::F64, &device);
    let batch = Batch::<Tape, MemoryStore> {
        x: x.clone().into(),
        chains: None,
        particles,
        epoch: 0,
        analytic_kl: false,
    };
    let mut chance = Stream::new(1, Purpose::new("chance"), [0, 0]);
    let noise = &mut Cycled(uniforms, 0);
    method.estimate(model, &mut learned, batch, noise, &mut chance)
}

/// Uniforms from a list, again and again.
struct Cycled<'a>(&'a [f32], usize);

impl Noise for Cycled<'_> {
    fn fill(&mut self, out: &mut [f32]) {
        for out in out {
            *out = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
    }
}
