//! Neural sufficient statistics.

use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_apg::{Statistics, Sums};
use helmholtz_nets::{Activation, Initialisation, Initialiser};
use helmholtz_random::{Draws, Purpose, Stream};

use crate::toy::{numbers, tensor};

type B = Flex;

fn stream(at: u64) -> Stream {
    Stream::new(17, Purpose::new("test"), [at, 0])
}

fn features(data: usize) -> Tensor<B, 4> {
    let mut stream = stream(data as u64);
    let values: Vec<f64> = (0..2 * 3 * data * 4).map(|_| stream.normal()).collect();
    tensor(&values, [2, 3, data, 4])
}

fn all(sums: Sums<B>) -> Vec<f64> {
    [
        numbers(sums.count()),
        numbers(sums.sum()),
        numbers(sums.squares()),
    ]
    .concat()
}

/// Of each datum of each particle a candidate among three: with the features of that candidate only, or among the sums.
#[test]
fn sums_over_present_candidates_are_sums_over_data() {
    let mut draw = Initialiser::<B>::new(17, DType::F64, &Default::default());
    let mut net = |outputs| draw.net(&[4, 8, outputs], Activation::Tanh, Initialisation::FanIn);
    let statistics = Statistics::new(net(2), net(3));
    let (particles, data, choices) = (2, 5, 3);
    let candidates = features(data * choices).narrow(0, 0, 1);
    let chosen = |row: usize, n: usize| n * choices + (row + 2 * n + row * n) % choices;
    let rows = (0..particles * 3).flat_map(|row| (0..data).map(move |n| chosen(row, n)));
    let present = rows.flat_map(|own| {
        let first = own / choices * choices;
        (first..first + choices).map(move |p| f64::from(u8::from(p == own)))
    });
    let present = tensor(
        &present.collect::<Vec<f64>>(),
        [particles, 3, data * choices],
    );
    let all_features = numbers(candidates.clone());
    let own = (0..particles * 3).flat_map(|row| (0..data).map(move |n| (row % 3, chosen(row, n))));
    let own = own.flat_map(|(b, p)| {
        let row = b * data * choices + p;
        all_features[4 * row..4 * row + 4].to_vec()
    });
    let own: Vec<f64> = own.collect();
    let expected = all(statistics.sums(tensor(&own, [particles, 3, data, 4])));
    let found = statistics.sums_of(candidates.clone(), present.clone());
    assert_near(&all(found), &expected);
    let others = all(statistics.sums_of(candidates, present.roll(&[1], &[2])));
    assert!(
        others
            .iter()
            .zip(&expected)
            .any(|(a, b)| (a - b).abs() > 1e-3)
    );
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-12 * expected.abs().max(1.0),
            "{found} {expected}"
        );
    }
}

#[test]
fn sums_are_those_written_out() {
    let (weights, values) = (features(5), features(5).narrow(3, 0, 2) + 0.5);
    let (w, t) = (numbers(weights.clone()), numbers(values.clone()));
    let sums = Sums::new(weights, values);
    let (mut count, mut sum, mut squares): (Vec<f64>, Vec<f64>, Vec<f64>) = Default::default();
    for row in 0..6 {
        for m in 0..4 {
            let gamma = |n: usize| w[(row * 5 + n) * 4 + m];
            count.push((0..5).map(gamma).sum());
            for d in 0..2 {
                let value = |n: usize| t[(row * 5 + n) * 2 + d];
                sum.push((0..5).map(|n| gamma(n) * value(n)).sum());
                squares.push((0..5).map(|n| gamma(n) * value(n).powi(2)).sum());
            }
        }
    }
    assert_near(&all(sums), &[count, sum, squares].concat());
}

#[test]
fn averages_are_sums_by_counts() {
    let mut draw = Initialiser::<B>::new(17, DType::F64, &Default::default());
    let mut net = |outputs| draw.net(&[4, 8, outputs], Activation::Tanh, Initialisation::FanIn);
    let statistics = Statistics::new(net(2), net(3));
    let sums = statistics.sums(features(5));
    for epsilon in [0.0, 0.5] {
        let expected = sums.sum() / (sums.count() + epsilon);
        let found = statistics.averages(features(5), epsilon);
        assert_near(&numbers(found), &numbers(expected));
    }
}

#[test]
fn the_order_of_the_data_does_not_matter_and_their_number_is_free() {
    let mut draw = Initialiser::<B>::new(17, DType::F64, &Default::default());
    let mut net = |outputs| draw.net(&[4, 8, outputs], Activation::Tanh, Initialisation::FanIn);
    let statistics = Statistics::new(net(2), net(3));
    for data in [1, 2, 60, 600] {
        let features = features(data);
        let sums = statistics.sums(features.clone());
        assert_eq!(sums.sum().dims(), [2, 3, 3, 2]);
        // The weights of a datum over the clusters sum to one.
        assert_near(&numbers(sums.count().sum_dim(2)), &[data as f64; 6]);
        assert_near(&all(statistics.sums(features.flip([2]))), &all(sums));
    }
}
