//! The effective sample size of chains, and the error of their mean.

use super::autocovariance::mean_autocovariance;
use super::chains::{Halves, Spread, variance};
use super::ranks::normal_scores;
use crate::SamplerError;

/// The effective sample size for the mean: how many independent draws would have its variance.
///
/// S / τ for S draws, where τ = 1 + 2 Σ ρ_t is the integrated autocorrelation time of the combined chains. Here
/// ρ_t = 1 - (W - mean γ_t) / var⁺, summed by Geyer's initial monotone positive sequence (Geyer, 1992; Vehtari et al.,
/// 2021, eqs. 10-13). The form is that in which ArviZ computes it, as tests beside its numbers show. In it γ_t
/// has the divisor N, the lags end five before N, and the first term of the pair that ends the sum counts once. This
/// count lowers the variance for antithetic chains. Those are worth more than S, but at most S log₁₀ S is reported. It
/// asks for a finite variance; [`bulk_ess`] does not.
///
/// # Errors
/// See the [module](super).
pub fn ess(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    Ok(plain(&Halves::new(chains)?))
}

/// [`ess`] of the normal scores of the draws' ranks: how well the centre of the distribution is explored.
///
/// The same for every strictly increasing transformation of the draws (Vehtari et al., 2021, §4.2).
///
/// # Errors
/// See the [module](super).
pub fn bulk_ess(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    Ok(bulk(&Halves::new(chains)?))
}

/// The smaller of the [`ess`] of the indicators 1\[x <= 5 % quantile\] and 1\[x <= 95 % quantile\]: how well the ends of
/// a 90 % interval are known.
///
/// The same for every strictly increasing transformation (Vehtari et al., 2021, §4.3). A quantile of discrete draws may
/// be their largest value, where its indicator never varies and says nothing: then the other counts alone.
///
/// # Errors
/// See the [module](super); [`SamplerError::Constant`] if neither indicator varies.
pub fn tail_ess(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    tail(&Halves::new(chains)?)
}

/// The standard error of the mean of all draws, sd / √[`ess`], in the units of the draws.
///
/// # Errors
/// See the [module](super).
pub fn monte_carlo_error(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    Ok(error_of_mean(&Halves::new(chains)?))
}

pub(super) fn plain(halves: &Halves) -> f64 {
    of_halves(&halves.chains)
}

pub(super) fn bulk(halves: &Halves) -> f64 {
    of_halves(&normal_scores(&halves.chains))
}

pub(super) fn tail(halves: &Halves) -> Result<f64, SamplerError> {
    let mut sorted = halves.all();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len() - 1;
    [0.05, 0.95]
        .into_iter()
        // Any number from the order statistic up to the next gives the same indicator.
        .map(|p| sorted[(p * last as f64) as usize])
        .map(|quantile| halves.map(|x| f64::from(x <= quantile)))
        .filter(|indicator| varies(indicator))
        .map(|indicator| of_halves(&indicator))
        .reduce(f64::min)
        .ok_or(SamplerError::Constant {
            what: "the indicators of both tails",
        })
}

pub(super) fn error_of_mean(halves: &Halves) -> f64 {
    let sd = variance(&halves.all()).sqrt();
    halves.scale * (sd / plain(halves).sqrt())
}

/// Whether two draws differ.
fn varies(chains: &[Vec<f64>]) -> bool {
    let first = chains[0][0];
    chains.iter().flatten().any(|&x| x != first)
}

/// The effective sample size of chains that are not all constant at one value.
fn of_halves(chains: &[Vec<f64>]) -> f64 {
    let n = chains[0].len();
    let spread = Spread::of(chains);
    let covariances = mean_autocovariance(chains);
    let correlation = |lag: usize| match lag {
        0 => 1.0,
        _ => 1.0 - (spread.within - covariances[lag]) / spread.total,
    };
    let draws = (n * chains.len()) as f64;
    draws / integrated_time(correlation, n).max(1.0 / draws.log10())
}

