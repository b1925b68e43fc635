//! What Hamiltonian Monte Carlo follows, and what is drawn after it.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::tensor::activation::log_softmax;
use helmholtz_apg::Model;
use helmholtz_random::Draws;
use helmholtz_samplers::{BatchedHmc, Info};

use crate::*;

type A = Autodiff<Flex>;

fn tensor<B: Backend, const D: usize>(values: Vec<f64>, shape: [usize; D]) -> Tensor<B, D> {
    Tensor::from_data(TensorData::new(values, shape), (&Default::default(), F64))
}

#[test]
fn rows_are_the_particles_and_back() {
    let (_, z) = some_particles(2, 16);
    let rows = z.to_rows();
    assert_eq!(rows.dims(), [4 * 2, 4 * 2 + 16]);
    let back = z.with_rows(rows);
    assert!(largest(back.mean - z.mean) < 1e-12);
    assert!(largest(back.angle - z.angle) < 1e-12);
}

/// However far a row goes, h stays so far from 0 and 1.
#[test]
fn places_of_rows_stay_within_the_law_that_proposes_them() {
    let (_, z) = some_particles(2, 16);
    for (far, place) in [(-40.0, 1e-6), (40.0, 1.0 - 1e-6)] {
        let there = z.with_rows(z.to_rows() * 0.0 + far);
        assert!(largest(there.angle - place) < 1e-12);
    }
}

#[test]
fn the_density_of_rows_is_the_log_joint_with_the_jacobian() {
    let (model, (x, z)) = (released(), some_particles(2, 16));
    let jacobian = (z.angle.clone() * (z.angle.clone().neg() + 1.0)).log();
    let expected =
        model.log_joint(&x, &z).flatten::<1>(0, 1) + jacobian.sum_dim(2).flatten::<1>(0, 3);
    let found = model.log_density_of_rows(&x, &z, z.to_rows());
    assert!(largest((found - expected.clone()) / expected) < 1e-12);
}

#[test]
fn its_gradient_is_that_of_central_differences() {
    let model = DmmConfig::released().init::<A>(1, F64, &Default::default());
    let model = model.expect("a model").no_grad();
    let (x, z) = some_particles(1, 16);
    let (x, like) = (
        Tensor::<A, 3>::from_inner(x),
        DmmState::<A> {
            mean: Tensor::from_inner(z.mean.clone()),
            assignment: Tensor::from_inner(z.assignment.clone()),
            angle: Tensor::from_inner(z.angle.clone()),
        },
    );
    let rows = numbers(z.to_rows());
    let shape = z.to_rows().dims();
    let at = |values: Vec<f64>| {
        let rows = tensor::<A, 2>(values, shape).require_grad();
        let sum = model.log_density_of_rows(&x, &like, rows.clone()).sum();
        let gradient = numbers(rows.grad(&sum.backward()).expect("a gradient"));
        (numbers(sum)[0], gradient)
    };
    let (_, own) = at(rows.clone());
    let h = 1e-5;
    for i in 0..rows.len() {
        let moved = |by: f64| {
            let mut rows = rows.clone();
            rows[i] += by;
            at(rows).0
        };
        let expected = (moved(h) - moved(-h)) / (2.0 * h);
        let error = (own[i] - expected).abs();
        assert!(
            error < 1e-5 * expected.abs().max(1.0),
            "{i}: {} {expected}",
            own[i]
        );
    }
}

/// Ratios of joint densities over the rings that a datum may be on.
#[test]
fn rings_are_drawn_from_their_exact_conditional() {
    let (model, (x, z)) = (released(), some_particles(2, 16));
    let (m, shape) = (model.clusters(), z.assignment.dims());
    // Each datum by itself: the others stay where they are.
    let found = log_softmax(
        model.exact_choices(&x, &z.mean, &z.angle).logits().clone(),
        3,
    );
    let found = numbers(found);
    let [particles, instances, data, _] = shape;
    for datum in [0, 5] {
        let of = |cluster: usize| {
            let mut c = numbers(z.assignment.clone());
            for group in 0..particles * instances {
                for other in 0..m {
                    c[(group * data + datum) * m + other] = f64::from(u8::from(other == cluster));
                }
            }
            let assignment = tensor(c, shape);
            let z = DmmState {
                assignment,
                ..z.clone()
            };
            numbers(model.log_joint(&x, &z))
        };
        let joints: Vec<Vec<f64>> = (0..m).map(of).collect();
        for group in 0..particles * instances {
            let most = joints.iter().map(|j| j[group]).fold(f64::MIN, f64::max);
            let sum: f64 = joints.iter().map(|j| (j[group] - most).exp()).sum();
            for (cluster, joint) in joints.iter().enumerate() {
                let expected = joint[group] - most - sum.ln();
                let found = found[(group * data + datum) * m + cluster];
                assert!(
                    (found - expected).abs() < 1e-7 * expected.abs().max(1.0),
                    "{found} {expected}"
                );
            }
        }
    }
}

