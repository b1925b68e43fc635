//! The mixture: its density, and the laws of its latents.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use helmholtz_apg::{Choices, Model, OneShot, Proposal, Rescore, Statistics, Sums, particle};
use helmholtz_distributions::{LogProb, Noise, NormalGamma, SampleReal};
use helmholtz_nets::Linear;
use helmholtz_ops::{
    Activation, Backend, additive_scores, cat, linear, normal_gamma_posterior, normal_log_probs,
    own_normal_log_probs,
};
use helmholtz_random::Draws;

use crate::Rate;

particle! {
    /// The latents of a mixture.
    pub struct GmmState<B> {
        /// τ `[L, B, M, D]`
        precision: 4,
        /// μ `[L, B, M, D]`
        mean: 4,
        /// c, one-hot `[L, B, N, M]`
        assignment: 4,
    }
}

/// A mixture of normals with fixed prior, and the nets that propose its latents.
#[derive(Module, Debug)]
pub struct Gmm<B: burn::tensor::backend::Backend> {
    /// Statistics of x_n, for (μ, τ) in one shot.
    pub(crate) one_shot: Statistics<B>,
    /// Statistics of (x_n, c_n), for (μ, τ) given c.
    pub(crate) conditional: Statistics<B>,
    /// Logits of c_n = m from (x_n, μ_m, τ_m), with tanh between the layers.
    pub(crate) affinity: [Linear<B>; 2],
    pub(crate) clusters: usize,
    /// μ₀, ν, α, β.
    pub(crate) prior: Vec<f64>,
    #[module(skip)]
    pub(crate) rate: Rate,
}

/// Sums over the last two dimensions: `[L, B, ..]` to `[L, B, 1]`.
pub(crate) fn total<B: Backend>(values: Tensor<B, 4>) -> Tensor<B, 3> {
    values.flatten::<3>(2, 3).sum_dim(2)
}

/// The prior after data with these statistics, with the rate of [`Rate::Released`].
fn released<B: Backend>(
    prior: &NormalGamma<B, 4>,
    statistics: [Tensor<B, 4>; 3],
) -> NormalGamma<B, 4> {
    let [count, sum, _] = statistics.clone();
    let right = prior.posterior(statistics);
    // Nothing where there are no data.
    let average = sum / count.clone().clamp_min(1e-12);
    let wrong = (average.clone() - prior.nu.clone()).square();
    let wrong = wrong - (average - prior.mean.clone()).square();
    let share = count * prior.nu.clone() / right.nu.clone() * 0.5;
    NormalGamma {
        beta: right.beta + wrong * share,
        ..right
    }
}

impl<B: Backend> Gmm<B> {
    /// M.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// The prior of each (μ, τ), `[1, 1, 1, 1]`, on the device and in the dtype of the data.
    pub(crate) fn prior(&self, x: &Tensor<B, 3>) -> NormalGamma<B, 4> {
        let number = |index: usize| {
            let data = TensorData::new(vec![self.prior[index]], [1, 1, 1, 1]);
            Tensor::from_data(data, (&x.device(), x.dtype()))
        };
        NormalGamma {
            mean: number(0),
            nu: number(1),
            alpha: number(2),
            beta: number(3),
        }
    }

    /// The prior after data with these statistics; of 2 D values the first D give the means, and the others the rest.
    fn posterior(&self, x: &Tensor<B, 3>, sums: Sums<B>) -> NormalGamma<B, 4> {
        let d = x.dims()[2];
        if self.rate == Rate::Released {
            return self.released_posterior(x, &sums);
        }
        let [particles, instances, m, columns] = sums.moments.dims();
        let moments = sums.moments.reshape([-1, columns as i32]);
        let prior = self.prior.as_slice().try_into().expect("μ₀, ν, α, β");
        let parameters = normal_gamma_posterior(prior, moments, d);
        let of = |parameter| {
            let own = parameters.clone().narrow(0, parameter, 1);
            own.reshape([particles, instances, m, d])
        };
        NormalGamma {
            mean: of(0),
            nu: of(1),
            alpha: of(2),
            beta: of(3),
        }
    }

    /// The same with the rate of [`Rate::Released`].
    fn released_posterior(&self, x: &Tensor<B, 3>, sums: &Sums<B>) -> NormalGamma<B, 4> {
        let (prior, d) = (self.prior(x), x.dims()[2]);
        let of = |from| {
            let part = |all: Tensor<B, 4>| all.narrow(3, from, d);
            released(
                &prior,
                [sums.count(), part(sums.sum()), part(sums.squares())],
            )
        };
        match sums.sum().dims()[3] == d {
            true => of(0),
            false => NormalGamma {
                mean: of(0).mean,
                ..of(d)
            },
        }
    }

    /// q(μ, τ | x), the same for all particles: parameters `[1, B, M, ..]`.
    pub fn one_shot_law(&self, x: &Tensor<B, 3>) -> NormalGamma<B, 4> {
        self.posterior(x, self.one_shot.sums(x.clone().unsqueeze()))
    }

    /// q(μ, τ | x, c) for assignments `[L, B, N, M]`: parameters `[L, B, M, ..]`.
    pub fn conditional_law(
        &self,
        x: &Tensor<B, 3>,
        assignment: &Tensor<B, 4>,
    ) -> NormalGamma<B, 4> {
        let ([instances, data, d], m) = (x.dims(), self.clusters);
        // A datum in each cluster that it may be in: N M rows for all particles, of which each has N.
        let rows = [instances, data, m, d];
        let each = x.clone().unsqueeze_dim::<4>(2).expand(rows);
        let one_hot = (0..m * m).map(|i| f64::from(u8::from(i / m == i % m)));
        let one_hot = TensorData::new(one_hot.collect::<Vec<f64>>(), [1, 1, m, m]);
        let one_hot = Tensor::<B, 4>::from_data(one_hot, (&x.device(), x.dtype()));
        let one_hot = one_hot.expand([instances, data, m, m]);
        let features = cat(vec![each, one_hot], 3);
        let features = features.reshape([1, instances, data * m, d + m]);
        let present = assignment.clone().flatten::<3>(2, 3);
        self.posterior(x, self.conditional.sums_of(features, present))
    }

