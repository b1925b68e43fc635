//! What a run of a kernel reports about itself.

use std::iter::Sum;
use std::ops::AddAssign;

use crate::effective_sample_size;

/// Diagnostics of one run of an index kernel or one step of a state kernel, or the sum over many.
///
/// Every field is a sum, so that batches, epochs and threads merge by `+=` or `sum()`; the methods give the averages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Info {
    /// Runs of index kernels summed up: one a datum and step. State kernels without importance weights (Gibbs,
    /// random walk, HMC) count none.
    pub runs: u64,
    /// Transitions made.
    pub moves: u64,
    /// Transitions that accepted a proposal.
    pub accepted: u64,
    /// Log-weights or log-densities, of the current state or of proposals, that were NaN or infinite. For
    /// [`Hmc`](crate::Hmc) also trajectories that diverged.
    pub non_finite: u64,
    /// Sum over runs of the effective sample size of the proposals' weights.
    pub ess: f64,
    /// Sum over `gaps` runs of log w(current) - mean log w(proposals), over finite ones (nats). Large and positive
    /// means that the chain is stuck.
    pub cache_gap: f64,
    /// Runs in which the gap exists: a finite current log-weight and a finite proposal.
    pub gaps: u64,
}

impl Info {
    /// The diagnostics of one run that can be told before any move.
    pub(crate) fn of_weights(log_w_current: f64, log_w_proposals: &[f64]) -> Self {
        let (sum, finite) = log_w_proposals
            .iter()
            .filter(|l| l.is_finite())
            .fold((0.0, 0u64), |(sum, n), l| (sum + l, n + 1));
        let has_gap = log_w_current.is_finite() && finite > 0;
        Self {
            runs: 1,
            moves: 0,
            accepted: 0,
            non_finite: log_w_proposals.len() as u64 - finite
                + u64::from(!log_w_current.is_finite()),
            ess: effective_sample_size(log_w_proposals),
            cache_gap: if has_gap {
                log_w_current - sum / finite as f64
            } else {
                0.0
            },
            gaps: u64::from(has_gap),
        }
    }

    /// One transition of a kernel without importance weights.
    pub(crate) fn of_move(accepted: bool, non_finite: u64) -> Self {
        Self {
            moves: 1,
            accepted: u64::from(accepted),
            non_finite,
            ..Self::default()
        }
    }

    /// Accepted transitions a transition; `None` before the first.
    pub fn acceptance_rate(&self) -> Option<f64> {
        ratio(self.accepted as f64, self.moves)
    }

    /// Effective sample size a run; `None` before the first.
    pub fn mean_ess(&self) -> Option<f64> {
        ratio(self.ess, self.runs)
    }

    /// log w(current) - mean log w(proposals) a run (nats); `None` if no run had it.
    pub fn mean_cache_gap(&self) -> Option<f64> {
        ratio(self.cache_gap, self.gaps)
    }
}

fn ratio(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

impl AddAssign for Info {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.moves += other.moves;
        self.accepted += other.accepted;
        self.non_finite += other.non_finite;
        self.ess += other.ess;
        self.cache_gap += other.cache_gap;
        self.gaps += other.gaps;
    }
}

impl Sum for Info {
    fn sum<I: Iterator<Item = Self>>(runs: I) -> Self {
        runs.fold(Self::default(), |mut total, run| {
            total += run;
            total
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_finite_weights_are_counted_and_left_out_of_the_averages() {
        let info = Info::of_weights(2.0, &[1.0, f64::NAN, 0.0, f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!((info.runs, info.non_finite, info.gaps), (1, 3, 1));
        assert_eq!(info.mean_cache_gap(), Some(1.5));
        let stuck = Info::of_weights(f64::NEG_INFINITY, &[0.0]);
        assert_eq!((stuck.non_finite, stuck.mean_cache_gap()), (1, None));
    }

    #[test]
    fn merged_averages_are_averages_over_runs() {
        let a = Info {
            moves: 4,
            accepted: 1,
            ..Info::of_weights(1.0, &[0.0, 0.0])
        };
        let b = Info {
            moves: 2,
            accepted: 2,
            ..Info::of_weights(4.0, &[0.0, -300.0])
        };
        let total: Info = [a, b].into_iter().sum();
        assert_eq!(total.acceptance_rate(), Some(0.5));
        assert_eq!(total.mean_ess(), Some(1.5));
        assert_eq!(total.mean_cache_gap(), Some((1.0 + 154.0) / 2.0));
        assert_eq!(Info::default().acceptance_rate(), None);
    }
}
