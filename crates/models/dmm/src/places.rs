//! The proposal for where each datum lies: on which ring, and where on it.

use burn::module::Module;
use burn::tensor::Tensor;
use helmholtz_apg::{Choices, Draw, Particle};
use helmholtz_distributions::{Beta, LogProb, Noise, SampleReal};
use helmholtz_nets::Net;
use helmholtz_ops::{Backend, bounded_exp};
use helmholtz_random::Draws;

use crate::DmmState;
use crate::state::displacements;

/// ln a and ln b of a Beta law are kept within this.
const LIMIT: f64 = 10.0;

/// q(c, h | x, μ) = Π_n q(c_n | x_n, μ) Beta(h_n; a_n, b_n). The logit of c_n = m is a net of x_n − μ_m; ln a_n and ln b_n are nets of
/// x_n − μ_{c_n}, kept within ±10.
#[derive(Clone, Debug)]
pub struct Places<B: Backend> {
    /// Of c `[L, B, N, M]`.
    pub(crate) choices: Choices<B>,
    /// The nets of ln a and ln b.
    pub(crate) angle: [Net<B>; 2],
    /// x `[B, N, 2]`.
    pub(crate) x: Tensor<B, 3>,
    /// μ `[L, B, M, 2]`.
    pub(crate) mean: Tensor<B, 4>,
}

impl<B: Backend> Places<B> {
    /// q(c | x, μ).
    pub fn choices(&self) -> &Choices<B> {
        &self.choices
    }

    /// The same law, detached from the tape.
    pub(crate) fn detach(&self) -> Self {
        Self {
            choices: self.choices.detach(),
            angle: self.angle.clone().map(Module::no_grad),
            x: self.x.clone().detach(),
            mean: self.mean.clone().detach(),
        }
    }

    /// The law of h given c `[L, B, N, M]`: parameters `[L, B, N, 1]`.
    fn beta(&self, assignment: &Tensor<B, 4>) -> Beta<B, 4> {
        let displacement = displacements(&self.x, assignment, &self.mean);
        let [a, b] = &self.angle;
        let positive = |net: &Net<B>| bounded_exp(net.forward(displacement.clone()), LIMIT);
        Beta {
            a: positive(a),
            b: positive(b),
        }
    }

    /// h given c `[L, B, N, M]`, a constant `[L, B, N, 1]`, with its log-density, nats: `[L, B, N]`.
    fn sample_angle(
        &self,
        assignment: &Tensor<B, 4>,
        chance: &mut (impl Draws + Noise),
    ) -> (Tensor<B, 4>, Tensor<B, 3>) {
        let [particles, instances, data, _] = assignment.dims();
        let law = self.beta(assignment);
        let angle = law.sample([particles, instances, data, 1], chance);
        let log_h = law.log_prob(angle.clone()).squeeze_dim(3);
        (angle, log_h)
    }

    /// c one-hot `[L, B, N, M]` and h `[L, B, N, 1]`, both constants, and log q(c_n, h_n | x_n, μ), nats: `[L, B, N]`.
    pub(crate) fn sample(
        &self,
        chance: &mut (impl Draws + Noise),
    ) -> (Tensor<B, 4>, Tensor<B, 4>, Tensor<B, 3>) {
        let assignment = self.choices.sample(chance);
        let (angle, log_h) = self.sample_angle(&assignment, chance);
        let log_q = self.choices.log_prob(&assignment) + log_h;
        (assignment, angle, log_q)
    }

    /// The same in place of those that `z` has.
    pub(crate) fn propose(
        &self,
        z: &DmmState<B>,
        chance: &mut (impl Draws + Noise),
    ) -> Draw<B, DmmState<B>> {
        let (assignment, log_c, log_old_c) = self.choices.propose(&z.assignment, chance);
        let (angle, log_h) = self.sample_angle(&assignment, chance);
        let law = self.detach().beta(&z.assignment);
        let log_old_h = law.log_prob(z.angle.clone()).squeeze_dim(3);
        let mean = z.mean.clone();
        let state = DmmState {
            mean,
            assignment,
            angle,
        };
        Draw {
            state: state.detach(),
            log_prob: log_c + log_h,
            log_reverse: log_old_c + log_old_h,
        }
    }

    /// log q(c_n, h_n | x_n, μ), nats: `[L, B, N]`.
    pub(crate) fn log_prob(&self, assignment: &Tensor<B, 4>, angle: &Tensor<B, 4>) -> Tensor<B, 3> {
        let log_h = self.beta(assignment).log_prob(angle.clone());
        self.choices.log_prob(assignment) + log_h.squeeze_dim::<3>(3)
    }
}
