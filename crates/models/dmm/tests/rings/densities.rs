//! Densities against a second way of writing them, and weights against differences of whole densities (spec, section 4.4).

use std::f64::consts::PI;

use burn::module::{Module, ModuleMapper, Param};
use helmholtz_apg::{Block, Conditional, Model, Rescore, Update};
use helmholtz_dmm::{Law, Mu, Points, Scheme};
use helmholtz_random::Stream;

use crate::*;

fn log_normal(x: f64, mean: f64, deviation: f64) -> f64 {
    let z = (x - mean) / deviation;
    -0.5 * z * z - deviation.ln() - 0.5 * (2.0 * PI).ln()
}

#[test]
fn the_nets_have_the_published_sizes() {
    let one_shot = 360 + 228 + 482 + 482;
    let conditional = 520 + 388 + 482 + 482;
    assert_eq!(
        released().num_params(),
        one_shot + conditional + 129 + 258 + 131
    );
}

#[test]
fn the_log_joint_is_the_sum_of_its_factors() {
    let (model, (x, z)) = (released(), some_particles(2, 16));
    let [particles, instances, data, m] = z.assignment.dims();
    let (decoded, radius) = (numbers(model.decode(&z.angle)), model.radius());
    assert_eq!(radius, 1.0);
    let (x_at, mean, c) = (
        numbers(x.clone()),
        numbers(z.mean.clone()),
        numbers(z.assignment.clone()),
    );
    let found = numbers(model.log_joint(&x, &z));
    for l in 0..particles {
        for b in 0..instances {
            let particle = l * instances + b;
            let centre = |cluster: usize, d: usize| mean[(particle * m + cluster) * 2 + d];
            let mut expected = 0.0;
            for cluster in 0..m {
                expected += (0..2)
                    .map(|d| log_normal(centre(cluster, d), 0.0, 10.0))
                    .sum::<f64>();
            }
            for n in 0..data {
                let row = particle * data + n;
                let cluster = (0..m).find(|i| c[row * m + i] == 1.0).expect("one-hot");
                let g = [decoded[2 * row], decoded[2 * row + 1]];
                assert!((g[0].hypot(g[1]) - radius).abs() < 1e-9, "on the ring");
                expected -= (m as f64).ln();
                for (d, g) in g.into_iter().enumerate() {
                    let x = x_at[(b * data + n) * 2 + d];
                    expected += log_normal(x, g + centre(cluster, d), 0.5);
                }
            }
            assert!((found[particle] / expected - 1.0).abs() < 1e-12);
        }
    }
}

/// log p(x, z') − log q(z'_b) − log p(x, z) + log q(z_b), from whole densities.
fn log_v<K: Conditional<B, Dmm<B>, Stream>>(
    kernel: &K,
    x: &Tensor<B, 3>,
    old: &DmmState<B>,
    new: &DmmState<B>,
) -> Vec<f64> {
    let model = released();
    let law = kernel.law(&model, x, old);
    let q = |z| kernel.log_prob(&law, z).sum_dim(2).squeeze_dim::<2>(2);
    let p = |z| model.log_joint(x, z);
    numbers(p(new) - q(new) - p(old) + q(old))
}

fn check<K: Conditional<B, Dmm<B>, Stream> + Copy>(kernel: K) {
    let (model, (x, z)) = (released(), some_particles(3, 16));
    let moved = Update(kernel).advance(&model, &model, &x, &z, &mut stream(1));
    let found = numbers(moved.log_v.sum_dim(2).squeeze_dim::<2>(2));
    let expected = log_v(&kernel, &x, &z, &moved.state);
    assert!(
        expected.iter().any(|v| v.abs() > 1.0),
        "weights that differ"
    );
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-8 * expected.abs().max(100.0));
    }
}

#[test]
fn weights_are_ratios_of_whole_densities() {
    check(Mu(Law::Learned));
    check(Mu(Law::Prior));
    check(Points);
}

#[test]
fn a_block_moves_its_own_latents_alone() {
    let (model, (x, z)) = (released(), some_particles(3, 16));
    let same = |a: &Tensor<B, 4>, b: &Tensor<B, 4>| largest(a.clone() - b.clone()) == 0.0;
    let moved = Update(Mu(Law::Learned))
        .advance(&model, &model, &x, &z, &mut stream(1))
        .state;
    assert!(!same(&moved.mean, &z.mean));
    assert!(same(&moved.assignment, &z.assignment) && same(&moved.angle, &z.angle));
    let moved = Update(Points)
        .advance(&model, &model, &x, &z, &mut stream(1))
        .state;
    assert!(same(&moved.mean, &z.mean));
    assert!(!same(&moved.assignment, &z.assignment) && !same(&moved.angle, &z.angle));
}