/// Chains from the prior of μ and h, moved under a likelihood so wide that it says nothing: largest distance of the means of μ², h
/// and h² from those of the prior, in standard errors. Then the share of moves that were accepted.
fn from_the_prior(with_jacobian: bool) -> (f64, f64) {
    const CHAINS: usize = 4000;
    let config = DmmConfig {
        spread: 1.0,
        noise: 1e6,
        clusters: 2,
        ..DmmConfig::released()
    };
    let model = config.init::<A>(1, F64, &Default::default());
    let model = model.expect("a model").no_grad();
    let mut chance = stream(40);
    let normals = (0..CHAINS * 4).map(|_| chance.normal()).collect();
    let mean: Tensor<Flex, 4> = tensor(normals, [CHAINS, 1, 2, 2]);
    let angles = (0..CHAINS * 2).map(|_| chance.uniform()).collect();
    let angle: Tensor<Flex, 4> = tensor(angles, [CHAINS, 1, 2, 1]);
    let one_hot = [1.0, 0.0, 0.0, 1.0].repeat(CHAINS);
    let assignment: Tensor<Flex, 4> = tensor(one_hot, [CHAINS, 1, 2, 2]);
    let z = DmmState {
        mean,
        assignment,
        angle,
    };
    let like = DmmState::<A> {
        mean: Tensor::from_inner(z.mean.clone()),
        assignment: Tensor::from_inner(z.assignment.clone()),
        angle: Tensor::from_inner(z.angle.clone()),
    };
    let x = tensor::<A, 3>(vec![0.5, -0.5, 1.0, 2.0], [1, 2, 2]);
    let log_density = |rows: Tensor<A, 2>| match with_jacobian {
        true => model.log_density_of_rows(&x, &like, rows),
        false => model
            .log_joint(&x, &like.with_rows(rows))
            .flatten::<1>(0, 1),
    };
    let hmc = BatchedHmc::new(log_density, 0.5, 4).expect("a kernel");
    let (mut rows, mut info) = (z.to_rows(), Info::default());
    for _ in 0..5 {
        let (next, own) = hmc.step(rows, &mut chance);
        rows = next;
        info += own;
    }
    let moved = z.with_rows(rows);
    let (mu, h) = (numbers(moved.mean), numbers(moved.angle));
    let z_score = |values: Vec<f64>, mean: f64, variance: f64| {
        let own = values.iter().sum::<f64>() / values.len() as f64;
        (own - mean).abs() / (variance / values.len() as f64).sqrt()
    };
    let scores = [
        z_score(mu.iter().map(|mu| mu * mu).collect(), 1.0, 2.0),
        z_score(h.clone(), 0.5, 1.0 / 12.0),
        z_score(
            h.iter().map(|h| h * h).collect(),
            1.0 / 3.0,
            1.0 / 5.0 - 1.0 / 9.0,
        ),
    ];
    let accepted = info.accepted as f64 / info.moves as f64;
    (scores.into_iter().fold(0.0, f64::max), accepted)
}

/// A normal is this far from its mean with probability 1e-8; there are three comparisons.
const FAR: f64 = 5.731;

#[test]
fn chains_stay_at_the_prior_and_move() {
    let (distance, accepted) = from_the_prior(true);
    assert!(distance < FAR, "{distance}");
    assert!((0.5..1.0).contains(&accepted), "{accepted}");
}

#[test]
fn without_the_jacobian_they_do_not() {
    let (distance, _) = from_the_prior(false);
    assert!(distance > FAR, "{distance}");
}
