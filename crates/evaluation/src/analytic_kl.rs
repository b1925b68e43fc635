//! A likelihood as some released code computes it: for explaining numbers, not for making them.

use burn::tensor::Tensor;
use helmholtz_distributions::Noise;
use helmholtz_estimators::{Factored, Joint, Layered, Particles, Proposals, Propose, kl_to_prior};
use helmholtz_ops::{Backend, Values};
use helmholtz_samplers::Latents;

/// A model of one stochastic layer, whose log-weights are log p(x | h) − KL(q(h | x) ‖ p(h)) instead of
/// log p(x, h) − log q(h | x).
///
/// [`nll`](fn@crate::nll) of it is −ln (1/S) Σ_s p(x | h_s) + KL(q(h | x) ‖ p(h)), h_s ~ q. The released code of Ou & Song (2020)
/// reports this for the straight-through Gumbel-softmax row of its table 2. It is no estimate of −log p(x). As S grows it goes to
/// −ln E_q p(x | h) + KL, which is below minus the ELBO and on neither side of −log p(x) for sure. Its `elbo` is right.
///
/// # Panics
/// Encoding does, of a model of more than one stochastic layer.
#[derive(Clone, Debug)]
pub struct AnalyticKl<M>(pub M);

/// What is computed once for each datum.
#[derive(Clone, Debug)]
pub struct Encoded<B: Backend> {
    /// The logits of q(h | x) `[batch, logits]`.
    logits: Tensor<B, 2>,
    /// KL(q(h | x) ‖ p(h)), nats: `[batch]`.
    divergence: Tensor<B, 1>,
}

impl<B, M> Propose<B> for AnalyticKl<M>
where
    B: Backend,
    M: Layered<B> + Factored<B>,
{
    type Encoded = Encoded<B>;

    fn latents(&self) -> Latents {
        self.0.latents()
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Encoded<B> {
        let x: Values<B> = x.into();
        let logits = self.0.encode(x.clone());
        let divergence = kl_to_prior(&self.0, x, logits.clone());
        Encoded {
            divergence: divergence.expect("a model of one stochastic layer"),
            logits,
        }
    }

    fn propose(
        &self,
        encoded: &Encoded<B>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let proposals = self.0.propose(&encoded.logits, retained, particles, noise);
        Proposals {
            log_q: self.log_q(encoded, &proposals.particles),
            ..proposals
        }
    }

    /// The divergence, in place of log q(h | x).
    fn log_q(&self, encoded: &Encoded<B>, particles: &Particles<B>) -> Tensor<B, 1> {
        let batch = encoded.divergence.dims()[0];
        let copies = particles.rows() / batch;
        let divergence = encoded.divergence.clone().reshape([1, batch]);
        divergence.expand([copies, batch]).reshape([copies * batch])
    }
}

impl<B, M> Joint<B> for AnalyticKl<M>
where
    B: Backend,
    M: Factored<B>,
{
    /// log p(x | h), in place of log p(x, h).
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        self.0.log_likelihood(x, particles)
    }
}
