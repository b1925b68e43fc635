//! The model: its density, and the laws of its latents.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use helmholtz_apg::{Model, OneShot, Proposal, Rescore, particle};
use helmholtz_distributions::{LogProb, Noise, Normal, SampleReal};
use helmholtz_nets::Net;
use helmholtz_ops::{Backend, bernoulli_mean_log_prob, cat, sigmoid};
use helmholtz_random::Draws;

use crate::identify::Identify;
use crate::locate::{Locate, Search};
use crate::placement::{compose, crops};
use crate::{Canvas, Sampling, TrackerConfig};

/// Added to the probabilities of a pixel's two values: digits that are not there explain no light.
const FLOOR: f64 = 1e-9;

particle! {
    /// The latents of a tracker.
    pub struct TrackerState<B> {
        /// z, the positions `[L, B, T, D, 2]`
        position: 5,
        /// w, the appearances `[L, B, D, W]`
        appearance: 4,
    }
}

/// Sequences of frames, with how many digits there are in each.
#[derive(Clone, Debug)]
pub struct Video<B: burn::tensor::backend::Backend> {
    /// x `[B, T, S²]`, grey values in \[0, 1\], row by row from the top.
    pub frames: Tensor<B, 3>,
    /// D. Nothing in the nets depends on it.
    pub digits: usize,
}

/// Digits that move over a canvas, and the nets that propose where they are and what they look like.
#[derive(Module, Debug)]
pub struct Tracker<B: burn::tensor::backend::Backend> {
    /// q(z_t | x_t, templates).
    pub(crate) locate: Locate<B>,
    /// q(w | x, z).
    pub(crate) identify: Identify<B>,
    /// Logits of a digit's pixels from its appearance.
    pub(crate) decoder: Net<B>,
    /// What a digit is searched by in one shot.
    pub(crate) template: Vec<f64>,
    #[module(skip)]
    pub(crate) config: TrackerConfig,
}

/// N(μ, σ²) of each element of a tensor of this shape: one operation scores it, and none leaves a tape for constants.
fn normal<B: Backend, const D: usize>(
    mean: f64,
    deviation: f64,
    like: &Tensor<B, D>,
) -> Normal<B, D> {
    let of = |value| Tensor::full(like.dims(), value, (&like.device(), like.dtype()));
    let [mean, deviation] = [mean, deviation].map(of);
    Normal { mean, deviation }
}

impl<B: Backend> Tracker<B> {
    /// The canvas.
    pub fn canvas(&self) -> &Canvas {
        &self.config.canvas
    }

    /// The same nets, with pixels read otherwise.
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.config.canvas.sampling = sampling;
        self
    }

    /// What digits of these appearances `[L, B, D, W]` look like: grey values `[L B, D · P²]`, row by row from the top.
    pub fn decode(&self, appearance: &Tensor<B, 4>) -> Tensor<B, 2> {
        let [particles, instances, digits, w] = appearance.dims();
        let rows = appearance.clone().reshape([-1, w as i32]);
        let pixels = sigmoid(self.decoder.forward(rows));
        pixels.reshape([
            particles * instances,
            digits * self.config.canvas.digit_area(),
        ])
    }

    /// x_t `[B, S²]` of x `[B, T, S²]`.
    pub(crate) fn frame(x: &Tensor<B, 3>, t: usize) -> Tensor<B, 2> {
        x.clone().narrow(1, t, 1).squeeze_dim(1)
    }

    /// The sums of these digits `[L B, D · P²]` at these positions `[L, B, D, 2]`, not cut off: `[L B, S²]`.
    fn sum(&self, digits: &Tensor<B, 2>, positions: &Tensor<B, 4>) -> Tensor<B, 2> {
        let count = positions.dims()[2] as i32;
        let rows = positions.clone().reshape([-1, count, 2]);
        compose(&self.config.canvas, digits.clone(), &rows)
    }

    /// The mean ρ_t of a frame with these digits `[L B, D · P²]` at these positions `[L, B, D, 2]`: `[L, B, S²]`.
    pub fn render(&self, digits: &Tensor<B, 2>, positions: &Tensor<B, 4>) -> Tensor<B, 3> {
        let [particles, instances, ..] = positions.dims();
        let shape = [particles, instances, self.config.canvas.area()];
        self.sum(digits, positions).clamp(0.0, 1.0).reshape(shape)
    }

    /// Σ x ln(ρ + ε) + (1 − x) ln(1 − ρ + ε) over the pixels of frame t, for digits as in [`render`](Self::render): `[L, B]`, nats.
    pub(crate) fn log_frame(
        &self,
        frame: &Tensor<B, 2>,
        digits: &Tensor<B, 2>,
        positions: &Tensor<B, 4>,
    ) -> Tensor<B, 2> {
        let [particles, instances, ..] = positions.dims();
        let sum = self.sum(digits, positions);
        bernoulli_mean_log_prob(sum, frame.clone(), FLOOR).reshape([particles, instances])
    }

    /// log p of each coordinate of positions `[L, B, D, 2]` in one frame given those in the frame before, or of the first frame, nats.
    pub(crate) fn log_step(
        &self,
        before: Option<&Tensor<B, 4>>,
        positions: &Tensor<B, 4>,
    ) -> Tensor<B, 4> {
        let law = match before {
            Some(before) => Normal {
                mean: before.clone(),
                ..normal(0.0, self.config.step, positions)
            },
            None => normal(0.0, self.config.start, positions),
        };
        law.log_prob(positions.clone())
    }

    /// log p(w): `[L, B]`, nats.
    pub(crate) fn log_appearance(&self, appearance: &Tensor<B, 4>) -> Tensor<B, 2> {
        total(normal(0.0, 1.0, appearance).log_prob(appearance.clone()))
    }

    /// Σ_t log p(x_t | z_t, w): `[L, B]`, nats.
    pub(crate) fn log_frames(&self, x: &Tensor<B, 3>, z: &TrackerState<B>) -> Tensor<B, 2> {
        let digits = self.decode(&z.appearance);
        let frames =
            (0..x.dims()[1]).map(|t| self.log_frame(&Self::frame(x, t), &digits, &z.positions(t)));
        frames.reduce(|sum, frame| sum + frame).expect("a frame")
    }

    /// What all digits are searched by in one shot `[1, P²]`.
    fn search_template(&self, x: &Video<B>) -> Tensor<B, 2> {
        let own = self.template.len();
        let template = TensorData::new(self.template.clone(), [1, own]);
        Tensor::from_data(template, (&x.frames.device(), x.frames.dtype()))
    }

    /// The search of the one-shot proposal in frame t.
    fn one_shot_search<'a>(
        &'a self,
        x: &Video<B>,
        t: usize,
        template: &Tensor<B, 2>,
    ) -> Search<'a, B> {
        Search {
            canvas: &self.config.canvas,
            frame: Self::frame(&x.frames, t),
            templates: template.clone(),
        }
    }

    /// q(w | x, z): parameters `[L, B, D, W]`.
    pub fn appearance_law(&self, x: &Tensor<B, 3>, position: &Tensor<B, 5>) -> Normal<B, 4> {
        let [particles, instances, frames, digits, _] = position.dims();
        let canvas = &self.config.canvas;
        let images = x.clone().reshape([instances * frames, canvas.area()]);
        let flat = position
            .clone()
            .reshape([particles, instances * frames, digits, 2]);
        let seen = crops(canvas, images, &flat);
        let seen = seen.reshape([particles, instances, frames, digits, canvas.digit_area()]);
        self.identify.law(seen, self.config.aggregation)
    }
}

