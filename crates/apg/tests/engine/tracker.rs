//! A tracker of one object in three frames, on a grid of G positions:
//!
//! > p(x, z) = Π_t p(x_t | z_t) p(z_t | z_{t−1}),
//!
//! a frame of G + 1 grey pixels whose object shines at z_t and z_t + 1, and proposals q_t(z_t) of each frame, one in the one shot
//! and another in a sweep, that are wrong and read no other frame.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, backend::Backend};
use burn_flex::Flex;
use helmholtz_apg::{Block, Conditional, Model, Move, OneShot, Proposal, Update, particle};
use helmholtz_random::Chance;

use crate::toy::{Law, numbers, tensor};

type B = Flex;

/// T.
pub const FRAMES: usize = 3;

/// z_1, .., z_T.
pub type Positions = [usize; FRAMES];
/// x_1, .., x_T of one instance.
pub type Frames = [Vec<f64>; FRAMES];

particle! {
    /// Where the object is.
    pub struct Path<B> {
        /// The path: `[L, 1, T]`.
        now: 3,
        /// What it was before the sweep, for the telescoped weights: `[L, 1, T]`.
        before: 3,
    }
}

#[derive(Module, Debug)]
pub struct Tracker<B: Backend> {
    none: Vec<Param<Tensor<B, 1>>>,
}

impl Tracker<B> {
    pub fn new() -> Self {
        Self { none: vec![] }
    }
}

/// Three frames on which an object can be at G positions.
pub fn frames(positions: usize) -> Frames {
    let pixel = |t: usize, c: usize| 0.5 + 0.5 * (2.1 * t as f64 + 1.3 * c as f64 + 0.4).sin();
    std::array::from_fn(|t| (0..=positions).map(|c| pixel(t, c)).collect())
}

/// All G^T paths.
pub fn all_paths(positions: usize) -> Vec<Positions> {
    let digits = |i: usize| {
        [
            i / positions.pow(2),
            i / positions % positions,
            i % positions,
        ]
    };
    (0..positions.pow(3)).map(digits).collect()
}

fn log_softmax(logits: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let total: f64 = logits.clone().map(f64::exp).sum();
    logits.map(|l| l - total.ln()).collect()
}

fn grid(x: &Frames) -> impl Iterator<Item = f64> + Clone {
    (0..x[0].len() - 1).map(|z| z as f64)
}

/// log p(x_t | z_t).
fn log_likelihood(x_t: &[f64], z_t: usize) -> f64 {
    let log_pixel = |(c, x): (usize, &f64)| {
        let shine = match c.checked_sub(z_t) {
            Some(0) => 0.85f64,
            Some(1) => 0.55,
            _ => 0.15,
        };
        x * shine.ln() + (1.0 - x) * (1.0 - shine).ln()
    };
    x_t.iter().enumerate().map(log_pixel).sum()
}

/// log p(z_t | z_{t−1}), or that of z_1.
pub fn log_transition(x: &Frames, z: &Positions, t: usize) -> f64 {
    let law = match t {
        0 => log_softmax(grid(x).map(|to| 0.4 * to)),
        _ => log_softmax(grid(x).map(|to| -0.5 * (to - z[t - 1] as f64 - 0.3).powi(2))),
    };
    law[z[t]]
}

/// log p(x_t | z_t) p(z_t | z_{t−1}).
pub fn log_step(x: &Frames, z: &Positions, t: usize) -> f64 {
    log_likelihood(&x[t], z[t]) + log_transition(x, z, t)
}

/// log p(x, z).
pub fn log_joint(x: &Frames, z: &Positions) -> f64 {
    (0..FRAMES).map(|t| log_step(x, z, t)).sum()
}

/// log q_t of a sweep.
pub fn log_proposal(x: &Frames, t: usize) -> Vec<f64> {
    log_softmax(grid(x).map(|z| 0.8 * (1.7 * t as f64 + 2.3 * z).sin()))
}

/// log q_t of the one shot.
pub fn log_one_shot(x: &Frames, t: usize) -> Vec<f64> {
    log_softmax(grid(x).map(|z| 0.6 * (0.9 * t as f64 + 1.9 * z).cos()))
}

/// The paths of a latent `[L, 1, T]`.
pub fn paths(latent: &Tensor<B, 3>) -> Vec<Positions> {
    let numbers = numbers(latent.clone());
    let row = |row: &[f64]| std::array::from_fn(|t| row[t] as usize);
    numbers.chunks(FRAMES).map(row).collect()
}

pub fn latent(paths: &[Positions]) -> Tensor<B, 3> {
    let values: Vec<f64> = paths.iter().flatten().map(|&z| z as f64).collect();
    tensor(&values, [paths.len(), 1, FRAMES])
}

/// A number for each particle: `[L, 1, 1]`.
pub fn column(values: impl Iterator<Item = f64>) -> Tensor<B, 3> {
    let values: Vec<f64> = values.collect();
    tensor(&values, [values.len(), 1, 1])
}

impl Model<B> for Tracker<B> {
    type Data = Frames;
    type State = Path<B>;

