//! The stochastic feedforward network against enumeration: densities, the bound, and the gradients of estimators that claim to be
//! unbiased for it.

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param, list_param_ids};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_conditional_sbn::{ConfigError, Feedforward, FeedforwardConfig};
use helmholtz_estimators::{
    Batch, Factored, Joint, Layered, Learned, Method, Particles, Parts, Propose,
};
use helmholtz_ops::cat;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::MemoryStore;

type Ad = Autodiff<Flex>;

/// Two bits given three others, by way of 2 + 2 bits.
fn config() -> FeedforwardConfig {
    FeedforwardConfig {
        context: 3,
        target: 2,
        latent: vec![2, 2],
        hidden: vec![3],
        slope: 0.2,
        signed: true,
    }
}

fn model<B: helmholtz_ops::Backend>() -> Feedforward<B> {
    config().init(1, DType::F64, &Default::default()).unwrap()
}

fn tensor<B: helmholtz_ops::Backend>(rows: usize, values: Vec<f64>) -> Tensor<B, 2> {
    let shape = [rows, values.len() / rows];
    Tensor::from_data(
        TensorData::new(values, shape),
        (&Default::default(), DType::F64),
    )
}

/// One datum, so many times.
fn x<B: helmholtz_ops::Backend>(rows: usize) -> Tensor<B, 2> {
    tensor(rows, [1.0, 0.0, 1.0, 1.0, 0.0].repeat(rows))
}

/// Every path of bits, a row each.
fn paths<B: helmholtz_ops::Backend>() -> Particles<B> {
    let layer = |shift: usize| {
        let bit = |k: usize| ((k / 2) >> (shift + k % 2) & 1) as f64;
        tensor(16, (0..32).map(bit).collect())
    };
    Particles::new(vec![layer(0), layer(2)])
}

fn numbers<B: helmholtz_ops::Backend>(values: Tensor<B, 1>) -> Vec<f64> {
    values.into_data().to_vec().unwrap()
}

/// σ(±a) for the logits of a factored law, written out.
fn probability(logits: &[f64], bits: &[f64]) -> f64 {
    let each = logits.iter().zip(bits).map(|(a, b)| {
        let on = 1.0 / (1.0 + (-a).exp());
        if *b == 1.0 { on } else { 1.0 - on }
    });
    each.product()
}

