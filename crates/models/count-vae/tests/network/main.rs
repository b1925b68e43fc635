//! The model against a version in plain f64, one number at a time; what estimators do with it; and training to its end.

mod training;
mod written_out;

use burn::module::{Module, ModuleVisitor, Param, list_param_ids};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use burn_flex::Flex;
use helmholtz_count_vae::{ConfigError, CountVae, CountVaeConfig};
use helmholtz_estimators::{
    Chains, Dream, EstimateError, Factored, Joint, Jsa, Particles, Parts, Propose, estimate,
};
use helmholtz_ops::Values;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::MemoryStore;

use written_out::WrittenOut;

/// All parameters in visiting order.
pub fn parameters<B: Backend>(model: &impl Module<B>) -> Vec<Vec<f64>> {
    struct Collect(Vec<Vec<f64>>);
    impl<B: Backend> ModuleVisitor<B> for Collect {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.push(param.val().into_data().iter().collect());
        }
    }
    let mut collect = Collect(vec![]);
    model.visit(&mut collect);
    collect.0
}

/// Six visible bits and three counts.
pub fn small(trials: Option<u32>) -> CountVaeConfig {
    CountVaeConfig {
        visible: 6,
        variables: 3,
        trials,
        hidden: vec![5, 4],
        slope: 0.3,
        learned_prior: false,
    }
}

fn built(config: &CountVaeConfig) -> CountVae<Flex> {
    config.init(2, DType::F64, &Default::default()).unwrap()
}

fn stream(at: u64) -> Stream {
    Stream::new(2, Purpose::new("test"), [0, at])
}

fn tensor(rows: &[Vec<f64>]) -> Tensor<Flex, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, (&Default::default(), DType::F64))
}

fn numbers<const D: usize>(tensor: Tensor<Flex, D>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

fn rows(values: &Values<Flex>) -> Vec<Vec<f64>> {
    let width = values.dims()[1];
    let values = numbers(values.clone().numbers());
    values.chunks(width).map(<[f64]>::to_vec).collect()
}

const KINDS: [Option<u32>; 3] = [None, Some(1), Some(8)];

#[test]
fn densities_are_as_written_out_by_hand() {
    let x = [vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0], vec![0.0; 6]];
    let h = [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0; 3], [1.0, 0.0, 1.0]];
    let high = [[3.0, 1.0, 0.0], [8.0, 2.0, 5.0], [0.0; 3], [1.0, 0.0, 7.0]];
    for trials in KINDS {
        let config = small(trials);
        let (model, h) = (built(&config), if trials == Some(1) { h } else { high });
        let by_hand = WrittenOut::new(&config, &model);
        // Row n is particle n / 2 of datum n mod 2.
        let particles = Particles::new(vec![tensor(&h.map(Vec::from))]);
        let log_p = numbers(model.log_joint(tensor(&x), &particles));
        let log_q = numbers(model.log_q(&model.encode(tensor(&x)), &particles));
        for n in 0..4 {
            let (p, q) = (
                by_hand.log_p(&x[n % 2], &h[n]),
                by_hand.log_q(&x[n % 2], &h[n]),
            );
            assert!(
                (log_p[n] - p).abs() < 1e-11,
                "{trials:?}: {}, {p}",
                log_p[n]
            );
            assert!(
                (log_q[n] - q).abs() < 1e-11,
                "{trials:?}: {}, {q}",
                log_q[n]
            );
        }
    }
}

/// A learned prior starts at the fixed one.
#[test]
fn a_learned_prior_starts_at_the_fixed_one_and_is_of_p() {
    for trials in KINDS {
        let config = small(trials);
        let learned = CountVaeConfig {
            learned_prior: true,
            ..config.clone()
        };
        let h = Particles::new(vec![tensor(&[vec![1.0, 0.0, 1.0]])]);
        let x = || tensor(&[vec![1.0; 6]]);
        let of = |config: &CountVaeConfig| numbers(built(config).log_joint(x(), &h))[0];
        assert_eq!(of(&config), of(&learned));
        let model = built(&learned);
        let logits = model.prior_logits(x(), &h);
        assert_eq!(numbers(logits[0].clone()), [0.0; 3]);
        // Three layers up and three down, of weights and biases; the prior is drawn last.
        let (p, q) = (model.generative(), model.inference());
        assert_eq!(list_param_ids::<_, Flex>(&model), [&q[..], &p].concat());
        assert_eq!((q.len(), p.len()), (6, 7));
        assert_eq!(Parts::<Flex>::learned_prior(&model), p[6..]);
    }
}

/// The means over many dreams are those of the prior, within six standard errors.
#[test]
fn dreams_have_the_counts_of_the_prior() {
    for (trials, mean, variance) in [(None, 1.0, 1.0), (Some(8), 4.0, 2.0)] {
        let model = built(&small(trials));
        let x = tensor(&vec![vec![0.0; 6]; 4000]);
        let (bits, h) = model.dream(x, &mut stream(1));
        let counts = rows(&h.layers()[0]).concat();
        let found = counts.iter().sum::<f64>() / counts.len() as f64;
        let bound = 6.0 * f64::sqrt(variance / counts.len() as f64);
        assert!((found - mean).abs() < bound, "{found}");
        assert!(counts.iter().all(|k| k.fract() == 0.0 && *k >= 0.0));
        assert!(rows(&bits).concat().iter().all(|&b| b == 0.0 || b == 1.0));
    }
}

#[test]
fn chains_of_counts_are_refused_with_an_error() {
    let model = built(&small(None));
    let latents = model.latents();
    let mut store = MemoryStore::new(&latents, 2).unwrap();
    store_zeros(&mut store);
    let chains = Chains {
        store: &mut store,
        rows: &[0, 1],
    };
    let x = tensor(&[vec![1.0; 6], vec![0.0; 6]]);
    let (mut noise, mut chance) = (stream(3), stream(4));
    let refused = estimate(
        &Jsa::MIS,
        &model,
        x,
        Some(chains),
        2,
        &mut noise,
        &mut chance,
    );
    let error: EstimateError = refused.unwrap_err();
    assert!(error.to_string().contains("3 f32"), "{error}");
}

fn store_zeros(store: &mut MemoryStore) {
    use helmholtz_samplers::ChainStore;
    let zeros = vec![0; 2 * store.latents().bytes_per_row()];
    store.store(&[0, 1], &zeros).unwrap();
}

#[test]
fn binomial_counts_are_of_eight_trials_in_the_same_net() {
    let expected = CountVaeConfig {
        variables: 30,
        trials: Some(8),
        ..CountVaeConfig::poisson()
    };
    assert_eq!(CountVaeConfig::binomial(30), expected);
    assert_eq!(CountVaeConfig::poisson().variables, 200);
}

#[test]
fn what_describes_no_model_is_an_error() {
    let wrong = |change: fn(&mut CountVaeConfig)| {
        let mut config = small(Some(3));
        change(&mut config);
        config
            .init::<Flex>(1, DType::F32, &Default::default())
            .unwrap_err()
    };
    let empty = |layer| ConfigError::EmptyLayer { layer };
    assert_eq!(wrong(|c| c.visible = 0), empty("visible"));
    assert_eq!(wrong(|c| c.variables = 0), empty("variables"));
    assert_eq!(wrong(|c| c.hidden = vec![3, 0]), empty("hidden"));
    assert_eq!(wrong(|c| c.trials = Some(0)), ConfigError::NoTrials);
    assert_eq!(
        wrong(|c| c.slope = -1.0),
        ConfigError::Slope { slope: -1.0 }
    );
}
