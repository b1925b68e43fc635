//! The model: its density, and the laws of its latents.

use std::f64::consts::{PI, TAU};

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use helmholtz_apg::{Choices, Model, OneShot, Proposal, Rescore};
use helmholtz_distributions::{LogProb, Noise, Normal, SampleReal};
use helmholtz_nets::Net;
use helmholtz_ops::{
    Activation, Backend, additive_scores, directions, linear, side_by_side, squared_norms,
};
use helmholtz_random::Draws;

use crate::centres::Centres;
use crate::state::displacements;
use crate::{DmmState, Places};

/// Rings of a learned shape at M centres, and the nets that propose where they are and which datum lies where.
#[derive(Module, Debug)]
pub struct Dmm<B: burn::tensor::backend::Backend> {
    /// q(μ | x), of x_n.
    pub(crate) one_shot: Centres<B>,
    /// q(μ | x, c, h), of (x_n, c_n, h_n), or of (x_n, c_n).
    pub(crate) conditional: Centres<B>,
    /// Logits of c_n = m from x_n − μ_m.
    pub(crate) affinity: Net<B>,
    /// ln a and ln b of h_n from x_n − μ_{c_n}.
    pub(crate) angle: [Net<B>; 2],
    /// u from 2π h.
    pub(crate) decoder: Net<B>,
    /// R `[1]`.
    pub(crate) radius: Param<Tensor<B, 1>>,
    pub(crate) clusters: usize,
    pub(crate) spread: f64,
    pub(crate) noise: f64,
    pub(crate) reads_angles: bool,
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

    /// |R|: its sign turns the decoder's direction about, and is never told.
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
        let [particles, instances, data, m] = z.assignment.dims();
        let d = x.dims()[2];
        let rows = |latent: &Tensor<B, 4>, width| latent.clone().reshape([-1, width as i32]);
        let mut features = vec![x.clone().reshape([-1, d as i32]), rows(&z.assignment, m)];
        if self.reads_angles {
            features.push(rows(&z.angle, 1));
        }
        let features = side_by_side(features);
        let width = features.dims()[1];
        let features = features.reshape([particles, instances, data, width]);
        self.conditional.law(features)
    }

    /// q(c, h | x, μ), for x `[B, N, 2]` and μ `[L, B, M, 2]`.
    pub fn places(&self, x: &Tensor<B, 3>, mean: &Tensor<B, 4>) -> Places<B> {
        let [hidden, output] = self.affinity.layers() else {
            unreachable!("the net for c has one hidden layer")
        };
        let ([particles, instances, m, d], data) = (mean.dims(), x.dims()[1]);
        let (weight, units) = (hidden.weight.val(), hidden.bias.val().dims()[0]);
        // A linear layer on x − μ is a difference of one on x and one on μ: N + M rows instead of N M.
        let queries = x.clone().reshape([instances * data, d]);
        let queries = linear(queries, weight.clone(), hidden.bias.val());
        let keys = mean.clone().reshape([particles * instances * m, d]);
        let scores = additive_scores(
            queries.reshape([instances, data, units]),
            keys.matmul(weight.neg())
                .reshape([particles * instances, m, units]),
            output.weight.val().reshape([units]),
            Activation::LeakyRelu(0.0),
        );
        // The bias of the output is the same for all clusters, and drops out.
        Places {
            choices: Choices::new(scores.reshape([particles, instances, data, m])),
            angle: self.angle.clone(),
            x: x.clone(),
            mean: mean.clone(),
        }
    }

    /// g_θ(h) = R u / √(‖u‖² + 1e-12) `[L, B, N, 2]` for h `[L, B, N, 1]`, u the decoder's output at 2π h.
    pub fn decode(&self, angle: &Tensor<B, 4>) -> Tensor<B, 4> {
        let [particles, instances, data, _] = angle.dims();
        let turn = angle.clone().reshape([particles * instances * data, 1]) * TAU;
        let place = directions(self.decoder.forward(turn), 1e-12);
        let place = place * self.radius.val().unsqueeze();
        place.reshape([particles, instances, data, 2])
    }

    /// log p(x_n, c_n, h_n | μ), nats: `[L, B, N]`. h has density 1.
    pub(crate) fn log_data(&self, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 3> {
        self.log_data_from(x, z, self.decode(&z.angle))
    }

    /// The same, given g_θ(h) `[L, B, N, 2]`.
    pub(crate) fn log_data_from(
        &self,
        x: &Tensor<B, 3>,
        z: &DmmState<B>,
        place: Tensor<B, 4>,
    ) -> Tensor<B, 3> {
        let [particles, instances, data, _] = z.angle.dims();
        let error = displacements(x, &z.assignment, &z.mean) - place;
        let squares = squared_norms(error.reshape([particles * instances * data, 2]));
        let variance = self.noise * self.noise;
        let constant = (2.0 * PI * variance).ln() + (self.clusters as f64).ln();
        let log_p = squares * (-0.5 / variance) - constant;
        log_p.reshape([particles, instances, data])
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
        let (assignment, angle, log_places) = places.sample(chance);
        Proposal {
            state: DmmState {
                mean,
                assignment,
                angle,
            },
            log_q: (log_mean + log_places.sum_dim(2)).squeeze_dim(2),
        }
    }
}

impl<B: Backend> Rescore<B> for Dmm<B> {
    fn log_one_shot(&self, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 2> {
        let log_mean = total(self.one_shot_law(x).log_prob(z.mean.clone()));
        let log_places = self.places(x, &z.mean).log_prob(&z.assignment, &z.angle);
        (log_mean + log_places.sum_dim(2)).squeeze_dim(2)
    }
}
