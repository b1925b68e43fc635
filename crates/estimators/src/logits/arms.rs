//! ARMS: many antithetic samples (Dimitriev & Zhou 2021).

use burn::module::AutodiffModule;
use burn::tensor::{Tensor, activation};
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_ops::{AutodiffBackend, Backend, Values, repeat_rows};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::logits::logit_gradient::fold;
use crate::{
    Batch, Declaration, Description, Domain, Estimate, EstimateError, Estimator, Joint, Layered,
    Learned, LogitGradient, Objective, Target, estimate_logits,
};

/// G_v = 1/(K−1) Σ_k (f(b_k) − f̄) (b_kv − σ(a_v)) / (1 − ρ_v), over K exchangeable, negatively correlated draws b_k ~ q. Here
/// ρ_v is the correlation of two of them in bit v (Dimitriev & Zhou 2021, equation 7).
///
/// The uniforms of a bit come from the Dirichlet copula: d ~ Dirichlet(1, …, 1) and u_k = (1 − d_k)^{K−1}. Each u_k is uniform,
/// and P(u_i < p, u_j < p) = max(0, 2 p^{1/(K−1)} − 1)^{K−1} gives ρ in closed form. With K = 2 they are u and 1 − u, and the
/// estimator is [`Disarm`](crate::Disarm). Unbiased; K values of f a layer. K ≥ 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arms;

impl Declaration for Arms {
    fn description(&self) -> Description {
        Description {
            name: "arms",
            label: "ARMS",
            idea: "K antithetic samples, Dirichlet copula",
            target: Target::Elbo,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn least_particles(&self, _retained: bool) -> usize {
        2
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        particles * layers
    }
}

impl<B, M> Estimator<B, M> for Arms
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
        estimate_logits(self, model, batch.x, batch.particles, noise)
    }
}

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
        below: &[Values<B>],
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
        let mut layers: Vec<_> = below.iter().map(|layer| layer.cycle(copies)).collect();
        layers.push(bits.clone());
        let values = objective.value(&objective.complete(layers, copies, noise));
        let mean = fold(values.clone().reshape([copies, 1]), rows).div_scalar(particles as f64);
        let centred = values.reshape([copies, 1]) - repeat_rows(mean, copies);

        let scores = bits.numbers() - repeat_rows(activation::sigmoid(logits.clone()), copies);
        let scale = decorrelation(logits, particles).mul_scalar(1.0 / (particles - 1) as f64);
        fold(scores * centred, rows) * repeat_rows(scale, rows)
    }
}

/// The Dirichlet copula: u_k = (1 − d_k)^{K−1}, d = (e_1, …, e_K) / Σ e with e_k = −ln(1 − v_k), v_k uniform, both
/// `[particles · rows, bits]`.
pub(crate) fn antithetic<B: Backend>(v: Tensor<B, 2>, rows: usize) -> Tensor<B, 2> {
    let copies = v.dims()[0];
    // v is below 1 by at least 2⁻²⁴, so e is finite; all of them zero has probability zero.
    let exponentials = v.neg().log1p().neg().clamp_min(1e-30);
    let total = repeat_rows(fold(exponentials.clone(), rows), copies);
    let others = total.clone() - exponentials;
    (others / total)
        .clamp_min(0.0)
        .powf_scalar((copies / rows - 1) as f64)
}

/// 1 / (1 − ρ), ρ = (P(b_i = b_j = 1) − p²) / (p (1 − p)), at logits a of p = σ(a): p (1 − p) / (p − P(b_i = b_j = 1)), which is
/// σ(−a) / (1 − e^d) with d = n ln(1 + r) − ln p, n = K − 1, r = 2 (p^{1/n} − 1), and P = 0 where r ≤ −1. Written so, numbers near
/// one are nowhere subtracted, and p may be as close to one as it likes.
pub(crate) fn decorrelation<B: Backend>(logits: Tensor<B, 2>, particles: usize) -> Tensor<B, 2> {
    let n = (particles - 1) as f64;
    let log_p = logits.clone().clamp_max(0.0) - logits.clone().abs().neg().exp().log1p();
    let r = expm1(log_p.clone().mul_scalar(1.0 / n)).mul_scalar(2.0);
    let d = r.clamp_min(-1.0).log1p().mul_scalar(n) - log_p;
    // Where both vanish the quotient is 1. ρ is between −1 and 0; rounding must not leave that.
    let quotient = (activation::sigmoid(logits.neg()) + 1e-30) / (expm1(d).neg() + 1e-30);
    quotient.clamp(0.5, 1.0)
}

/// eˣ − 1 for x ≤ 0 without cancellation, by 2 t / (1 − t) with t = tanh(x/2).
fn expm1<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    let t = x.mul_scalar(0.5).tanh();
    t.clone().mul_scalar(2.0) / t.neg().add_scalar(1.0)
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};
    use burn_flex::Flex;

    use super::*;

    /// [logit, K, 1 / (1 − ρ)], computed with 60 digits.
    const EXACT: [[f64; 3]; 7] = [
        [-8.0, 3.0, 0.9996646498695335],
        [0.5, 3.0, 0.8146678360452941],
        [12.0, 3.0, 0.9999969279126989],
        [14.0, 10.0, 0.999999907607997],
        [25.0, 5.0, 0.999999999996528],
        [2.0, 20.0, 0.9937346113207015],
        [-13.25, 20.0, 0.9999982396567867],
    ];

    #[test]
    fn the_decorrelation_is_that_of_sixty_digits_however_sure_the_bit_is() {
        for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::F64, 1e-14)] {
            let at = |logit: f64, particles: f64| {
                let logit = TensorData::new(vec![logit], [1, 1]);
                let logit = Tensor::<Flex, 2>::from_data(logit, (&Default::default(), dtype));
                let found = decorrelation(logit, particles as usize).into_data();
                found.iter::<f64>().sum::<f64>()
            };
            for [logit, particles, exact] in EXACT {
                let error = (at(logit, particles) / exact - 1.0).abs();
                assert!(error < tolerance, "{logit}, {particles}: {error:e}");
            }
            for logit in [-1e4, -200.0, 60.0, 95.0, 1e4] {
                assert!((at(logit, 5.0) - 1.0).abs() < tolerance, "{logit}");
            }
        }
    }
}
