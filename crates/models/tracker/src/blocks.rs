//! The blocks of a sweep: the positions of all digits in one frame, for each frame, and the appearances.

use burn::tensor::Tensor;
use helmholtz_apg::{Block, Conditional, Move, Update};
use helmholtz_distributions::{LogProb, Noise, Normal, SampleReal};
use helmholtz_ops::Backend;
use helmholtz_random::Draws;

use crate::locate::Search;
use crate::tracker::total;
use crate::{Tracker, TrackerState, Video};

/// The positions of all digits in one frame, given those in its neighbours and the appearances.
///
/// The digits are proposed one after the other, each searched for by what it is taken to look like in what the earlier ones leave. The
/// density of the old positions follows the old ones. With z_t the positions of the block, z_{t−1} those that the block before
/// left and w the appearances,
///
/// > v = p(x_t | z'_t, w) p(z'_t | z_{t−1}) p(z_{t+1} | z'_t) q(z_t) / (p(x_t | z_t, w) p(z_t | z_{t−1}) p(z_{t+1} | z_t) q(z'_t)),
///
/// without the factors of frames that are not there.
#[derive(Clone, Copy, Debug)]
pub struct Where {
    /// t, from 0.
    pub frame: usize,
}

impl<B: Backend, C: Draws + Noise> Block<B, Tracker<B>, C> for Where {
    fn name(&self) -> String {
        format!("where {}", self.frame)
    }

    fn advance(
        &self,
        model: &Tracker<B>,
        frozen: &Tracker<B>,
        x: &Video<B>,
        old: &TrackerState<B>,
        chance: &mut C,
    ) -> Move<B, TrackerState<B>> {
        let (t, [particles, ..]) = (self.frame, old.position.dims());
        let [_, frames, _] = x.frames.dims();
        let frame = Tracker::frame(&x.frames, t);
        let digits = model.decode(&old.appearance);
        let search = Search {
            canvas: model.canvas(),
            frame: frame.clone(),
            templates: digits.clone().detach(),
        };
        let counts = [particles, x.digits];
        let proposed = model.locate.propose(&search, counts, chance);
        let (new, log_forward) = (proposed.positions.detach(), proposed.log_q);
        let before = old.positions(t);
        let log_reverse = frozen.locate.log_prob(&search, &before, proposed.first);

        let log_new = model.log_frame(&frame, &digits, &new);
        let log_old = model.log_frame(&frame, &search.templates, &before);
        let earlier = t.checked_sub(1).map(|t| old.positions(t));
        let later = (t + 1 < frames).then(|| old.positions(t + 1));
        let log_path = |positions: &Tensor<B, 4>| {
            let path = model.log_step(earlier.as_ref(), positions);
            total(match &later {
                Some(later) => path + model.log_step(Some(positions), later),
                None => path,
            })
        };
        let log_target = log_new + log_path(&new);
        let target_ratio = log_target.clone().detach() - log_old - log_path(&before);
        let log_v = target_ratio + log_reverse - log_forward.clone().detach();
        let mut place = old.position.dims().map(|size| 0..size);
        place[2] = t..t + 1;
        let one = |log: Tensor<B, 2>| log.unsqueeze_dim::<3>(2);
        Move {
            state: TrackerState {
                position: old
                    .position
                    .clone()
                    .slice_assign(place, new.unsqueeze_dim(2)),
                appearance: old.appearance.clone(),
            },
            log_forward: one(log_forward),
            log_target: one(log_target),
            log_v: one(log_v),
        }
    }
}

/// Which law proposes the appearances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// The nets'.
    Learned,
    /// The prior.
    Prior,
}

/// The appearances of all digits given their positions.
#[derive(Clone, Copy, Debug)]
pub struct What(pub Law);

impl<B: Backend, C: Draws + Noise> Conditional<B, Tracker<B>, C> for What {
    type Law = Normal<B, 4>;

    fn name(&self) -> String {
        "what".into()
    }

    fn law(&self, model: &Tracker<B>, x: &Video<B>, z: &TrackerState<B>) -> Normal<B, 4> {
        match self.0 {
            Law::Learned => model.appearance_law(&x.frames, &z.position),
            Law::Prior => Normal {
                mean: z.appearance.zeros_like(),
                deviation: z.appearance.ones_like(),
            },
        }
    }

    fn detach(&self, law: &Normal<B, 4>) -> Normal<B, 4> {
        Normal {
            mean: law.mean.clone().detach(),
            deviation: law.deviation.clone().detach(),
        }
    }

    fn sample(&self, law: &Normal<B, 4>, z: &TrackerState<B>, chance: &mut C) -> TrackerState<B> {
        TrackerState {
            appearance: law.sample(z.appearance.dims(), chance),
            ..z.clone()
        }
    }

    fn log_prob(&self, law: &Normal<B, 4>, z: &TrackerState<B>) -> Tensor<B, 3> {
        total(law.log_prob(z.appearance.clone())).unsqueeze_dim(2)
    }

    fn log_target(&self, model: &Tracker<B>, x: &Video<B>, z: &TrackerState<B>) -> Tensor<B, 3> {
        let log_p = model.log_frames(&x.frames, z) + model.log_appearance(&z.appearance);
        log_p.unsqueeze_dim(2)
    }
}

/// What a sweep consists of. Reweighted wake-sleep has none: its sampler has one sweep, the one-shot proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Amortized population Gibbs: the positions frame by frame, then the appearances, all learned.
    Apg,
    /// Block population Gibbs: the appearances from their prior.
    Bpg,
}

impl Scheme {
    /// The blocks of a sweep over sequences of this many frames.
    pub fn blocks<B, C>(self, frames: usize) -> Vec<Box<dyn Block<B, Tracker<B>, C>>>
    where
        B: Backend,
        C: Draws + Noise,
    {
        let law = match self {
            Self::Apg => Law::Learned,
            Self::Bpg => Law::Prior,
        };
        let positions = (0..frames).map(|frame| Box::new(Where { frame }) as _);
        let appearances: Box<dyn Block<B, Tracker<B>, C>> = Box::new(Update(What(law)));
        positions.chain([appearances]).collect()
    }
}
