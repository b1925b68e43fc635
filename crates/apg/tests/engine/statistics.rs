//! Neural sufficient statistics.

use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_apg::{Statistics, Sums};
use helmholtz_nets::{Initialisation, Initialiser};
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
        numbers(sums.count),
        numbers(sums.sum),
        numbers(sums.squares),
    ]
    .concat()
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
    let mean: Vec<f64> = (0..48)
        .map(|i| sum[i] / count[i / 2])
        .map(|m: f64| m)
        .collect();
    assert_near(&numbers(sums.mean()), &mean);
    assert_near(&all(sums), &[count, sum, squares].concat());
}

#[test]
fn the_order_of_the_data_does_not_matter_and_their_number_is_free() {
    let mut draw = Initialiser::<B>::new(17, DType::F64, &Default::default());
    let mut net = |outputs| draw.tanh_net(&[4, 8, outputs], Initialisation::FanIn);
    let statistics = Statistics::new(net(2), net(3));
    for data in [1, 2, 60, 600] {
        let features = features(data);
        let sums = statistics.sums(features.clone());
        assert_eq!(sums.sum.dims(), [2, 3, 3, 2]);
        // The weights of a datum over the clusters sum to one.
        assert_near(&numbers(sums.count.clone().sum_dim(2)), &[data as f64; 6]);
        assert_near(&all(statistics.sums(features.flip([2]))), &all(sums));
    }
}
