//! The path auxiliary proposal, in its fast form.

use helmholtz_random::Chance;

use super::memory::Memory;
use super::neighbourhood::{Change, Neighbourhood, log_acceptance};
use super::{DifferenceTarget, Site};
use crate::arguments::{one_or_more, open_unit};
use crate::kernels::state::dual_averaging::DualAveraging;
use crate::{Info, Kernel, SamplerError};

/// Changes L different sites one after the other, and accepts the end y with probability min(1, p(y) q(path back | y)
/// / (p(x) q(path | x))). Each change is drawn among the sites not yet changed, with probability proportional to
/// g(t_iv), t_iv ≈ p(x with x_i = v) / p(x). The weights are those of the start all along.
///
/// The path back has the same sites in reverse order, weighed at y. The path is an auxiliary variable, so that
/// the sum over all orders need not be known: detailed balance holds path by path. (Sun, Dai, Xia and Ramamurthy, 2022,
/// "Path auxiliary proposal for MCMC in discrete space", §3.3 and Algorithm 2.)
///
/// L is drawn anew for each step, independent of the state. With probability 0.98 it is ⌊ρ⌋ or ⌊ρ⌋ + 1, with mean ρ. Else it
/// is 1: an even L alone would never change the parity of the number of ones. Its mean is 0.98 ρ + 0.02, unless the number
/// of sites bounds it. Find ρ by [`warm_up`](Self::warm_up).
///
/// A step costs one evaluation of all differences whatever L is, and another one where the chain was moved by something
/// else before. It also costs about 6 L √N operations on weights of N sites:
/// [`LocallyBalanced`](crate::LocallyBalanced) with ρ changes for the price of one. What the last step saw is
/// remembered, for eight chains that take turns. A path that finds no possible change is rejected.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{EachChange, Kernel, PathAuxiliary, balancing_functions};
///
/// let target = |x: &Vec<bool>| -0.3 * (x.iter().filter(|b| **b).count() as f64 - 5.0).powi(2);
/// let target = EachChange::new(target, 2);
/// let (mut x, mut stream) = (vec![false; 20], Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let kernel = PathAuxiliary::new(target, balancing_functions::square_root, 1.0)?
///     .warm_up(0.574, 400, &mut x, &mut stream)?;
/// assert!(kernel.mean_length() > 1.5);
/// kernel.step(&mut x, &mut stream);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PathAuxiliary<T, G> {
    target: T,
    log_g: G,
    mean_length: f64,
    memory: Memory<Neighbourhood>,
}

/// A path, before the coin is tossed.
struct Path<V> {
    from: Vec<V>,
    /// The sites that it changes, in order; none of a path that ends for lack of possible changes.
    sites: Vec<usize>,
    /// ln of the acceptance probability, not cut at 0; -inf for a path that must be rejected.
    log_ratio: f64,
    non_finite: u64,
}

impl<T, G: Fn(f64) -> f64> PathAuxiliary<T, G> {
    /// The kernel with g, as a function from ln t to ln g(t), and ρ = `mean_length`. That is the mean length of the paths
    /// that are not made single changes; of all paths it is 0.98 ρ + 0.02.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless the mean length is at least 1 and finite.
    pub fn new(target: T, log_g: G, mean_length: f64) -> Result<Self, SamplerError> {
        Ok(Self {
            target,
            log_g,
            mean_length: one_or_more("the mean length of a path", mean_length)?,
            memory: Memory::default(),
        })
    }

    /// ρ, the mean length of the paths that are not made single changes.
    pub fn mean_length(&self) -> f64 {
        self.mean_length
    }

    /// Runs `steps` transitions from `state` while tuning ln ρ by dual averaging, so that the acceptance probability is
    /// `target_acceptance` on average. Returns the kernel with the length found, which stays. The length is between one
    /// change and all sites; at one change the acceptance may be below what is asked, and at all sites above.
    ///
    /// The best acceptance in many independent dimensions is 0.574 (Sun, Dai and Schuurmans, 2022, "Optimal scaling for
    /// locally balanced proposals in discrete spaces"). They and DISCS tune to it as well, by adding the error to the
    /// length of each step. The transitions are burn-in: do not average over them.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `target_acceptance` is in (0, 1).
    pub fn warm_up<V: Site>(
        mut self,
        target_acceptance: f64,
        steps: usize,
        state: &mut Vec<V>,
        chance: &mut (impl Chance + ?Sized),
    ) -> Result<Self, SamplerError>
    where
        T: DifferenceTarget<V>,
    {
        let target_acceptance = open_unit("the target acceptance", target_acceptance)?;
        let mut averaging = DualAveraging::new(self.mean_length, target_acceptance, steps);
        let longest = state.len().max(1) as f64;
        let mut around = self.memory.take(state);
        for _ in 0..steps {
            self.mean_length = averaging.trial().clamp(1.0, longest);
            let path = self.propose(&mut around, state, chance);
            averaging.update(path.log_ratio.min(0.0).exp());
            settle(path, &mut around, state, chance);
        }
        self.memory.keep(around);
        self.mean_length = averaging.average().clamp(1.0, longest);
        Ok(self)
    }

