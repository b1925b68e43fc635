//! The length of trajectories, from where they turn back.

/// Times after which trajectories turned, τ with (x_τ - x_0)' r_τ < 0 for the first time, in ascending order.
///
/// A trajectory that goes on from there comes nearer to its start (Hoffman and Gelman, 2014, §3); how long the way is
/// differs from place to place. Lengths drawn from what was seen are those of Wu, Stoehr and Robert (2018, "Faster
/// Hamiltonian Monte Carlo by learning leapfrog scale"), who call it the longest batch. Here lengths go by their
/// 80 % quantile: near a half period π for a normal of one coordinate, whose τ are uniform on (0, π), and for one of very
/// many, whose τ are near π. The mean length is 0.65 of it: lengths from a half to three halves of that end on the far side
/// of a normal for the most part, so that draws alternate. A quantile needs few of them: after the first twenty only each fifth trajectory is followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Vec<f64>);

/// A trajectory is not followed further than this many steps, with a mass that was found and without one.
pub(crate) const LONGEST: usize = 1000;
pub(crate) const LONGEST_WITHOUT_MASS: usize = 250;

/// The mean length as a share of the quantile.
const SHARE: f64 = 0.65;

impl Turns {
    /// Whether to follow the trajectory of transition `t` until it turns.
    pub fn wants(&self, t: usize) -> bool {
        self.0.len() < 20 || t.is_multiple_of(5)
    }

    pub fn push(&mut self, time: f64) {
        let place = self.0.partition_point(|t| *t < time);
        self.0.insert(place, time);
    }

    /// The mean number L of steps of this size; none before the first turn.
    pub fn mean_steps(&self, step_size: f64) -> Option<usize> {
        let last = self.0.len().checked_sub(1)?;
        let steps = SHARE * self.0[(0.8 * last as f64).round() as usize] / step_size;
        Some(steps.round().clamp(1.0, LONGEST as f64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_length_is_a_share_of_the_quantile() {
        let mut turns = Turns::default();
        assert_eq!(turns.mean_steps(0.1), None);
        turns.push(0.9);
        assert_eq!(turns.mean_steps(0.1), Some(6), "0.585 of 0.9");
        for time in [0.5, 0.3, 0.7, 0.1, 1.3, 1.1, 1.7, 1.5, 1.9, 2.1] {
            turns.push(time);
        }
        assert_eq!(
            turns.mean_steps(0.1),
            Some(11),
            "of 1.7 of eleven up to 2.1"
        );
        (0..8).for_each(|_| turns.push(0.2));
        assert!(turns.wants(7), "nineteen so far");
        turns.push(0.2);
        assert!(turns.wants(10) && !turns.wants(11));
        assert_eq!(turns.mean_steps(1e-9), Some(LONGEST));
        assert_eq!(turns.mean_steps(1e9), Some(1));
    }
}
