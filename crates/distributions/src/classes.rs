//! A layer of categorical variables.

use burn::tensor::Tensor;
use helmholtz_ops::{
    Backend, Values, bounded_log, categorical_log_prob, categorical_log_probabilities,
    draw_categorical, largest_classes, pinned_logits, repeat_rows, tempered_softmax_rows,
};

use crate::bits::{CLIP, softplus};
use crate::{Categorical, Mean, Relaxable, Variables};

/// Noise of 0, where two entries are equal, would have no logarithm.
const SMALLEST: f64 = 1e-30;

/// Noise is no larger, as a number of f32 that is finite.
const LARGEST: f64 = f32::MAX as f64;

/// ln E.
fn log_noise<B: Backend>(noise: Tensor<B, 2>) -> Tensor<B, 2> {
    bounded_log(noise, SMALLEST, LARGEST)
}

/// Independent variables of C classes, P(class c) = softmax(φ)_c, the logit φ of the first class pinned to 0. Each variable
/// has C − 1 logits, C values (one-hot) and a uniform, variable by variable. Class c iff F(c − 1) ≤ u < F(c), F the cumulative
/// probabilities.
///
/// As a relaxation z_c = ln p_c − ln E_c with exponential noise E = −ln u, that is ln p with Gumbel noise. The value is the
/// largest entry, relaxed to softmax(z/τ): Gumbel-softmax (Jang, Gu & Poole 2017; Maddison, Mnih & Teh 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// How many variables.
    pub variables: usize,
    /// Classes C of each, 2 or more.
    pub classes: usize,
}

impl Classes {
    /// A row `[N, V C]` apart into variables: `[N, V, C]`.
    fn by_variable<B: Backend>(&self, values: Tensor<B, 2>) -> Tensor<B, 3> {
        let rows = values.dims()[0];
        values.reshape([rows, self.variables, self.classes])
    }

    /// ln p `[N, V, C]`.
    fn log_probabilities<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 3> {
        self.by_variable(categorical_log_probabilities(logits, self.classes))
    }

    /// The entry of the class that is the value, at every class: `[N, V, C]`.
    fn of_value<B: Backend>(&self, entries: &Tensor<B, 3>, values: &Tensor<B, 3>) -> Tensor<B, 3> {
        let chosen = (entries.clone() * values.clone()).sum_dim(2);
        chosen.expand(entries.dims())
    }
}

impl Variables for Classes {
    fn logits(&self) -> usize {
        self.variables * (self.classes - 1)
    }

    fn values(&self) -> usize {
        self.variables * self.classes
    }

    fn uniforms(&self) -> usize {
        self.variables
    }

    fn sample<B: Backend>(&self, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Values<B> {
        draw_categorical(logits, uniforms, self.classes)
    }

    fn log_prob<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 1> {
        categorical_log_prob(logits, values, self.classes)
    }

    /// z − softmax(φ) without the first classes.
    fn score<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 2> {
        let residual = self.by_variable(values.into().numbers() - self.mean(logits));
        residual.narrow(2, 1, self.classes - 1).flatten(1, 2)
    }

    /// softmax(φ).
    fn mean<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2> {
        Categorical::new(logits, self.classes).mean()
    }

    /// m_c (φ_c − Σ_j m_j φ_j).
    fn tangent<B: Backend>(&self, logits: Tensor<B, 2>, m: Tensor<B, 2>) -> Tensor<B, 2> {
        let (logits, m) = (pinned_logits(logits, self.classes), self.by_variable(m));
        let centre = (m.clone() * logits.clone()).sum_dim(2);
        (m * (logits - centre)).flatten(1, 2)
    }

    /// ln m_c − ln m_0 without the first classes.
    fn logits_of<B: Backend>(&self, m: Tensor<B, 2>) -> Tensor<B, 2> {
        let log_m = self.by_variable(m.log());
        let others = log_m.clone().narrow(2, 1, self.classes - 1);
        (others - log_m.narrow(2, 0, 1)).flatten(1, 2)
    }
}

impl Relaxable for Classes {
    fn noisy(&self) -> usize {
        self.values()
    }

    /// Exponential: −ln u.
    fn noise<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        bounded_log(uniforms, CLIP, 1.0 - CLIP).neg()
    }

    fn perturb<B: Backend>(&self, logits: Tensor<B, 2>, noise: Tensor<B, 2>) -> Tensor<B, 2> {
        let log_p = categorical_log_probabilities(logits, self.classes);
        repeat_rows(log_p, noise.dims()[0]) - log_noise(noise)
    }

    fn harden<B: Backend>(&self, z: Tensor<B, 2>) -> Tensor<B, 2> {
        largest_classes(z, self.classes)
    }

    fn relax<B: Backend>(&self, z: Tensor<B, 2>, temperature: Tensor<B, 2>) -> Tensor<B, 2> {
        let [rows, columns] = z.dims();
        let by_variable = z.reshape([rows * self.variables, self.classes]);
        tempered_softmax_rows(by_variable, temperature).reshape([rows, columns])
    }

    /// With exponential noise E: z_b = −ln E_b of the class b that is the value, z_c = −ln(E_c / p_c + E_b) of the others.
    fn perturb_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        noise: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let (values, log_noise) = (self.by_variable(values), self.by_variable(log_noise(noise)));
        let largest = self.of_value(&log_noise, &values);
        let others = (values - 1.0).neg();
        // ln(E_c / p_c + E_b) = ln E_b + softplus(ln E_c − ln p_c − ln E_b).
        let beyond = log_noise - self.log_probabilities(logits) - largest.clone();
        (largest + softplus(beyond) * others).neg().flatten(1, 2)
    }

    /// E_b = e^−z_b and E_c = p_c (e^−z_c − e^−z_b).
    fn noise_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        z: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let (values, z) = (self.by_variable(values), self.by_variable(z));
        let largest = self.of_value(&z, &values);
        // e^−z_c alone could overflow where p_c is tiny.
        let gap = (z.clone() - largest.clone()).clamp_max(0.0).exp().neg() + 1.0;
        let others = (self.log_probabilities(logits) - z).exp() * gap;
        let chosen = largest.neg().exp() * values.clone();
        let noise = chosen + others * (values - 1.0).neg();
        noise.clamp_min(SMALLEST).flatten(1, 2)
    }
}
