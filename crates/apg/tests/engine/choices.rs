//! Classes of data: their densities by hand, and draws by their density.

use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_apg::Choices;
use helmholtz_random::{Draws, Purpose, Stream};

use crate::toy::{numbers, tensor};

/// L, B, N, M: no two alike.
const SHAPE: [usize; 4] = [2, 3, 4, 5];
const ROWS: usize = 24;

fn stream(number: u64) -> Stream {
    Stream::new(5, Purpose::new("choices"), [number, 0])
}

fn logits() -> Tensor<Flex, 4> {
    let mut stream = stream(0);
    let values: Vec<f64> = (0..ROWS * SHAPE[3])
        .map(|_| 1.5 * stream.normal())
        .collect();
    tensor(&values, SHAPE)
}

/// One-hot classes, of row i the class 2 i mod 5.
fn classes() -> Tensor<Flex, 4> {
    let of = |i: usize| (0..SHAPE[3]).map(move |m| f64::from(u8::from(m == 2 * i % SHAPE[3])));
    tensor(&(0..ROWS).flat_map(of).collect::<Vec<_>>(), SHAPE)
}

/// The log of a softmax at each row's class.
fn by_hand(logits: &Tensor<Flex, 4>, classes: &Tensor<Flex, 4>) -> Vec<f64> {
    let (logits, classes) = (numbers(logits.clone()), numbers(classes.clone()));
    let rows = logits.chunks(SHAPE[3]).zip(classes.chunks(SHAPE[3]));
    rows.map(|(logits, class)| {
        let at: f64 = logits.iter().zip(class).map(|(l, c)| l * c).sum();
        at - logits.iter().map(|l| l.exp()).sum::<f64>().ln()
    })
    .collect()
}

fn assert_close(found: Vec<f64>, expected: Vec<f64>) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn the_log_probability_of_classes_is_that_of_a_softmax() {
    let found = Choices::new(logits()).log_prob(&classes());
    assert_eq!(found.dims(), [2, 3, 4]);
    assert_close(numbers(found), by_hand(&logits(), &classes()));
}

#[test]
fn a_proposal_is_a_draw_with_its_density_and_that_of_the_old_classes() {
    let law = Choices::new(logits());
    let (drawn, log_prob, reverse) = law.propose(&classes(), &mut stream(1));
    assert_eq!(numbers(law.sample(&mut stream(1))), numbers(drawn.clone()));
    let ones: Vec<f64> = numbers(drawn.clone().sum_dim(3));
    assert_eq!(ones, [1.0; ROWS]);
    assert_close(numbers(log_prob), by_hand(&logits(), &drawn));
    assert_close(numbers(reverse), by_hand(&logits(), &classes()));
}

/// Two thousand draws for each of the 120 (row, class): beyond six deviations once in four million runs, and the seed is fixed.
#[test]
fn classes_are_drawn_as_often_as_their_probabilities_say() {
    let law = Choices::new(logits());
    let mut counts = vec![0.0; ROWS * SHAPE[3]];
    for round in 0..2000 {
        let drawn = numbers(law.sample(&mut stream(10 + round)));
        (counts.iter_mut().zip(drawn)).for_each(|(count, one)| *count += one);
    }
    for class in 0..SHAPE[3] {
        let one = |m: usize| f64::from(u8::from(m % SHAPE[3] == class));
        let classes = tensor(&(0..counts.len()).map(one).collect::<Vec<_>>(), SHAPE);
        for (row, log_prob) in by_hand(&logits(), &classes).into_iter().enumerate() {
            let p = log_prob.exp();
            let (mean, deviation) = (2000.0 * p, (2000.0 * p * (1.0 - p)).sqrt());
            let count = counts[row * SHAPE[3] + class];
            assert!(
                (count - mean).abs() < 6.0 * deviation + 1.0,
                "{row} {class}"
            );
        }
    }
}