#[test]
fn paths_have_a_law_and_log_weights_are_the_likelihood_of_the_target() {
    let model = model::<Flex>();
    let all = paths::<Flex>();
    let log_q = numbers(model.log_q(&model.encode(x(1)), &all));
    let sum: f64 = log_q.iter().map(|l| l.exp()).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");

    // p(h¹ | c) p(h² | h¹), from the layers' logits.
    let first: Vec<f64> = model.encode(x(1)).into_data().to_vec().unwrap();
    let layers: Vec<Vec<f64>> = all
        .layers()
        .iter()
        .map(|l| l.numbers().to_data().to_vec().unwrap())
        .collect();
    let above = model.logits_above(1, all.layers()[0].clone());
    let above: Vec<f64> = above.into_data().to_vec().unwrap();
    for (row, &log_q) in log_q.iter().enumerate() {
        let bits = |layer: usize| &layers[layer][2 * row..][..2];
        let expected = probability(&first, bits(0)) * probability(&above[2 * row..][..2], bits(1));
        assert!((log_q.exp() - expected).abs() < 1e-12);
    }

    let log_p = numbers(model.log_joint(x(1), &all));
    let likelihood = numbers(model.log_likelihood(x(1), &all));
    let factors = model.log_factors(x(1), &all);
    assert_eq!(factors.len(), 3);
    let sum = factors.into_iter().reduce(|a, b| a + b).unwrap();
    for ((p, q), (l, sum)) in log_p
        .iter()
        .zip(&log_q)
        .zip(likelihood.iter().zip(numbers(sum)))
    {
        assert!((p - q - l).abs() < 1e-12 && (p - sum).abs() < 1e-12);
    }
    // The target has a law, too: over its four values the evidences sum to one.
    let evidence = |target: [f64; 2]| -> f64 {
        let x = tensor(1, [&[1.0, 0.0, 1.0], target.as_slice()].concat());
        numbers(model.log_joint(x, &all))
            .iter()
            .map(|l| l.exp())
            .sum()
    };
    let targets = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    assert!((targets.map(evidence).iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn proposals_are_scored_as_any_particles_and_completions_keep_the_context() {
    let model = model::<Flex>();
    let mut noise = Stream::new(1, Purpose::new("propose"), [0, 0]);
    let encoded = model.encode(x(4));
    let proposals = model.propose(&encoded, None, 3, &mut noise);
    assert_eq!(proposals.particles.rows(), 12);
    let again = model.log_q(&encoded, &proposals.particles);
    assert_eq!(numbers(proposals.log_q), numbers(again));
    let completed = model.complete(x(4), 2, &mut noise);
    assert_eq!(completed.dims(), [8, 5]);
    let rows: Vec<f64> = completed.into_data().to_vec().unwrap();
    for row in rows.chunks(5) {
        assert_eq!(row[..3], [1.0, 0.0, 1.0]);
        assert!(row[3..].iter().all(|bit| [0.0, 1.0].contains(bit)));
    }
}

#[test]
fn a_slope_multiplies_the_logits_of_the_layers_alone() {
    let model = model::<Flex>();
    let steep = model.sloped(3.0).unwrap();
    let logits = |model: &Feedforward<Flex>| -> Vec<f64> {
        let above = model.logits_above(1, paths().layers()[0].clone());
        let all = cat(vec![model.encode(x(1)), above], 0);
        all.into_data().to_vec().unwrap()
    };
    for (plain, steep) in logits(&model).iter().zip(logits(&steep)) {
        assert!((3.0 * plain - steep).abs() < 1e-12);
    }
    let likelihood = |model: &Feedforward<Flex>| numbers(model.log_likelihood(x(1), &paths()));
    assert_eq!(likelihood(&model), likelihood(&steep));
    // What is annealed is the model: in its tests, too, and no other method's.
    let tested = |name: &str, epochs| {
        let method: Method = name.parse().unwrap();
        logits(&method.tested(model.clone(), epochs))
    };
    assert_eq!(
        tested("slope-annealed", 1000),
        logits(&model.sloped(5.0).unwrap())
    );
    assert_eq!(tested("slope-annealed", 1), logits(&model));
    assert_eq!(tested("straight-through", 1000), logits(&model));
}

/// The gradients of all parameters, one after the other; zeros where there is none.
struct Gradients<'a>(&'a <Ad as AutodiffBackend>::Gradients, Vec<f64>);

impl ModuleVisitor<Ad> for Gradients<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<Ad, D>>) {
        match parameter.val().grad(self.0) {
            Some(gradient) => self.1.extend(gradient.into_data().iter::<f64>()),
            None => self
                .1
                .extend(vec![0.0; parameter.val().shape().num_elements()]),
        }
    }
}

fn gradients(model: &Feedforward<Ad>, loss: Tensor<Ad, 1>) -> Vec<f64> {
    let gradients = loss.backward();
    let mut all = Gradients(&gradients, Vec::new());
    model.visit(&mut all);
    all.1
}

/// ∇ of Σ_h p(h | c) log p(t | h).
fn exact(model: &Feedforward<Ad>) -> Vec<f64> {
    let all = paths::<Ad>();
    let law = model.log_q(&model.encode(x(1)), &all).exp();
    let mean = (law * model.log_likelihood(x(1), &all)).sum();
    gradients(model, mean.neg())
}

/// Means over estimates and their standard errors, a parameter each. An estimate is that of a batch of copies of the datum.
fn estimated(name: &str, model: &Feedforward<Ad>) -> Vec<(f64, f64)> {
    const ESTIMATES: usize = 200;
    const COPIES: usize = 100;
    let method: Method = name.parse().unwrap();
    let mean = || vec![0.5; 5];
    let device = Default::default();
    let mut learned: Learned<Ad> = Learned::init(
        &method.controls(),
        mean,
        &model.layers(),
        1,
        DType::F64,
        &device,
    );
    let (mut sums, mut squares) = (Vec::new(), Vec::new());
    for estimate in 0..ESTIMATES {
        let mut noise = Stream::new(7, Purpose::new("estimate"), [estimate as u64, 0]);
        let mut chance = Stream::new(7, Purpose::new("chance"), [estimate as u64, 0]);
        let batch = Batch {
            x: x(COPIES).into(),
            chains: None::<helmholtz_estimators::Chains<'_, MemoryStore>>,
            particles: method.least_particles(false).max(1),
            epoch: 0,
            analytic_kl: false,
        };
        // A normalisation would scale the gradient by what earlier batches gave.
        learned
            .moments
            .iter_mut()
            .for_each(|moments| *moments = Default::default());
        let made = method.estimate(model, &mut learned, batch, &mut noise, &mut chance);
        let made = made.unwrap();
        let gradient = gradients(model, made.loss);
        // A tape that is not gone back over is kept.
        made.controls.map(|objective| objective.backward());
        sums.resize(gradient.len(), 0.0);
        squares.resize(gradient.len(), 0.0);
        for (k, g) in gradient.into_iter().enumerate() {
            sums[k] += g;
            squares[k] += g * g;
        }
    }
    let n = ESTIMATES as f64;
    let of = |(sum, square): (f64, f64)| {
        let mean = sum / n;
        (
            mean,
            ((square / n - mean * mean).max(0.0) / (n - 1.0)).sqrt(),
        )
    };
    sums.into_iter().zip(squares).map(of).collect()
}

