//! Tests 1, 3 and 20 on a discrete model: E[Ẑ Σ W f(z)] over every branch of a run, to rounding.

use burn::tensor::{Tensor, backend::Backend};
use burn_flex::Flex;
use helmholtz_apg::{
    AllBranches, Block, Conditional, Joint, Model, Move, OneShot, Sampler, Update,
};
use helmholtz_invariance::expectation;
use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::resampling::{MultinomialByChoice, Policy, Resampler, Ssp};

use crate::forgetful::ForgetfulToy;
use crate::toy::*;

const X: [f64; 2] = [0.8, -1.1];

type B = Flex;
type Blocks<'a, M> = [&'a dyn Block<B, M, Enumerator>];

/// 1, a, c_1 and a c_1 of each particle: `[L, B]`.
fn functions<B: Backend>(z: &Bits<B>) -> [Tensor<B, 2>; 4] {
    let a = z.a.clone().squeeze_dim::<2>(2);
    let c = z.c.clone().narrow(2, 0, 1).squeeze_dim::<2>(2);
    [a.ones_like(), a.clone(), c.clone(), a * c]
}

/// Σ_z p(x, z) f(z).
fn exact(data: usize) -> Vec<f64> {
    let z = all_states::<B>(data);
    let x = tensor(&X[..data], [1, data]);
    let joint = numbers(Toy::new(PARAMETERS).log_joint(&x, &z));
    let sum = |f: Tensor<B, 2>| -> f64 {
        numbers(f)
            .iter()
            .zip(&joint)
            .map(|(f, l)| f * l.exp())
            .sum()
    };
    functions(&z).into_iter().map(sum).collect()
}

/// The largest relative error of E[Ẑ Σ W f] over the functions f, for two particles and one sweep of these blocks.
fn error<M, R>(
    model: &M,
    bits: fn(&M::State) -> &Bits<B>,
    data: usize,
    blocks: &Blocks<'_, M>,
    policy: Policy,
    resampler: R,
) -> f64
where
    M: OneShot<B, Enumerator, Data = Tensor<B, 2>>,
    R: Resampler<Enumerator>,
{
    let sampler = Sampler::new(2, 2, policy, resampler).expect("a sampler");
    let x = tensor(&X[..data], [1, data]);
    let mean = expectation(|chance| {
        let run = sampler.run(model, &x, blocks, &mut AllBranches(chance), |_, _, _| {});
        let population = run.expect("positive weights").population;
        let z = population.log_evidence()[0].exp();
        let weighted = |f| population.mean(f)[0] * z;
        functions(bits(population.state()))
            .into_iter()
            .map(weighted)
            .collect()
    });
    let errors = mean
        .iter()
        .zip(exact(data))
        .map(|(m, e)| (m / e - 1.0).abs());
    errors.fold(0.0, f64::max)
}

fn assert_exact<R: Resampler<Enumerator>>(
    data: usize,
    blocks: &Blocks<'_, Toy<B>>,
    policy: Policy,
    resampler: R,
) {
    let error = error(
        &Toy::new(PARAMETERS),
        |z| z,
        data,
        blocks,
        policy,
        resampler,
    );
    assert!(error < 1e-12, "{error:e}");
}

fn assert_broken(blocks: &Blocks<'_, Toy<B>>) {
    let error = error(&Toy::new(PARAMETERS), |z| z, 1, blocks, Policy::Always, Ssp);
    assert!(error > 1e-3, "{error:e}");
}

#[test]
fn it_is_unbiased_after_the_one_shot_and_after_each_learned_block() {
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    let blocks: [&dyn Block<B, Toy<B>, Enumerator>; 2] = [&a, &c];
    for count in 0..=2 {
        assert_exact(1, &blocks[..count], Policy::Always, MultinomialByChoice);
        assert_exact(1, &blocks[..count], Policy::Always, Ssp);
    }
    assert_exact(2, &blocks[1..], Policy::Always, Ssp);
}

#[test]
fn it_is_unbiased_without_resampling_and_with_it_now_and_then() {
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    assert_exact(1, &[&a, &c], Policy::Never, Ssp);
    assert_exact(1, &[&a, &c], Policy::EssBelow(0.9), Ssp);
}

