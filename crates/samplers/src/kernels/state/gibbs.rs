//! Gibbs sampling with a conditional that the user can draw from.

use crate::{Info, Kernel};

/// Draws a part of the state from its conditional given the rest.
///
/// It is a Metropolis-Hastings move that is always accepted: reversible, and invariant for the joint if what is drawn
/// really has law p(part | rest). A Gibbs sampler is a [`Mixture`](crate::Mixture) or a [`Cycle`](crate::Cycle) of such
/// kernels over all parts. For a component with few values, [`FiniteGibbs`](crate::FiniteGibbs) finds the conditional
/// itself. (Geman and Geman, 1984.)
///
/// ```
/// use helmholtz_samplers::random::{Draws, Purpose, Stream};
/// use helmholtz_samplers::{Cycle, Gibbs, Kernel};
///
/// // Two standard normals with correlation 0.6: x_i | x_j ~ N(0.6 x_j, 0.8²).
/// let part = |i: usize| {
///     Gibbs::new(move |x: &mut [f64; 2], chance: &mut Stream| x[i] = 0.6 * x[1 - i] + 0.8 * chance.normal())
/// };
/// let sweep = Cycle::new(vec![part(0), part(1)]);
/// let mut x = [0.0, 0.0];
/// sweep.step(&mut x, &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Gibbs<F>(F);

impl<F> Gibbs<F> {
    /// The kernel that changes the state as `draw` does.
    pub fn new<S, C: ?Sized>(draw: F) -> Self
    where
        F: Fn(&mut S, &mut C),
    {
        Self(draw)
    }
}

impl<S, C: ?Sized, F: Fn(&mut S, &mut C)> Kernel<S, C> for Gibbs<F> {
    type Info = Info;

    fn step(&self, state: &mut S, chance: &mut C) -> Info {
        (self.0)(state, chance);
        Info::of_move(true, 0)
    }
}
