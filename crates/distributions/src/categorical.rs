//! Independent categorical variables, parameterised by logits.

use burn::tensor::{Tensor, activation};
use helmholtz_ops::{Backend, categorical_log_prob, pinned_logits, sample_categorical};

use crate::noise::uniforms;
use crate::{Entropy, LogProb, Mean, Noise, Sample};

/// Rows of V independent variables of C classes, P(class c) = softmax(φ)_c. The logit of the first class is pinned to 0, so a
/// variable has C − 1 logits. Values are one-hot; logits and values lie variable by variable.
#[derive(Clone, Debug)]
pub struct Categorical<B: Backend> {
    logits: Tensor<B, 2>,
    classes: usize,
}

impl<B: Backend> Categorical<B> {
    /// Variables of `classes` classes with these logits φ of all but the first: `[rows, V (C − 1)]`.
    pub fn new(logits: Tensor<B, 2>, classes: usize) -> Self {
        Self { logits, classes }
    }

    /// The logits `[rows, V (C − 1)]`.
    pub fn logits(&self) -> &Tensor<B, 2> {
        &self.logits
    }

    /// C.
    pub fn classes(&self) -> usize {
        self.classes
    }
}

impl<B: Backend> LogProb<B> for Categorical<B> {
    type Value = Tensor<B, 2>;

    /// Σ_v z·φ − ln Σ_c e^φ_c of values z `[.., V C]`, which may be relaxed.
    fn log_prob(&self, value: Tensor<B, 2>) -> Tensor<B, 1> {
        categorical_log_prob(self.logits.clone(), value, self.classes)
    }
}

impl<B: Backend> Sample<B> for Categorical<B> {
    type Value = Tensor<B, 2>;

    /// One-hot values by inversion: one uniform a variable, in row order.
    fn sample(&self, particles: usize, noise: &mut impl Noise) -> Tensor<B, 2> {
        let [rows, columns] = self.logits.dims();
        let shape = [particles * rows, columns / (self.classes - 1)];
        let noise = uniforms(shape, self.logits.dtype(), &self.logits.device(), noise);
        sample_categorical(self.logits.clone(), noise, self.classes)
    }
}

impl<B: Backend> Mean<B> for Categorical<B> {
    /// softmax(φ) of each variable: `[rows, V C]`.
    fn mean(&self) -> Tensor<B, 2> {
        let all = pinned_logits(self.logits.clone(), self.classes);
        activation::softmax(all, 2).flatten(1, 2)
    }
}

impl<B: Backend> Entropy<B> for Categorical<B> {
    /// Σ_v ln Σ_c e^φ_c − φ·softmax(φ): minus the log-probability of the mean.
    fn entropy(&self) -> Tensor<B, 1> {
        self.log_prob(self.mean()).neg()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};
    use burn_flex::Flex;

    use super::*;
    use crate::noise::List;

    fn matrix(elements: &[f64], columns: usize) -> Tensor<Flex, 2> {
        let data = TensorData::new(elements.to_vec(), [elements.len() / columns, columns]);
        Tensor::from_data(data, (&Default::default(), DType::F64))
    }

    fn numbers<const D: usize>(tensor: Tensor<Flex, D>) -> Vec<f64> {
        tensor.into_data().to_vec().unwrap()
    }

    /// Two rows of two variables of three classes.
    fn distribution() -> Categorical<Flex> {
        let logits = [0.3, -2.0, 5.0, 1.0, 0.0, 1.0, -40.0, 2.5];
        Categorical::new(matrix(&logits, 4), 3)
    }

    fn one_hot(class: usize) -> [f64; 3] {
        std::array::from_fn(|c| f64::from(u8::from(c == class)))
    }

    /// All nine values, each for both rows of logits.
    fn all_values() -> Vec<f64> {
        let value = |n: usize| [one_hot(n % 3), one_hot(n / 3)].concat();
        (0..9).flat_map(|n| value(n).repeat(2)).collect()
    }

    #[test]
    fn probabilities_sum_to_one_and_give_mean_and_entropy() {
        let (q, values) = (distribution(), all_values());
        let log_prob = numbers(q.log_prob(matrix(&values, 6)));
        let (mean, entropy) = (numbers(q.mean()), numbers(q.entropy()));
        for row in 0..2 {
            let rows = || (row..18).step_by(2);
            let total: f64 = rows().map(|n| log_prob[n].exp()).sum();
            assert!((total - 1.0).abs() < 1e-14);
            let expected: f64 = rows().map(|n| -log_prob[n].exp() * log_prob[n]).sum();
            assert!((entropy[row] - expected).abs() < 1e-13);
            for d in 0..6 {
                let expected: f64 = rows().map(|n| log_prob[n].exp() * values[6 * n + d]).sum();
                assert!((mean[6 * row + d] - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn each_particle_of_a_row_takes_its_own_uniforms_in_row_order() {
        // F(c) of the four variables, from their probabilities.
        let mean = numbers(distribution().mean());
        let reached = |i: usize, c: usize| mean[3 * i..=3 * i + c].iter().sum::<f64>() as f32;
        let below = |i, c| reached(i, c) - 1e-6;
        let above = |i, c| reached(i, c) + 1e-6;
        let list = [
            [below(0, 0), above(1, 0), 0.0, 0.5],
            [above(0, 1), above(1, 1), below(2, 0), 0.999_999_94],
        ];
        let classes = [[0, 1, 0, 2], [2, 2, 0, 2]].concat();
        let list = list.concat();
        let drawn = distribution().sample(2, &mut List(list.into_iter()));
        let expected: Vec<f64> = classes.into_iter().flat_map(one_hot).collect();
        assert_eq!(numbers(drawn), expected, "particle-major rows");
    }
}
