//! burn's backend `NdArray`: the portable definitions.

use burn_ndarray::NdArray;

use crate::Backend;

impl Backend for NdArray {}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::backend::Autodiff;
    use burn::tensor::Tensor;
    use burn_flex::Flex;
    use burn_ndarray::NdArray;

    use crate::{Backend, bernoulli_log_prob, sample_bernoulli};

    /// Bits drawn by uniforms, their log-probability, and its gradient in the logits.
    fn bernoulli<B: Backend>() -> [Vec<f32>; 3] {
        let device = Default::default();
        let logits = [[0.0, 3.0, -20.0], [-0.5, 1.5, 30.0]];
        let logits = Tensor::<Autodiff<B>, 2>::from_floats(logits, &device).require_grad();
        let uniforms = [[0.2, 0.99, 0.5], [0.7, 0.1, 0.5]];
        let uniforms = Tensor::<Autodiff<B>, 2>::from_floats(uniforms, &device);
        let bits = sample_bernoulli(logits.clone(), uniforms);
        let log_prob = bernoulli_log_prob(logits.clone(), bits.clone());
        let gradients = log_prob.clone().sum().backward();
        let gradient = logits.grad(&gradients).expect("logits are on the tape");
        let read = |data: burn::tensor::TensorData| data.iter::<f32>().collect();
        [
            read(bits.into_data()),
            read(log_prob.into_data()),
            read(gradient.into_data()),
        ]
    }

    #[test]
    fn its_numbers_are_those_of_flex_up_to_rounding() {
        let [ours, theirs] = [bernoulli::<NdArray>(), bernoulli::<Flex>()];
        assert_eq!(ours[0], theirs[0]);
        for (a, b) in ours.iter().flatten().zip(theirs.iter().flatten()) {
            assert!((a - b).abs() < 1e-5, "{ours:?} {theirs:?}");
        }
    }
}
