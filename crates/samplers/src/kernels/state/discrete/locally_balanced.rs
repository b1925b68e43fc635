//! Locally balanced proposals, and Gibbs with gradients.

use helmholtz_random::Chance;

use super::balancing::square_root;
use super::neighbourhood::{Change, Neighbourhood, log_acceptance};
use super::urn::Urn;
use super::{DifferenceTarget, Site};
use crate::{Info, Kernel};

/// Proposes a change of one site, y with y_i = v, from q(y | x) = g(t_iv) / Z(x), t_iv ≈ p(y) / p(x), and accepts it with
/// probability min(1, p(y) q(x | y) / (p(x) q(y | x))).
///
/// g is a balancing function, by its logarithm ([`balancing_functions`](crate::balancing_functions), or any other
/// function: the acceptance test makes up for one that is not balanced). With exact differences and a balancing function
/// the acceptance probability is min(1, Z(x) / Z(y)), near 1 in many dimensions. A step costs two evaluations of all
/// differences. With √t and first-order differences it is *Gibbs with gradients*. (Zanella, 2020, "Informed proposals for
/// local MCMC in discrete spaces"; Grathwohl et al., 2021, "Oops I took a gradient".)
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
#[derive(Clone, Copy, Debug)]
pub struct LocallyBalanced<T, G> {
    target: T,
    log_g: G,
}

impl<T, G: Fn(f64) -> f64> LocallyBalanced<T, G> {
    /// The kernel with the balancing function g, as a function from ln t to ln g(t).
    pub fn new(target: T, log_g: G) -> Self {
        Self { target, log_g }
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
        let values = self.target.values();
        let here = Neighbourhood::of(&self.target, &self.log_g, state);
        let urn = Urn::new(here.log_weights, values - 1);
        let Some(number) = urn.choose(chance) else {
            return Info::of_move(false, here.non_finite);
        };
        let change = Change::of(number, values);
        change.make(state, values);
        let there = Neighbourhood::of(&self.target, &self.log_g, state);
        let back = change.back(values);
        let log_q = urn.log_probability(number);
        let log_q_back =
            Urn::new(there.log_weights, values - 1).log_probability(back.number(values));
        let accepted = chance.accept(log_acceptance(here.log_p, there.log_p, log_q_back - log_q));
        if !accepted {
            back.make(state, values);
        }
        Info::of_move(accepted, here.non_finite + there.non_finite)
    }
}
