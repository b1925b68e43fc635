//! Tests 2, 4 and 5 on the tracker. For frame blocks and for the telescoped path, E[Ẑ Σ W 1{z}] of every path z over every
//! branch of a run, to rounding.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use burn_flex::Flex;
use helmholtz_apg::{
    AllBranches, Block, LatentMapper, Model, Move, OneShot, Particle, Population, Position,
    Proposal, Sampler, Update,
};
use helmholtz_invariance::expectation;
use helmholtz_ops::cat;
use helmholtz_random::{Chance, Enumerator, Stream};
use helmholtz_samplers::resampling::{Policy, Ssp};

use crate::toy::{Law, numbers};
use crate::tracker::*;

type B = Flex;
type Blocks<'a, M, C = Enumerator> = [&'a dyn Block<B, M, C>];

/// A law of the path after each record of a run, not normalised.
type Masses = Vec<Vec<f64>>;

/// p(x, z) of every path.
fn posterior(x: &Frames) -> Vec<f64> {
    let joint = |z| log_joint(x, &z).exp();
    all_paths(x[0].len() - 1).into_iter().map(joint).collect()
}

/// What the telescoped weights aim at when frames up to t have moved. They have given the old prefix the law q, whatever it had
/// before, and the old suffix still follows its last position z°:
///
/// > p(x_1:t, z_1:t) Σ_{z°} q_t(z°) p(x_{t+1:T}, z_{t+1:T} | z°),
///
/// which is p(x, z) at t = T alone.
fn telescoped(x: &Frames, t: usize) -> Vec<f64> {
    let log_q = log_proposal(x, t);
    let mass = |z: Positions| {
        let prefix: f64 = (0..=t).map(|s| log_step(x, &z, s)).sum();
        let suffix = |(from, log_q): (usize, &f64)| {
            let mut old = z;
            old[t] = from;
            (log_q + (t + 1..FRAMES).map(|s| log_step(x, &old, s)).sum::<f64>()).exp()
        };
        prefix.exp() * log_q.iter().enumerate().map(suffix).sum::<f64>()
    };
    all_paths(log_q.len()).into_iter().map(mass).collect()
}

/// E[Ẑ Σ W 1{z}] of every path z, after the one shot and after each block of K sweeps of L particles.
fn masses<M: OneShot<B, Enumerator, Data = Frames>>(
    model: &M,
    path: fn(&M::State) -> &Path<B>,
    x: &Frames,
    blocks: &Blocks<'_, M>,
    [particles, sweeps]: [usize; 2],
) -> Masses {
    let sampler = Sampler::new(particles, sweeps, Policy::Always, Ssp).expect("a sampler");
    let positions = x[0].len() - 1;
    let count = positions.pow(FRAMES as u32);
    let mean = expectation(|chance| {
        let mut masses = Vec::new();
        let look = |_: Position, population: &Population<M::State>, _| {
            let mut mass = vec![0.0; count];
            let log_evidence = population.log_evidence()[0];
            let log_weights = population.log_weights().next().expect("an instance");
            for (z, log_weight) in paths(&path(population.state()).now).iter().zip(log_weights) {
                let index = z.iter().fold(0, |index, z| index * positions + z);
                mass[index] += (log_evidence + log_weight).exp();
            }
            masses.extend(mass);
        };
        sampler
            .run(model, x, blocks, &mut AllBranches(chance), look)
            .expect("positive weights");
        masses
    });
    mean.chunks(count).map(<[f64]>::to_vec).collect()
}

/// How far the masses are from exact ones, relative to Σ_z of these: the evidence, and the worst path.
fn errors(masses: &[f64], exact: &[f64]) -> [f64; 2] {
    let evidence: f64 = exact.iter().sum();
    let path = masses.iter().zip(exact).map(|(m, e)| (m - e).abs());
    [
        (masses.iter().sum::<f64>() / evidence - 1.0).abs(),
        path.fold(0.0, f64::max) / evidence,
    ]
}

fn assert_exact(masses: &[Vec<f64>], exact: &[Vec<f64>]) {
    assert_eq!(masses.len(), exact.len());
    for (record, (masses, exact)) in masses.iter().zip(exact).enumerate() {
        let errors = errors(masses, exact);
        assert!(errors.iter().all(|e| *e < 1e-12), "{record}: {errors:?}");
    }
}

fn assert_broken(masses: &[f64], exact: &[f64]) {
    let errors = errors(masses, exact);
    assert!(errors.iter().all(|e| *e > 1e-3), "{errors:?}");
}

const GIBBS: [Update<Frame>; FRAMES] = [
    Update(Frame(0, Law::Learned)),
    Update(Frame(1, Law::Learned)),
    Update(Frame(2, Law::Learned)),
];
const TELESCOPED: [Telescoped; FRAMES] = [Telescoped(0), Telescoped(1), Telescoped(2)];

fn sweep<K: Block<B, M, C>, M: Model<B>, C: ?Sized>(
    blocks: &[K; FRAMES],
) -> [&dyn Block<B, M, C>; FRAMES] {
    blocks.each_ref().map(|block| block as _)
}

