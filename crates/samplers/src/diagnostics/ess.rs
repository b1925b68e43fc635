//! The effective sample size of chains, and the error of their mean.

use super::autocovariance::{at_lag, centred, mean};
use super::chains::{Halves, Spread, variance};
use super::ranks::normal_scores;
use crate::SamplerError;

/// The effective sample size for the mean: how many independent draws would have its variance.
///
/// S / τ for S draws, where τ = 1 + 2 Σ ρ_t is the integrated autocorrelation time of the combined chains, with
/// ρ_t = 1 - (W - mean γ_t) / var⁺ and summed by Geyer's initial monotone positive sequence (Geyer, 1992; Vehtari et
/// al., 2021, eqs. 10-13). Antithetic chains are worth more than S, but at most S log₁₀ S is reported. It asks for a
/// finite variance; [`bulk_ess`] does not.
///
/// # Errors
/// See the [module](super).
pub fn ess(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    Ok(of_halves(&Halves::new(chains)?.chains))
}

/// [`ess`] of the normal scores of the draws' ranks: how well the centre of the distribution is explored.
///
/// The same for every strictly increasing transformation of the draws (Vehtari et al., 2021, §4.2).
///
/// # Errors
/// See the [module](super).
pub fn bulk_ess(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    Ok(of_halves(&normal_scores(&Halves::new(chains)?.chains)))
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
    let halves = Halves::new(chains)?;
    let sorted = halves.sorted();
    let last = sorted.len() - 1;
    [0.05, 0.95]
        .into_iter()
        // Any number from the order statistic up to the next gives the same indicator.
        .map(|p| sorted[(p * last as f64) as usize])
        .filter(|&quantile| quantile < sorted[last])
        .map(|quantile| of_halves(&halves.map(|x| f64::from(x <= quantile))))
        .reduce(f64::min)
        .ok_or(SamplerError::Constant {
            what: "the indicators of both tails",
        })
}

/// The standard error of the mean of all draws, sd / √[`ess`], in the units of the draws.
///
/// # Errors
/// See the [module](super).
pub fn monte_carlo_error(chains: &[impl AsRef<[f64]>]) -> Result<f64, SamplerError> {
    let halves = Halves::new(chains)?;
    let sd = variance(&halves.chains.concat()).sqrt();
    Ok(halves.scale * (sd / of_halves(&halves.chains).sqrt()))
}

/// The effective sample size of chains that are not all constant at one value.
fn of_halves(chains: &[Vec<f64>]) -> f64 {
    let n = chains[0].len();
    let spread = Spread::of(chains);
    let centred: Vec<Vec<f64>> = chains.iter().map(|chain| centred(chain)).collect();
    let correlation = |lag| {
        let covariances: Vec<f64> = centred.iter().map(|chain| at_lag(chain, lag)).collect();
        // s² is unbiased, so γ_0 is smaller by (N-1)/N.
        let unbiased = mean(&covariances) * n as f64 / (n - 1) as f64;
        1.0 - (spread.within - unbiased) / spread.total
    };
    let draws = (n * chains.len()) as f64;
    draws / integrated_time(correlation, n).max(1.0 / draws.log10())
}

/// τ = -1 + 2 Σ_k P_k, P_k = ρ_{2k} + ρ_{2k+1}, for lags below `n`.
///
/// For a reversible chain the P_k are positive and fall, so the sum ends where the first estimate is negative, and each
/// is cut to the one before (Geyer, 1992, §3.3).
fn integrated_time(correlation: impl Fn(usize) -> f64, n: usize) -> f64 {
    let (mut sum, mut before) = (0.0, f64::INFINITY);
    for lag in (0..n - 1).step_by(2) {
        let pair = correlation(lag) + correlation(lag + 1);
        if pair < 0.0 {
            break;
        }
        before = pair.min(before);
        sum += before;
    }
    2.0 * sum - 1.0
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
        // Pairs 1.5, 0.2, 0.4 (cut to 0.2), -0.1 (the end), 5.
        let rho = [1.0, 0.5, 0.1, 0.1, 0.2, 0.2, -0.2, 0.1, 5.0, 0.0];
        let time = integrated_time(|lag| rho[lag], rho.len());
        assert!((time - (2.0 * 1.9 - 1.0)).abs() < 1e-14);
    }

    #[test]
    fn the_whole_of_a_small_case_is_the_hand_computed_one() {
        // Halves 0 1 0 | 2 1 3: means 1/3, 2; s² 1/3, 1; W = 2/3; B/N = 25/18; var⁺ = 11/6.
        // γ_1 = -4/27 with divisor 3 for the first ((-1/3)(2/3) twice), -1/3 for the second; unbiased mean -13/36.
        let spread = Spread::of(&[vec![0.0, 1.0, 0.0], vec![2.0, 1.0, 3.0]]);
        assert!((spread.total - 11.0 / 6.0).abs() < 1e-15);
        let rho_1 = 1.0 - (2.0 / 3.0 + 13.0 / 36.0) / (11.0 / 6.0);
        let tau = 2.0 * (1.0 + rho_1) - 1.0;
        let found = ess(&[[0.0, 1.0, 0.0, 2.0, 1.0, 3.0]]).unwrap();
        assert!((found - 6.0 / tau).abs() < 1e-12, "{found} {tau}");
    }
}
