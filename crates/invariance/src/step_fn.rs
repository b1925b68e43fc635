//! A kernel from a function.

use helmholtz_samplers::Kernel;

/// A function as a [`Kernel`]. See [`step_fn`].
#[derive(Clone, Copy, Debug)]
pub struct StepFn<F>(F);

/// The kernel whose step is `step`, for kernels that are not written as a type: say what the state and the randomness
/// are in the arguments of the closure.
///
/// ```
/// use helmholtz_invariance::step_fn;
/// use helmholtz_random::{Draws, Stream};
///
/// let kernel = step_fn(|x: &mut f64, rng: &mut Stream| *x = 0.6 * *x + 0.8 * rng.normal());
/// ```
pub fn step_fn<S, C: ?Sized, F: Fn(&mut S, &mut C)>(step: F) -> StepFn<F> {
    StepFn(step)
}

impl<S, C: ?Sized, F: Fn(&mut S, &mut C)> Kernel<S, C> for StepFn<F> {
    type Info = ();

    fn step(&self, state: &mut S, chance: &mut C) {
        (self.0)(state, chance);
    }
}
