//! The model: its density, and the laws of its latents.

use std::f64::consts::{PI, TAU};

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use helmholtz_apg::{Choices, Model, OneShot, Proposal, particle};
use helmholtz_distributions::{LogProb, Noise, Normal, SampleReal};
use helmholtz_nets::{Net, TanhNet};
use helmholtz_ops::Backend;
use helmholtz_random::Draws;

use crate::Places;
use crate::centres::Centres;

particle! {
    /// The latents of a deep mixture.
    pub struct DmmState<B> {
        /// μ `[L, B, M, 2]`
        mean: 4,
        /// c, one-hot `[L, B, N, M]`
        assignment: 4,
        /// h in (0, 1), a part of a turn `[L, B, N, 1]`
        angle: 4,
    }
}

/// Rings of a learned shape at M centres, and the nets that propose where they are and which datum lies where.
#[derive(Module, Debug)]
pub struct Dmm<B: burn::tensor::backend::Backend> {
    /// q(μ | x), of x_n.
    pub(crate) one_shot: Centres<B>,
    /// q(μ | x, c, h), of (x_n, c_n, h_n).
    pub(crate) conditional: Centres<B>,
    /// Logits of c_n = m from x_n − μ_m.
    pub(crate) affinity: Net<B>,
    /// ln a and ln b of h_n from x_n − μ_{c_n}.
    pub(crate) angle: [TanhNet<B>; 2],
    /// u from 2π h.
    pub(crate) decoder: TanhNet<B>,
    /// R `[1]`.
    pub(crate) radius: Param<Tensor<B, 1>>,
    pub(crate) clusters: usize,
    pub(crate) spread: f64,
    pub(crate) noise: f64,
}

/// Sums over the last two dimensions: `[L, B, ..]` to `[L, B, 1]`.
pub(crate) fn total<B: Backend>(values: Tensor<B, 4>) -> Tensor<B, 3> {
    values.flatten::<3>(2, 3).sum_dim(2)
}

impl<B: Backend> Dmm<B> {
    /// M.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// R.
    pub fn radius(&self) -> f64 {
        let radius = self.radius.val().into_data();
        radius.iter::<f64>().sum::<f64>().abs()
    }

    /// p(μ), parameters `[1, 1, 1, 1]`.
    pub(crate) fn prior(&self, x: &Tensor<B, 3>) -> Normal<B, 4> {
        let like = (&x.device(), x.dtype());
        Normal {
            mean: Tensor::zeros([1, 1, 1, 1], like),
            deviation: Tensor::full([1, 1, 1, 1], self.spread, like),
        }
    }

    /// q(μ | x), the same for all particles: parameters `[1, B, M, 2]`.
    pub fn one_shot_law(&self, x: &Tensor<B, 3>) -> Normal<B, 4> {
        self.one_shot.law(x.clone().unsqueeze())
    }

    /// q(μ | x, c, h): parameters `[L, B, M, 2]`.
    pub fn conditional_law(&self, x: &Tensor<B, 3>, z: &DmmState<B>) -> Normal<B, 4> {
        let [particles, instances, data, _] = z.assignment.dims();
        let x = x.clone().unsqueeze::<4>();
        let x = x.expand([particles, instances, data, 2]);
        let features = vec![x, z.assignment.clone(), z.angle.clone()];
        self.conditional.law(Tensor::cat(features, 3))
    }

    /// q(c, h | x, μ).
    pub fn places(&self, x: &Tensor<B, 3>, mean: &Tensor<B, 4>) -> Places<B> {
        let [particles, instances, m, _] = mean.dims();
        let data = x.dims()[1];
        let from = mean.clone().unsqueeze_dim::<5>(2);
        let to = x.clone().unsqueeze::<4>().unsqueeze_dim::<5>(3);
        let displacements = (to - from).reshape([particles * instances * data * m, 2]);
        let logits = self.affinity.forward(displacements);
        Places {
            choices: Choices::new(logits.reshape([particles, instances, data, m])),
            angle: self.angle.clone(),
            x: x.clone(),
            mean: mean.clone(),
        }
    }

    /// g_θ(h), for h `[.., 1]`: `[.., 2]`.
    pub fn decode(&self, angle: &Tensor<B, 4>) -> Tensor<B, 4> {
        let u = self.decoder.forward(angle.clone() * TAU);
        let length = (u.clone().square().sum_dim(3) + 1e-12).sqrt();
        u / length * self.radius.val().unsqueeze()
    }

    /// log p(x_n, c_n, h_n | μ), nats: `[L, B, N]`. h has density 1.
    pub(crate) fn log_data(&self, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 3> {
        let own = z.assignment.clone().matmul(z.mean.clone());
        let error = x.clone().unsqueeze::<4>() - own - self.decode(&z.angle);
        let squares = error.square().sum_dim(3).squeeze_dim::<3>(3);
        let variance = self.noise * self.noise;
        let constant = (2.0 * PI * variance).ln() + (self.clusters as f64).ln();
        squares * (-0.5 / variance) - constant
    }

    /// log p(μ), nats: `[L, B, 1]`.
    pub(crate) fn log_prior(&self, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 3> {
        total(self.prior(x).log_prob(z.mean.clone()))
    }
}

impl<B: Backend> Model<B> for Dmm<B> {
    /// `[B, N, 2]`
    type Data = Tensor<B, 3>;
    type State = DmmState<B>;

    fn log_joint(&self, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 2> {
        (self.log_prior(x, z) + self.log_data(x, z).sum_dim(2)).squeeze_dim(2)
    }
}

impl<B: Backend, C: Draws + Noise> OneShot<B, C> for Dmm<B> {
    /// μ given x, then (c, h) given both by the same nets that the sweeps use.
    fn propose(
        &self,
        x: &Tensor<B, 3>,
        particles: usize,
        chance: &mut C,
    ) -> Proposal<B, DmmState<B>> {
        let law = self.one_shot_law(x);
        let mean = law.sample([particles, x.dims()[0], self.clusters, 2], chance);
        let log_mean = total(law.log_prob(mean.clone()));
        let places = self.places(x, &mean);
        let (assignment, angle) = places.sample(chance);
        let log_places = places.log_prob(&assignment, &angle).sum_dim(2);
        Proposal {
            state: DmmState {
                mean,
                assignment,
                angle,
            },
            log_q: (log_mean + log_places).squeeze_dim(2),
        }
    }
}