fn right(blocks: &Blocks<'_, Tracker<B>>, x: &Frames, size: [usize; 2]) -> Masses {
    masses(&Tracker::new(), |z| z, x, blocks, size)
}

#[test]
fn test_2_frame_blocks_are_unbiased_after_the_one_shot_and_after_every_block() {
    let x = frames(2);
    assert_exact(&right(&sweep(&GIBBS), &x, [2, 2]), &vec![posterior(&x); 4]);
    // A second sweep, of one particle.
    assert_exact(&right(&sweep(&GIBBS), &x, [1, 3]), &vec![posterior(&x); 7]);
    // Proposed by the transition.
    let transitions = [0, 1, 2].map(|t| Update(Frame(t, Law::Prior)));
    assert_exact(
        &right(&sweep(&transitions), &x, [1, 3]),
        &vec![posterior(&x); 7],
    );
    // Any one frame first, of three positions.
    let x = frames(3);
    for block in &GIBBS {
        assert_exact(&right(&[block], &x, [2, 2]), &vec![posterior(&x); 2]);
    }
}

#[test]
fn test_2_the_telescoped_path_is_unbiased_after_the_one_shot_and_after_every_sweep() {
    let x = frames(2);
    let mut aims = vec![posterior(&x)];
    aims.extend((0..FRAMES).map(|t| telescoped(&x, t)));
    let masses = right(&sweep(&TELESCOPED), &x, [2, 2]);
    assert_exact(&masses, &aims);
    // The path is one block: before its last frame the weights aim at something else than the posterior.
    assert_broken(&masses[1], &posterior(&x));
    assert_broken(&masses[2], &posterior(&x));
    assert_exact(&masses[3..], &[posterior(&x)]);
    // A second sweep, of one particle.
    aims.extend_from_within(1..);
    assert_exact(&right(&sweep(&TELESCOPED), &x, [1, 3]), &aims);
    // The first frame, of three positions.
    let x = frames(3);
    assert_exact(
        &right(&[&TELESCOPED[0]], &x, [2, 2]),
        &[posterior(&x), telescoped(&x, 0)],
    );
}

/// What spoils a weight: a function of x, the path before and after the move, and t.
type Spoil = fn(&Frames, &Positions, &Positions, usize) -> f64;

/// A frame block with something added to its log v.
#[derive(Clone, Copy)]
struct Spoiled<K>(K, usize, Spoil);

impl<C: Chance + ?Sized, K: Block<B, Tracker<B>, C>> Block<B, Tracker<B>, C> for Spoiled<K> {
    fn name(&self) -> String {
        "spoiled".into()
    }

    fn advance(
        &self,
        model: &Tracker<B>,
        frozen: &Tracker<B>,
        x: &Frames,
        old: &Path<B>,
        chance: &mut C,
    ) -> Move<B, Path<B>> {
        let Self(block, t, spoil) = self;
        let moved = block.advance(model, frozen, x, old, chance);
        let (before, after) = (paths(&old.now), paths(&moved.state.now));
        let pairs = before.iter().zip(&after);
        let added = column(pairs.map(|(old, new)| spoil(x, old, new, *t)));
        Move {
            log_v: moved.log_v + added,
            ..moved
        }
    }
}

/// The masses after a sweep of two particles by these blocks, all spoiled.
fn spoiled<K: Block<B, Tracker<B>, Enumerator> + Copy>(
    blocks: [K; FRAMES],
    x: &Frames,
    spoil: Spoil,
) -> Vec<f64> {
    let blocks = [0, 1, 2].map(|t| Spoiled(blocks[t], t, spoil));
    right(&sweep(&blocks), x, [2, 2]).pop().expect("records")
}

#[test]
fn test_4_weights_without_the_reverse_density_are_noticed() {
    let x = frames(2);
    let spoil: Spoil = |x, old, _, t| -log_proposal(x, t)[old[t]];
    assert_broken(&spoiled(GIBBS, &x, spoil), &posterior(&x));
    assert_broken(&spoiled(TELESCOPED, &x, spoil), &posterior(&x));
}

/// log p(z_1) − log q_1(z_1).
fn first_term(x: &Frames, z: &Positions, log_q: &[f64]) -> f64 {
    log_transition(x, z, 0) - log_q[z[0]]
}

#[test]
fn test_4_a_first_frame_that_counts_twice_in_the_sweep_is_noticed() {
    let x = frames(2);
    let spoil: Spoil = |x, old, new, t| match t {
        0 => {
            let log_q = log_proposal(x, 0);
            first_term(x, new, &log_q) - first_term(x, old, &log_q)
        }
        _ => 0.0,
    };
    assert_broken(&spoiled(GIBBS, &x, spoil), &posterior(&x));
    assert_broken(&spoiled(TELESCOPED, &x, spoil), &posterior(&x));
}

/// The tracker with what may be wrong about its one shot and its resampling.
#[derive(Module, Debug)]
struct Twin<B: Backend> {
    tracker: Tracker<B>,
    first_twice: bool,
}

