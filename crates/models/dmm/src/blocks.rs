//! The two blocks of a sweep, μ and (c, h).

use burn::tensor::Tensor;
use helmholtz_apg::{Block, Conditional, Draw, Update};
use helmholtz_distributions::{LogProb, Noise, Normal, SampleReal};
use helmholtz_ops::Backend;
use helmholtz_random::Draws;

use crate::dmm::total;
use crate::{Dmm, DmmState, Places};

/// Which law proposes the centres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// The nets'.
    Learned,
    /// The prior.
    Prior,
}

/// The global block μ given (c, h).
#[derive(Clone, Copy, Debug)]
pub struct Mu(pub Law);

impl<B: Backend, C: Draws + Noise> Conditional<B, Dmm<B>, C> for Mu {
    type Law = Normal<B, 4>;

    fn name(&self) -> String {
        "mu".into()
    }

    fn law(&self, model: &Dmm<B>, x: &Tensor<B, 3>, z: &DmmState<B>) -> Normal<B, 4> {
        match self.0 {
            Law::Learned => model.conditional_law(x, z),
            Law::Prior => model.prior(x),
        }
    }

    fn detach(&self, law: &Normal<B, 4>) -> Normal<B, 4> {
        Normal {
            mean: law.mean.clone().detach(),
            deviation: law.deviation.clone().detach(),
        }
    }

    fn sample(&self, law: &Normal<B, 4>, z: &DmmState<B>, chance: &mut C) -> DmmState<B> {
        DmmState {
            mean: law.sample(z.mean.dims(), chance),
            ..z.clone()
        }
    }

    fn log_prob(&self, law: &Normal<B, 4>, z: &DmmState<B>) -> Tensor<B, 3> {
        total(law.log_prob(z.mean.clone()))
    }

    fn log_target(&self, model: &Dmm<B>, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 3> {
        model.log_prior(x, z) + model.log_data(x, z).sum_dim(2)
    }

    /// g_θ(h) is computed once for both.
    fn log_targets(
        &self,
        [model, _]: [&Dmm<B>; 2],
        x: &Tensor<B, 3>,
        [new, old]: [&DmmState<B>; 2],
    ) -> [Tensor<B, 3>; 2] {
        let place = model.decode(&new.angle);
        let at = |z: &DmmState<B>, place: Tensor<B, 4>| {
            model.log_prior(x, z) + model.log_data_from(x, z, place).sum_dim(2)
        };
        [at(new, place.clone()), at(old, place.detach())]
    }
}

/// The local block (c, h) given μ, a part for each datum.
#[derive(Clone, Copy, Debug)]
pub struct Points;

impl<B: Backend, C: Draws + Noise> Conditional<B, Dmm<B>, C> for Points {
    type Law = Places<B>;

    fn name(&self) -> String {
        "c, h".into()
    }

    fn law(&self, model: &Dmm<B>, x: &Tensor<B, 3>, z: &DmmState<B>) -> Places<B> {
        model.places(x, &z.mean)
    }

    fn detach(&self, law: &Places<B>) -> Places<B> {
        law.detach()
    }

    fn sample(&self, law: &Places<B>, z: &DmmState<B>, chance: &mut C) -> DmmState<B> {
        self.propose(law, z, chance).state
    }

    /// The law of h given c is computed once for the draw and its density, that of c for all.
    fn propose(&self, law: &Places<B>, z: &DmmState<B>, chance: &mut C) -> Draw<B, DmmState<B>> {
        law.propose(z, chance)
    }

    fn log_prob(&self, law: &Places<B>, z: &DmmState<B>) -> Tensor<B, 3> {
        law.log_prob(&z.assignment, &z.angle)
    }

    fn log_target(&self, model: &Dmm<B>, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 3> {
        model.log_data(x, z)
    }
}

/// What a sweep consists of. Reweighted wake-sleep has none: its sampler has one sweep, the one-shot proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Amortized population Gibbs: μ and (c, h), each learned.
    Apg,
    /// Block population Gibbs: μ from its prior, (c, h) learned.
    Bpg,
}

impl Scheme {
    /// The blocks of a sweep.
    pub fn blocks<B, C>(self) -> Vec<&'static dyn Block<B, Dmm<B>, C>>
    where
        B: Backend,
        C: Draws + Noise,
    {
        match self {
            Self::Apg => vec![&Update(Mu(Law::Learned)), &Update(Points)],
            Self::Bpg => vec![&Update(Mu(Law::Prior)), &Update(Points)],
        }
    }
}
