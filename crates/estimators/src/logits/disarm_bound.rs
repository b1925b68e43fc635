//! DisARM for the importance-weighted bound (Dong, Mnih & Tucker 2020).

use burn::module::AutodiffModule;
use burn::tensor::{Tensor, TensorData};
use helmholtz_distributions::{Bits, Noise};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info, log_sum_exp};

use crate::host::numbers;
use crate::logits::antithetic::Antithetic;
use crate::logits::logit_gradient::{surrogate, tracked};
use crate::objective::at_least;
use crate::weighted::rws::softmax;
use crate::{
    Batch, Declaration, Description, Domain, Estimate, EstimateError, Estimator, Joint, Layered,
    Learned, Objective, Particles, Target,
};

/// The K-sample bound L(ℓ) = ln (1/K) Σ_k w_k from K antithetic pairs (h_k¹, h_k²) a datum, which the paper calls DisARM for
/// multi-sample objectives. With ℓ^j the log-weights of the first (j = 1) or of the second (j = 2) latents of all pairs, and
/// ℓ^j_{k→} with that of pair k exchanged for its partner's:
///
/// G_k = ¼ \[ L(ℓ¹) − L(ℓ¹_{k→}) + L(ℓ²_{k→}) − L(ℓ²) \] (b_k¹ − b_k²) σ(|a|)
///
/// is the gradient in the logits by way of particle k's draw (Dong, Mnih & Tucker 2020, symmetrised). Added to
/// Σ_k G_k is the direct derivative of the bound, ½ Σ_j Σ_k w̃_k^j ∇ℓ_k^j with w̃^j = softmax(ℓ^j).
///
/// With the others held, DisARM is unbiased for the gradient by way of h_k, of L as a function of h_k alone. The
/// latents h_k¹ and the others' h¹ are K independent draws from q, and so are the second latents. Exchanging the two
/// latents of all pairs leaves their law as it is. This estimate is the mean of the form with ℓ¹ alone over that
/// exchange: its variance is no larger, and it needs no other value of f. Unbiased for the gradient of the bound at
/// every K ≥ 1. The direct derivative in φ, −½ Σ w̃ ∇ log q, is taken less its value at equal weights, −½ Σ (1/K) ∇
/// log q, whose mean is zero. K = 1 is [`Disarm`](crate::Disarm).
///
/// With several layers each has its own pairs, on the layers below of the first latents of the first layer's pairs.
/// The layers above are drawn again for each latent. A layer takes 2 K values of f; the direct derivative is that of
/// the first layer's pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DisarmBound;

impl Declaration for DisarmBound {
    fn description(&self) -> Description {
        Description {
            name: "disarm-bound",
            label: "DisARM (bound)",
            idea: "DisARM on the K-sample bound, from K antithetic pairs",
            target: Target::Bound,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        2 * particles * layers
    }
}

impl<B, M> Estimator<B, M> for DisarmBound
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
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

impl DisarmBound {
    /// One gradient estimate for a batch x `[batch, visible]`.
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
        M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
        M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
    {
        let x: Values<B> = x.into();
        at_least(1, particles, &x)?;
        let logits = model.encode(x.clone());
        let (inner_x, inner_logits) = (x.clone().inner(), logits.clone().inner());
        let objective = Objective::new(model.valid(), inner_x, inner_logits);
        let (batch, rows) = (objective.batch(), particles * objective.batch());

        let bottom = Antithetic::draw(&objective, &[], rows, noise);
        let weights = Weights::new(&bottom, batch);
        let mut gradients = vec![weights.gradient(&bottom)];
        let path = &bottom.first;
        for level in 1..objective.layers().len() {
            let pair = Antithetic::draw(&objective, &path.layers()[..level], rows, noise);
            gradients.push(Weights::new(&pair, batch).gradient(&pair));
        }

        let surrogate = surrogate(model, logits.clone(), path, gradients);
        let layers = path.layers().iter().zip(bottom.second.layers());
        let both = layers.map(|(a, b)| Values::cat(vec![a.clone(), b.clone()]));
        let both = tracked::<B>(&Particles::new(both.collect::<Vec<_>>()));
        let (theta, phi) = weights.direct();
        let on_device = |coefficients: Vec<f64>| {
            let data = TensorData::new(coefficients, [2 * rows]);
            Tensor::<B, 1>::from_data(data, (&x.device(), x.dtype()))
        };
        let direct = model.log_joint(x.clone(), &both) * on_device(theta)
            + model.log_q(&logits, &both) * on_device(phi);
        Ok(Estimate {
            loss: (surrogate + direct.sum()).mul_scalar(-1.0 / batch as f64),
            elbo: weights.mean(),
            live_rows: 2 * rows,
            info: Info::default(),
            controls: None,
        })
    }
}

/// The log-weights of pairs, `[particles, batch]`.
struct Weights {
    first: Vec<f64>,
    second: Vec<f64>,
    batch: usize,
}

impl Weights {
    fn new<B: Backend>(pair: &Antithetic<B>, batch: usize) -> Self {
        let host = |values: &Tensor<B, 1>| numbers(&values.to_data());
        Self {
            first: host(&pair.values[0]),
            second: host(&pair.values[1]),
            batch,
        }
    }