/// τ = -1 + 2 Σ_{k<K} P_k + ρ_{2K}, P_k = ρ_{2k} + ρ_{2k+1}, for chains of `n` draws.
///
/// For a reversible chain the P_k are positive and fall. So the sum ends at the first P_K that is not positive, or at
/// the last lags, and each term is cut to the one before (Geyer, 1992, §3.3). The term ρ_{2K} is left out where both it
/// and P_K are negative.
fn integrated_time(correlation: impl Fn(usize) -> f64, n: usize) -> f64 {
    let pair = |lag| (correlation(lag), correlation(lag) + correlation(lag + 1));
    let (mut sum, mut before, mut lag) = (0.0, f64::INFINITY, 0);
    let (mut even, mut both) = pair(0);
    while lag + 4 < n && both > 0.0 {
        before = both.min(before);
        sum += before;
        lag += 2;
        (even, both) = pair(lag);
    }
    let end = if even > 0.0 || both >= 0.0 { even } else { 0.0 };
    2.0 * sum - 1.0 + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integrated_time_of_geometric_correlations_is_the_closed_form() {
        for rho in [-0.9f64, -0.5, 0.0, 0.5, 0.9, 0.99] {
            let time = integrated_time(|lag| rho.powi(lag as i32), 10_000);
            let closed = (1.0 + rho) / (1.0 - rho);
            assert!((time / closed - 1.0).abs() < 1e-12, "{rho}: {time}");
        }
    }

    #[test]
    fn the_sequence_is_cut_to_be_positive_and_to_fall() {
        // Pairs 1.5, 0.2, 0.4 (cut to 0.2), and -0.1, the end.
        let mut rho = [1.0, 0.5, 0.1, 0.1, 0.2, 0.2, -0.2, 0.1, 5.0, 0.0, 0.0, 0.0];
        let time = |rho: &[f64]| integrated_time(|lag| rho[lag], rho.len());
        assert!((time(&rho) - (2.0 * 1.9 - 1.0)).abs() < 1e-14);
        // The first term of the pair at the end counts once if it is positive.
        (rho[6], rho[7]) = (0.3, -0.4);
        assert!((time(&rho) - (2.0 * 1.9 - 1.0 + 0.3)).abs() < 1e-14);
    }

    #[test]
    fn the_last_lags_end_the_sum() {
        let rho = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2];
        // Of eight draws, the pair at lag 4 is the last one looked at; of nine, that at lag 6.
        let time = |n| integrated_time(|lag| rho[lag], n);
        assert!((time(8) - (2.0 * 3.4 - 1.0 + 0.6)).abs() < 1e-14);
        assert!((time(9) - (2.0 * 4.5 - 1.0 + 0.4)).abs() < 1e-14);
    }

    #[test]
    fn the_whole_of_a_small_case_is_the_hand_computed_one() {
        // Halves 0 1 0 0 1 | 2 1 3 2 2: means 2/5, 2; s² 3/10, 1/2; W = 2/5; B/N = 32/25; var⁺ = 8/25 + 32/25 = 8/5.
        // 5 γ_1 = -14/25 and -1, so the mean γ_1 is -0.156; 5 γ_2 = -8/25 and 0: -0.032.
        let halves = [[0.0, 1.0, 0.0, 0.0, 1.0], [2.0, 1.0, 3.0, 2.0, 2.0]];
        let gamma = |t: usize| -> f64 {
            let of = |half: &[f64; 5]| {
                let m = half.iter().sum::<f64>() / 5.0;
                (0..5 - t)
                    .map(|i| (half[i] - m) * (half[i + t] - m))
                    .sum::<f64>()
                    / 5.0
            };
            halves.iter().map(of).sum::<f64>() / 2.0
        };
        let rho = |t| 1.0 - (0.4 - gamma(t)) / 1.6;
        assert!((gamma(1) + 0.156).abs() < 1e-15 && (gamma(2) + 0.032).abs() < 1e-15);
        let tau = 2.0 * (1.0 + rho(1)) - 1.0 + rho(2);
        let found = ess(&[halves.concat()]).unwrap();
        assert!((found - 10.0 / tau).abs() < 1e-12, "{found} {tau}");
    }
}