    /// p(μ, τ | x, c), the exact conditional, for assignments `[L, B, N, M]`.
    pub fn exact_law(&self, x: &Tensor<B, 3>, assignment: &Tensor<B, 4>) -> NormalGamma<B, 4> {
        self.posterior(x, Sums::new(assignment.clone(), x.clone().unsqueeze()))
    }

    /// q(c_n = m | x, μ, τ) ∝ exp s(x_n, μ_m, τ_m), s a net, the same for every pair: logits `[L, B, N, M]` for x `[B, N, D]`, μ and τ
    /// `[L, B, M, D]`.
    pub fn choices(
        &self,
        x: &Tensor<B, 3>,
        mean: &Tensor<B, 4>,
        precision: &Tensor<B, 4>,
    ) -> Choices<B> {
        let [hidden, output] = &self.affinity;
        let ([instances, data, d], m) = (x.dims(), self.clusters);
        let (weight, units) = (hidden.weight.val(), hidden.bias.val().dims()[0]);
        // A linear layer on (x, μ, τ) is a sum of one on x and one on (μ, τ): N + M rows instead of N M.
        let queries = x.clone().reshape([instances * data, d]);
        let queries = queries.matmul(weight.clone().narrow(0, 0, d));
        let keys = cat(vec![mean.clone(), precision.clone()], 3);
        let groups = keys.dims()[0] * instances;
        let keys = keys.reshape([groups * m, 2 * d]);
        let keys = linear(keys, weight.narrow(0, d, 2 * d), hidden.bias.val());
        let scores = additive_scores(
            queries.reshape([instances, data, units]),
            keys.reshape([groups, m, units]),
            output.weight.val().reshape([units]),
            Activation::Tanh,
        );
        let logits = scores + output.bias.val().reshape([1, 1, 1]);
        Choices::new(logits.reshape([groups / instances, instances, data, m]))
    }

    /// p(c_n = m | x, μ, τ) ∝ Π_d N(x_nd; μ_md, 1/τ_md), the exact conditional; shapes as in [`choices`](Self::choices).
    pub fn exact_choices(
        &self,
        x: &Tensor<B, 3>,
        mean: &Tensor<B, 4>,
        precision: &Tensor<B, 4>,
    ) -> Choices<B> {
        let [particles, instances, m, _] = mean.dims();
        let groups = |latent: &Tensor<B, 4>| latent.clone().flatten::<3>(0, 1);
        let log_p = normal_log_probs(x.clone(), groups(mean), groups(precision));
        Choices::new(log_p.reshape([particles, instances, x.dims()[1], m]))
    }

    /// log p(x_n, c_n | μ, τ) `[L, B, N]`, nats.
    pub(crate) fn log_data(&self, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 3> {
        let [particles, instances, data, _] = z.assignment.dims();
        let groups = |latent: &Tensor<B, 4>| latent.clone().flatten::<3>(0, 1);
        let log_p = own_normal_log_probs(
            x.clone(),
            groups(&z.assignment),
            groups(&z.mean),
            groups(&z.precision),
        );
        log_p.reshape([particles, instances, data]) - (self.clusters as f64).ln()
    }

    /// log p(μ, τ) `[L, B, 1]`, nats.
    pub(crate) fn log_prior(&self, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 3> {
        let value = (z.mean.clone(), z.precision.clone());
        total(self.prior(x).log_prob(value))
    }
}

impl<B: Backend> Model<B> for Gmm<B> {
    /// `[B, N, D]`
    type Data = Tensor<B, 3>;
    type State = GmmState<B>;

    fn log_joint(&self, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 2> {
        (self.log_prior(x, z) + self.log_data(x, z).sum_dim(2)).squeeze_dim(2)
    }
}

impl<B: Backend, C: Draws + Noise> OneShot<B, C> for Gmm<B> {
    /// (μ, τ) given x, then c given both by the same net that the sweeps use.
    fn propose(
        &self,
        x: &Tensor<B, 3>,
        particles: usize,
        chance: &mut C,
    ) -> Proposal<B, GmmState<B>> {
        let [instances, _, d] = x.dims();
        let law = self.one_shot_law(x);
        let (mean, precision) = law.sample([particles, instances, self.clusters, d], chance);
        let log_eta = total(law.log_prob((mean.clone(), precision.clone())));
        let choices = self.choices(x, &mean, &precision);
        let assignment = choices.sample(chance);
        let log_c = choices.log_prob(&assignment).sum_dim(2);
        Proposal {
            state: GmmState {
                precision,
                mean,
                assignment,
            },
            log_q: (log_eta + log_c).squeeze_dim(2),
        }
    }
}

impl<B: Backend> Rescore<B> for Gmm<B> {
    fn log_one_shot(&self, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 2> {
        let (mean, precision) = (z.mean.clone(), z.precision.clone());
        let choices = self.choices(x, &mean, &precision);
        let log_eta = total(self.one_shot_law(x).log_prob((mean, precision)));
        (log_eta + choices.log_prob(&z.assignment).sum_dim(2)).squeeze_dim(2)
    }
}
