//! Every net against a forward pass in plain numbers, and test 15: the gradients of blocks' log-densities by finite differences,
//! with none for other nets.

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use burn::backend::Autodiff;
use helmholtz_apg::{Conditional, Draw, Model};
use helmholtz_dmm::{Law, Mu, Points};
use helmholtz_ops::log_gamma;
use helmholtz_random::Stream;

use crate::parameters::{gradients, values, with_values};
use crate::*;

type A = Autodiff<Flex>;

const CLUSTERS: usize = 4;
const HIDDEN: usize = 3;
const STATISTICS: usize = 2;
const DATA: usize = 16;
const PARTICLES: usize = 2;

fn config() -> DmmConfig {
    DmmConfig {
        hidden: HIDDEN,
        statistics: STATISTICS,
        ..DmmConfig::released()
    }
}

/// A model whose parameters are all different and none of them 0, x, and particles.
fn small() -> (Dmm<A>, Tensor<A, 3>, DmmState<A>) {
    let model = config().init::<A>(1, F64, &Default::default()).unwrap();
    let moved = values(&model).into_iter().enumerate();
    let moved: Vec<f64> = moved
        .map(|(i, value)| value + 0.1 * (i as f64).sin())
        .collect();
    let model = with_values(model, &moved);
    let simulated = Rings::default().simulate(3, &[0], DATA, F64, &Default::default());
    let x = simulated.unwrap().x;
    let state = model.propose(&x, PARTICLES, &mut stream(4)).state;
    (model, x, state)
}

/// f(x W + b) V + c.
struct Net {
    numbers: Vec<f64>,
    sizes: [usize; 2],
}

impl Net {
    fn apply(&self, x: &[f64], f: fn(f64) -> f64) -> Vec<f64> {
        let [inputs, outputs] = self.sizes;
        assert_eq!(x.len(), inputs);
        let (w, rest) = self.numbers.split_at(inputs * HIDDEN);
        let (b, rest) = rest.split_at(HIDDEN);
        let (v, c) = rest.split_at(HIDDEN * outputs);
        let unit = |h: usize| f((0..inputs).map(|i| x[i] * w[i * HIDDEN + h]).sum::<f64>() + b[h]);
        let units: Vec<f64> = (0..HIDDEN).map(unit).collect();
        let output = |o: usize| {
            (0..HIDDEN)
                .map(|h| units[h] * v[h * outputs + o])
                .sum::<f64>()
                + c[o]
        };
        (0..outputs).map(output).collect()
    }

    fn tanh(&self, x: &[f64]) -> Vec<f64> {
        self.apply(x, f64::tanh)
    }
}

/// The nets in the order in which they are visited, and what of the parameters each has.
struct Nets {
    all: Vec<(Net, Range<usize>)>,
    radius: f64,
}

/// Statistics, weights, mean and logarithm of the deviation, in one shot and given (c, h); c; a and b; the decoder.
const SIZES: [[usize; 2]; 12] = [
    [2, STATISTICS],
    [2, CLUSTERS],
    [STATISTICS + 4, 2],
    [STATISTICS + 4, 2],
    [2 + CLUSTERS + 1, STATISTICS],
    [2 + CLUSTERS + 1, CLUSTERS],
    [STATISTICS + 4, 2],
    [STATISTICS + 4, 2],
    [2, 1],
    [2, 1],
    [2, 1],
    [1, 2],
];

impl Nets {
    fn of(model: &Dmm<A>) -> Self {
        let numbers = values(model);
        let mut from = 0;
        let all = SIZES.map(|[inputs, outputs]| {
            let own = from..from + (inputs + 1) * HIDDEN + (HIDDEN + 1) * outputs;
            from = own.end;
            let sizes = [inputs, outputs];
            let numbers = numbers[own.clone()].to_vec();
            (Net { numbers, sizes }, own)
        });
        let all = all.into_iter().collect();
        assert_eq!(numbers.len(), from + 1, "and the radius");
        let radius = numbers[from];
        Self { all, radius }
    }

    /// The parameters of these nets.
    fn range(&self, nets: Range<usize>) -> Range<usize> {
        self.all[nets.start].1.start..self.all[nets.end - 1].1.end
    }

    /// Mean and deviation of each centre by the four nets from `first` on.
    fn centres(&self, first: usize, features: &[Vec<f64>]) -> Vec<[Vec<f64>; 2]> {
        let net = |i: usize| &self.all[first + i].0;
        let (mut sums, mut counts) = ([[0.0; STATISTICS]; CLUSTERS], [0.0; CLUSTERS]);
        for own in features {
            let weights: Vec<f64> = net(1).tanh(own).into_iter().map(f64::exp).collect();
            let norm: f64 = weights.iter().sum();
            for (m, weight) in weights.iter().enumerate() {
                counts[m] += weight / norm;
                let statistics = net(0).tanh(own);
                (0..STATISTICS).for_each(|s| sums[m][s] += weight / norm * statistics[s]);
            }
        }
        let centre = |m: usize| {
            let average = sums[m].map(|sum| sum / (counts[m] + 1e-8));
            let features = [&average[..], &[0.0, 0.0, 10.0, 10.0]].concat();
            let deviation = net(3).tanh(&features).into_iter().map(f64::exp);
            [net(2).tanh(&features), deviation.collect()]
        };
        (0..CLUSTERS).map(centre).collect()
    }