    fn log_joint(&self, x: &Frames, z: &Path<B>) -> Tensor<B, 2> {
        let z = paths(&z.now);
        column(z.iter().map(|z| log_joint(x, z))).squeeze_dim(2)
    }
}

impl<C: Chance + ?Sized> OneShot<B, C> for Tracker<B> {
    fn propose(&self, x: &Frames, particles: usize, chance: &mut C) -> Proposal<B, Path<B>> {
        let laws: [_; FRAMES] = std::array::from_fn(|t| log_one_shot(x, t));
        let mut draw = |t: usize| chance.choose(&laws[t]).expect("finite");
        let paths: Vec<_> = (0..particles)
            .map(|_| std::array::from_fn(&mut draw))
            .collect();
        let log_q = |z: &Positions| (0..FRAMES).map(|t| laws[t][z[t]]).sum();
        let now = latent(&paths);
        Proposal {
            log_q: column(paths.iter().map(log_q)).squeeze_dim(2),
            state: Path {
                before: now.clone(),
                now,
            },
        }
    }
}

/// The block z_t, counted from 0, by its wrong proposal, by the exact conditional, or by the transition into it. [`Update`] gives it the weight
///
/// > v_t = p(x_t | z'_t) p(z'_t | z'_{t−1}) p(z_{t+1} | z'_t) q_t(z_t) / (p(x_t | z_t) p(z_t | z'_{t−1}) p(z_{t+1} | z_t) q_t(z'_t)).
#[derive(Clone, Copy, Debug)]
pub struct Frame(pub usize, pub Law);

impl Frame {
    /// The factors of p(x, z) in which z_t is.
    fn log_factors(&self, x: &Frames, z: &Positions) -> f64 {
        let (t, next) = (self.0, self.0 + 1);
        let out = (next < FRAMES).then(|| log_transition(x, z, next));
        log_step(x, z, t) + out.unwrap_or(0.0)
    }
}

impl<C: Chance + ?Sized> Conditional<B, Tracker<B>, C> for Frame {
    /// log q(z_t = · | x, z_−t) of each particle.
    type Law = Vec<Vec<f64>>;

    fn name(&self) -> String {
        format!("frame {}", self.0)
    }

    fn law(&self, _: &Tracker<B>, x: &Frames, z: &Path<B>) -> Self::Law {
        let law = |z: &Positions| {
            let softmax = |log_p: &dyn Fn(&Positions) -> f64| {
                let at = |to| {
                    let mut z = *z;
                    z[self.0] = to;
                    log_p(&z)
                };
                log_softmax((0..x[0].len() - 1).map(at))
            };
            match self.1 {
                Law::Learned => log_proposal(x, self.0),
                Law::Exact => softmax(&|z| self.log_factors(x, z)),
                Law::Prior => softmax(&|z| log_transition(x, z, self.0)),
            }
        };
        paths(&z.now).iter().map(law).collect()
    }

    fn detach(&self, law: &Self::Law) -> Self::Law {
        law.clone()
    }

    fn sample(&self, law: &Self::Law, z: &Path<B>, chance: &mut C) -> Path<B> {
        let mut now = paths(&z.now);
        for (z, law) in now.iter_mut().zip(law) {
            z[self.0] = chance.choose(law).expect("finite");
        }
        Path {
            now: latent(&now),
            before: z.before.clone(),
        }
    }

    fn log_prob(&self, law: &Self::Law, z: &Path<B>) -> Tensor<B, 3> {
        let z = paths(&z.now);
        column(z.iter().zip(law).map(|(z, law)| law[z[self.0]]))
    }

    fn log_target(&self, _: &Tracker<B>, x: &Frames, z: &Path<B>) -> Tensor<B, 3> {
        let z = paths(&z.now);
        column(z.iter().map(|z| self.log_factors(x, z)))
    }
}

/// The block z_t of a sweep that weighs the whole path as one block, frame by frame: with z the path before the sweep, whole,
///
/// > u_t = p(x_t | z'_t) p(z'_t | z'_{t−1}) q_t(z_t) / (p(x_t | z_t) p(z_t | z_{t−1}) q_t(z'_t)).
#[derive(Clone, Copy, Debug)]
pub struct Telescoped(pub usize);

impl<C: Chance + ?Sized> Block<B, Tracker<B>, C> for Telescoped {
    fn name(&self) -> String {
        format!("telescoped frame {}", self.0)
    }

    fn advance(
        &self,
        model: &Tracker<B>,
        frozen: &Tracker<B>,
        x: &Frames,
        old: &Path<B>,
        chance: &mut C,
    ) -> Move<B, Path<B>> {
        let t = self.0;
        let old = match t {
            0 => Path {
                now: old.now.clone(),
                before: old.now.clone(),
            },
            _ => old.clone(),
        };
        let moved = Update(Frame(t, Law::Learned)).advance(model, frozen, x, &old, chance);
        let log_q = log_proposal(x, t);
        let log_terms = |latent: &Tensor<B, 3>| {
            let z = paths(latent);
            column(z.iter().map(|z| log_step(x, z, t) - log_q[z[t]]))
        };
        Move {
            log_v: log_terms(&moved.state.now) - log_terms(&moved.state.before),
            ..moved
        }
    }
}
