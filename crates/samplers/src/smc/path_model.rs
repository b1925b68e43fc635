//! Sequences of states with a weight at each time.

/// A distribution over paths x_0, ..., x_{T-1},
///
/// > γ(x) = m_0(x_0) G_0(x_0) Π_{t≥1} m_t(x_t | x_{t-1}) G_t(x_{t-1}, x_t),
///
/// by what a particle filter needs: draws from the moves m_t, and weights G_t (a *Feynman-Kac model*; Del Moral, 2004).
/// In a state-space model with transition f, likelihood g and proposal q, m = q and G = f g / q; for the bootstrap filter
/// m = f and G = g.
pub trait PathModel<S, C: ?Sized> {
    /// T, the number of times, at least 1.
    fn times(&self) -> usize;

    /// Draws x_t from m_t; `previous` is x_{t-1}, and `None` at time 0.
    fn propose(&self, t: usize, previous: Option<&S>, chance: &mut C) -> S;

    /// ln G_t of the move from `previous` to `state` (nats); -inf where it is zero.
    fn log_weight(&self, t: usize, previous: Option<&S>, state: &S) -> f64;
}

/// A path model whose moves can be scored: for ancestor and backward sampling, which ask how likely it is that one
/// particle's path goes on with another's future.
pub trait ScoredPathModel<S, C: ?Sized>: PathModel<S, C> {
    /// ln m_t(`state` | `previous`) for t ≥ 1 (nats), up to what depends on t and `state` only; -inf where it is zero.
    fn log_move(&self, t: usize, previous: &S, state: &S) -> f64;
}

impl<S, C: ?Sized, M: PathModel<S, C> + ?Sized> PathModel<S, C> for &M {
    fn times(&self) -> usize {
        (**self).times()
    }

    fn propose(&self, t: usize, previous: Option<&S>, chance: &mut C) -> S {
        (**self).propose(t, previous, chance)
    }

    fn log_weight(&self, t: usize, previous: Option<&S>, state: &S) -> f64 {
        (**self).log_weight(t, previous, state)
    }
}

impl<S, C: ?Sized, M: ScoredPathModel<S, C> + ?Sized> ScoredPathModel<S, C> for &M {
    fn log_move(&self, t: usize, previous: &S, state: &S) -> f64 {
        (**self).log_move(t, previous, state)
    }
}
