//! ARMS for the importance-weighted bound: antithetic copies of each particle.

use burn::module::AutodiffModule;
use burn::tensor::{Tensor, TensorData, activation};
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_ops::{AutodiffBackend, Backend, Values, repeat_rows};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info, log_sum_exp};

use crate::host::numbers;
use crate::logits::arms::{antithetic, decorrelation};
use crate::logits::logit_gradient::{fold, surrogate, tracked};
use crate::objective::at_least;
use crate::weighted::rws::softmax;
use crate::{
    Batch, Declaration, Description, Domain, Estimate, EstimateError, Estimator, Joint, Layered,
    Learned, Objective, Particles, Target,
};

/// The K-sample bound L(ℓ) = ln (1/K) Σ_k w_k from n antithetic copies h_k^1, …, h_k^n of each of K particles, drawn as those of
/// [`Arms`](crate::Arms) and independently for each k. With ℓ^j the log-weights of the j-th copies of all particles, and
/// F_k^i the mean over j of L(ℓ^j with ℓ_k^i in the place of ℓ_k^j),
///
/// G_k = 1/(n−1) Σ_i (F_k^i − mean_i F_k^i) (b_k^i − σ(a)) / (1 − ρ)
///
/// is the gradient in the logits by way of particle k's draw (Dimitriev & Zhou 2021, applied to one particle, the others held). Added
/// to Σ_k G_k is the direct derivative of the bound, the mean over j of Σ_k w̃_k^j ∇ℓ_k^j.
///
/// For each j the others' copies are independent of particle k's. So ARMS is unbiased for L as a function of h_k alone, and the
/// mean over j is too. Unbiased for the gradient of the bound at every K ≥ 1. With n = 2 it is
/// [`DisarmBound`](crate::DisarmBound), with K = 1 it is [`Arms`](crate::Arms) with n draws. n K values of f a layer.
///
/// Several layers, and what the direct derivative is taken less, are as in [`DisarmBound`](crate::DisarmBound).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArmsBound {
    /// n, 2 or more, which is not checked: with 1 the gradient is NaN.
    pub copies: usize,
}

impl ArmsBound {
    /// n = 3, the least that is not DisARM.
    pub const DEFAULT: Self = Self { copies: 3 };
}

impl Declaration for ArmsBound {
    fn description(&self) -> Description {
        Description {
            name: "arms-bound",
            label: "ARMS (bound)",
            idea: "ARMS on the K-sample bound, from three antithetic copies of each particle",
            target: Target::Bound,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        self.copies * particles * layers
    }
}

impl<B, M> Estimator<B, M> for ArmsBound
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
        let Batch { x, particles, .. } = batch;
        at_least(1, particles, &x)?;
        let logits = model.encode(x.clone());
        let (inner_x, inner_logits) = (x.clone().inner(), logits.clone().inner());
        let objective = Objective::new(model.valid(), inner_x, inner_logits);
        let rows = particles * objective.batch();

        let bottom = Copies::draw(&objective, &[], rows, self.copies, noise);
        let mut gradients = vec![bottom.gradient()];
        let first = bottom.path.layers().iter().map(|layer| layer.rows(0, rows));
        let first = Particles::new(first.collect::<Vec<_>>());
        for level in 1..objective.layers().len() {
            let below = &first.layers()[..level];
            let copies = Copies::draw(&objective, below, rows, self.copies, noise);
            gradients.push(copies.gradient());
        }

        let surrogate = surrogate(model, logits.clone(), &first, gradients);
        let all = tracked::<B>(&bottom.path);
        let (theta, phi) = bottom.direct();
        let on_device = |coefficients: Vec<f64>| {
            let data = TensorData::new(coefficients, [self.copies * rows]);
            Tensor::<B, 1>::from_data(data, (&x.device(), x.dtype()))
        };
        let direct = model.log_joint(x.clone(), &all) * on_device(theta)
            + model.log_q(&logits, &all) * on_device(phi);
        let share = -1.0 / objective.batch() as f64;
        Ok(Estimate {
            loss: (surrogate + direct.sum()).mul_scalar(share),
            elbo: bottom.log_w.iter().sum::<f64>() / bottom.log_w.len() as f64,
            live_rows: self.copies * rows,
            info: Info::default(),
            controls: None,
        })
    }
}

/// One layer of bits drawn n times for each of the rows `[particles, batch]`, the layers above drawn for each.
struct Copies<B: Backend> {
    copies: usize,
    batch: usize,
    /// Logits a of the layer `[rows or batch, bits]`.
    logits: Tensor<B, 2>,
    /// Bits of the layer `[copies · rows, bits]`.
    bits: Tensor<B, 2>,
    /// All layers, copy after copy.
    path: Particles<B>,
    /// ℓ `[copies, particles, batch]`.
    log_w: Vec<f64>,
}

impl<B: Backend> Copies<B> {
    fn draw<M: Layered<B, Variables = Bits> + Joint<B>>(
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        copies: usize,
        noise: &mut impl Noise,
    ) -> Self {
        let logits = objective.logits(below);
        let variables = objective.layers()[below.len()];
        let v = objective.uniforms(copies * rows, variables.0, noise);
        let bits = variables.sample(logits.clone(), antithetic(v, rows));
        let mut layers: Vec<_> = below
            .iter()
            .map(|layer| layer.cycle(copies * rows))
            .collect();
        layers.push(bits.clone());
        let path = objective.complete(layers, copies * rows, noise);
        Self {
            copies,
            batch: objective.batch(),
            logits,
            bits: bits.numbers(),
            log_w: numbers(&objective.value(&path).into_data()),
            path,
        }
    }