#[test]
fn it_is_unbiased_with_a_joint_block_and_with_blocks_from_the_prior() {
    let joint = Joint(Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    assert_exact(1, &[&joint], Policy::Always, Ssp);
    let (prior_a, c) = (Update(A(Law::Prior)), Update(Cs(Law::Learned)));
    assert_exact(1, &[&prior_a, &c], Policy::Always, Ssp);
    let prior_c = Update(Cs(Law::Prior));
    assert_exact(1, &[&prior_a, &prior_c], Policy::Always, Ssp);
}

/// What stands in for log v of a move: a function of the block, its law, and the particles before.
type Spoil = fn(&A, &Tensor<B, 3>, &Bits<B>, &Move<B, Bits<B>>) -> Tensor<B, 3>;

/// A move whose weight is spoiled.
struct Spoiled(Spoil);

impl<C: Chance + ?Sized> Block<B, Toy<B>, C> for Spoiled {
    fn name(&self) -> String {
        "spoiled".into()
    }

    fn advance(
        &self,
        model: &Toy<B>,
        frozen: &Toy<B>,
        x: &Tensor<B, 2>,
        old: &Bits<B>,
        chance: &mut C,
    ) -> Move<B, Bits<B>> {
        let a = A(Law::Learned);
        let law = Conditional::<B, Toy<B>, C>::law(&a, model, x, old);
        let moved = Update(a).advance(model, frozen, x, old, chance);
        Move {
            log_v: (self.0)(&a, &law, old, &moved),
            ..moved
        }
    }
}

fn log_prob(a: &A, law: &Tensor<B, 3>, z: &Bits<B>) -> Tensor<B, 3> {
    Conditional::<B, Toy<B>, Enumerator>::log_prob(a, law, z)
}

#[test]
fn test_4_weights_without_one_of_their_terms_are_noticed() {
    let unspoiled = Spoiled(|_, _, _, moved| moved.log_v.clone());
    assert_exact(1, &[&unspoiled], Policy::Always, Ssp);
    // Without the reverse density.
    assert_broken(&[&Spoiled(|a, law, old, moved| {
        moved.log_v.clone() - log_prob(a, law, old)
    })]);
    // The reverse density of the new value.
    assert_broken(&[&Spoiled(|a, law, old, moved| {
        moved.log_v.clone() - log_prob(a, law, old) + log_prob(a, law, &moved.state)
    })]);
    // Without the forward density.
    assert_broken(&[&Spoiled(|_, _, _, moved| {
        moved.log_v.clone() + moved.log_forward.clone()
    })]);
}

#[test]
fn test_4_a_latent_left_behind_by_resampling_is_noticed() {
    let (model, block) = (
        ForgetfulToy {
            toy: Toy::new(PARAMETERS),
        },
        A(Law::Learned),
    );
    let with = |policy| error(&model, |z| &z.0, 1, &[&block], policy, Ssp);
    let (always, never) = (with(Policy::Always), with(Policy::Never));
    assert!(always > 1e-3, "{always:e}");
    assert!(never < 1e-12, "{never:e}");
}

#[test]
fn test_5_exact_laws_weigh_one() {
    let (a, c) = (Update(A(Law::Exact)), Update(Cs(Law::Exact)));
    let joint = Joint(a, c);
    let learned = Update(A(Law::Learned));
    let x = tensor(&X, [1, 2]);
    let model = Toy::<B>::new(PARAMETERS);
    let old = all_states(2);
    let log_v = |block: &dyn Block<B, Toy<B>, helmholtz_random::Stream>| -> f64 {
        let mut stream = helmholtz_random::Stream::new(5, helmholtz_apg::PROPOSE, [0, 0]);
        let moved = block.advance(&model, &model, &x, &old, &mut stream);
        numbers(moved.log_v)
            .into_iter()
            .map(f64::abs)
            .fold(0.0, f64::max)
    };
    for block in [&a as &dyn Block<_, _, _>, &c, &joint] {
        assert!(log_v(block) < 1e-12);
    }
    assert!(log_v(&learned) > 0.1);
}
