//! Do the chains agree?

use super::chains::{Halves, Spread};
use super::ranks::normal_scores;
use crate::SamplerError;

/// Rank-normalised split R̂, the larger of two: that of the draws, and that of their distances from the median.
///
/// R̂ = √(var⁺ / W) of the normal scores of the halves' ranks. It is 1 where every half has the same law, in location
/// (by the first) and in scale (by the second, *folded*). Take chains with R̂ below 1.01 for converged. (Gelman and
/// Rubin, 1992; Vehtari et al., 2021, §4.1.)
///
/// The first is the same for every strictly increasing transformation of the draws, both for a shift or a positive
/// scale. If each chain sticks to a value of its own, R̂ is infinite. Folded draws that are all the same (fair coins ±1)
/// say nothing, and count as an R̂ of 1.
///
/// # Errors
/// See the [module](super).
pub fn r_hat(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    Ok(rank_normalised(&Halves::new(chains)?))
}

pub(super) fn rank_normalised(halves: &Halves) -> f64 {
    unfolded(halves).max(folded(halves).unwrap_or(1.0))
}

fn unfolded(halves: &Halves) -> f64 {
    of_halves(&normal_scores(&halves.chains))
}

/// None if all distances from the median are the same.
fn folded(halves: &Halves) -> Option<f64> {
    let mut sorted = halves.chains.concat();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    // Less half the distance between the two draws in the middle, which leaves their ranks equal whatever the rounding.
    let (low, high) = (sorted[(n - 1) / 2], sorted[n / 2]);
    let folded = halves.map(|x| (low - x).max(x - high));
    let first = folded[0][0];
    let varies = folded.iter().flatten().any(|&x| x != first);
    varies.then(|| of_halves(&normal_scores(&folded)))
}

fn of_halves(chains: &[Vec<f64>]) -> f64 {
    let spread = Spread::of(chains);
    (spread.total / spread.within).sqrt()
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Draws, Purpose, Stream};

    use super::*;

    fn normals(chain: u64, n: usize) -> Vec<f64> {
        let mut stream = Stream::new(11, Purpose::new("test"), [chain, 0]);
        (0..n).map(|_| stream.normal()).collect()
    }

    #[test]
    fn it_is_the_root_of_total_over_within() {
        // W = 5, var⁺ = 10.5 (see `Spread`).
        let r_hat = of_halves(&[vec![0.0, 2.0], vec![3.0, 7.0]]);
        assert!((r_hat - 2.1f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_difference_in_scale_alone_is_seen_by_the_folded_one_only() {
        let wide: Vec<f64> = normals(1, 2000).iter().map(|x| 3.0 * x).collect();
        let halves = Halves::new(&[normals(0, 2000), wide]).unwrap();
        assert!(unfolded(&halves) < 1.02);
        assert!(folded(&halves).unwrap() > 1.1);
    }

    #[test]
    fn the_unfolded_one_does_not_see_a_transformation() {
        let chains = [normals(2, 101), normals(3, 101)];
        let bent = chains.clone().map(|chain| {
            chain
                .iter()
                .map(|x| x.exp() + x.powi(3))
                .collect::<Vec<_>>()
        });
        let both = [
            unfolded(&Halves::new(&chains).unwrap()),
            unfolded(&Halves::new(&bent).unwrap()),
        ];
        assert_eq!(both[0], both[1]);
    }

    /// Distances from the median that are equal share their rank, whatever the largest draw and the unit are.
    #[test]
    fn integers_have_the_same_r_hat_when_shifted_and_scaled() {
        let counts = |chain: u64| -> Vec<f64> {
            let mut stream = Stream::new(12, Purpose::new("test"), [chain, 0]);
            (0..100).map(|_| f64::from(stream.below(8))).collect()
        };
        let chains = [counts(0), counts(1)];
        let changed = |f: fn(f64) -> f64| {
            let changed = chains
                .clone()
                .map(|c| c.into_iter().map(f).collect::<Vec<_>>());
            let halves = Halves::new(&changed).unwrap();
            (folded(&halves), r_hat(&changed).unwrap())
        };
        let plain = changed(|x| x);
        let median = {
            let mut all = chains.concat();
            all.sort_by(f64::total_cmp);
            0.5 * (all[99] + all[100])
        };
        let distances = chains
            .clone()
            .map(|c| -> Vec<f64> { c.into_iter().map(|x| (x - median).abs()).collect() });
        let [a, b] = distances
            .each_ref()
            .map(|c| [c[..50].to_vec(), c[50..].to_vec()]);
        let by_hand = of_halves(&normal_scores(&[a, b].concat()));
        assert_eq!(plain.0, Some(by_hand));
        assert_eq!(changed(|x| x + 7.0), plain);
        assert_eq!(changed(|x| 10.0 * x), plain);
        assert_eq!(changed(|x| 10.0 * x + 7.0), plain);
        assert_eq!(changed(|x| 3.0 * x - 1e6), plain);
    }

    #[test]
    fn chains_stuck_at_values_of_their_own_have_infinite_r_hat() {
        assert_eq!(r_hat(&[[1.0; 6], [2.0; 6]]).unwrap(), f64::INFINITY);
    }

    #[test]
    fn folded_draws_without_variation_are_left_out() {
        let coins = [[1.0, -1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0]];
        let halves = Halves::new(&coins).unwrap();
        assert_eq!(folded(&halves), None);
        assert_eq!(r_hat(&coins).unwrap(), unfolded(&halves).max(1.0));
    }
}