    /// K.
    fn particles(&self) -> usize {
        self.log_w.len() / self.copies / self.batch
    }

    /// ℓ_k^i of datum b.
    fn at(&self, i: usize, k: usize, b: usize) -> f64 {
        self.log_w[(i * self.particles() + k) * self.batch + b]
    }

    /// Where it stands.
    fn place(&self, i: usize, k: usize, b: usize) -> usize {
        (i * self.particles() + k) * self.batch + b
    }

    /// F_k^i less its mean over i `[copies, particles, batch]`.
    fn signals(&self) -> Vec<f64> {
        let (particles, share) = (self.particles(), 1.0 / self.copies as f64);
        let mut signals = vec![0.0; self.log_w.len()];
        for b in 0..self.batch {
            for k in 0..particles {
                let bound = |i: usize, j: usize| {
                    let own = |m: usize| self.at(if m == k { i } else { j }, m, b);
                    log_sum_exp((0..particles).map(own))
                };
                let mean = |i: usize| (0..self.copies).map(|j| bound(i, j)).sum::<f64>() * share;
                let of_copies: Vec<f64> = (0..self.copies).map(mean).collect();
                let centre = of_copies.iter().sum::<f64>() * share;
                for (i, own) in of_copies.iter().enumerate() {
                    signals[self.place(i, k, b)] = own - centre;
                }
            }
        }
        signals
    }

    /// G_k of each row: `[rows, bits]`.
    fn gradient(&self) -> Tensor<B, 2> {
        let count = self.log_w.len();
        let rows = count / self.copies;
        let (device, dtype) = (self.bits.device(), self.bits.dtype());
        let signals = TensorData::new(self.signals(), [count, 1]);
        let signals = Tensor::<B, 2>::from_data(signals, (&device, dtype));
        let mean = activation::sigmoid(self.logits.clone());
        let scores = self.bits.clone() - repeat_rows(mean, count);
        let scale = decorrelation(self.logits.clone(), self.copies);
        let scale = scale.mul_scalar(1.0 / (self.copies - 1) as f64);
        fold(scores * signals, rows) * repeat_rows(scale, rows)
    }

    /// The coefficients on log p and on log q of all rows.
    fn direct(&self) -> (Vec<f64>, Vec<f64>) {
        let (particles, share) = (self.particles(), 1.0 / self.copies as f64);
        let mut theta = vec![0.0; self.log_w.len()];
        let mut phi = theta.clone();
        for b in 0..self.batch {
            for i in 0..self.copies {
                let own: Vec<f64> = (0..particles).map(|k| self.at(i, k, b)).collect();
                for (k, weight) in softmax(&own).enumerate() {
                    let place = self.place(i, k, b);
                    theta[place] = share * weight;
                    phi[place] = -share * (weight - 1.0 / particles as f64);
                }
            }
        }
        (theta, phi)
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use helmholtz_ops::Flex;

    use super::*;

    const COPIES: usize = 3;

    /// ℓ_k^i of two particles and two data.
    const LOG_W: [[[f64; 2]; 2]; COPIES] = [
        [[-1.0, 0.4], [0.3, -2.0]],
        [[0.7, -0.1], [-0.6, 1.1]],
        [[2.0, 0.9], [-3.0, 0.2]],
    ];

    fn copies() -> Copies<Flex> {
        let none = Tensor::zeros([1, 1], &Default::default());
        Copies {
            copies: COPIES,
            batch: 2,
            logits: none.clone(),
            bits: none.clone(),
            path: Particles::new(vec![none]),
            log_w: LOG_W.as_flattened().as_flattened().to_vec(),
        }
    }

    /// F_k^i is the mean over the copies j of the others: (1/n) Σ_j ln(w_k^i + w_m^j), m the other of two.
    #[test]
    fn a_particle_is_held_against_every_copy_of_the_others() {
        let found = copies().signals();
        let mut moved_along = 0.0f64;
        for (k, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let pair = |i: usize, j: usize| (LOG_W[i][k][b].exp() + LOG_W[j][1 - k][b].exp()).ln();
            let mean = |i: usize| (0..COPIES).map(|j| pair(i, j)).sum::<f64>() / 3.0;
            let centre = (mean(0) + mean(1) + mean(2)) / 3.0;
            let along = (pair(0, 0) + pair(1, 1) + pair(2, 2)) / 3.0;
            for i in 0..COPIES {
                let signal = found[(i * 2 + k) * 2 + b];
                assert!((signal - (mean(i) - centre)).abs() < 1e-13, "{i}, {k}, {b}");
                moved_along = moved_along.max((signal - (pair(i, i) - along)).abs());
            }
        }
        // The twin: the copies of the others moved along with the particle's.
        assert!(moved_along > 0.1, "{moved_along}");
    }

    /// θ learns from w̃_k^i / n, φ from (1/K − w̃_k^i) / n, w̃ the softmax over the particles of a copy.
    #[test]
    fn the_direct_coefficients_are_the_mean_over_copies() {
        let (theta, phi) = copies().direct();
        for (i, k, b) in (0..12).map(|at| (at / 4, at / 2 % 2, at % 2)) {
            let weight = 1.0 / (1.0 + (LOG_W[i][1 - k][b] - LOG_W[i][k][b]).exp());
            let place = (i * 2 + k) * 2 + b;
            assert!((theta[place] - weight / 3.0).abs() < 1e-15);
            assert!((phi[place] - (0.5 - weight) / 3.0).abs() < 1e-15);
        }
    }
}
