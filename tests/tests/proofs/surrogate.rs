//! The backward pass of every method: the gradient of the surrogate loss with samples and coefficients frozen, by central
//! differences, on networks with deterministic layers too.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{
    Chains, Coefficient, Dream, Joint, Particles, Propose, Weighting, estimate,
};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{ChainStore, Latents, MemoryStore};
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Inner, Tape, flat_gradient, weighted};

const TEST: Purpose = Purpose::new("surroga");
const PARTICLES: usize = 3;

fn network() -> SbnConfig {
    SbnConfig {
        visible: 5,
        latent: vec![3, 2],
        hidden: vec![4, 3],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::FanIn,
    }
}

fn x<B: helmholtz_ops::Backend>() -> Tensor<B, 2> {
    let x = [1.0f64, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0];
    let data = TensorData::new(x.to_vec(), [2, 5]);
    Tensor::from_data(data, (&Default::default(), DType::F64))
}

fn chains() -> MemoryStore {
    let latents = Latents::new(&[3, 2]).unwrap();
    let mut store = MemoryStore::new(&latents, 2).unwrap();
    store.store(&[0, 1], &[0b01001, 0b10110]).unwrap();
    store
}

/// Adds `by` to parameter `at` in visiting order.
struct Nudge {
    at: Option<usize>,
    by: f64,
}

impl ModuleMapper<Inner> for Nudge {
    fn map_float<const D: usize>(
        &mut self,
        param: Param<Tensor<Inner, D>>,
    ) -> Param<Tensor<Inner, D>> {
        param.map(|tensor| {
            let count = tensor.shape().num_elements();
            let here = self.at.filter(|&at| at < count);
            self.at = self.at.and_then(|at| at.checked_sub(count));
            let Some(here) = here else { return tensor };
            let (shape, device) = (tensor.shape(), tensor.device());
            let mut values = tensor.into_data().to_vec::<f64>().unwrap();
            values[here] += self.by;
            Tensor::from_data(TensorData::new(values, shape), (&device, DType::F64))
        })
    }
}

/// What an estimate froze.
struct Frozen {
    particles: Particles<Inner>,
    coefficients: Vec<Coefficient>,
    dreams: Option<(Tensor<Inner, 2>, Particles<Inner>)>,
}

impl Frozen {
    /// Proposes and weighs with the same draws as the production does, datum by datum.
    fn new(method: &dyn Weighting, model: &Sbn<Inner>, retained: bool) -> Self {
        let (mut noise, mut coins) = streams();
        let kept = retained.then(|| {
            let layers = chains().latents().unpack(&[0b01001, 0b10110]).unwrap();
            let layers = layers.into_iter().zip([3, 2]).map(|(values, bits)| {
                Tensor::from_data(
                    TensorData::new(values, [2, bits]),
                    (&Default::default(), DType::F64),
                )
            });
            Particles::new(layers.collect())
        });
        let count = method.proposals(PARTICLES, retained);
        let proposals = model.propose(&model.encode(x()), kept, count, &mut noise);
        let log_p = model.log_joint(x(), &proposals.particles);
        let log_w = (log_p - proposals.log_q)
            .into_data()
            .to_vec::<f64>()
            .unwrap();
        let mut coefficients = vec![Coefficient::default(); log_w.len()];
        let centre = match method.centres() {
            true => log_w.iter().sum::<f64>() / log_w.len() as f64,
            false => 0.0,
        };
        for b in 0..2 {
            let own: Vec<f64> = log_w[b..].iter().step_by(2).map(|l| l - centre).collect();
            let mut given = vec![Coefficient::default(); own.len()];
            method.weigh(&own, retained, &mut coins, &mut given);
            let places = coefficients[b..].iter_mut().step_by(2);
            places.zip(given).for_each(|(place, given)| *place = given);
        }
        Self {
            particles: proposals.particles,
            coefficients,
            dreams: method.sleeps().then(|| {
                let (x, causes) = model.dream(x(), &mut noise);
                (x.numbers(), causes)
            }),
        }
    }

    /// Σ coefficient · log-density under the parameters of `model`.
    fn surrogate(&self, model: &Sbn<Inner>) -> f64 {
        let host = |tensor: Tensor<Inner, 1>| tensor.into_data().to_vec::<f64>().unwrap();
        let log_p = host(model.log_joint(x(), &self.particles));
        let log_q = host(model.log_q(&model.encode(x()), &self.particles));
        let terms = self.coefficients.iter().zip(log_p.iter().zip(&log_q));
        let weighted: f64 = terms.map(|(c, (p, q))| c.theta * p + c.phi * q).sum();
        let asleep = self.dreams.as_ref().map_or(0.0, |(x, h)| {
            host(model.log_q(&model.encode(x.clone()), h)).iter().sum()
        });
        -(weighted + asleep) / 2.0
    }
}

fn streams() -> (Stream, Stream) {
    (Stream::new(1, TEST, [0, 0]), Stream::new(1, TEST, [0, 1]))
}

/// The production's loss and its gradient in all parameters.
fn production(method: &dyn Weighting, model: &Sbn<Tape>, retained: bool) -> (f64, Vec<f64>) {
    let (mut noise, mut coins) = streams();
    let mut store = chains();
    let chains = retained.then_some(Chains {
        store: &mut store,
        rows: &[0, 1],
    });
    let estimated = estimate(
        method,
        model,
        x(),
        chains,
        PARTICLES,
        &mut noise,
        &mut coins,
    );
    let loss = estimated.unwrap().loss;
    let gradient = flat_gradient(&loss, model);
    (loss.into_data().to_vec::<f64>().unwrap()[0], gradient)
}

#[test]
fn backward_is_the_derivative_of_the_surrogate_with_samples_frozen() {
    let device = Default::default();
    let taped = network().init::<Tape>(1, DType::F64, &device).unwrap();
    let plain = network().init::<Inner>(1, DType::F64, &device).unwrap();
    for (name, method) in weighted() {
        for retained in [false, true] {
            if retained && !method.keeps_chains() {
                continue;
            }
            let frozen = Frozen::new(method, &plain, retained);
            let (loss, gradient) = production(method, &taped, retained);
            assert!((loss - frozen.surrogate(&plain)).abs() < 1e-12, "{name}");
            let step = 1e-5;
            let moved = |at: usize, by: f64| {
                let mut nudge = Nudge { at: Some(at), by };
                frozen.surrogate(&plain.clone().map(&mut nudge))
            };
            let expected: Vec<f64> = (0..gradient.len())
                .map(|at| (moved(at, step) - moved(at, -step)) / (2.0 * step))
                .collect();
            let error = relative_error(&gradient, &expected);
            assert!(error < 1e-6, "{name}, retained {retained}: {error}");
        }
    }
}
