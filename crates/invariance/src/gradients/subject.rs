//! What estimators are certified on: a model small enough to enumerate, and one datum of it, many times.

use std::ops::Range;

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{
    Batch, Chains, Declaration, Estimate, EstimateError, Estimator, Layered, Learned,
};
use helmholtz_ops::{Flex, Values};
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_samplers::{ChainStore, MemoryStore};

/// The backend that differentiates, in f64.
pub type Tape = Autodiff<Flex>;

/// The datum's copies in one estimate.
const COPIES: usize = 2_000;

/// The same for estimators that differentiate twice, where a copy takes twenty times as long.
const FEWER: usize = 200;

/// What is known exactly of one datum. Gradients are flat: all parameters in the order in which the model visits them.
#[derive(Clone, Debug)]
pub struct Facts {
    /// p(h | x) of each state.
    pub posterior: Vec<f64>,
    /// A store with each state in a row.
    pub states: MemoryStore,
    /// ∇ of the ELBO.
    pub elbo: Vec<f64>,
    /// ∇ of the bound with two samples.
    pub bound_of_two: Vec<f64>,
    /// ∇ log p(x) and −∇_φ KL(p(h | x) ‖ q(h | x)).
    pub inclusive: Vec<f64>,
    /// The parameters of q among the flat ones.
    pub phi: Range<usize>,
}

/// A model with all that is known of one of its data.
pub struct Subject<M> {
    /// The model.
    pub model: M,
    /// The datum's copies `[copies, visible]`.
    pub x: Tensor<Tape, 2>,
    facts: Facts,
    /// Whether the datum is bits.
    bits: bool,
}

impl<M> std::ops::Deref for Subject<M> {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.facts
    }
}

impl<M> Subject<M> {
    /// A model in f64, and what is known of the datum x.
    pub fn new(model: M, x: &[f64], facts: Facts) -> Self {
        let bits = x.iter().all(|&number| number == 0.0 || number == 1.0);
        let copies = TensorData::new(x.repeat(COPIES), [COPIES, x.len()]);
        let x = Tensor::from_data(copies, (&Default::default(), DType::F64));
        Self {
            model,
            x,
            facts,
            bits,
        }
    }

    /// The same with a tenth of the copies, for estimators that differentiate twice.
    pub fn fewer(self) -> Self {
        let x = self.x.narrow(0, 0, FEWER);
        Self { x, ..self }
    }

    /// The same, estimated by another model: what is known of this one is wrong for it.
    pub fn mistaken_for(self, other: M) -> Self {
        Self {
            model: other,
            ..self
        }
    }

    /// Copies of the datum in one estimate.
    pub fn copies(&self) -> usize {
        self.x.dims()[0]
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
}

impl<M: Module<Tape>> Subject<M> {
    /// One estimate of the gradient, ascended, by whatever gives a loss.
    pub fn gradient(
        &self,
        estimate: impl FnOnce(&M, Tensor<Tape, 2>) -> Result<Estimate<Tape>, EstimateError>,
    ) -> Vec<f64> {
        let estimated = estimate(&self.model, self.x.clone()).expect("a valid estimate");
        let gradient = flat_gradient(&estimated.loss, &self.model);
        gradient.into_iter().map(|g| -g).collect()
    }

    /// One estimate by an estimator; one with chains starts from draws of the posterior.
    pub fn estimate(
        &self,
        estimator: &impl Estimator<Tape, M>,
        learned: &Learned<Tape>,
        particles: usize,
        stream: &mut Stream,
    ) -> Vec<f64> {
        let kept = estimator.keeps_chains();
        self.with_chains(kept, stream, |chains, noise, chance| {
            self.gradient(|model, x| {
                let batch = Batch {
                    x: if self.bits {
                        Values::binary(x)
                    } else {
                        x.into()
                    },
                    chains,
                    particles,
                    epoch: 0,
                    analytic_kl: false,
                };
                estimator.estimate(model, &mut held(learned), batch, noise, chance)
            })
        })
    }
}

impl<M: Layered<Tape>> Subject<M> {
    /// What the estimator may have learned: its parts at random values, and coefficients that start at 0 at another.
    pub fn learned(&self, estimator: &impl Declaration) -> Learned<Tape> {
        let mean = vec![0.3; self.x.dims()[1]];
        let (layers, device) = (self.model.layers(), Default::default());
        let controls = estimator.controls();
        let learned = Learned::init(&controls, || mean, &layers, 1, DType::F64, &device);
        let controls = learned
            .controls
            .map(|controls| controls.with_coefficients(0.8));
        Learned {
            controls,
            ..learned
        }
    }
}

/// The same, its parameters held: burn 0.21 is slow to clear away graphs that nobody differentiates.
pub fn held(learned: &Learned<Tape>) -> Learned<Tape> {
    let controls = learned.controls.clone();
    Learned {
        controls: controls.map(|controls| controls.no_grad()),
        moments: learned.moments.clone(),
    }
}

/// The gradient of `loss` in all parameters of the model, in visiting order; zero where none reached.
pub fn flat_gradient<M: Module<Tape>>(loss: &Tensor<Tape, 1>, model: &M) -> Vec<f64> {
    struct Collect(<Tape as AutodiffBackend>::Gradients, Vec<f64>);
    impl ModuleVisitor<Tape> for Collect {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Tape, D>>) {
            match param.val().grad(&self.0) {
                Some(gradient) => self.1.extend(gradient.into_data().iter::<f64>()),
                None => self
                    .1
                    .resize(self.1.len() + param.val().shape().num_elements(), 0.0),
            }
        }
    }
    let mut collect = Collect(loss.backward(), vec![]);
    model.visit(&mut collect);
    collect.1
}

#[cfg(test)]
pub(super) mod tests {
    use helmholtz_samplers::Latents;

    use super::*;

    /// A datum of which five parameters have known gradients.
    pub(in super::super) fn without_model(phi: Range<usize>) -> Subject<()> {
        let latents = Latents::new(&[1]).expect("a bit");
        let facts = Facts {
            posterior: vec![0.5; 2],
            states: MemoryStore::new(&latents, 2).expect("two rows"),
            elbo: vec![1.0, 2.0, 3.0, 4.0, 5.0],
            bound_of_two: vec![0.0; 5],
            inclusive: vec![0.0; 5],
            phi,
        };
        Subject::new((), &[1.0], facts)
    }

    #[test]
    fn the_decisions_of_each_estimate_are_its_own() {
        let decision = |i: u64| {
            let mut stream = Stream::new(1, Purpose::new("test"), [i, 0]);
            without_model(0..3)
                .with_chains(false, &mut stream, |_, _, chance| chance.below(1 << 30))
        };
        assert_ne!(decision(0), decision(1));
        assert_eq!(decision(0), decision(0));
    }
}
