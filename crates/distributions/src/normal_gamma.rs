//! The normal-gamma distribution: the conjugate prior of a normal's mean and precision.

use std::f64::consts::PI;

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, digamma, log_gamma, normal_gamma_log_prob};
use helmholtz_random::Draws;

use crate::broadcast::broadcast;
use crate::{Entropy, Gamma, LogProb, Mean, Normal, SampleReal};

/// τ ~ Gamma(shape α, rate β) and μ | τ ~ N(μ₀, 1 / (ν τ)), element by element. (Bernardo and Smith 1994, appendix A.)
///
/// ```
/// use burn::tensor::{Tensor, TensorData};
/// use burn_flex::Flex;
/// use helmholtz_distributions::{LogProb, NormalGamma, SampleReal};
/// use helmholtz_random::{Purpose, Stream};
///
/// let number = |x: f32| Tensor::<Flex, 1>::from_floats([x], &Default::default());
/// let prior = NormalGamma { mean: number(0.0), nu: number(0.1), alpha: number(2.0), beta: number(2.0) };
/// // Given 1.5 and 2.5: two of them, of sum 4 and sum of squares 8.5.
/// let posterior = prior.posterior([number(2.0), number(4.0), number(8.5)]);
/// let (mu, tau) = posterior.sample([100], &mut Stream::new(1, Purpose::new("noise"), [0, 0]));
/// assert_eq!(posterior.log_prob((mu, tau)).dims(), [100]);
/// ```
#[derive(Clone, Debug)]
pub struct NormalGamma<B: Backend, const D: usize> {
    /// μ₀, the mean of μ.
    pub mean: Tensor<B, D>,
    /// ν > 0: the precision of μ in units of τ, or how many observations μ₀ counts for.
    pub nu: Tensor<B, D>,
    /// The shape α > 0 of τ.
    pub alpha: Tensor<B, D>,
    /// The rate β > 0 of τ.
    pub beta: Tensor<B, D>,
}

impl<B: Backend, const D: usize> NormalGamma<B, D> {
    /// The same distribution, detached from the tape.
    pub fn detach(&self) -> Self {
        Self {
            mean: self.mean.clone().detach(),
            nu: self.nu.clone().detach(),
            alpha: self.alpha.clone().detach(),
            beta: self.beta.clone().detach(),
        }
    }

    /// The marginal law of τ.
    pub fn precision(&self) -> Gamma<B, D> {
        Gamma {
            shape: self.alpha.clone(),
            rate: self.beta.clone(),
        }
    }

    /// The law of μ given τ.
    pub fn location(&self, tau: Tensor<B, D>) -> Normal<B, D> {
        Normal {
            mean: self.mean.clone(),
            deviation: (tau * self.nu.clone()).sqrt().recip(),
        }
    }

    /// The natural parameters (α − ½, −β − ν μ₀² / 2, ν μ₀, −ν / 2) of the statistics (ln τ, τ, τ μ, τ μ²).
    pub fn natural(&self) -> [Tensor<B, D>; 4] {
        let pull = self.nu.clone() * self.mean.clone();
        [
            self.alpha.clone() - 0.5,
            (self.beta.clone() + pull.clone() * self.mean.clone() * 0.5).neg(),
            pull,
            self.nu.clone() * -0.5,
        ]
    }

    /// The distribution with these [`natural`](Self::natural) parameters.
    pub fn from_natural([log_tau, tau, tau_mu, tau_mu_2]: [Tensor<B, D>; 4]) -> Self {
        let nu = tau_mu_2 * -2.0;
        let mean = tau_mu.clone() / nu.clone();
        Self {
            alpha: log_tau + 0.5,
            beta: (tau + tau_mu * mean.clone() * 0.5).neg(),
            mean,
            nu,
        }
    }

    /// The law of (μ, τ) given observations x_n ~ N(μ, 1/τ) of weights w_n, by the sufficient statistics
    /// (Σ w_n, Σ w_n x_n, Σ w_n x_n²). With none of them it is this distribution, in the same bits.
    ///
    /// With S₁, S₂, S₃ the statistics of x_n − μ₀: α + S₁/2, ν' = ν + S₁, μ₀' = μ₀ + S₂/ν' and β' = β + ½ (S₃ − S₂²/ν'). The
    /// last is β + ½ Σ w_n (x_n − x̄)² + ½ S₁ν/ν' (x̄ − μ₀)² in a form without a division by S₁.
    pub fn posterior(&self, statistics: [Tensor<B, D>; 3]) -> Self {
        let [count, sum, squares] = statistics;
        let shift = count.clone() * self.mean.clone();
        let squares = squares - (sum.clone() * 2.0 - shift.clone()) * self.mean.clone();
        let sum = sum - shift;
        let nu = count.clone() + self.nu.clone();
        let step = sum.clone() / nu.clone();
        Self {
            mean: step.clone() + self.mean.clone(),
            nu,
            alpha: count * 0.5 + self.alpha.clone(),
            beta: (squares - sum * step) * 0.5 + self.beta.clone(),
        }
    }