    /// L for a state of so many sites.
    fn length(&self, sites: usize, chance: &mut (impl Chance + ?Sized)) -> usize {
        let below = self.mean_length.floor();
        let above = (1.0 - SINGLE) * (self.mean_length - below);
        let weights = [SINGLE, 1.0 - SINGLE - above, above];
        let length = match self.mean_length > 1.0 {
            true => {
                [1.0, below, below + 1.0][chance.choose_by_weight(&weights).unwrap_or(0)] as usize
            }
            false => 1,
        };
        length.min(sites)
    }

    /// Walks a path, and leaves `state` at its end.
    fn propose<V: Site>(
        &self,
        around: &mut Neighbourhood,
        state: &mut [V],
        chance: &mut (impl Chance + ?Sized),
    ) -> Path<V>
    where
        T: DifferenceTarget<V>,
    {
        let values = self.target.values();
        let length = self.length(state.len(), chance);
        around.come_to(&self.target, state, &self.log_g);
        let (from, non_finite) = (state.to_vec(), around.non_finite());
        let urn = around.urn();
        let (mut path, mut log_q) = (Vec::with_capacity(length), 0.0);
        while path.len() < length {
            let Some(number) = urn.choose(chance) else {
                urn.put_back();
                return Path {
                    from,
                    sites: Vec::new(),
                    log_ratio: f64::NEG_INFINITY,
                    non_finite,
                };
            };
            log_q += urn.log_probability(number);
            urn.take_out(number);
            let change = Change::of(number, values);
            change.make(state, values);
            path.push(change);
        }
        urn.put_back();
        let mut sites: Vec<usize> = path.iter().map(|change| change.site).collect();
        sites.sort_unstable();
        let ends = [&from[..], state];
        let (log_p, non_finite_there) = around.look_back(&self.target, ends, &sites, &self.log_g);
        let urn = around.urn();
        let mut log_q_back = 0.0;
        for change in path.iter().rev() {
            let back = change.back(values).number(values);
            log_q_back += urn.log_probability(back);
            urn.take_out(back);
        }
        urn.put_back();
        Path {
            from,
            sites,
            log_ratio: log_acceptance(log_p, log_q_back - log_q),
            non_finite: non_finite + non_finite_there,
        }
    }
}

/// The share of paths of one change.
const SINGLE: f64 = 0.02;

/// Tosses the coin: a rejected path is gone back.
fn settle<V: Site>(
    path: Path<V>,
    around: &mut Neighbourhood,
    state: &mut Vec<V>,
    chance: &mut (impl Chance + ?Sized),
) -> Info {
    let accepted = chance.accept(path.log_ratio);
    if accepted {
        around.arrive(state, &path.sites);
    } else {
        if !path.sites.is_empty() {
            around.go_back();
        }
        *state = path.from;
    }
    Info::of_move(accepted, path.non_finite)
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
        let mut around = self.memory.take(state);
        let path = self.propose(&mut around, state, chance);
        let info = settle(path, &mut around, state, chance);
        self.memory.keep(around);
        info
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;
    use crate::EachChange;

    #[test]
    fn lengths_are_the_whole_numbers_around_the_mean_and_now_and_then_one() {
        let law = |mean_length: f64, sites: usize| {
            let flat: fn(&Vec<bool>) -> f64 = |_| 0.0;
            let kernel =
                PathAuxiliary::new(EachChange::new(flat, 2), |l: f64| l, mean_length).unwrap();
            let mut law = [0.0; 5];
            for (probability, length) in enumerate(|chance| kernel.length(sites, chance)) {
                law[length] += probability;
            }
            if mean_length <= sites as f64 {
                let mean: f64 = (0..).zip(law).map(|(l, p)| f64::from(l) * p).sum();
                assert!((mean - (0.98 * mean_length + 0.02)).abs() < 1e-14);
            }
            law
        };
        let close = |found: [f64; 5], expected: [f64; 5]| {
            let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-15, "{found:?}");
        };
        close(law(1.0, 9), [0.0, 1.0, 0.0, 0.0, 0.0]);
        close(law(3.0, 9), [0.0, 0.02, 0.0, 0.98, 0.0]);
        close(law(3.25, 9), [0.0, 0.02, 0.0, 0.735, 0.245]);
        close(law(7.5, 2), [0.0, 0.02, 0.98, 0.0, 0.0]);
    }
}