/// The largest |mean · scale − exact| in standard errors.
fn worst(estimated: &[(f64, f64)], exact: &[f64], scale: f64) -> f64 {
    let pairs = estimated.iter().zip(exact);
    let z = pairs.map(|((mean, error), exact)| {
        let off = (mean * scale - exact).abs();
        if off < 1e-12 { 0.0 } else { off / error }
    });
    z.fold(0.0, f64::max)
}

/// False-alarm rate below 1e-6 in all: 7 estimators of 54 parameters each, and a two-sided level below 2e-9 beyond 6.5 standard
/// errors (t, 199 degrees of freedom). The twins are gradients 15 % too small.
#[test]
fn estimators_of_the_elbo_ascend_the_mean_log_likelihood_of_the_target() {
    let model = model::<Ad>();
    let exact = exact(&model);
    for name in [
        "reinforce",
        "nvil",
        "muprop",
        "arm",
        "disarm",
        "rebar",
        "rloo",
    ] {
        let estimated = estimated(name, &model);
        let z = worst(&estimated, &exact, 1.0);
        assert!(z < 6.5, "{name}: {z}");
        let twin = worst(&estimated, &exact, 0.85);
        assert!(
            twin > 6.5,
            "{name}: a gradient 15 % too small passes, {twin}"
        );
    }
}

/// A factor is not where its layer is: the likelihood of the target would be missing from the upper layer's signal.
#[test]
fn the_factor_of_the_target_is_among_those_of_every_layer() {
    let model = model::<Flex>();
    let factors = model.log_factors(x(1), &paths());
    let likelihood = numbers(model.log_likelihood(x(1), &paths()));
    assert_eq!(
        numbers(factors.into_iter().next_back().unwrap()),
        likelihood
    );
}

#[test]
fn parts_are_told_apart_and_sizes_are_those_of_the_slides() {
    let device = Default::default();
    let count = |name: &str| {
        let config = FeedforwardConfig::named(name).unwrap();
        let model: Feedforward<Flex> = config.init(1, DType::F32, &device).unwrap();
        // The layers of the latents, then that of the target.
        let (p, q) = (model.generative(), model.inference());
        assert_eq!(list_param_ids::<_, Flex>(&model), [&q[..], &p].concat());
        let weights = 2 * (1 + config.hidden.len());
        assert_eq!((q.len(), p.len()), (2 * weights, weights));
        model.num_params()
    };
    let signed = |name| FeedforwardConfig::named(name).unwrap().signed;
    assert!(signed("feedforward-linear") && !signed("feedforward"));
    let deep = (392 * 300 + 300) + (300 * 200 + 200) + (200 * 300 + 300) + (300 * 200 + 200);
    assert_eq!(
        count("feedforward"),
        deep + (200 * 300 + 300) + (300 * 392 + 392)
    );
    let linear = (392 * 200 + 200) + (200 * 200 + 200) + (200 * 392 + 392);
    assert_eq!(count("feedforward-linear"), linear);
    assert_eq!(FeedforwardConfig::named("feedforward-300"), None);
    let refused = FeedforwardConfig {
        latent: vec![2, 0],
        ..config()
    };
    let refused = refused.init::<Flex>(1, DType::F32, &device);
    assert_eq!(
        refused.map(|_| ()).unwrap_err(),
        ConfigError::EmptyLayer { layer: "latent" }
    );
    let refused = FeedforwardConfig {
        slope: -0.2,
        ..config()
    };
    let refused = refused.init::<Flex>(1, DType::F32, &device);
    assert_eq!(
        refused.map(|_| ()).unwrap_err(),
        ConfigError::Slope { slope: -0.2 }
    );
}
