//! Locally balanced proposals, and Gibbs with gradients.

use helmholtz_random::Chance;

use super::balancing::square_root;
use super::memory::Memory;
use super::neighbourhood::{Change, Neighbourhood, log_acceptance};
use super::{DifferenceTarget, Site};
use crate::{Info, Kernel};

/// Proposes a change of one site, y with y_i = v, from q(y | x) = g(t_iv) / Z(x), t_iv ≈ p(y) / p(x), and accepts it with
/// probability min(1, p(y) q(x | y) / (p(x) q(y | x))).
///
/// g is a balancing function, by its logarithm ([`balancing_functions`](crate::balancing_functions), or any other
/// function: the acceptance test makes up for one that is not balanced). With exact differences and a balancing
/// function the acceptance probability is min(1, Z(x) / Z(y)), near 1 in many dimensions. A step costs one evaluation
/// of all differences, and another one where the chain was moved by something else before. The evaluation of the last
/// step is remembered, for eight chains that take turns. If the target tells what a change leaves behind, a step of N
/// sites costs no evaluation and O(√N) operations. Weights lie in about √N blocks, and only sums of blocks whose
/// weights changed are taken again.
///
/// With √t and first-order differences it is *Gibbs with gradients*. (Zanella, 2020, "Informed proposals for local MCMC in
/// discrete spaces"; Grathwohl et al., 2021, "Oops I took a gradient".)
///
/// A neighbour that is impossible is not proposed. A current state of probability zero is left for the first possible
/// neighbour, all being equally likely.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{EachChange, Kernel, LocallyBalanced, balancing_functions};
///
/// // A ring of ten sites with three values; equal neighbours are liked.
/// let target = |x: &Vec<usize>| (0..10).filter(|&i| x[i] == x[(i + 1) % 10]).count() as f64;
/// let kernel = LocallyBalanced::new(EachChange::new(target, 3), balancing_functions::barker);
/// let (mut x, mut stream) = (vec![0; 10], Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let accepted: u64 = (0..100).map(|_| kernel.step(&mut x, &mut stream).accepted).sum();
/// assert!(accepted > 50);
/// ```
#[derive(Clone, Debug)]
pub struct LocallyBalanced<T, G> {
    target: T,
    log_g: G,
    memory: Memory<Neighbourhood>,
}

impl<T, G: Fn(f64) -> f64> LocallyBalanced<T, G> {
    /// The kernel with the balancing function g, as a function from ln t to ln g(t).
    pub fn new(target: T, log_g: G) -> Self {
        Self {
            target,
            log_g,
            memory: Memory::default(),
        }
    }
}

impl<T> LocallyBalanced<T, fn(f64) -> f64> {
    /// The kernel with g(t) = √t: Gibbs with gradients, if the differences of `target` come from a gradient
    /// ([`FirstOrder`](crate::FirstOrder)).
    pub fn gibbs_with_gradients(target: T) -> Self {
        Self::new(target, square_root)
    }
}

impl<V, C, T, G> Kernel<Vec<V>, C> for LocallyBalanced<T, G>
where
    V: Site,
    C: Chance + ?Sized,
    T: DifferenceTarget<V>,
    G: Fn(f64) -> f64,
{
    type Info = Info;

    fn step(&self, state: &mut Vec<V>, chance: &mut C) -> Info {
        let mut around = self.memory.take(state);
        let info = self.change_one(&mut around, state, chance);
        self.memory.keep(around);
        info
    }
}

impl<T, G: Fn(f64) -> f64> LocallyBalanced<T, G> {
    fn change_one<V: Site>(
        &self,
        around: &mut Neighbourhood,
        state: &mut [V],
        chance: &mut (impl Chance + ?Sized),
    ) -> Info
    where
        T: DifferenceTarget<V>,
    {
        let values = self.target.values();
        around.come_to(&self.target, state, &self.log_g);
        let non_finite = around.non_finite();
        let Some(number) = around.urn().choose(chance) else {
            return Info::of_move(false, non_finite);
        };
        let change = Change::of(number, values);
        let log_q = around.urn().log_probability(number);
        let from = state.to_vec();
        change.make(state, values);
        let (sites, back) = ([change.site], change.back(values));
        let ends = [&from[..], state];
        let (log_p, non_finite_there) = around.look_back(&self.target, ends, &sites, &self.log_g);
        let log_q_back = around.urn().log_probability(back.number(values));
        let accepted = chance.accept(log_acceptance(log_p, log_q_back - log_q));
        if accepted {
            around.arrive(state, &sites);
        } else {
            around.go_back();
            back.make(state, values);
        }
        Info::of_move(accepted, non_finite + non_finite_there)
    }
}
