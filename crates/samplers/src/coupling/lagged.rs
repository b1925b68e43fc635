//! Two chains with a lag, until they have met.

use super::CoupledKernel;
use crate::SamplerError;
use crate::arguments::at_least_one;

/// A pair of coupled chains, X ahead of Y by L steps, from its start until it has met and X has made m steps.
///
/// See the [module](super) for what it is good for.
#[derive(Clone, Debug, PartialEq)]
pub struct LaggedChains<S> {
    lag: usize,
    meeting_time: usize,
    /// X_0, ..., up to step m and to the meeting time at least.
    ahead: Vec<S>,
    /// Y_0, ..., Y_{τ-L-1}.
    behind: Vec<S>,
}

impl<S: Clone + PartialEq> LaggedChains<S> {
    /// Runs a pair: both start in independent draws of `start`, and X makes `lag` steps of `kernel` alone. Then both
    /// move together until they have met, and X goes on up to step `steps`.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] for a lag of zero, [`SamplerError::NotMet`] if the chains have not met after `most`
    /// steps of X. To leave such pairs out would bias what is averaged.
    pub fn run<C: ?Sized>(
        kernel: &impl CoupledKernel<S, C>,
        mut start: impl FnMut(&mut C) -> S,
        lag: usize,
        steps: usize,
        most: usize,
        chance: &mut C,
    ) -> Result<Self, SamplerError> {
        let lag = at_least_one("the lag of two coupled chains", lag)?;
        let (mut x, mut y) = (start(chance), start(chance));
        let (mut ahead, mut behind) = (vec![x.clone()], Vec::new());
        for _ in 0..lag {
            kernel.step(&mut x, chance);
            ahead.push(x.clone());
        }
        while x != y {
            if ahead.len() > most {
                return Err(SamplerError::NotMet { steps: most });
            }
            behind.push(y.clone());
            kernel.step_both([&mut x, &mut y], chance);
            ahead.push(x.clone());
        }
        let meeting_time = ahead.len() - 1;
        while ahead.len() <= steps {
            kernel.step(&mut x, chance);
            ahead.push(x.clone());
        }
        Ok(Self {
            lag,
            meeting_time,
            ahead,
            behind,
        })
    }

    /// τ, the first t ≥ L at which X_t = Y_{t-L}.
    pub fn meeting_time(&self) -> usize {
        self.meeting_time
    }

    /// max(0, ⌈(τ - L - t) / L⌉), whose expectation bounds the total variation distance between the law of X_t and the
    /// target (Biswas, Jacob and Vanetti, 2019, Theorem 2.5).
    pub fn total_variation_bound(&self, t: usize) -> f64 {
        let left = self.meeting_time.saturating_sub(self.lag + t);
        left.div_ceil(self.lag) as f64
    }

