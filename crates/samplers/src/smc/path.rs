//! From an easy density to a hard one.

/// The geometric path between two densities (nats),
///
/// > log γ_β(x) = (1 - β) log π_0(x) + β log π̃(x),  0 ≤ β ≤ 1.
///
/// π_0 can be sampled, and is above zero wherever π̃ is. Both are functions of a state; either may be unnormalised. At
/// the ends the other density is not asked, so that 0 · -inf never arises.
#[derive(Clone, Copy, Debug)]
pub struct TemperedPath<P, T> {
    log_base: P,
    log_target: T,
}

impl<P, T> TemperedPath<P, T> {
    /// The path from the density `log_base`, π_0, to `log_target`, π̃.
    pub fn new<S>(log_base: P, log_target: T) -> Self
    where
        P: Fn(&S) -> f64,
        T: Fn(&S) -> f64,
    {
        Self {
            log_base,
            log_target,
        }
    }

    /// log γ_β(x): what a kernel at inverse temperature β leaves invariant.
    pub fn log_density<S>(&self, beta: f64, state: &S) -> f64
    where
        P: Fn(&S) -> f64,
        T: Fn(&S) -> f64,
    {
        if beta == 0.0 {
            return (self.log_base)(state);
        }
        let target = beta * (self.log_target)(state);
        if beta == 1.0 || target == f64::NEG_INFINITY {
            return target;
        }
        (1.0 - beta) * (self.log_base)(state) + target
    }

    /// log π̃(x) - log π_0(x), the derivative along the path; -inf where π̃ is zero.
    pub fn log_ratio<S>(&self, state: &S) -> f64
    where
        P: Fn(&S) -> f64,
        T: Fn(&S) -> f64,
    {
        let target = (self.log_target)(state);
        if target == f64::NEG_INFINITY {
            return target;
        }
        target - (self.log_base)(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_densities_are_zero_all_along_the_path() {
        let log = |p: [f64; 2]| move |&x: &usize| p[x].ln();
        let path = TemperedPath::new(log([0.0, 1.0]), log([0.5, 0.0]));
        let densities = |x: usize| [0.0, 0.5, 1.0].map(|beta| path.log_density(beta, &x));
        assert_eq!(
            densities(0),
            [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.5f64.ln()]
        );
        assert_eq!(densities(1), [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
        assert_eq!(path.log_ratio(&0), f64::INFINITY, "the base must cover");
        assert_eq!(path.log_ratio(&1), f64::NEG_INFINITY);
    }
}
