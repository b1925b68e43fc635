//! The proposal for where digits are in a frame: one after the other, each searched for in what the earlier ones leave.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_distributions::{LogProb, Normal, SampleReal};
use helmholtz_nets::{Linear, Net};
use helmholtz_ops::{bounded_exp, cat, cross_correlation, leaky_relu, softmax_rows};
use helmholtz_random::Draws;

use crate::Canvas;
use crate::placement::without;

/// The logarithm of a standard deviation is at most so far from 0. Without a bound one that a net makes 0 gives densities that are no
/// numbers.
pub(crate) const LIMIT: f64 = 30.0;

/// q(z_t | x_t, templates): for each digit in turn, nets of the softmax of the cross-correlation of its template with what is left of
/// the frame give the mean, within \[−1, 1\]², and the standard deviations of its position.
#[derive(Module, Debug)]
pub(crate) struct Locate<B: Backend> {
    pub trunk: Linear<B>,
    pub mean: Net<B>,
    pub log_deviation: Net<B>,
}

/// What is searched, and for what: constants.
#[derive(Clone, Debug)]
pub(crate) struct Search<'a, B: Backend> {
    pub canvas: &'a Canvas,
    /// x_t `[B, S²]`.
    pub frame: Tensor<B, 2>,
    /// What each digit is taken to look like: `[L B, D · P²]`, or of one digit for all `[1, P²]`.
    pub templates: Tensor<B, 2>,
}

/// Positions that were drawn.
pub(crate) struct Proposed<B: helmholtz_ops::Backend> {
    /// `[L, B, D, 2]`
    pub positions: Tensor<B, 4>,
    /// log q `[L, B]`, nats.
    pub log_q: Tensor<B, 2>,
    /// The law of the first digit, which depends on no position: a constant.
    pub first: Option<Normal<B, 3>>,
}

impl<B: helmholtz_ops::Backend> Search<'_, B> {
    /// The template of digit d `[1 or L B, P²]`.
    fn template(&self, d: usize) -> Tensor<B, 2> {
        let own = self.canvas.digit_area();
        match self.templates.dims()[1] == own {
            true => self.templates.clone(),
            false => self.templates.clone().narrow(1, d * own, own),
        }
    }

    /// Where digit d fits what is left: a softmax over all places `[B or L B, R²]`. Of the first digit it does not depend on any position.
    fn map(&self, left: &Tensor<B, 2>, d: usize) -> Tensor<B, 2> {
        let Canvas { side, digit, .. } = *self.canvas;
        let left = left.clone().reshape([-1, side as i32, side as i32]);
        let template = self.template(d).reshape([-1, digit as i32, digit as i32]);
        let responses = cross_correlation(left, template).flatten::<2>(1, 2);
        softmax_rows(responses)
    }

    /// What is left `[L B, S²]` when digit d is taken away at its positions `[L B, 1, 2]`.
    fn without(&self, left: Tensor<B, 2>, d: usize, positions: &Tensor<B, 3>) -> Tensor<B, 2> {
        without(self.canvas, left, self.template(d), positions)
    }
}

impl<B: helmholtz_ops::Backend> Locate<B> {
    /// The law of a position given a map `[L' B, R²]`, L' 1 or L: parameters `[L', B, 2]`.
    fn law(&self, map: &Tensor<B, 2>, instances: usize) -> Normal<B, 3> {
        let shared = leaky_relu(self.trunk.forward(map.clone()), 0.0);
        let shape = [map.dims()[0] / instances, instances, 2];
        Normal {
            mean: self.mean.forward(shared.clone()).tanh().reshape(shape),
            deviation: bounded_exp(self.log_deviation.forward(shared), LIMIT).reshape(shape),
        }
    }

    /// Positions `[L, B, D, 2]` of D digits, constants, with their log q `[L, B]`, nats, and the law of the first. The nets run once
    /// on each map.
    pub fn propose(
        &self,
        search: &Search<'_, B>,
        [particles, digits]: [usize; 2],
        draws: &mut impl Draws,
    ) -> Proposed<B> {
        let instances = search.frame.dims()[0];
        let (mut left, mut first, mut positions) = (search.frame.clone(), None, vec![]);
        let mut log_q: Option<Tensor<B, 3>> = None;
        for d in 0..digits {
            let map = search.map(&left, d);
            let law = self.law(&map, instances);
            let constant = Normal {
                mean: law.mean.clone().detach(),
                deviation: law.deviation.clone().detach(),
            };
            let position: Tensor<B, 3> = constant.sample([particles, instances, 2], draws);
            let own = law.log_prob(position.clone());
            log_q = Some(match log_q.take() {
                Some(sum) => sum + own,
                None => own,
            });
            if d + 1 < digits {
                let rows = position.clone().reshape([particles * instances, 1, 2]);
                left = search.without(left, d, &rows);
            }
            first.get_or_insert(constant);
            positions.push(position.unsqueeze_dim::<4>(2));
        }
        let log_q = log_q.expect("at least one digit");
        Proposed {
            positions: cat(positions, 2),
            log_q: log_q.sum_dim(2).squeeze_dim(2),
            first,
        }
    }

    /// log q of positions `[L, B, D, 2]`, each digit searched along those of the earlier ones: `[L, B]`, nats. `first` is the law of the
    /// first digit, if it is known.
    pub fn log_prob(
        &self,
        search: &Search<'_, B>,
        positions: &Tensor<B, 4>,
        first: Option<Normal<B, 3>>,
    ) -> Tensor<B, 2> {
        let [particles, instances, digits, _] = positions.dims();
        let of = |d| positions.clone().narrow(2, d, 1);
        let (mut left, mut known) = (search.frame.clone(), first);
        let log_probs = (0..digits).map(|d| {
            if d > 0 {
                let earlier = of(d - 1).reshape([particles * instances, 1, 2]);
                left = search.without(left.clone(), d - 1, &earlier);
            }
            let law = known.take();
            let law = law.unwrap_or_else(|| self.law(&search.map(&left, d), instances));
            law.log_prob(of(d).reshape([particles, instances, 2]))
        });
        let sum = log_probs.reduce(|sum, log_prob| sum + log_prob);
        sum.expect("at least one digit").sum_dim(2).squeeze_dim(2)
    }
}