    /// H_{k:m}, the mean over l = `burn_in`, ..., `last` of
    /// H_l = h(X_l) + Σ_{j≥1, l+jL<τ} \[h(X_{l+jL}) - h(Y_{l+(j-1)L})\]: unbiased for E_π\[h\] whatever `burn_in` and `last` are (Jacob,
    /// O'Leary and Atchadé, 2020, eq. 2.2). Corrections are few if most pairs meet before `burn_in`.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if `last` is below `burn_in`, or beyond the steps that X was run for.
    pub fn estimate(
        &self,
        burn_in: usize,
        last: usize,
        h: impl Fn(&S) -> f64,
    ) -> Result<f64, SamplerError> {
        if last < burn_in || last >= self.ahead.len() {
            return Err(SamplerError::Length {
                what: "the range of steps to average over",
                found: last,
                expected: match last < burn_in {
                    true => burn_in,
                    false => self.ahead.len() - 1,
                },
            });
        }
        let of_start = |l: usize| {
            let corrections = (l + self.lag..self.meeting_time).step_by(self.lag);
            h(&self.ahead[l])
                + corrections
                    .map(|t| h(&self.ahead[t]) - h(&self.behind[t - self.lag]))
                    .sum::<f64>()
        };
        let sum: f64 = (burn_in..=last).map(of_start).sum();
        Ok(sum / (last - burn_in + 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Chance, Enumerator, enumerate};

    use super::*;
    use crate::{Independence, IndependenceProposal, Mis};

    const P: [f64; 3] = [0.3, 0.5, 0.2];
    /// Near p, so that chains which have not met after eight steps weigh little.
    const Q: [f64; 3] = [0.31, 0.5, 0.19];

    struct Near;
    impl<C: Chance> IndependenceProposal<usize, C> for Near {
        fn propose(&self, chance: &mut C) -> usize {
            chance.choose(&Q.map(f64::ln)).unwrap_or(0)
        }
        fn log_density(&self, x: &usize) -> f64 {
            Q[*x].ln()
        }
    }

    fn h(x: &usize) -> f64 {
        [1.0, -2.0, 5.0][*x]
    }

    /// Every pair of chains from state 2 that meets within `most` steps, and the probability of the others.
    fn pairs(lag: usize, steps: usize, most: usize) -> (Vec<(f64, LaggedChains<usize>)>, f64) {
        let kernel = Independence::new(|x: &usize| P[*x].ln(), Near, Mis, 1).unwrap();
        let runs = enumerate(|chance: &mut Enumerator| {
            LaggedChains::run(&kernel, |_| 2, lag, steps, most, chance)
        });
        let (mut met, mut missing) = (Vec::new(), 0.0);
        for (p, run) in runs {
            match run {
                Ok(pair) => met.push((p, pair)),
                Err(SamplerError::NotMet { steps }) => {
                    assert_eq!(steps, most);
                    missing += p;
                }
                Err(error) => panic!("{error}"),
            }
        }
        (met, missing)
    }

    #[test]
    fn the_estimate_is_unbiased_and_the_plain_average_is_not() {
        let exact: f64 = (0..3).map(|x| P[x] * h(&x)).sum();
        for (lag, burn_in, last) in [(1, 0, 0), (1, 0, 1), (1, 1, 2), (2, 0, 1)] {
            let (pairs, missing) = pairs(lag, last, 5);
            assert!(missing < 1e-4, "{missing}");
            let mean: f64 = (pairs.iter())
                .map(|(p, pair)| p * pair.estimate(burn_in, last, h).unwrap())
                .sum();
            // A pair that is missing may be off by 7 for each step.
            assert!((mean - exact).abs() < 50.0 * missing, "{mean} {exact}");
            let plain: f64 = (pairs.iter())
                .map(|(p, pair)| p * (burn_in..=last).map(|t| h(&pair.ahead[t])).sum::<f64>())
                .sum();
            let plain = plain / (last - burn_in + 1) as f64;
            assert!((plain - exact).abs() > 100.0 * missing, "twin: {plain}");
        }
    }

    /// max over t of ‖law(X_t) - π‖_TV - E\[`bound`\], and the probability of pairs that are missing.
    fn above_the_bound(
        lag: usize,
        bound: impl Fn(&LaggedChains<usize>, usize) -> f64,
    ) -> (f64, f64) {
        const MOST: usize = 6;
        let (mut pairs, missing) = pairs(lag, 4, MOST);
        // A pair that is missing meets at the next step or later: its bound is this or more.
        let late = LaggedChains {
            lag,
            meeting_time: MOST + 1,
            ahead: pairs[0].1.ahead.clone(),
            behind: Vec::new(),
        };
        pairs.push((missing, late));
        let excess = |t: usize| {
            let mut law = [0.0; 3];
            pairs.iter().for_each(|(p, pair)| law[pair.ahead[t]] += p);
            let distance = 0.5 * law.iter().zip(P).map(|(a, b)| (a - b).abs()).sum::<f64>();
            let mean: f64 = pairs.iter().map(|(p, pair)| p * bound(pair, t)).sum();
            distance - mean
        };
        ((0..4).map(excess).fold(f64::MIN, f64::max), missing)
    }

    #[test]
    fn the_bound_is_above_the_distance_of_the_law_at_each_step() {
        for lag in [1, 2] {
            let (excess, missing) = above_the_bound(lag, |pair, t| pair.total_variation_bound(t));
            // The law of X_t is off by what is missing, at most.
            assert!(excess < missing, "lag {lag}: {excess} {missing}");
            println!("lag {lag}: {excess:.1e}, missing {missing:.1e}");
        }
    }

    /// Twin: ⌊(τ - L - t) / L⌋, which forgets that a part of a lag counts as one. At lag 1 there are no parts.
    #[test]
    fn a_bound_that_forgets_a_part_of_a_lag_is_below_the_distance() {
        let whole = |pair: &LaggedChains<usize>, t: usize| {
            (pair.meeting_time.saturating_sub(pair.lag + t) / pair.lag) as f64
        };
        let (excess, missing) = above_the_bound(1, whole);
        assert!(excess < missing);
        let (excess, missing) = above_the_bound(2, whole);
        assert!(excess > 1e-3 && missing < 1e-5, "{excess} {missing}");
        println!("twin: {excess:.1e}, missing {missing:.1e}");
    }

    #[test]
    fn bounds_and_ranges_of_a_pair_by_hand() {
        let pair = LaggedChains {
            lag: 2,
            meeting_time: 7,
            ahead: vec![0, 1, 2, 0, 1, 2, 0, 1],
            behind: vec![2, 2, 1, 0, 2],
        };
        assert_eq!(
            [0, 1, 2, 4, 5, 9].map(|t| pair.total_variation_bound(t)),
            [3.0, 2.0, 2.0, 1.0, 0.0, 0.0]
        );
        // h(X_1), then X_3 - Y_1 and X_5 - Y_3; X_7 has met.
        let expected = h(&1) + h(&0) - h(&2) + h(&2) - h(&0);
        assert_eq!(pair.estimate(1, 1, h).unwrap(), expected);
        assert!(pair.estimate(3, 2, h).is_err() && pair.estimate(0, 8, h).is_err());
        let beyond = pair.estimate(8, 8, h).unwrap_err();
        assert!(matches!(
            beyond,
            SamplerError::Length {
                found: 8,
                expected: 7,
                ..
            }
        ));
    }
}
