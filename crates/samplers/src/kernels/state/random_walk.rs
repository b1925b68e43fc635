//! The Gaussian random walk.

use helmholtz_random::Draws;

use crate::arguments::positive;
use crate::{Proposal, SamplerError};

/// A symmetric proposal on ℝⁿ: x'_i = x_i + s_i z_i, z_i ~ N(0, 1).
///
/// For [`MetropolisHastings`](crate::MetropolisHastings). On a Gaussian target in many dimensions the best scale is
/// 2.38 / √n standard deviations, at an acceptance of 0.234 (Roberts, Gelman and Gilks, 1997). For one coordinate at a
/// time it is 2.4 standard deviations, at 0.44.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWalk(Scales);

#[derive(Clone, Debug, PartialEq)]
enum Scales {
    Every(f64),
    Each(Vec<f64>),
    One(usize, f64),
}

impl RandomWalk {
    /// All coordinates move, by the same `scale`.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `scale` is positive and finite.
    pub fn new(scale: f64) -> Result<Self, SamplerError> {
        Ok(Self(Scales::Every(checked(scale)?)))
    }

    /// All coordinates move, each by its own scale. The state must have as many.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless all are positive and finite.
    pub fn with_scales(scales: &[f64]) -> Result<Self, SamplerError> {
        let scales: Result<_, _> = scales.iter().copied().map(checked).collect();
        Ok(Self(Scales::Each(scales?)))
    }

    /// Only coordinate `i` moves: a component of Metropolis-within-Gibbs.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `scale` is positive and finite.
    pub fn of_coordinate(i: usize, scale: f64) -> Result<Self, SamplerError> {
        Ok(Self(Scales::One(i, checked(scale)?)))
    }
}

fn checked(scale: f64) -> Result<f64, SamplerError> {
    positive("the scale of a random walk", scale)
}

impl<C: Draws + ?Sized> Proposal<Vec<f64>, C> for RandomWalk {
    /// # Panics
    /// If the state has not the coordinates that the walk has scales for, as indexing does.
    fn propose(&self, from: &Vec<f64>, chance: &mut C) -> Vec<f64> {
        let mut to = from.clone();
        match &self.0 {
            Scales::Every(scale) => to.iter_mut().for_each(|x| *x += scale * chance.normal()),
            Scales::Each(scales) => {
                assert_eq!(
                    scales.len(),
                    to.len(),
                    "a random walk with a scale per coordinate needs a state of as many"
                );
                for (x, scale) in to.iter_mut().zip(scales) {
                    *x += scale * chance.normal();
                }
            }
            Scales::One(i, scale) => to[*i] += scale * chance.normal(),
        }
        to
    }

    fn log_density(&self, _: &Vec<f64>, _: &Vec<f64>) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    const TEST: Purpose = Purpose::new("test");

    #[test]
    fn each_coordinate_moves_by_its_scale_times_a_normal() {
        let normals = |n: usize| -> Vec<f64> {
            let mut stream = Stream::new(3, TEST, [0, 0]);
            (0..n).map(|_| stream.normal()).collect()
        };
        let from = vec![1.0, -2.0, 0.5];
        let to = |walk: RandomWalk| walk.propose(&from, &mut Stream::new(3, TEST, [0, 0]));
        let z = normals(3);
        assert_eq!(
            to(RandomWalk::new(0.7).unwrap()),
            [1.0 + 0.7 * z[0], -2.0 + 0.7 * z[1], 0.5 + 0.7 * z[2]]
        );
        assert_eq!(
            to(RandomWalk::with_scales(&[1.0, 2.0, 3.0]).unwrap()),
            [1.0 + z[0], -2.0 + 2.0 * z[1], 0.5 + 3.0 * z[2]]
        );
        assert_eq!(
            to(RandomWalk::of_coordinate(1, 2.0).unwrap()),
            [1.0, -2.0 + 2.0 * z[0], 0.5]
        );
    }

    #[test]
    fn scales_that_are_not_positive_and_finite_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(RandomWalk::new(bad).is_err());
            assert!(RandomWalk::with_scales(&[1.0, bad]).is_err());
            assert!(RandomWalk::of_coordinate(0, bad).is_err());
        }
    }
}
