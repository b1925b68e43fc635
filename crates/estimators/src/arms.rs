//! ARMS: many antithetic samples (Dimitriev & Zhou 2021).

use burn::tensor::{Tensor, activation};
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_ops::Backend;

use crate::logit_gradient::{fold, repeat};
use crate::{Joint, Layered, LogitGradient, Objective};

/// G_v = 1/(K−1) Σ_k (f(b_k) − f̄) (b_kv − σ(a_v)) / (1 − ρ_v), over K exchangeable, negatively correlated draws b_k ~ q
/// with ρ_v the correlation of two of them in bit v (Dimitriev & Zhou 2021, equation 7).
///
/// The uniforms of a bit come from the Dirichlet copula: d ~ Dirichlet(1, …, 1) and u_k = (1 − d_k)^{K−1}; each is
/// uniform, and P(u_i < p, u_j < p) = max(0, 2 p^{1/(K−1)} − 1)^{K−1} gives ρ in closed form. With K = 2 they are u and
/// 1 − u, and the estimator is [`Disarm`](crate::Disarm). Unbiased; K values of f a layer. K ≥ 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arms;

impl LogitGradient<Bits> for Arms {
    fn paths(&self, _particles: usize) -> usize {
        1
    }

    fn least_particles(&self) -> usize {
        2
    }

    fn layer<B, M>(
        &self,
        objective: &Objective<B, M>,
        below: &[Tensor<B, 2>],
        rows: usize,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2>
    where
        B: Backend,
        M: Layered<B, Variables = Bits> + Joint<B>,
    {
        let logits = objective.logits(below);
        let copies = particles * rows;
        let variables = objective.layers()[below.len()];
        let v = objective.uniforms(copies, variables.0, noise);
        let bits = variables.sample(logits.clone(), antithetic(v, rows));
        let mut layers: Vec<_> = below
            .iter()
            .map(|layer| repeat(layer.clone(), copies))
            .collect();
        layers.push(bits.clone());
        let values = objective.value(&objective.complete(layers, copies, noise));
        let mean = fold(values.clone().reshape([copies, 1]), rows).div_scalar(particles as f64);
        let centred = values.reshape([copies, 1]) - repeat(mean, copies);

        let probability = activation::sigmoid(logits);
        let scores = bits - repeat(probability.clone(), copies);
        let scale = decorrelation(probability, particles).mul_scalar(1.0 / (particles - 1) as f64);
        fold(scores * centred, rows) * repeat(scale, rows)
    }
}

/// The Dirichlet copula: u_k = (1 − d_k)^{K−1}, d = (e_1, …, e_K) / Σ e with e_k = −ln(1 − v_k), v_k uniform, both
/// `[particles · rows, bits]`.
fn antithetic<B: Backend>(v: Tensor<B, 2>, rows: usize) -> Tensor<B, 2> {
    let copies = v.dims()[0];
    // v is below 1 by at least 2⁻²⁴, so e is finite; all of them zero has probability zero.
    let exponentials = v.neg().log1p().neg().clamp_min(1e-30);
    let total = repeat(fold(exponentials.clone(), rows), copies);
    let others = total.clone() - exponentials;
    (others / total)
        .clamp_min(0.0)
        .powf_scalar((copies / rows - 1) as f64)
}

/// 1 / (1 − ρ), ρ = (P(b_i = b_j = 1) − p²) / (p (1 − p)): p (1 − p) / (p − P(b_i = b_j = 1)).
fn decorrelation<B: Backend>(probability: Tensor<B, 2>, particles: usize) -> Tensor<B, 2> {
    let power = (particles - 1) as f64;
    let root = probability.clone().powf_scalar(1.0 / power);
    let both = root
        .mul_scalar(2.0)
        .sub_scalar(1.0)
        .clamp_min(0.0)
        .powf_scalar(power);
    let variance = probability.clone() * probability.clone().neg().add_scalar(1.0);
    // ρ is between −1 and 0; rounding near p = 1 must not leave that.
    (variance / (probability - both).clamp_min(1e-30)).clamp(0.5, 1.0)
}