    /// R u / ‖u‖ at h.
    fn place(&self, h: f64) -> [f64; 2] {
        let u = self.all[11].0.tanh(&[TAU * h]);
        let length = u[0].hypot(u[1]);
        [0, 1].map(|d| self.radius * u[d] / length)
    }
}

fn log_gamma_of(x: f64) -> f64 {
    let x = Tensor::<B, 1>::from_data([x], (&Default::default(), F64));
    numbers(log_gamma(x))[0]
}

/// One datum of one particle: x_n, the centres, c_n, h_n.
type Row = ([f64; 2], Vec<[f64; 2]>, usize, f64);

fn rows(x: &Tensor<A, 3>, z: &DmmState<A>) -> Vec<Row> {
    let (x, mean) = (numbers(x.clone()), numbers(z.mean.clone()));
    let (c, h) = (numbers(z.assignment.clone()), numbers(z.angle.clone()));
    let row = |row: usize| {
        let (particle, n) = (row / DATA, row % DATA);
        let centre = |m: usize| [0, 1].map(|d| mean[(particle * CLUSTERS + m) * 2 + d]);
        let own = &c[row * CLUSTERS..][..CLUSTERS];
        let class = own.iter().position(|&c| c == 1.0).expect("one-hot");
        let centres = (0..CLUSTERS).map(centre).collect();
        ([x[2 * n], x[2 * n + 1]], centres, class, h[row])
    };
    (0..PARTICLES * DATA).map(row).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let bound = 1e-10 * expected.abs().max(1.0);
        assert!((found - expected).abs() < bound, "{i}: {found}, {expected}");
    }
}

#[test]
fn centres_are_proposed_by_the_averages_of_learned_statistics() {
    let (model, x, z) = small();
    let nets = Nets::of(&model);
    let all = rows(&x, &z);
    let data: Vec<Vec<f64>> = all[..DATA].iter().map(|row| row.0.to_vec()).collect();
    let law = model.one_shot_law(&x);
    let expected = nets.centres(0, &data);
    let of =
        |law: &[[Vec<f64>; 2]], i: usize| law.iter().flat_map(|m| m[i].clone()).collect::<Vec<_>>();
    assert_near(&numbers(law.mean), &of(&expected, 0));
    assert_near(&numbers(law.deviation), &of(&expected, 1));

    let law = model.conditional_law(&x, &z);
    let expected = all.chunks(DATA).flat_map(|particle| {
        let features = particle.iter().map(|(x, _, c, h)| {
            let one_hot = (0..CLUSTERS).map(|m| f64::from(u8::from(m == *c)));
            x.iter().copied().chain(one_hot).chain([*h]).collect()
        });
        nets.centres(4, &features.collect::<Vec<_>>())
    });
    let expected: Vec<_> = expected.collect();
    assert_near(&numbers(law.mean), &of(&expected, 0));
    assert_near(&numbers(law.deviation), &of(&expected, 1));
}

#[test]
fn rings_and_places_are_proposed_by_displacements() {
    let (model, x, z) = small();
    let nets = Nets::of(&model);
    let expected = rows(&x, &z).into_iter().map(|(x, centres, c, h)| {
        let from = |m: usize| [0, 1].map(|d| x[d] - centres[m][d]);
        let logits = (0..CLUSTERS).map(|m| nets.all[8].0.apply(&from(m), |a| a.max(0.0))[0]);
        let logits: Vec<f64> = logits.collect();
        let norm: f64 = logits.iter().map(|logit| logit.exp()).sum();
        let [a, b] = [9, 10].map(|net| nets.all[net].0.tanh(&from(c))[0].exp());
        let log_beta = log_gamma_of(a) + log_gamma_of(b) - log_gamma_of(a + b);
        let log_h = (a - 1.0) * h.ln() + (b - 1.0) * (1.0 - h).ln() - log_beta;
        logits[c] - norm.ln() + log_h
    });
    let law = Conditional::<A, Dmm<A>, Stream>::law(&Points, &model, &x, &z);
    let found = Conditional::<A, Dmm<A>, Stream>::log_prob(&Points, &law, &z);
    assert_near(&numbers(found), &expected.collect::<Vec<_>>());
}

