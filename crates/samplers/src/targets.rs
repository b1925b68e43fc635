//! What a state kernel asks of the user: a target, and a proposal or a gradient.

/// A distribution known by its log-density up to a constant.
///
/// Every function of the state is one, so a model is passed as `|x: &State| model.log_joint(x)`.
pub trait Target<S> {
    /// ln p(`state`) + constant (nats); -inf where p is zero.
    fn log_density(&self, state: &S) -> f64;
}

impl<S, F: Fn(&S) -> f64> Target<S> for F {
    fn log_density(&self, state: &S) -> f64 {
        self(state)
    }
}

/// A density on ℝⁿ known by its logarithm up to a constant, and by its gradient.
///
/// Every function `|x: &[f64], gradient: &mut [f64]| -> f64` is one.
pub trait GradientTarget {
    /// Adds ∂ ln p / ∂x_i at `position` to `gradient`, which comes as zeros of the same length, and returns
    /// ln p(`position`) + constant (nats).
    ///
    /// After a change of variables x = g(y), the density of y has the factor |det ∂g/∂y|. Its logarithm belongs into
    /// both value and gradient: for x = exp(y) add y to the value, and 1 to the gradient.
    fn log_density_and_gradient(&self, position: &[f64], gradient: &mut [f64]) -> f64;
}

impl<F: Fn(&[f64], &mut [f64]) -> f64> GradientTarget for F {
    fn log_density_and_gradient(&self, position: &[f64], gradient: &mut [f64]) -> f64 {
        self(position, gradient)
    }
}

/// A distribution q(x') that can be sampled and scored, and does not look at the current state.
///
/// `C` is the randomness, as in [`Kernel`](crate::Kernel): write `impl<C: Chance> ...` for a discrete proposal, and
/// `impl<C: Draws> ...` for one that draws real numbers.
pub trait IndependenceProposal<S, C: ?Sized> {
    /// Draws x' from q.
    fn propose(&self, chance: &mut C) -> S;

    /// ln q(`state`) (nats), up to a constant. It must be finite wherever the target is positive.
    fn log_density(&self, state: &S) -> f64;
}

/// A distribution q(x' | x) that proposes a state from the current one, and can be scored in both directions.
pub trait Proposal<S, C: ?Sized> {
    /// Draws x' from q(· | `from`).
    fn propose(&self, from: &S, chance: &mut C) -> S;

    /// ln q(`to` | `from`) (nats), up to what does not change when the two are exchanged: a symmetric proposal may
    /// answer 0. -inf where the step cannot be made.
    fn log_density(&self, from: &S, to: &S) -> f64;
}
