//! The relaxed bound: binary Concrete latents with densities of their own (Maddison, Mnih & Teh 2017).

use burn::tensor::{Tensor, activation};
use helmholtz_distributions::{BinaryConcrete, Bits, LogProb, Noise, Relaxable, uniforms};
use helmholtz_ops::{AutodiffBackend, Values, repeat_rows};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info};

use crate::objective::{at_least, mean};
use crate::{
    Batch, Declaration, Description, Domain, Estimate, EstimateError, Estimator, Factored, Layered,
    Learned, Particles, Target,
};

/// The bound of the model in which every layer of bits is relaxed, z^l = σ(y^l) with binary Concrete y^l, both in p and in q:
///
/// E_q\[ log p(x | z¹) + Σ_l log p_τ'(y^l | z^{l+1}) − log q_τ(y^l | z^{l−1}) \]
///
/// (Maddison, Mnih & Teh 2017). Densities are those of y, before the sigmoid, whose Jacobians cancel in
/// the ratio; p has the logits that the model gives its bits. It bounds log p(x) of the **relaxed** model from below, and the gradient is
/// unbiased for it, not for the ELBO. One particle averages over K samples; the estimate's `elbo` is this bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concrete {
    /// τ of q.
    pub posterior: f64,
    /// τ' of p.
    pub prior: f64,
}

impl Declaration for Concrete {
    fn description(&self) -> Description {
        Description {
            name: "concrete",
            label: "Concrete",
            idea: "relaxed bits with densities of their own, in p and in q",
            target: Target::Relaxed,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }
}

impl<B, M> Estimator<B, M> for Concrete
where
    B: AutodiffBackend,
    M: Layered<B, Variables = Bits> + Factored<B>,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        _learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        _chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        self.estimate(model, batch.x, batch.particles, noise)
    }
}

impl Concrete {
    /// τ = 2/3 and τ' = 1/2.
    pub const DEFAULT: Self = Self {
        posterior: 2.0 / 3.0,
        prior: 0.5,
    };

    /// One gradient estimate for a batch x `[batch, visible]`, averaged over K samples a datum.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`].
    pub fn estimate<B, M>(
        &self,
        model: &M,
        x: impl Into<Values<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Layered<B, Variables = Bits> + Factored<B>,
    {
        let x: Values<B> = x.into();
        at_least(1, particles, &x)?;
        let rows = particles * x.dims()[0];
        let (mut relaxed, mut noisy) = (Vec::<Tensor<B, 2>>::new(), Vec::new());
        let mut log_q = Vec::new();
        for (level, variables) in model.layers().into_iter().enumerate() {
            let logits = match relaxed.last() {
                Some(below) => model.logits_above(level, below.clone()),
                None => repeat_rows(model.encode(x.clone()), rows),
            };
            let shape = [rows, variables.noisy()];
            let u = uniforms(shape, logits.dtype(), &logits.device(), noise);
            let y = variables.perturb(logits.clone(), variables.noise(u));
            let y = y.mul_scalar(1.0 / self.posterior);
            // y moves with the logits, so that its density does not: its total derivative is zero.
            let q = BinaryConcrete::new(logits.detach(), self.posterior);
            log_q.push(q.log_prob(y.clone().detach()));
            relaxed.push(activation::sigmoid(y.clone()));
            noisy.push(y);
        }
        let relaxed = Particles::new(relaxed);
        let log_p = model
            .prior_logits(x.clone(), &relaxed)
            .into_iter()
            .zip(noisy)
            .map(|(logits, y)| BinaryConcrete::new(logits, self.prior).log_prob(y));
        let ratios = log_p.zip(log_q).map(|(p, q)| p - q);
        let value = ratios.fold(model.log_likelihood(x, &relaxed), |sum, layer| sum + layer);
        Ok(Estimate {
            loss: value.clone().mean().neg(),
            elbo: mean(value.inner()),
            live_rows: rows,
            info: Info::default(),
            controls: None,
        })
    }
}
