//! A layer of counts.

use burn::tensor::{Tensor, TensorData, Transaction, activation};
use helmholtz_ops::{Backend, Values, log_gamma};

use crate::{Binomial, LogProb, Variables};

/// Independent counts, a logit a, a value and a uniform each, of a family of which a is the natural parameter.
///
/// A count is the least k with u < F(k), F the distribution function: one uniform, on the host, in f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Poisson(e^a): 0, 1, 2, ...
    Poisson {
        /// How many counts.
        variables: usize,
    },
    /// Binomial(n, σ(a)): 0, ..., n.
    Binomial {
        /// How many counts.
        variables: usize,
        /// The trials n of each, 1 or more.
        trials: u32,
    },
}

impl Counts {
    /// How many counts.
    pub fn variables(&self) -> usize {
        match *self {
            Self::Poisson { variables } | Self::Binomial { variables, .. } => variables,
        }
    }

    /// The count of a logit and a uniform; NaN for a logit that is not a number, or a Poisson mean that is not finite.
    fn of_uniform(&self, logit: f64, uniform: f64) -> f64 {
        match *self {
            Self::Poisson { .. } => {
                let mean = logit.exp();
                let log_p = |k: f64| times(k, logit) - mean - libm::lgamma(k + 1.0);
                let ratio = |k: f64| mean / (k + 1.0);
                least([mean, mean.sqrt()], f64::INFINITY, uniform, log_p, ratio)
            }
            Self::Binomial { trials, .. } if logit > 0.0 => {
                f64::from(trials) - self.of_uniform(-logit, 1.0 - uniform)
            }
            Self::Binomial { trials, .. } => {
                let (n, odds) = (f64::from(trials), logit.exp());
                let p = odds / (1.0 + odds);
                let log_p = |k: f64| {
                    let orders = libm::lgamma(k + 1.0) + libm::lgamma(n - k + 1.0);
                    libm::lgamma(n + 1.0) - orders + times(k, logit) - n * odds.ln_1p()
                };
                let ratio = |k: f64| (n - k) / (k + 1.0) * odds;
                let deviation = (n * p * (1.0 - p)).sqrt();
                least([n * p, deviation], n, uniform, log_p, ratio)
            }
        }
    }
}

/// k a, 0 for none of whatever.
fn times(k: f64, a: f64) -> f64 {
    if k == 0.0 { 0.0 } else { k * a }
}

/// The least k with u < F(k), for ln P(k) and P(k + 1) / P(k). The sum begins ten deviations below the mean, where F is below 10⁻¹⁶,
/// and ends at `most`, or where what is left is lost in rounding.
fn least(
    [mean, deviation]: [f64; 2],
    most: f64,
    uniform: f64,
    log_p: impl Fn(f64) -> f64,
    ratio: impl Fn(f64) -> f64,
) -> f64 {
    if !mean.is_finite() {
        return f64::NAN;
    }
    let mut k = (mean - 10.0 * deviation - 10.0).max(0.0).floor();
    let mut probability = log_p(k).exp();
    let mut sum = probability;
    while uniform >= sum && k < most {
        probability *= ratio(k);
        if sum + probability == sum && k >= mean {
            break;
        }
        sum += probability;
        k += 1.0;
    }
    k
}

impl Variables for Counts {
    fn logits(&self) -> usize {
        self.variables()
    }

    fn values(&self) -> usize {
        self.variables()
    }

    fn uniforms(&self) -> usize {
        self.variables()
    }

    fn sample<B: Backend>(&self, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Values<B> {
        let (shape, like) = (uniforms.dims(), (&logits.device(), logits.dtype()));
        let both = Transaction::default().register(logits).register(uniforms);
        let [logits, uniforms] = both.execute().try_into().expect("two tensors");
        let logits: Vec<f64> = logits.iter().collect();
        // Parameters repeat cyclically under more rows of uniforms.
        let pairs = logits.iter().cycle().zip(uniforms.iter::<f64>());
        let counts: Vec<f64> = pairs.map(|(&a, u)| self.of_uniform(a, u)).collect();
        Tensor::from_data(TensorData::new(counts, shape), like).into()
    }

    fn log_prob<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 1> {
        let values: Values<B> = values.into();
        let values = values.numbers();
        let times = values.dims()[0] / logits.dims()[0];
        let logits = logits.repeat_dim(0, times);
        let each = match *self {
            // The rate would lose a logit that it rounds to zero.
            Self::Poisson { .. } => {
                values.clone() * logits.clone() - logits.exp() - log_gamma(values + 1.0)
            }
            Self::Binomial { trials, .. } => {
                let trials = logits.zeros_like() + f64::from(trials);
                let logit = logits;
                Binomial { trials, logit }.log_prob(values)
            }
        };
        each.sum_dim(1).squeeze_dim(1)
    }

    /// k − mean.
    fn score<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 2> {
        values.into().numbers() - self.mean(logits)
    }

    /// e^a; n σ(a).
    fn mean<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2> {
        match *self {
            Self::Poisson { .. } => logits.exp(),
            Self::Binomial { trials, .. } => activation::sigmoid(logits) * f64::from(trials),
        }
    }

    /// m a; m (1 − m / n) a.
    fn tangent<B: Backend>(&self, logits: Tensor<B, 2>, m: Tensor<B, 2>) -> Tensor<B, 2> {
        match *self {
            Self::Poisson { .. } => m * logits,
            Self::Binomial { trials, .. } => {
                let rest = m.clone() * (-1.0 / f64::from(trials)) + 1.0;
                m * rest * logits
            }
        }
    }

    /// ln m; ln m − ln(n − m).
    fn logits_of<B: Backend>(&self, m: Tensor<B, 2>) -> Tensor<B, 2> {
        match *self {
            Self::Poisson { .. } => m.log(),
            Self::Binomial { trials, .. } => m.clone().log() - (m.neg() + f64::from(trials)).log(),
        }
    }
}
