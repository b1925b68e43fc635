//! Targets that know what all changes of one site would do.

use super::Site;
use crate::{GradientTarget, Target};

/// A distribution over n sites with C values each, known by ln p and by ln p of all states that differ at one site.
///
/// The kernels that ask for it propose by the differences and accept by ln p. So the differences may be approximate
/// ([`FirstOrder`]): the kernels stay exact, and accept less. A model whose neighbours are cheap (an Ising model, a
/// restricted Boltzmann machine) implements it directly, in a pass over the sites. [`EachChange`] makes one of any
/// [`Target`], at a log-density a change.
pub trait DifferenceTarget<V> {
    /// C, the number of values that a site may have.
    fn values(&self) -> usize;

    /// ln p(`state`) + constant (nats); -inf where p is zero.
    fn log_density(&self, state: &[V]) -> f64;

    /// Writes ln p(x with x_i = v) - ln p(x), exactly or approximately, to entry i C + v of `differences` (`[n, C]`,
    /// nats), and returns ln p(`state`) + constant.
    ///
    /// -inf for values that are impossible, or that the site does not have. The entries of present values are not
    /// looked at, nor is any where p(`state`) is zero.
    fn log_density_and_differences(&self, state: &[V], differences: &mut [f64]) -> f64;

    /// The log-ratio ln p(`to`) - ln p(`from`) and the differences that are others at `to`, for a target whose sites
    /// depend on few others. `None`, the default, where all are to be computed anew.
    ///
    /// `from` and `to` differ at the sites `changes`, which are in order, and p(`from`) is positive. Appends to `sites`
    /// those whose differences may be others, in order and `changes` among them. Appends to `differences` their rows at
    /// `to`, C numbers each: to the bit those of [`log_density_and_differences`](Self::log_density_and_differences).
    fn log_density_ratio_and_differences(
        &self,
        from: &[V],
        to: &[V],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        let _ = (from, to, changes, sites, differences);
        None
    }
}

impl<V, T: DifferenceTarget<V> + ?Sized> DifferenceTarget<V> for &T {
    fn values(&self) -> usize {
        (**self).values()
    }

    fn log_density(&self, state: &[V]) -> f64 {
        (**self).log_density(state)
    }

    fn log_density_and_differences(&self, state: &[V], differences: &mut [f64]) -> f64 {
        (**self).log_density_and_differences(state, differences)
    }

    fn log_density_ratio_and_differences(
        &self,
        from: &[V],
        to: &[V],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        (**self).log_density_ratio_and_differences(from, to, changes, sites, differences)
    }
}

/// Exact differences of any [`Target`], by trying every change: n (C - 1) + 1 log-densities.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{EachChange, Kernel, LocallyBalanced, balancing_functions};
///
/// let target = |x: &Vec<bool>| if x[0] == x[1] { 1.0 } else { 0.0 };
/// let kernel = LocallyBalanced::new(EachChange::new(target, 2), balancing_functions::barker);
/// let mut x = vec![true, false];
/// kernel.step(&mut x, &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EachChange<T> {
    target: T,
    values: usize,
}

impl<T> EachChange<T> {
    /// `target` on sites with `values` values each: 2 for bits.
    pub fn new(target: T, values: usize) -> Self {
        Self { target, values }
    }
}

impl<V: Site, T: Target<Vec<V>>> DifferenceTarget<V> for EachChange<T> {
    fn values(&self) -> usize {
        self.values
    }

    fn log_density(&self, state: &[V]) -> f64 {
        self.target.log_density(&state.to_vec())
    }

    fn log_density_and_differences(&self, state: &[V], differences: &mut [f64]) -> f64 {
        let mut changed = state.to_vec();
        let log_p = self.target.log_density(&changed);
        for (i, row) in differences.chunks_mut(self.values).enumerate() {
            for (v, difference) in row.iter_mut().enumerate() {
                if v != state[i].code() {
                    changed[i] = V::of_code(v);
                    *difference = self.target.log_density(&changed) - log_p;
                }
            }
            changed[i] = state[i];
        }
        log_p
    }
}

/// Differences by the gradient of an extension of ln p to real numbers: Taylor's formula to first order, one gradient
/// for all of them. (Grathwohl, Swersky, Hashemi, Duvenaud and Maddison, 2021, "Oops I took a gradient".)
///
/// With two values a site is one real number, 0 or 1, and f(x with x_i flipped) - f(x) ≈ (1 - 2 x_i) ∂f/∂x_i. With more
/// it is C numbers, one of them 1 and the others 0, and the difference is ≈ ∂f/∂x_iv - ∂f/∂x_iu for a change from u to
/// v. It is exact where f is linear in each site's numbers, as the energy of an Ising or Potts model without terms of a
/// site with itself.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{FirstOrder, Kernel, LocallyBalanced};
///
/// // ln p = x_0 x_1, as a function of two real numbers.
/// let target = |x: &[f64], gradient: &mut [f64]| {
///     gradient[0] += x[1];
///     gradient[1] += x[0];
///     x[0] * x[1]
/// };
/// let kernel = LocallyBalanced::gibbs_with_gradients(FirstOrder::new(target, 2));
/// let mut x = vec![true, false];
/// kernel.step(&mut x, &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FirstOrder<T> {
    target: T,
    values: usize,
}

impl<T> FirstOrder<T> {
    /// `target` on the real numbers of sites with `values` values each.
    pub fn new(target: T, values: usize) -> Self {
        Self { target, values }
    }

    fn position<V: Site>(&self, state: &[V]) -> Vec<f64> {
        match self.values {
            2 => state.iter().map(|x| x.code() as f64).collect(),
            values => {
                let mut position = vec![0.0; values * state.len()];
                for (row, x) in position.chunks_mut(values).zip(state) {
                    row[x.code()] = 1.0;
                }
                position
            }
        }
    }
}

impl<V: Site, T: GradientTarget> DifferenceTarget<V> for FirstOrder<T> {
    fn values(&self) -> usize {
        self.values
    }

    fn log_density(&self, state: &[V]) -> f64 {
        let position = self.position(state);
        let mut gradient = vec![0.0; position.len()];
        self.target
            .log_density_and_gradient(&position, &mut gradient)
    }

    fn log_density_and_differences(&self, state: &[V], differences: &mut [f64]) -> f64 {
        let position = self.position(state);
        let mut gradient = vec![0.0; position.len()];
        let log_p = self
            .target
            .log_density_and_gradient(&position, &mut gradient);
        for (i, row) in differences.chunks_mut(self.values).enumerate() {
            let now = state[i].code();
            if self.values == 2 {
                row[1 - now] = (1.0 - 2.0 * position[i]) * gradient[i];
            } else {
                let own = &gradient[i * self.values..(i + 1) * self.values];
                row.iter_mut()
                    .zip(own)
                    .for_each(|(difference, g)| *difference = g - own[now]);
            }
        }
        log_p
    }
}
