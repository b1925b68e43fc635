//! Test 1 for a deep mixture: E[Ẑ] = p(x) after the one-shot proposal and after every block, for two data on two rings, where
//! p(x) is an integral over h_1 and h_2. It is not so without the reverse kernel.
//!
//! The prior is narrow, s = 0.6 against σ = 1, so that the variance is finite. For μ, whose conditionals have variances
//! between 0.21 and 0.36, the proposal's 0.28 is inside the bounds ½ < σ_q² / σ_p² < 2. For (c, h) the second moment of a weight
//! has exp of k μ² / 2σ² for k data that leave a ring at once, 2 at most, which the prior's μ² / 2s² outweighs.

use burn::module::{Module, ModuleMapper, Param};
use helmholtz_apg::{Block, Conditional, Move, Sampler, Streams, Update};
use helmholtz_dmm::{Law, Mu, Points, Scheme};
use helmholtz_invariance::{Report, Unbiased};
use helmholtz_samplers::resampling::{Policy, Systematic};

use crate::*;

const X: [f64; 4] = [0.9, -0.3, -0.4, 0.8];
const RUNS: usize = 20_000;
const BATCH: usize = 2_500;
/// s and σ.
const SPREAD: f64 = 0.6;
const NOISE: f64 = 1.0;

/// Smaller weights, and the deviations of the proposals for μ near √0.28.
struct Tame {
    bias: usize,
}

/// The output biases of the nets of the log-deviations among the vectors of the model: each proposal for μ has four nets of two
/// layers.
const DEVIATIONS: [usize; 2] = [7, 15];

impl ModuleMapper<B> for Tame {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let mut deviation = false;
        if D == 1 {
            deviation = DEVIATIONS.contains(&self.bias);
            self.bias += 1;
        }
        param.map(|value| match deviation {
            true => value.full_like(0.5 * 0.28f64.ln()),
            false => value * 0.3,
        })
    }
}

fn model() -> Dmm<B> {
    let config = DmmConfig {
        clusters: 2,
        spread: SPREAD,
        noise: NOISE,
        hidden: 4,
        statistics: 2,
        reads_angles: true,
    };
    let model = config.init(1, F64, &Default::default()).expect("a model");
    model.map(&mut Tame { bias: 0 })
}

/// ln p(x) by the midpoint rule in h_1 and h_2; what is integrated is smooth and nearly periodic.
fn log_evidence() -> f64 {
    const CELLS: usize = 400;
    let h: Vec<f64> = (0..CELLS)
        .map(|i| (i as f64 + 0.5) / CELLS as f64)
        .collect();
    let h = TensorData::new(h, [1, 1, CELLS, 1]);
    let g = numbers(model().decode(&Tensor::from_data(h, (&Default::default(), F64))));
    let (s, noise) = (SPREAD * SPREAD, NOISE * NOISE);
    // The covariance of the two data in a coordinate, around g(h): s + σ² on the diagonal, s beside it on one ring.
    let log_density = |r: [f64; 2], together: bool| {
        let (own, shared) = (s + noise, if together { s } else { 0.0 });
        let det = own * own - shared * shared;
        let square = (own * (r[0] * r[0] + r[1] * r[1]) - 2.0 * shared * r[0] * r[1]) / det;
        -0.5 * square - 0.5 * det.ln() - (2.0 * std::f64::consts::PI).ln()
    };
    let mut sum = 0.0;
    for first in g.chunks(2) {
        for second in g.chunks(2) {
            let r = |d: usize| [X[d] - first[d], X[2 + d] - second[d]];
            for together in [true, false] {
                sum += 0.5 * (log_density(r(0), together) + log_density(r(1), together)).exp();
            }
        }
    }
    (sum / (CELLS * CELLS) as f64).ln()
}

/// The z-test of Ẑ / p(x) after the one-shot proposal and after each block.
fn test(name: &str, blocks: &[&dyn Block<B, Dmm<B>, Stream>]) -> Report {
    let sampler = Sampler::new(5, 3, Policy::Always, Systematic).expect("a sampler");
    let (model, log_z) = (model(), log_evidence());
    let x = TensorData::new(X.to_vec(), [1, 2, 2]);
    let x = Tensor::<B, 3>::from_data(x, (&Default::default(), F64)).expand([BATCH, 2, 2]);
    let mut all: Vec<Vec<f64>> = Vec::new();
    for step in 0..RUNS / BATCH {
        let mut streams = Streams::new(1, step as u64);
        let run = sampler
            .run(&model, &x, blocks, &mut streams, |_, _, _| {})
            .expect("weights");
        for b in 0..BATCH {
            let records = run.records.iter();
            all.push(records.map(|r| (r.log_evidence[b] - log_z).exp()).collect());
        }
    }
    let expected = vec![1.0; all[0].len()];
    let mut next = all.iter();
    let draw = |_: &mut Stream, out: &mut [f64]| out.copy_from_slice(next.next().expect("a run"));
    let share = SUITE.share(name).expect("a share");
    Unbiased::new(&expected)
        .samples(RUNS)
        .test(draw, share)
        .expect("finite")
}

#[test]
fn test_1_the_evidence_is_unbiased_after_every_block() {
    let report = test("rings", &Scheme::Apg.blocks());
    report.assert_passed();
    for comparison in &report.comparisons {
        assert!(comparison.sees < 0.06, "blind: {report}");
    }
}

/// The block of the places, its weight without a reverse density. (That of a centre's would be wrong by 1 / q(μ), whose mean is
/// infinite, and no test sees that.)
struct NoReverse;

impl Block<B, Dmm<B>, Stream> for NoReverse {
    fn name(&self) -> String {
        "no reverse".into()
    }

    fn advance(
        &self,
        model: &Dmm<B>,
        frozen: &Dmm<B>,
        x: &Tensor<B, 3>,
        old: &DmmState<B>,
        chance: &mut Stream,
    ) -> Move<B, DmmState<B>> {
        let places = model.places(x, &old.mean);
        let reverse = Conditional::<B, Dmm<B>, Stream>::log_prob(&Points, &places, old);
        let moved = Update(Points).advance(model, frozen, x, old, chance);
        Move {
            log_v: moved.log_v - reverse,
            ..moved
        }
    }
}

#[test]
fn test_4_a_weight_without_its_reverse_density_is_noticed() {
    test("no reverse", &[&Update(Mu(Law::Learned)), &NoReverse]).assert_failed();
}