    /// G_k of each row: `[rows, bits]`.
    fn gradient<B: Backend>(&self, pair: &Antithetic<B>) -> Tensor<B, 2> {
        let rows = self.first.len();
        let signals = self.by_datum(|first, second| {
            let one = signals(first, second);
            let other = signals(second, first);
            one.zip(other)
                .map(|(one, other)| 0.5 * (one - other))
                .collect()
        });
        let data = TensorData::new(signals, [rows, 1]);
        let (device, dtype) = (pair.logits.device(), pair.logits.dtype());
        pair.factor() * Tensor::from_data(data, (&device, dtype))
    }

    /// The coefficients on log p and on log q of the first latents' rows, then of the second ones'.
    fn direct(&self) -> (Vec<f64>, Vec<f64>) {
        let of_first = self.by_datum(|first, _| softmax(first).collect());
        let of_second = self.by_datum(|_, second| softmax(second).collect());
        let equal = self.batch as f64 / self.first.len() as f64;
        let weights = of_first.into_iter().chain(of_second);
        weights.map(|w| (0.5 * w, -0.5 * (w - equal))).unzip()
    }

    /// The mean of f.
    fn mean(&self) -> f64 {
        let all = self.first.iter().chain(&self.second);
        all.sum::<f64>() / (2 * self.first.len()) as f64
    }

    /// Numbers made of a datum's own log-weights, put back in place.
    fn by_datum(&self, make: impl Fn(&[f64], &[f64]) -> Vec<f64>) -> Vec<f64> {
        let mut all = vec![0.0; self.first.len()];
        for datum in 0..self.batch {
            let own = |values: &[f64]| -> Vec<f64> {
                values
                    .iter()
                    .skip(datum)
                    .step_by(self.batch)
                    .copied()
                    .collect()
            };
            let made = make(&own(&self.first), &own(&self.second));
            let places = all.iter_mut().skip(datum).step_by(self.batch);
            places.zip(made).for_each(|(place, made)| *place = made);
        }
        all
    }
}

/// L(ℓ) − L(ℓ with ℓ_k exchanged for its partner) of each k: by one log-sum-exp over K terms each.
fn signals(log_w: &[f64], partners: &[f64]) -> impl Iterator<Item = f64> {
    let bound = log_sum_exp(log_w.iter().copied());
    partners.iter().enumerate().map(move |(k, &partner)| {
        let others = log_w.iter().enumerate().filter(move |(j, _)| *j != k);
        bound - log_sum_exp(others.map(|(_, &l)| l).chain([partner]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_of_one_pair_is_the_difference() {
        let signals: Vec<f64> = signals(&[-2.5], &[0.75]).collect();
        assert_eq!(signals, [-3.25]);
    }

    #[test]
    fn one_dominating_weight_stays_finite() {
        let signals: Vec<f64> = signals(&[0.0, -300.0], &[-301.0, -302.0]).collect();
        let exchanged = -300.0 + (-1.0f64).exp().ln_1p();
        assert!((signals[0] + exchanged).abs() < 1e-10 && signals[1].abs() < 1e-12);
    }
}
