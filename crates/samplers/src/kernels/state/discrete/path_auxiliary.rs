//! The path auxiliary proposal, in its fast form.

use helmholtz_random::Chance;

use super::neighbourhood::Neighbourhood;
use super::urn::Urn;
use super::{DifferenceTarget, Site};
use crate::arguments::at_least_one;
use crate::kernels::state::mixture::uniform_index;
use crate::{Info, Kernel, SamplerError};

/// Changes a random number L of different sites one after the other, each drawn with probability proportional to
/// g(t_iv), t_iv ≈ p(x with x_i = v) / p(x), among the sites not yet changed, with the weights of the start all along;
/// and accepts the end y with probability min(1, p(y) q(path back | y) / (p(x) q(path | x))).
///
/// The path back has the same sites in reverse order, weighed at y. The path is an auxiliary variable, so that
/// the sum over all orders need not be known: detailed balance holds path by path. L is uniform on
/// 1, ..., 2 R - 1, R on average, and at most the number of sites. (Sun, Dai, Xia and Ramamurthy, 2022, "Path auxiliary
/// proposal for MCMC in discrete space", §3.3 and Algorithm 2.)
///
/// A step costs two evaluations of all differences whatever L is, and about 4 L √N weights of N sites, so that it is [`LocallyBalanced`](crate::LocallyBalanced)
/// with R changes for the price of one. A path that finds no possible change is rejected.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{EachChange, Kernel, PathAuxiliary, balancing_functions};
///
/// let target = |x: &Vec<bool>| -0.3 * (x.iter().filter(|b| **b).count() as f64 - 5.0).powi(2);
/// let target = EachChange::new(target, 2);
/// let kernel = PathAuxiliary::new(target, balancing_functions::square_root, 3)?;
/// let mut x = vec![false; 20];
/// kernel.step(&mut x, &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PathAuxiliary<T, G> {
    target: T,
    log_g: G,
    mean_length: usize,
}

impl<T, G: Fn(f64) -> f64> PathAuxiliary<T, G> {
    /// The kernel with g, as a function from ln t to ln g(t), and paths of `mean_length` changes on average.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] for a mean length of zero.
    pub fn new(target: T, log_g: G, mean_length: usize) -> Result<Self, SamplerError> {
        Ok(Self {
            target,
            log_g,
            mean_length: at_least_one("the mean length of a path", mean_length)?,
        })
    }
}

impl<V, C, T, G> Kernel<Vec<V>, C> for PathAuxiliary<T, G>
where
    V: Site,
    C: Chance + ?Sized,
    T: DifferenceTarget<V>,
    G: Fn(f64) -> f64,
{
    type Info = Info;

    fn step(&self, state: &mut Vec<V>, chance: &mut C) -> Info {
        let values = self.target.values();
        let length = 1 + uniform_index(2 * self.mean_length - 1, chance);
        let here = Neighbourhood::of(&self.target, &self.log_g, state);
        let mut urn = Urn::new(here.log_weights, values);
        let before = state.clone();
        let (mut path, mut log_q) = (Vec::new(), 0.0);
        for _ in 0..length.min(state.len()) {
            let Some(change) = urn.choose(chance) else {
                *state = before;
                return Info::of_move(false, here.non_finite);
            };
            log_q += urn.log_probability(change);
            urn.take_out(change);
            state[change / values] = V::of_code(change % values);
            path.push(change);
        }
        let there = Neighbourhood::of(&self.target, &self.log_g, state);
        let mut urn = Urn::new(there.log_weights, values);
        let mut log_q_back = 0.0;
        for &change in path.iter().rev() {
            let site = change / values;
            let back = site * values + before[site].code();
            log_q_back += urn.log_probability(back);
            urn.take_out(back);
        }
        let possible = there.log_p.is_finite() && log_q_back.is_finite();
        let accepted = match here.log_p.is_finite() {
            true => possible && chance.accept(there.log_p - here.log_p + log_q_back - log_q),
            false => there.log_p.is_finite(),
        };
        if !accepted {
            *state = before;
        }
        Info::of_move(accepted, here.non_finite + there.non_finite)
    }
}
