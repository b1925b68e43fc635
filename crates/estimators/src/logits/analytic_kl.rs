//! Estimates of gradients in logits with the divergence in closed form.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_samplers::{Info, Latents};

use crate::logits::logit_gradient::{LogitGradient, mean_loss, surrogate, tracked};
use crate::objective::{at_least, mean};
use crate::{
    Estimate, EstimateError, Factored, Joint, Layered, Objective, Particles, Proposals, Propose,
    kl_to_prior,
};

/// As [`estimate_logits`](crate::estimate_logits), with the divergence in closed form, as in the released code of Yin & Zhou (2019).
/// The loss is −(1/R) Σ_r \[⟨G_r, a_r⟩ + log p(x_r | h_r)\] + (1/B) Σ_b KL(q(h | x_b) ‖ p(h)) over R rows, G an estimate of
/// ∂ E log p(x | h) / ∂a.
///
/// # Errors
/// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`], [`EstimateError::SeveralLayers`].
pub fn estimate_logits_with_kl<B, V, M, G>(
    estimator: &G,
    model: &M,
    x: impl Into<Values<B>>,
    particles: usize,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    V: Variables,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Factored<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = V> + Factored<B::InnerBackend>,
    G: LogitGradient<V>,
{
    let x: Values<B> = x.into();
    at_least(estimator.least_particles(), particles, &x)?;
    let logits = model.encode(x.clone());
    let kl = kl_to_prior(model, x.clone(), logits.clone())?.mean();
    let likelihood = Likelihood(model.valid());
    let objective = Objective::new(likelihood, x.clone().inner(), logits.clone().inner());
    let rows = estimator.paths(particles) * objective.batch();
    let path = objective.complete(Vec::new(), rows, noise);
    let gradient = estimator.layer(&objective, &[], rows, particles, noise);
    let log_p = model.log_likelihood(x, &tracked(&path));
    let elbo = mean(log_p.clone().inner()) - mean(kl.clone().inner());
    let ascended = surrogate(model, logits, &path, vec![gradient]) + log_p.sum();
    Ok(Estimate {
        loss: mean_loss(ascended, rows) + kl,
        elbo,
        live_rows: rows,
        info: Info::default(),
        controls: None,
    })
}

/// The part of f that is left to draws: log p(x | h) is its joint density, and its log q is 0.
struct Likelihood<M>(M);

impl<B: Backend, M: Layered<B>> Propose<B> for Likelihood<M> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        self.0.latents()
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.0.encode(x)
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let proposals = self.0.propose(encoded, retained, particles, noise);
        Proposals {
            log_q: proposals.log_q.zeros_like(),
            ..proposals
        }
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        let options = (&encoded.device(), encoded.dtype());
        Tensor::zeros([particles.rows()], options)
    }
}

impl<B: Backend, M: Layered<B>> Layered<B> for Likelihood<M> {
    type Variables = M::Variables;

    fn layers(&self) -> Vec<M::Variables> {
        self.0.layers()
    }

    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        self.0.logits_above(level, below)
    }
}

impl<B: Backend, M: Factored<B>> Joint<B> for Likelihood<M> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        self.0.log_likelihood(x, particles)
    }
}