    /// ln p(x) of observations with these statistics, as [`posterior`](Self::posterior) takes them, in nats:
    ///
    /// −½ S₁ ln 2π + ½ ln(ν/ν') + α ln β − α' ln β' + ln Γ(α') − ln Γ(α).
    pub fn log_evidence(&self, statistics: [Tensor<B, D>; 3]) -> Tensor<B, D> {
        let count = statistics[0].clone();
        let posterior = self.posterior(statistics);
        self.log_norm() - posterior.log_norm() - count * (0.5 * (2.0 * PI).ln())
    }

    /// ½ ln ν + α ln β − ln Γ(α).
    fn log_norm(&self) -> Tensor<B, D> {
        self.nu.clone().log() * 0.5 + self.alpha.clone() * self.beta.clone().log()
            - log_gamma(self.alpha.clone())
    }

    /// KL(p‖q) from this p to q, in nats:
    ///
    /// ½ ((α/β) ν_q (μ₀ − μ_q)² + ν_q/ν − ln(ν_q/ν) − 1) + α_q ln(β/β_q) − ln Γ(α) + ln Γ(α_q) + (α − α_q) ψ(α) − (β − β_q) α/β.
    ///
    /// A sum of terms that nearly cancel where p and q are near: its error is that of ln Γ(α), some 1e-7 ln Γ(α) in f32.
    pub fn kl(&self, q: &Self) -> Tensor<B, D> {
        let p = self;
        let tau = p.precision().mean();
        let apart = (p.mean.clone() - q.mean.clone()).square() * q.nu.clone() * tau.clone();
        let ratio = q.nu.clone() / p.nu.clone();
        let location = (apart + ratio.clone() - ratio.log() - 1.0) * 0.5;
        let precision = q.alpha.clone() * (p.beta.clone().log() - q.beta.clone().log())
            - log_gamma(p.alpha.clone())
            + log_gamma(q.alpha.clone())
            + (p.alpha.clone() - q.alpha.clone()) * digamma(p.alpha.clone())
            - (p.beta.clone() - q.beta.clone()) * tau;
        location + precision
    }
}

impl<B: Backend, const D: usize> LogProb<B, D> for NormalGamma<B, D> {
    /// (μ, τ).
    type Value = (Tensor<B, D>, Tensor<B, D>);

    /// ln Gamma(τ; α, β) + ln N(μ; μ₀, 1 / (ν τ)); sizes of 1 are broadcast.
    ///
    /// # Panics
    /// If sizes differ otherwise.
    fn log_prob(&self, (mu, tau): Self::Value) -> Tensor<B, D> {
        let Self {
            mean,
            nu,
            alpha,
            beta,
        } = self.clone();
        let [mean, nu, alpha, beta, mu, tau] = broadcast([mean, nu, alpha, beta, mu, tau]);
        normal_gamma_log_prob([mean, nu, alpha, beta], [mu, tau])
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for NormalGamma<B, D> {
    /// (μ, τ).
    type Value = (Tensor<B, D>, Tensor<B, D>);

    /// First every τ, then every μ given its τ, in row order both.
    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Self::Value {
        let tau = self.precision().sample(shape, draws);
        let mu = self.location(tau.clone()).sample(shape, draws);
        (mu, tau)
    }
}

impl<B: Backend, const D: usize> Entropy<B, D> for NormalGamma<B, D> {
    /// The entropy of τ and that of μ given τ: H(τ) + ½ (ln 2πe − ln ν − ψ(α) + ln β).
    fn entropy(&self) -> Tensor<B, D> {
        let spread = self.nu.clone().log() + digamma(self.alpha.clone()) - self.beta.clone().log();
        self.precision().entropy() - spread * 0.5 + 0.5 * (1.0 + (2.0 * PI).ln())
    }
}
