//! The binomial distribution.

use burn::tensor::{Tensor, activation};
use helmholtz_ops::{Backend, log_gamma};
use helmholtz_random::Draws;

use crate::count_variates::binomial;
use crate::variates::variates;
use crate::{LogProb, Mean, SampleReal};

/// Binomial(n, σ(a)), element by element: probability n! / (x! (n − x)!) σ(a)^x σ(−a)^(n−x) of x = 0, ..., n successes.
#[derive(Clone, Debug)]
pub struct Binomial<B: Backend, const D: usize> {
    /// The number of trials n, a whole number.
    pub trials: Tensor<B, D>,
    /// The logit a of a success.
    pub logit: Tensor<B, D>,
}

impl<B: Backend, const D: usize> LogProb<B, D> for Binomial<B, D> {
    type Value = Tensor<B, D>;

    /// ln n! − ln x! − ln (n − x)! − x ln(1 + e^−a) − (n − x) ln(1 + e^a), for whole x from 0 to n: no term cancels for
    /// large logits.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let (n, a) = (self.trials.clone(), self.logit.clone());
        let failures = n.clone() - value.clone();
        let choices =
            log_gamma(n + 1.0) - log_gamma(value.clone() + 1.0) - log_gamma(failures.clone() + 1.0);
        choices - value * softplus(a.clone().neg()) - failures * softplus(a)
    }
}

/// ln(1 + e^a) = max(a, 0) + ln(1 + e^−|a|).
fn softplus<B: Backend, const D: usize>(a: Tensor<B, D>) -> Tensor<B, D> {
    a.clone().clamp_min(0.0) + a.abs().neg().exp().log1p()
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Binomial<B, D> {
    type Value = Tensor<B, D>;

    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        variates([&self.trials, &self.logit], shape, |[trials, logit]| {
            binomial(trials, 1.0 / (1.0 + (-logit).exp()), draws)
        })
    }
}

impl<B: Backend, const D: usize> Mean<B, D> for Binomial<B, D> {
    /// n σ(a).
    fn mean(&self) -> Tensor<B, D> {
        self.trials.clone() * activation::sigmoid(self.logit.clone())
    }
}