/// Sums over the last two dimensions: `[L, B, ..]` to `[L, B]`.
pub(crate) fn total<B: Backend>(values: Tensor<B, 4>) -> Tensor<B, 2> {
    values.flatten::<3>(2, 3).sum_dim(2).squeeze_dim(2)
}

impl<B: Backend> TrackerState<B> {
    /// The positions in frame t `[L, B, D, 2]`.
    pub fn positions(&self, t: usize) -> Tensor<B, 4> {
        self.position.clone().narrow(2, t, 1).squeeze_dim(2)
    }
}

impl<B: Backend> Model<B> for Tracker<B> {
    type Data = Video<B>;
    type State = TrackerState<B>;

    fn log_joint(&self, x: &Video<B>, z: &TrackerState<B>) -> Tensor<B, 2> {
        let steps = (0..x.frames.dims()[1]).map(|t| {
            let before = t.checked_sub(1).map(|t| z.positions(t));
            self.log_step(before.as_ref(), &z.positions(t))
        });
        let path = steps.reduce(|sum, step| sum + step).expect("a frame");
        total(path) + self.log_appearance(&z.appearance) + self.log_frames(&x.frames, z)
    }
}

impl<B: Backend, C: Draws + Noise> OneShot<B, C> for Tracker<B> {
    /// The positions frame by frame, each digit searched by the mean of all, then the appearances.
    fn propose(
        &self,
        x: &Video<B>,
        particles: usize,
        chance: &mut C,
    ) -> Proposal<B, TrackerState<B>> {
        let template = self.search_template(x);
        let mut log_q: Option<Tensor<B, 2>> = None;
        let positions = (0..x.frames.dims()[1]).map(|t| {
            let counts = [particles, x.digits];
            let search = self.one_shot_search(x, t, &template);
            let proposed = self.locate.propose(&search, counts, chance);
            let (positions, own) = (proposed.positions.detach(), proposed.log_q);
            log_q = Some(match log_q.take() {
                Some(sum) => sum + own,
                None => own,
            });
            positions.unsqueeze_dim::<5>(2)
        });
        let position = cat(positions.collect(), 2);
        let law = self.appearance_law(&x.frames, &position);
        let shape = [
            particles,
            x.frames.dims()[0],
            x.digits,
            self.config.appearance,
        ];
        let appearance = law.sample(shape, chance).detach();
        let log_q = log_q.expect("a frame") + total(law.log_prob(appearance.clone()));
        Proposal {
            state: TrackerState {
                position,
                appearance,
            },
            log_q,
        }
    }
}

impl<B: Backend> Rescore<B> for Tracker<B> {
    fn log_one_shot(&self, x: &Video<B>, z: &TrackerState<B>) -> Tensor<B, 2> {
        let template = self.search_template(x);
        let positions = (0..x.frames.dims()[1]).map(|t| {
            let positions = z.positions(t);
            let search = self.one_shot_search(x, t, &template);
            self.locate.log_prob(&search, &positions, None)
        });
        let positions = positions.reduce(|sum, own| sum + own).expect("a frame");
        let law = self.appearance_law(&x.frames, &z.position);
        positions + total(law.log_prob(z.appearance.clone()))
    }
}
