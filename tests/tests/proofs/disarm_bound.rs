//! DisARM for the importance-weighted bound: its mean over the uniforms is the bound's gradient.

use helmholtz_estimators::{Disarm, DisarmBound, Logits, Method};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::uniforms::{Listed, each_choice};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Batch, Enumerable, Exact, Reference};

use crate::{TOLERANCE, WRONG, data};

const BOUND: Method = Method::Logits(Logits::DisarmBound(DisarmBound));
const DISARM: Method = Method::Logits(Logits::Disarm(Disarm));

/// An estimate is constant between the breakpoints p and 1 − p of a pair's uniform: one point of each cell.
fn pair(p: f64) -> Vec<(f64, f32)> {
    let ends = [0.0, p.min(1.0 - p), p.max(1.0 - p), 1.0];
    let cell = |ends: &[f64]| (ends[1] - ends[0], (0.5 * (ends[0] + ends[1])) as f32);
    ends.windows(2).map(cell).collect()
}

/// One point for a one and one for a zero.
fn bit(p: f64) -> Vec<(f64, f32)> {
    vec![(p, (0.5 * p) as f32), (1.0 - p, (0.5 + 0.5 * p) as f32)]
}

/// The uniforms of one particle, a list a draw, with their probabilities.
type Draws = Vec<(f64, Vec<Vec<f32>>)>;

/// Of a network with one layer.
fn one_layer(model: &Reference, x: &[f64]) -> Draws {
    let ones = &model.recognition_thresholds(x, &model.states()[0])[0];
    let places: Vec<_> = ones.iter().map(|&p| pair(p)).collect();
    let mut draws = Vec::new();
    each_choice(&places, |weight, uniforms| {
        draws.push((weight, vec![uniforms.to_vec()]));
    });
    draws
}

/// Of a network with two layers of one bit: the pair below, the bit above each of its two, and the pair above the first.
fn two_layers(model: &Reference, x: &[f64]) -> Draws {
    let thresholds = |below: f64| model.recognition_thresholds(x, &vec![vec![below], vec![0.0]]);
    let below = thresholds(0.0)[0][0];
    let above = |bit: bool| thresholds(f64::from(bit))[1][0];
    let mut draws = Vec::new();
    for (weight, u) in pair(below) {
        let (first, second) = (1.0 - f64::from(u) < below, f64::from(u) < below);
        let above_first = above(first);
        let places = [bit(above_first), bit(above(second)), pair(above_first)];
        each_choice(&places, |rest, uniforms| {
            let all = [&[u], uniforms].concat();
            draws.push((weight * rest, all.into_iter().map(|u| vec![u]).collect()));
        });
    }
    draws
}

/// The mean of the estimate with this many particles on one datum.
fn mean(model: &Reference, particles: usize, draws: &Draws) -> Vec<f64> {
    let batch = Batch::new(model, &data(1));
    let learned = batch.learned(&BOUND, 1);
    let mut mean = vec![0.0; model.parameters.len()];
    let mut at = vec![0; particles];
    loop {
        let chosen: Vec<_> = at.iter().map(|&i| &draws[i]).collect();
        let fills = 0..draws[0].1.len();
        let uniforms = fills.flat_map(|fill| chosen.iter().map(move |draw| &draw.1[fill]));
        let uniforms: Vec<f32> = uniforms.flatten().copied().collect();
        let estimate = batch.gradient(&BOUND, &learned, particles, &mut Listed(&uniforms));
        let weight = chosen.iter().map(|draw| draw.0).product();
        add_scaled(&mut mean, weight, &estimate);
        let Some(next) = (0..particles).find(|&k| at[k] + 1 < draws.len()) else {
            return mean;
        };
        at[..next].fill(0);
        at[next] += 1;
    }
}

/// Networks with the draws of one particle, and how many particles can be enumerated.
fn cases() -> Vec<(Reference, Draws, usize)> {
    let x = &data(1)[0];
    let of = |layers: &[usize], seed: u64| Reference::random(4, layers, seed);
    let mut cases = Vec::new();
    for (model, particles) in [
        (Reference::t1(), 1),
        (Reference::t1(), 2),
        (of(&[2], 5), 3),
        (of(&[1], 6), 5),
    ] {
        let draws = one_layer(&model, x);
        cases.push((model, draws, particles));
    }
    for particles in [1, 2] {
        let model = of(&[1, 1], 7);
        let draws = two_layers(&model, x);
        cases.push((model, draws, particles));
    }
    cases
}

#[test]
fn it_is_unbiased_for_the_importance_weighted_bound_exactly() {
    for (model, draws, particles) in cases() {
        let mean = mean(&model, particles, &draws);
        let exact = Exact::new(&model, &data(1)[0]);
        let error = relative_error(&mean, &exact.bound_gradient(particles));
        let layers = model.layers();
        assert!(error < TOLERANCE, "{layers:?}, K = {particles}: {error}");
        if particles > 1 {
            let error = relative_error(&mean, &exact.bound_gradient(1));
            assert!(error > WRONG, "its bound is not the ELBO: {error}");
        }
    }
}

#[test]
fn without_the_direct_term_it_is_biased() {
    for (model, draws, particles) in cases().into_iter().filter(|(.., k)| *k == 2) {
        let mut mean = mean(&model, particles, &draws);
        let exact = Exact::new(&model, &data(1)[0]);
        // The mean of −Σ_k w̃_k ∇ log q(h_k), taken out again.
        for (probability, tuple) in exact.tuples(particles) {
            let total: f64 = tuple.iter().map(|&h| exact.log_w[h].exp()).sum();
            for h in tuple {
                let weight = exact.log_w[h].exp() / total;
                add_scaled(&mut mean, probability * weight, &exact.grad_q[h]);
            }
        }
        let error = relative_error(&mean, &exact.bound_gradient(particles));
        assert!(error > WRONG, "{:?}: {error}", model.layers());
    }
}

/// Uniforms of a T1 batch of one datum, named by a seed.
fn uniforms(seed: u64, count: usize) -> Vec<f32> {
    let mut stream = Stream::new(seed, Purpose::new("bound"), [0, 0]);
    let mut uniforms = vec![0.0; count];
    stream.fill_uniform_f32(&mut uniforms);
    uniforms
}

#[test]
fn with_one_pair_it_moves_q_as_disarm_does() {
    let batch = Batch::new(&Reference::t1(), &data(1));
    let learned = batch.learned(&BOUND, 1);
    let phi = Reference::t1().phi();
    for seed in 0..20 {
        let pair = uniforms(seed, 3);
        let bound = batch.gradient(&BOUND, &learned, 1, &mut Listed(&pair));
        // Disarm draws a path for p first.
        let disarm = [vec![0.5; 3], pair].concat();
        let disarm = batch.gradient(&DISARM, &learned, 1, &mut Listed(&disarm));
        let difference = bound[phi.clone()].iter().zip(&disarm[phi.clone()]);
        assert!(difference.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn exchanging_the_latents_of_all_pairs_changes_nothing() {
    let batch = Batch::new(&Reference::t1(), &data(1));
    let learned = batch.learned(&BOUND, 1);
    for seed in 0..20 {
        let u = uniforms(seed, 9);
        let other: Vec<f32> = u.iter().map(|u| 1.0 - u).collect();
        let [a, b] = [u, other].map(|u| batch.gradient(&BOUND, &learned, 3, &mut Listed(&u)));
        assert!(relative_error(&a, &b) < 1e-12, "seed {seed}");
    }
}
