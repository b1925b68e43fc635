//! A particle that resampling leaves half behind.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use burn_flex::Flex;
use helmholtz_apg::{Block, LatentMapper, Model, Move, OneShot, Particle, Proposal, Update};
use helmholtz_random::Chance;

use crate::toy::*;

type B = Flex;

/// The toy with particles that forget to gather c.
#[derive(Module, Debug)]
pub struct ForgetfulToy<B: Backend> {
    pub toy: Toy<B>,
}

#[derive(Clone)]
pub struct Forgetful<B: Backend>(pub Bits<B>);

impl<B: Backend> Particle for Forgetful<B> {
    type Backend = B;

    fn map(self, mapper: &mut impl LatentMapper<B>) -> Self {
        let Bits { a, c } = self.0;
        Self(Bits {
            a: mapper.map("a", a),
            c,
        })
    }
}

impl<B: Backend> Model<B> for ForgetfulToy<B> {
    type Data = Tensor<B, 2>;
    type State = Forgetful<B>;

    fn log_joint(&self, x: &Tensor<B, 2>, z: &Forgetful<B>) -> Tensor<B, 2> {
        self.toy.log_joint(x, &z.0)
    }
}

impl<B: Backend, C: Chance + ?Sized> OneShot<B, C> for ForgetfulToy<B> {
    fn propose(
        &self,
        x: &Tensor<B, 2>,
        particles: usize,
        chance: &mut C,
    ) -> Proposal<B, Forgetful<B>> {
        let Proposal { state, log_q } = self.toy.propose(x, particles, chance);
        Proposal {
            state: Forgetful(state),
            log_q,
        }
    }
}

impl<C: Chance + ?Sized> Block<B, ForgetfulToy<B>, C> for A {
    fn name(&self) -> String {
        "a".into()
    }

    fn advance(
        &self,
        model: &ForgetfulToy<B>,
        frozen: &ForgetfulToy<B>,
        x: &Tensor<B, 2>,
        old: &Forgetful<B>,
        chance: &mut C,
    ) -> Move<B, Forgetful<B>> {
        let moved = Update(*self).advance(&model.toy, &frozen.toy, x, &old.0, chance);
        Move {
            state: Forgetful(moved.state),
            log_forward: moved.log_forward,
            log_target: moved.log_target,
            log_v: moved.log_v,
        }
    }
}
