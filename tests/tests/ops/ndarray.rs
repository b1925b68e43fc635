//! burn's backend `NdArray`, which has the portable definitions alone, against burn's Flex.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{Backend, NdArray, PackedBits, Values, bernoulli_log_prob, sample_bernoulli};

use crate::data::{Matrix, read};

/// Bits drawn by uniforms, their log-probability, and its gradient in the logits.
fn bernoulli<B: Backend>() -> [Vec<f64>; 3] {
    let device = Default::default();
    let logits = [[0.0, 3.0, -20.0], [-0.5, 1.5, 30.0]];
    let logits = Tensor::<Autodiff<B>, 2>::from_floats(logits, &device).require_grad();
    let uniforms = [[0.2, 0.99, 0.5], [0.7, 0.1, 0.5]];
    let uniforms = Tensor::<Autodiff<B>, 2>::from_floats(uniforms, &device);
    let bits = sample_bernoulli(logits.clone(), uniforms);
    let log_prob = bernoulli_log_prob(logits.clone(), bits.clone());
    let gradients = log_prob.clone().sum().backward();
    let gradient = logits.grad(&gradients).expect("logits are on the tape");
    [read(bits), read(log_prob), read(gradient)]
}

#[test]
fn its_numbers_are_those_of_flex_up_to_rounding() {
    let [ours, theirs] = [bernoulli::<NdArray>(), bernoulli::<Flex>()];
    assert_eq!(ours[0], theirs[0]);
    for (a, b) in ours.iter().flatten().zip(theirs.iter().flatten()) {
        assert!((a - b).abs() < 1e-5, "{ours:?} {theirs:?}");
    }
}

/// The words of bits `[rows, columns]`, the first bit the lowest.
fn by_hand(bits: &Matrix) -> Vec<u32> {
    let rows = (0..bits.rows).flat_map(|n| bits.row(n).chunks(32));
    let word = |piece: &[f32]| {
        piece
            .iter()
            .rev()
            .fold(0, |word, &bit| word << 1 | bit as u32)
    };
    rows.map(word).collect()
}

#[test]
fn bits_are_packed_and_come_back() {
    for shape in [[1, 1], [3, 32], [2, 33], [3, 70]] {
        let bits = Matrix::bits(shape, 4);
        let (words, numbers) = (
            by_hand(&bits),
            bits.elements.iter().map(|&bit| f64::from(bit)),
        );
        let numbers: Vec<f64> = numbers.collect();
        let packed = PackedBits::of(bits.tensor::<NdArray>(DType::F32));
        let found: Vec<u32> = packed.words().to_data().iter().collect();
        assert_eq!(found, words, "{shape:?}");
        assert_eq!(read(packed.numbers()), numbers);
        // It multiplies numbers: words of the host become those.
        let values = Values::<NdArray>::of_words(words, shape, (&Default::default(), DType::F64));
        assert!(matches!(values, Values::Numbers(_)));
        assert_eq!(read(values.numbers()), numbers);
    }
}