#[test]
fn data_lie_about_the_decoder_s_places() {
    let (model, x, z) = small();
    let nets = Nets::of(&model);
    let all = rows(&x, &z);
    let decoded: Vec<f64> = all.iter().flat_map(|row| nets.place(row.3)).collect();
    assert_near(&numbers(model.decode(&z.angle)), &decoded);
    let expected = all.chunks(DATA).map(|particle| {
        let prior = particle[0]
            .1
            .iter()
            .flatten()
            .map(|mu| -0.5 * (mu / 10.0).powi(2) - 10f64.ln() - 0.5 * (2.0 * PI).ln());
        let data = particle.iter().map(|(x, centres, c, h)| {
            let place = nets.place(*h);
            let error = [0, 1].map(|d| ((x[d] - centres[*c][d] - place[d]) / 0.5).powi(2));
            -0.5 * (error[0] + error[1]) - (2.0 * PI * 0.25).ln() - (CLUSTERS as f64).ln()
        });
        prior.sum::<f64>() + data.sum::<f64>()
    });
    let found = numbers(model.log_joint(&x, &z));
    assert_near(&found, &expected.collect::<Vec<_>>());
}

/// Holds the gradient of Σ w f with weights w = sin 1, sin 2, .. to finite differences at every third of the parameters `own`; all
/// others have none.
fn assert_gradient(
    own: Range<usize>,
    f: impl Fn(&Dmm<A>, &Tensor<A, 3>, &DmmState<A>) -> Tensor<A, 3>,
) {
    let (model, x, z) = small();
    let value = |model: &Dmm<A>| {
        let f = f(model, &x, &z);
        let shape = f.dims();
        let weights = (1..=shape.iter().product()).map(|i: usize| (i as f64).sin());
        let weights = TensorData::new(weights.collect::<Vec<_>>(), shape);
        (f * Tensor::from_data(weights, (&Default::default(), F64))).sum()
    };
    let found = gradients(&model, &value(&model).backward());
    let start = values(&model);
    let at = |i: usize, step: f64| {
        let mut moved = start.clone();
        moved[i] += step;
        numbers(value(&with_values(model.clone(), &moved)))[0]
    };
    for (i, &found) in found.iter().enumerate() {
        if !own.contains(&i) {
            assert_eq!(found, 0.0, "parameter {i} is of another net");
        } else if i % 3 == 0 {
            let expected = (at(i, 1e-5) - at(i, -1e-5)) / 2e-5;
            let bound = 1e-6 * expected.abs().max(1.0);
            assert!((found - expected).abs() < bound, "{i}: {found}, {expected}");
        }
    }
}

/// Another state than the one that the law is given by, drawn by the model as it is.
fn drawn<K: Conditional<A, Dmm<A>, Stream>>(
    block: &K,
    x: &Tensor<A, 3>,
    z: &DmmState<A>,
) -> DmmState<A> {
    let (model, ..) = small();
    block.sample(&block.law(&model, x, z), z, &mut stream(5))
}

#[test]
fn test_15_through_the_nets_for_centres() {
    let nets = Nets::of(&small().0);
    let block = Mu(Law::Learned);
    assert_gradient(nets.range(4..8), |model, x, z| {
        let law = Conditional::<A, Dmm<A>, Stream>::law(&block, model, x, z);
        Conditional::<A, Dmm<A>, Stream>::log_prob(&block, &law, &drawn(&block, x, z))
    });
}

#[test]
fn test_15_through_the_nets_for_rings_and_places() {
    let nets = Nets::of(&small().0);
    assert_gradient(nets.range(8..11), |model, x, z| {
        let law = Conditional::<A, Dmm<A>, Stream>::law(&Points, model, x, z);
        Conditional::<A, Dmm<A>, Stream>::log_prob(&Points, &law, &drawn(&Points, x, z))
    });
}

/// What the block scores with the draw is what it scores afterwards, with the same gradient.
#[test]
fn test_15_a_draw_is_scored_as_any_other_state() {
    let (model, x, z) = small();
    let law = || Conditional::<A, Dmm<A>, Stream>::law(&Points, &model, &x, &z);
    // One graph at a time: a backward pass may free what another one with the same parameters needs.
    let of = |log_q: Tensor<A, 3>| {
        let values = numbers(log_q.clone());
        (values, gradients(&model, &log_q.sum().backward()))
    };
    let Draw {
        state: new,
        log_prob,
        log_reverse,
    } = Points.propose(&law(), &z, &mut stream(5));
    let (values_with_draw, with_draw) = of(log_prob);
    let afterwards = Conditional::<A, Dmm<A>, Stream>::log_prob(&Points, &law(), &new);
    let (values_afterwards, afterwards) = of(afterwards);
    assert_near(&values_with_draw, &values_afterwards);
    assert_near(&with_draw, &afterwards);
    let before = Conditional::<A, Dmm<A>, Stream>::log_prob(&Points, &law(), &z);
    assert_near(&numbers(log_reverse), &numbers(before));
    let own = Nets::of(&model).range(9..11);
    assert!(afterwards[own].iter().any(|g| g.abs() > 1e-3), "they learn");
}

#[test]
fn test_15_through_the_decoder() {
    let (model, ..) = small();
    let own = Nets::of(&model).range(11..12);
    let count = values(&model).len();
    assert_gradient(own.start..count, |model, x, z| {
        Conditional::<A, Dmm<A>, Stream>::log_target(&Points, model, x, z)
    });
}
