//! What estimators are certified on: a model small enough to enumerate, and one datum of it, many times.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{Batch, Chains, Estimate, EstimateError, Learned, Method, Model};
use helmholtz_ops::Values;
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_samplers::{ChainStore, MemoryStore};

use crate::production::held;
use crate::{Enumerable, Exact, Tape, build, flat_gradient, store_of};

/// The datum's copies in one estimate.
const COPIES: usize = 2_000;

/// The same for estimators that differentiate twice, where a copy takes twenty times as long.
const FEWER: usize = 200;

/// A model with all that is known of one of its data by enumeration.
pub struct Subject<M> {
    /// The model.
    pub model: M,
    /// The datum's copies `[copies, visible]`.
    pub x: Tensor<Tape, 2>,
    /// p(h | x) of each state.
    posterior: Vec<f64>,
    /// A store with each state in a row.
    states: MemoryStore,
    /// ∇ of the ELBO.
    pub elbo: Vec<f64>,
    /// ∇ of the bound with two samples.
    pub bound_of_two: Vec<f64>,
    /// ∇ log p(x) and −∇_φ KL(p(h | x) ‖ q(h | x)).
    pub inclusive: Vec<f64>,
    /// The parameters of q among the flat ones.
    pub phi: std::ops::Range<usize>,
}

impl<M: Model<Tape>> Subject<M> {
    /// The production model of a reference, with its first datum.
    pub fn of<R: Enumerable<Production<Tape> = M>>(reference: &R) -> Self {
        let x = vec![1.0, 0.0, 1.0, 1.0];
        let exact = Exact::new(reference, &x);
        let states = exact.states.iter().collect::<Vec<_>>();
        Self {
            model: build::<Tape, R>(reference, DType::F64),
            x: copies(&x),
            posterior: exact.posterior(),
            states: store_of(reference, &states),
            elbo: exact.bound_gradient(1),
            bound_of_two: exact.bound_gradient(2),
            inclusive: exact.inclusive_gradient(),
            phi: reference.phi(),
        }
    }
}

fn copies(x: &[f64]) -> Tensor<Tape, 2> {
    let all = TensorData::new(x.repeat(COPIES), [COPIES, x.len()]);
    Tensor::from_data(all, (&Default::default(), DType::F64))
}

impl<M: Model<Tape>> Subject<M> {
    /// The same with a tenth of the copies, for estimators that differentiate twice.
    pub fn fewer(self) -> Self {
        let x = self.x.narrow(0, 0, FEWER);
        Self { x, ..self }
    }

    /// The same, estimated by the production model of another reference: what is known of this one is wrong for it.
    pub fn mistaken_for<R: Enumerable<Production<Tape> = M>>(self, other: &R) -> Self {
        let model = build::<Tape, R>(other, DType::F64);
        Self { model, ..self }
    }

    /// What the method may have learned: its parts at random values, and coefficients that start at 0 at another.
    pub fn learned(&self, method: &Method) -> Learned<Tape> {
        let mean = vec![0.3; self.x.dims()[1]];
        let (layers, device) = (self.model.layers(), Default::default());
        let learned = Learned::init(&method.controls(), || mean, &layers, 1, DType::F64, &device);
        let controls = learned
            .controls
            .map(|controls| controls.with_coefficients(0.8));
        Learned {
            controls,
            ..learned
        }
    }

    /// One estimate of the gradient, ascended, by whatever gives a loss.
    pub fn gradient(
        &self,
        estimate: impl FnOnce(&M, Tensor<Tape, 2>) -> Result<Estimate<Tape>, EstimateError>,
    ) -> Vec<f64> {
        let estimated = estimate(&self.model, self.x.clone()).expect("a valid estimate");
        let gradient = flat_gradient(&estimated.loss, &self.model);
        gradient.into_iter().map(|g| -g).collect()
    }

    /// One estimate by a method; a method with chains starts from draws of the posterior.
    pub fn estimate(
        &self,
        method: &Method,
        learned: &Learned<Tape>,
        particles: usize,
        stream: &mut Stream,
    ) -> Vec<f64> {
        self.with_chains(method.keeps_chains(), stream, |chains, noise, chance| {
            self.gradient(|model, x| {
                let batch = Batch {
                    x: Values::binary(x),
                    chains,
                    particles,
                    epoch: 0,
                    analytic_kl: false,
                };
                method.estimate(model, &mut held(learned), batch, noise, chance)
            })
        })
    }

    /// Hands out a chain for each copy, in stationarity, where chains are kept.
    pub fn with_chains<T>(
        &self,
        kept: bool,
        stream: &mut Stream,
        estimate: impl FnOnce(Option<Chains<'_, dyn ChainStore>>, &mut Stream, &mut Stream) -> T,
    ) -> T {
        let mut chance = Stream::new(
            stream.below(1 << 30).into(),
            Purpose::new("certify"),
            [0, 0],
        );
        if !kept {
            return estimate(None, stream, &mut chance);
        }
        let log: Vec<f64> = self.posterior.iter().map(|p| p.ln()).collect();
        let latents = self.states.latents();
        let copies = self.copies();
        let mut packed = vec![0; copies * latents.bytes_per_row()];
        for state in packed.chunks_exact_mut(latents.bytes_per_row()) {
            let row = stream.choose(&log).expect("a distribution") as u32;
            self.states.load(&[row], state).expect("a known state");
        }
        let rows: Vec<u32> = (0..copies as u32).collect();
        let mut store = MemoryStore::new(latents, copies).expect("few rows");
        store.store(&rows, &packed).expect("whole states");
        let chains = Chains::<dyn ChainStore> {
            store: &mut store,
            rows: &rows,
        };
        estimate(Some(chains), stream, &mut chance)
    }

    /// Copies of the datum in one estimate.
    pub fn copies(&self) -> usize {
        self.x.dims()[0]
    }
}