/// A path of whose frames resampling moves those below `fresh` alone, and what was before the sweep only with all of them.
#[derive(Clone)]
struct Partly {
    path: Path<B>,
    fresh: usize,
}

impl Particle for Partly {
    type Backend = B;

    fn map(self, mapper: &mut impl LatentMapper<B>) -> Self {
        let (left, fresh) = (self.path.clone(), self.fresh);
        let mut path = self.path.map(mapper);
        if fresh < FRAMES {
            let suffix = left.now.narrow(2, fresh, FRAMES - fresh);
            path.now = cat(vec![path.now.narrow(2, 0, fresh), suffix], 2);
            path.before = left.before;
        }
        Self { path, fresh }
    }
}

impl Model<B> for Twin<B> {
    type Data = Frames;
    type State = Partly;

    fn log_joint(&self, x: &Frames, z: &Partly) -> Tensor<B, 2> {
        self.tracker.log_joint(x, &z.path)
    }
}

impl<C: Chance + ?Sized> OneShot<B, C> for Twin<B> {
    fn propose(&self, x: &Frames, particles: usize, chance: &mut C) -> Proposal<B, Partly> {
        let Proposal { state, mut log_q } = self.tracker.propose(x, particles, chance);
        if self.first_twice {
            let (z, log_q_1) = (paths(&state.now), log_one_shot(x, 0));
            let first = z.iter().map(|z| first_term(x, z, &log_q_1));
            log_q = log_q - column(first).squeeze_dim(2);
        }
        let (path, fresh) = (state, FRAMES);
        Proposal {
            state: Partly { path, fresh },
            log_q,
        }
    }
}

/// A block of the tracker after which resampling moves this many frames.
struct Moving<K>(K, usize);

impl<C: ?Sized, K: Block<B, Tracker<B>, C>> Block<B, Twin<B>, C> for Moving<K> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn advance(
        &self,
        model: &Twin<B>,
        frozen: &Twin<B>,
        x: &Frames,
        old: &Partly,
        chance: &mut C,
    ) -> Move<B, Partly> {
        let (model, frozen, fresh) = (&model.tracker, &frozen.tracker, self.1);
        let moved = self.0.advance(model, frozen, x, &old.path, chance);
        let path = moved.state;
        Move {
            state: Partly { path, fresh },
            log_forward: moved.log_forward,
            log_target: moved.log_target,
            log_v: moved.log_v,
        }
    }
}

/// The masses of a twin whose resampling moves `fresh` frames after each block.
fn twin<K: Block<B, Tracker<B>, Enumerator> + Copy>(
    blocks: [K; FRAMES],
    x: &Frames,
    first_twice: bool,
    fresh: [usize; FRAMES],
) -> Masses {
    let blocks = [0, 1, 2].map(|t| Moving(blocks[t], fresh[t]));
    let tracker = Tracker::new();
    let model = Twin {
        tracker,
        first_twice,
    };
    masses(&model, |z| &z.path, x, &sweep(&blocks), [2, 2])
}

/// All frames move.
const WHOLE: [usize; FRAMES] = [FRAMES; FRAMES];
/// The new prefix moves.
const PREFIX: [usize; FRAMES] = [1, 2, 3];

#[test]
fn test_4_an_old_path_left_behind_by_resampling_is_noticed() {
    let x = frames(2);
    let exact = posterior(&x);
    let last = |masses: Masses| masses.last().expect("records").clone();
    assert_exact(&twin(GIBBS, &x, false, WHOLE), &vec![exact.clone(); 4]);
    assert_exact(
        &twin(TELESCOPED, &x, false, WHOLE)[3..],
        std::slice::from_ref(&exact),
    );
    assert_broken(&last(twin(GIBBS, &x, false, PREFIX)), &exact);
    assert_broken(&last(twin(TELESCOPED, &x, false, PREFIX)), &exact);
}

#[test]
fn test_4_a_first_frame_that_counts_twice_in_the_one_shot_is_noticed() {
    let x = frames(2);
    for masses in twin(GIBBS, &x, true, WHOLE) {
        assert_broken(&masses, &posterior(&x));
    }
    let masses = twin(TELESCOPED, &x, true, WHOLE);
    assert_broken(&masses[0], &posterior(&x));
    assert_broken(&masses[3], &posterior(&x));
}

#[test]
fn test_5_exact_conditionals_weigh_one() {
    let x = frames(4);
    let now = latent(&all_paths(4));
    let old = Path {
        before: now.clone(),
        now,
    };
    let largest = |block: &dyn Block<B, Tracker<B>, Stream>| {
        let mut stream = Stream::new(5, helmholtz_apg::PROPOSE, [0, 0]);
        let model = Tracker::new();
        let moved = block.advance(&model, &model, &x, &old, &mut stream);
        let log_v = numbers(moved.log_v).into_iter().map(f64::abs);
        log_v.fold(0.0, f64::max)
    };
    for t in 0..FRAMES {
        assert!(largest(&Update(Frame(t, Law::Exact))) < 1e-10);
        assert!(largest(&Update(Frame(t, Law::Learned))) > 0.1);
    }
}