/// h has a density of its own: ∫ q(h | c) dh = 1 at every datum, by the midpoint rule in t, h = sin² πt/2, which is smooth where
/// the density of h is not.
#[test]
fn the_density_of_a_place_integrates_to_one() {
    const CELLS: usize = 4000;
    let (model, (x, z)) = (released(), some_particles(1, 16));
    let places = model.places(&x, &z.mean);
    let density = |t: f64| {
        let angle = z.angle.full_like((0.5 * PI * t).sin().powi(2));
        let z = DmmState { angle, ..z.clone() };
        let log_q = Conditional::<B, _, Stream>::log_prob(&Points, &places, &z);
        log_q.exp() * (0.5 * PI * (PI * t).sin())
    };
    let cells = (0..CELLS).map(|i| density((i as f64 + 0.5) / CELLS as f64));
    let integral = cells.reduce(|a, b| a + b).expect("cells") / CELLS as f64;
    let of_c = z_probability(&model, &x, &z);
    assert!(largest(integral / of_c - 1.0) < 1e-3);
}

/// q(c_n | x_n, μ) of the given c, by the logits: `[L, B, N]`.
fn z_probability(model: &Dmm<B>, x: &Tensor<B, 3>, z: &DmmState<B>) -> Tensor<B, 3> {
    let places = model.places(x, &z.mean);
    let logits = places.choices().logits().clone();
    let p = burn::tensor::activation::softmax(logits, 3) * z.assignment.clone();
    p.sum_dim(3).squeeze_dim(3)
}

#[test]
fn the_density_of_the_one_shot_proposal_is_that_of_its_draws() {
    let (x, _) = some_particles(2, 16);
    let proposal = released().propose(&x, 4, &mut stream(6));
    let again = released().log_one_shot(&x, &proposal.state);
    assert!(largest(proposal.log_q - again) < 1e-9);
}

#[test]
fn targets_of_a_new_and_an_old_state_are_those_of_each() {
    let (model, (x, old)) = (released(), some_particles(2, 16));
    let new = Conditional::<B, Dmm<B>, Stream>::law(&Mu(Law::Learned), &model, &x, &old);
    let new = Mu(Law::Learned).sample(&new, &old, &mut stream(5));
    let of = |z: &DmmState<B>| {
        Conditional::<B, Dmm<B>, Stream>::log_target(&Mu(Law::Learned), &model, &x, z)
    };
    let both = [&new, &old];
    let mu = Mu(Law::Learned);
    let found = Conditional::<B, Dmm<B>, Stream>::log_targets(&mu, [&model; 2], &x, both);
    for (found, z) in found.into_iter().zip(both) {
        // What μ changes of the joint density.
        let scale = largest(found.clone());
        assert!(largest(found - of(z)) < 1e-12 * scale);
    }
    let joint = |z: &DmmState<B>| model.log_joint(&x, z).unsqueeze_dim::<3>(2);
    let difference = of(&new) - of(&old) - (joint(&new) - joint(&old));
    assert!(largest(difference) < 1e-9 * largest(of(&new)));
}

#[test]
fn a_sweep_has_its_blocks_and_the_model_its_sizes() {
    for scheme in [Scheme::Apg, Scheme::Bpg] {
        let blocks = scheme.blocks::<B, Stream>();
        let names: Vec<String> = blocks.iter().map(|block| block.name()).collect();
        assert_eq!(names, ["mu", "c, h"]);
    }
    let paper = DmmConfig::paper();
    let noise = DmmConfig::released().noise;
    assert_eq!((paper.noise, noise), (0.1, 0.5));
    assert_eq!(DmmConfig { noise, ..paper }, DmmConfig::released());
    let config = DmmConfig {
        clusters: 7,
        ..DmmConfig::released()
    };
    let model: Dmm<B> = config.init(1, F64, &Default::default()).expect("a model");
    assert_eq!((model.clusters(), model.radius()), (7, 1.0));
    // The radius is the last parameter, and is told without its sign.
    let model = Module::<B>::map(model, &mut Twice);
    assert_eq!(model.radius(), 2.0);
}

/// Every parameter times −2.
struct Twice;

impl ModuleMapper<B> for Twice {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|value| value * -2.0)
    }
}
