//! Step sizes that go round in a cycle.

use std::f64::consts::PI;

use crate::SamplerError;
use crate::arguments::{at_least_one, positive};

/// The step sizes of one cycle, α_k = max(α_max (cos(π k / n) + 1) / 2, α_min) for k = 0, ..., n - 1: large ones to
/// leave a mode, small ones to explore it. (Zhang, Li, Zhang, Chen and Wilson, 2020, eq. 1; for discrete states
/// Pynadath, Bhattacharya, Hariharan and Zhang, 2024, "Gradient-based discrete sampling with automatic cyclical
/// scheduling".)
///
/// A [`Cycle`](crate::Cycle) of one kernel a step size leaves the target invariant, as all of its kernels do. Find the
/// ends by [`DiscreteLangevin::warm_up`](crate::DiscreteLangevin::warm_up), the largest for a low acceptance and the
/// smallest for a high one; they stay as they are while the chain is averaged over.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{Cycle, DiscreteLangevin, EachChange, Kernel, cyclical_step_sizes};
///
/// let target = |x: &Vec<bool>| -0.3 * (x.iter().filter(|b| **b).count() as f64 - 5.0).powi(2);
/// let langevin = |step_size| DiscreteLangevin::new(EachChange::new(target, 2), step_size);
/// let (mut x, mut stream) = (vec![false; 20], Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let largest = langevin(1.0)?.warm_up(0.3, 200, &mut x, &mut stream)?.step_size();
/// let smallest = langevin(largest)?.warm_up(0.8, 200, &mut x, &mut stream)?.step_size();
/// let step_sizes = cyclical_step_sizes(largest, smallest.min(largest), 10)?;
/// let kernels: Result<Vec<_>, _> = step_sizes.into_iter().map(langevin).collect();
/// Cycle::new(kernels?).step(&mut x, &mut stream); // ten moves
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
///
/// # Errors
/// [`SamplerError::Parameter`] unless `largest` and `smallest` are positive and finite, `smallest` is not above
/// `largest`, and there is a step or more.
pub fn cyclical_step_sizes(
    largest: f64,
    smallest: f64,
    steps: usize,
) -> Result<Vec<f64>, SamplerError> {
    positive("the largest step size of a cycle", largest)?;
    positive("the smallest step size of a cycle", smallest)?;
    if smallest > largest {
        return Err(SamplerError::Parameter {
            what: "the smallest step size of a cycle",
            found: smallest,
            allowed: "at most the largest",
        });
    }
    let n = at_least_one("the number of steps of a cycle", steps)? as f64;
    let at = |k: usize| 0.5 * largest * ((PI * k as f64 / n).cos() + 1.0);
    Ok((0..steps).map(|k| at(k).max(smallest)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_falls_along_a_cosine_to_its_smallest_step() {
        let found = cyclical_step_sizes(4.0, 0.7, 4).unwrap();
        let half = 0.5f64.sqrt();
        let expected = [4.0, 2.0 * (1.0 + half), 2.0, 0.7];
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-14)
        );
        assert_eq!(cyclical_step_sizes(0.3, 0.3, 1).unwrap(), [0.3]);
    }

    #[test]
    fn what_makes_no_cycle_is_refused() {
        for (largest, smallest, steps) in [(1.0, 2.0, 3), (1.0, 0.1, 0), (0.0, 0.0, 1)] {
            assert!(cyclical_step_sizes(largest, smallest, steps).is_err());
        }
    }
}
