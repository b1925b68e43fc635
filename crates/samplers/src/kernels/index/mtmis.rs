//! Multiple-trial Metropolis independence sampling.

use helmholtz_random::Chance;

use crate::{IndexKernel, Info, log_sum_exp};

/// One transition from K trials.
///
/// A trial J is chosen with probability ω_J / W, W = Σ ω_j, and accepted with probability min(1, W
/// / (W - ω_J + ω(current))). In logarithms, it is accepted iff ln u < LSE(ℓ_1..ℓ_K) - LSE({ℓ_j : j ≠ J}
/// ∪ {ℓ_current}). With one trial it is [`Mis`](crate::Mis). (Liu, Liang and Wong, 2000, and Liu, 2001, in the form
/// with independent trials.)
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{IndexKernel, Mtmis};
///
/// let mut visits = Vec::new();
/// let mut stream = Stream::new(1, Purpose::new("accept"), [0, 0]);
/// Mtmis.run(-3.0, &[-350.0, -1.0, -360.0], &mut stream, &mut visits);
/// assert_eq!(visits, [2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mtmis;

impl IndexKernel for Mtmis {
    fn run(
        &self,
        log_w_current: f64,
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let mut info = Info::of_weights(log_w_current, log_w_proposals);
        info.moves = 1;
        let accepted = chance
            .choose(log_w_proposals)
            .filter(|&j| chance.accept(log_ratio(log_w_current, log_w_proposals, j)));
        info.accepted = u64::from(accepted.is_some());
        visits.clear();
        visits.push(accepted.map_or(0, |j| j as u32 + 1));
        info
    }
}

/// ln of W / (W - ω_j + ω(current)), where weights that are not finite are zero.
pub(crate) fn log_ratio(log_w_current: f64, log_w_proposals: &[f64], j: usize) -> f64 {
    let weight = |l: f64| if l.is_finite() { l } else { f64::NEG_INFINITY };
    let forward = log_w_proposals.iter().map(|&l| weight(l));
    // The same set with the chosen trial replaced by the current state.
    let backward = log_w_proposals
        .iter()
        .enumerate()
        .map(|(i, &l)| weight(if i == j { log_w_current } else { l }));
    log_sum_exp(forward) - log_sum_exp(backward)
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    /// The probability of each resulting index.
    fn law(current: f64, proposals: &[f64]) -> Vec<f64> {
        let mut law = vec![0.0; proposals.len() + 1];
        let outcomes = enumerate(|chance| {
            let mut visits = vec![99]; // must be replaced
            Mtmis.run(current, proposals, chance, &mut visits);
            assert_eq!(visits.len(), 1);
            visits[0]
        });
        for (p, i) in outcomes {
            law[i as usize] += p;
        }
        law
    }

    #[test]
    fn the_law_is_that_of_the_formula_in_weights() {
        let (current, weights) = (3.0f64, [0.5f64, 2.0, 1.5]);
        let total: f64 = weights.iter().sum();
        let law = law(current.ln() - 40.0, &weights.map(|w| w.ln() - 40.0));
        for (j, w) in weights.iter().enumerate() {
            let expected = w / total * f64::min(1.0, total / (total - w + current));
            assert!((law[j + 1] - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn trials_without_a_finite_weight_have_weight_zero() {
        for bad in [NINF, f64::NAN, f64::INFINITY] {
            assert_eq!(law(0.0, &[bad, bad]), [1.0, 0.0, 0.0]);
            assert_eq!(law(bad, &[bad, bad]), [1.0, 0.0, 0.0]);
            assert_eq!(
                law(bad, &[bad, -700.0]),
                [0.0, 0.0, 1.0],
                "an impossible state is left at once"
            );
            let (with, without) = (law(0.3, &[bad, 0.1, -0.2]), law(0.3, &[0.1, -0.2]));
            assert_eq!(
                [with[0], with[2], with[3]],
                [without[0], without[1], without[2]]
            );
            assert_eq!(with[1], 0.0);
        }
        assert_eq!(law(0.0, &[]), [1.0]);
    }

    #[test]
    fn extremes_are_kept_apart_without_overflow() {
        assert_eq!(
            law(80.0, &[80.0; 3])[0],
            0.0,
            "equal weights are always accepted"
        );
        assert_eq!(law(0.0, &[300.0, 0.0, -80.0])[1], 1.0);
        assert!(law(300.0, &[0.0, 0.0])[0] > 1.0 - 1e-15);
        let down = law(0.0, &[-80.0, -80.0]);
        assert!(
            (down[1] / (-80f64).exp() - 1.0).abs() < 1e-12,
            "e^-80 is resolved"
        );
    }
}
