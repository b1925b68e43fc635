//! The two blocks of a sweep, (μ, τ) and c, by learned, exact and prior laws.

use burn::tensor::Tensor;
use helmholtz_apg::{Block, Choices, Conditional, Draw, Joint, Particle, Update};
use helmholtz_distributions::{LogProb, Noise, NormalGamma, SampleReal};
use helmholtz_ops::Backend;
use helmholtz_random::Draws;

use crate::gmm::total;
use crate::{Gmm, GmmState};

/// Which law proposes a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// The net's.
    Learned,
    /// The exact conditional.
    Exact,
    /// The prior.
    Prior,
}

/// The global block η = (μ, τ) given c.
#[derive(Clone, Copy, Debug)]
pub struct Eta(pub Law);

impl<B: Backend, C: Draws + Noise> Conditional<B, Gmm<B>, C> for Eta {
    type Law = NormalGamma<B, 4>;

    fn name(&self) -> String {
        "eta".into()
    }

    fn law(&self, model: &Gmm<B>, x: &Tensor<B, 3>, z: &GmmState<B>) -> NormalGamma<B, 4> {
        match self.0 {
            Law::Learned => model.conditional_law(x, &z.assignment),
            Law::Exact => model.exact_law(x, &z.assignment),
            Law::Prior => model.prior(x),
        }
    }

    fn detach(&self, law: &NormalGamma<B, 4>) -> NormalGamma<B, 4> {
        law.detach()
    }

    fn sample(&self, law: &NormalGamma<B, 4>, z: &GmmState<B>, chance: &mut C) -> GmmState<B> {
        let (mean, precision) = law.sample(z.mean.dims(), chance);
        GmmState {
            precision,
            mean,
            assignment: z.assignment.clone(),
        }
    }

    fn log_prob(&self, law: &NormalGamma<B, 4>, z: &GmmState<B>) -> Tensor<B, 3> {
        total(law.log_prob((z.mean.clone(), z.precision.clone())))
    }

    fn log_target(&self, model: &Gmm<B>, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 3> {
        model.log_prior(x, z) + model.log_data(x, z).sum_dim(2)
    }
}

/// The local block c given η, a part for each datum.
#[derive(Clone, Copy, Debug)]
pub struct Assignments(pub Law);

impl<B: Backend, C: Draws + Noise> Conditional<B, Gmm<B>, C> for Assignments {
    type Law = Choices<B>;

    fn name(&self) -> String {
        "c".into()
    }

    fn law(&self, model: &Gmm<B>, x: &Tensor<B, 3>, z: &GmmState<B>) -> Choices<B> {
        match self.0 {
            Law::Learned => model.choices(x, &z.mean, &z.precision),
            Law::Exact => model.exact_choices(x, &z.mean, &z.precision),
            Law::Prior => Choices::new(z.assignment.zeros_like()),
        }
    }

    fn detach(&self, law: &Choices<B>) -> Choices<B> {
        law.detach()
    }

    fn sample(&self, law: &Choices<B>, z: &GmmState<B>, chance: &mut C) -> GmmState<B> {
        GmmState {
            assignment: law.sample(chance),
            ..z.clone()
        }
    }

    fn log_prob(&self, law: &Choices<B>, z: &GmmState<B>) -> Tensor<B, 3> {
        law.log_prob(&z.assignment)
    }

    fn log_target(&self, model: &Gmm<B>, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 3> {
        model.log_data(x, z)
    }

    /// The law of c is normalised once for all.
    fn propose(&self, law: &Choices<B>, z: &GmmState<B>, chance: &mut C) -> Draw<B, GmmState<B>> {
        let (assignment, log_prob, log_reverse) = law.propose(&z.assignment, chance);
        let state = GmmState {
            assignment,
            ..z.clone()
        };
        Draw {
            state: state.detach(),
            log_prob,
            log_reverse,
        }
    }
}

/// What a sweep consists of. Reweighted wake-sleep has none: its sampler has one sweep, the one-shot proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Amortized population Gibbs: η and c, each learned.
    Apg,
    /// The same as one block.
    ApgJoint,
    /// Exact conditionals, which weigh one: with a policy that never resamples, independent Gibbs chains.
    Gibbs,
    /// Block population Gibbs: η from its prior, c learned.
    Bpg,
}

impl Scheme {
    /// The blocks of a sweep.
    pub fn blocks<B, C>(self) -> Vec<&'static dyn Block<B, Gmm<B>, C>>
    where
        B: Backend,
        C: Draws + Noise,
    {
        match self {
            Self::Apg => vec![
                &Update(Eta(Law::Learned)),
                &Update(Assignments(Law::Learned)),
            ],
            Self::ApgJoint => vec![&Joint(
                Update(Eta(Law::Learned)),
                Update(Assignments(Law::Learned)),
            )],
            Self::Gibbs => vec![&Update(Eta(Law::Exact)), &Update(Assignments(Law::Exact))],
            Self::Bpg => vec![&Update(Eta(Law::Prior)), &Update(Assignments(Law::Learned))],
        }
    }
}
