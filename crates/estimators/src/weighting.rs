//! What an estimator of the weighted family is.

use helmholtz_random::Chance;
use helmholtz_samplers::Info;

use crate::{Declaration, Description, Domain};

/// A particle's coefficients: the estimate of the gradient is Σ_k theta_k ∇ log p(x, h_k) + phi_k ∇ log q(h_k | x), to
/// be ascended, for one datum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coefficient {
    /// On ∇ log p(x, h).
    pub theta: f64,
    /// On ∇ log q(h | x).
    pub phi: f64,
}

/// What weighing left behind besides the coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The particle in which the chain ended; 0 for estimators without a chain.
    pub state: usize,
    /// Diagnostics of the kernel. Estimators without one may count the log-weights that are not finite, and nothing else.
    pub info: Info,
}

/// From the log-weights of one datum's particles to their coefficients. Nothing differentiates through either.
///
/// Implementing it makes an [`Estimator`](crate::Estimator): what it declares is stated here.
pub trait Weighting {
    /// Its name, its idea, its claim; unless stated, the name of its type and no claim.
    fn description(&self) -> Description {
        Description::of_type::<Self>()
    }

    /// How many particles to propose, for a particle number K and a chain state at hand or not.
    fn proposals(&self, particles: usize, retained: bool) -> usize {
        let _ = retained;
        particles
    }

    /// The least particle number K for which the estimator is defined, with a chain state at hand or not.
    fn least_particles(&self, retained: bool) -> usize {
        let _ = retained;
        1
    }

    /// Whether the inference model also learns from dreams (x̃, h̃) ~ p.
    fn sleeps(&self) -> bool {
        false
    }

    /// The same without a sleep phase, where it has one.
    fn awake(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// The same with one stage-I particle beyond K or without it, where it has a stage I ([`Jsa::stage1_extra`](crate::Jsa::stage1_extra)).
    fn with_stage1_extra(self, _extra: bool) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Whether the log-weights are to be given less their mean over the mini-batch.
    fn centres(&self) -> bool {
        false
    }

    /// Whether a chain per datum is kept in its second stage.
    fn keeps_chains(&self) -> bool {
        false
    }

    /// Writes the coefficients of the particles with log-weights `log_w` (nats, unnormalised). If `retained`, the first
    /// particle is the datum's chain state and the others were proposed; else all were proposed.
    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome;
}

impl<W: Weighting + ?Sized> Declaration for W {
    fn description(&self) -> Description {
        Weighting::description(self)
    }

    /// Chains hold bits and classes.
    fn domain(&self) -> Domain {
        match Weighting::keeps_chains(self) {
            true => Domain::Discrete,
            false => Domain::All,
        }
    }

    fn least_particles(&self, retained: bool) -> usize {
        Weighting::least_particles(self, retained)
    }

    fn evaluations(&self, particles: usize, _layers: usize, retained: bool) -> usize {
        self.proposals(particles, retained) + usize::from(retained)
    }

    fn keeps_chains(&self) -> bool {
        Weighting::keeps_chains(self)
    }

    fn sleeps(&self) -> bool {
        Weighting::sleeps(self)
    }

    fn awake(self) -> Self
    where
        Self: Sized,
    {
        Weighting::awake(self)
    }

    fn with_stage1_extra(self, extra: bool) -> Self
    where
        Self: Sized,
    {
        Weighting::with_stage1_extra(self, extra)
    }
}
