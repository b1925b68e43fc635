//! The proposal for where each datum lies: on which ring, and where on it.

use burn::module::Module;
use burn::tensor::Tensor;
use helmholtz_apg::Choices;
use helmholtz_distributions::{Beta, LogProb, Noise, SampleReal};
use helmholtz_nets::Net;
use helmholtz_ops::Backend;
use helmholtz_random::Draws;

use crate::dmm::displacements;

/// ln a and ln b of a Beta law are kept within this.
const LIMIT: f64 = 10.0;

/// q(c, h | x, μ), independent for each datum: c_n, then h_n ~ Beta(a, b) by nets of the displacement x_n − μ_{c_n}.
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

    /// The same law, known to no tape.
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
        let positive = |net: &Net<B>| {
            let logarithm = net.forward(displacement.clone());
            logarithm.clamp(-LIMIT, LIMIT).exp()
        };
        Beta {
            a: positive(a),
            b: positive(b),
        }
    }

    /// c one-hot `[L, B, N, M]` and h `[L, B, N, 1]`, both constants, and log q(c_n, h_n | x_n, μ), nats: `[L, B, N]`.
    pub(crate) fn propose(
        &self,
        chance: &mut (impl Draws + Noise),
    ) -> (Tensor<B, 4>, Tensor<B, 4>, Tensor<B, 3>) {
        let assignment = self.choices.sample(chance);
        let [particles, instances, data, _] = assignment.dims();
        let law = self.beta(&assignment);
        let angle = law.sample([particles, instances, data, 1], chance);
        let log_q = self.choices.log_prob(&assignment) + law.log_prob(angle.clone()).squeeze_dim(3);
        (assignment, angle, log_q)
    }

    /// log q(c_n, h_n | x_n, μ), nats: `[L, B, N]`.
    pub(crate) fn log_prob(&self, assignment: &Tensor<B, 4>, angle: &Tensor<B, 4>) -> Tensor<B, 3> {
        let log_h = self.beta(assignment).log_prob(angle.clone());
        self.choices.log_prob(assignment) + log_h.squeeze_dim::<3>(3)
    }
}
