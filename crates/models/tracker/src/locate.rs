//! The proposal for where digits are in a frame: one after the other, each searched for in what the earlier ones leave.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_distributions::{LogProb, Normal, SampleReal};
use helmholtz_nets::{Linear, Net};
use helmholtz_ops::{cat, cross_correlation, leaky_relu, softmax_rows};
use helmholtz_random::Draws;

use crate::Canvas;
use crate::placement::without;

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

/// For each digit where its template fits, a softmax over all places `[B or L B, R²]`. Of the first digit it does not depend on
/// any position.
pub(crate) type Maps<B> = Vec<Tensor<B, 2>>;

/// Positions that were drawn.
pub(crate) struct Proposed<B: Backend> {
    /// `[L, B, D, 2]`
    pub positions: Tensor<B, 4>,
    /// log q `[L, B]`, nats.
    pub log_q: Tensor<B, 2>,
    /// The map of the first digit.
    pub first: Option<Tensor<B, 2>>,
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

    /// Where digit d fits what is left.
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

    /// The maps along these positions `[L, B, D, 2]`; `first` is the first of them, if it is known.
    pub fn along(&self, positions: &Tensor<B, 4>, first: Option<&Tensor<B, 2>>) -> Maps<B> {
        let [particles, instances, digits, _] = positions.dims();
        let mut left = self.frame.clone();
        let mut maps = vec![first.cloned().unwrap_or_else(|| self.map(&left, 0))];
        for d in 1..digits {
            let earlier = positions.clone().narrow(2, d - 1, 1);
            let earlier = earlier.reshape([particles * instances, 1, 2]);
            left = self.without(left, d - 1, &earlier);
            maps.push(self.map(&left, d));
        }
        maps
    }
}

impl<B: helmholtz_ops::Backend> Locate<B> {
    /// The law of a position given a map `[L' B, R²]`, L' 1 or L: parameters `[L', B, 2]`.
    fn law(&self, map: &Tensor<B, 2>, instances: usize) -> Normal<B, 3> {
        let shared = leaky_relu(self.trunk.forward(map.clone()), 0.0);
        let shape = [map.dims()[0] / instances, instances, 2];
        Normal {
            mean: self.mean.forward(shared.clone()).tanh().reshape(shape),
            deviation: self.log_deviation.forward(shared).exp().reshape(shape),
        }
    }

    /// Positions `[L, B, D, 2]` of D digits, constants, with their log q `[L, B]`, nats, and the first map. The nets run once on
    /// each map.
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
            first.get_or_insert(map);
            positions.push(position.unsqueeze_dim::<4>(2));
        }
        let log_q = log_q.expect("at least one digit");
        Proposed {
            positions: cat(positions, 2),
            log_q: log_q.sum_dim(2).squeeze_dim(2),
            first,
        }
    }

    /// log q of positions `[L, B, D, 2]`, given the maps along them: `[L, B]`, nats.
    pub fn log_prob(&self, maps: &Maps<B>, positions: &Tensor<B, 4>) -> Tensor<B, 2> {
        let [particles, instances, _, _] = positions.dims();
        let shape = [particles, instances, 2];
        let digits = maps.iter().enumerate().map(|(d, map)| {
            let position = positions.clone().narrow(2, d, 1).reshape(shape);
            self.law(map, instances).log_prob(position)
        });
        let sum = digits.reduce(|sum, log_prob| sum + log_prob);
        sum.expect("at least one digit").sum_dim(2).squeeze_dim(2)
    }
}
