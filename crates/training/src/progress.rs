//! Progress of a run: what a checkpoint keeps besides tensors.

use helmholtz_evaluation::Nll;
use helmholtz_runs::{Position, Provenance};
use helmholtz_samplers::Info;
use serde::{Deserialize, Serialize};

/// A check: the likelihoods after so many epochs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Finished epochs.
    pub epoch: u64,
    /// On the validation images.
    pub valid: Nll,
    /// On the test images, where it is computed at checks, and in the end of the selected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Nll>,
}

/// The check with the smallest validation NLL so far; of equal ones, the one with the smaller test NLL if both have one, else the
/// first.
pub type Selected = Check;

impl Check {
    /// Whether this check is to be selected rather than `other`.
    pub(crate) fn beats(&self, other: &Self) -> bool {
        let tie = match (&self.test, &other.test) {
            (Some(own), Some(other)) => own.mean < other.mean,
            _ => false,
        };
        self.valid.mean < other.valid.mean || (self.valid.mean == other.valid.mean && tie)
    }
}

/// Sums over the steps of the epoch in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpochSums {
    pub elbo: f64,
    pub moves: u64,
    pub accepted: u64,
    pub non_finite: u64,
    pub runs: u64,
    pub ess: f64,
    pub cache_gap: f64,
    pub gaps: u64,
}

impl EpochSums {
    pub fn add(&mut self, elbo: f64, info: &Info) {
        self.elbo += elbo;
        self.moves += info.moves;
        self.accepted += info.accepted;
        self.non_finite += info.non_finite;
        self.runs += info.runs;
        self.ess += info.ess;
        self.cache_gap += info.cache_gap;
        self.gaps += info.gaps;
    }

    pub fn info(&self) -> Info {
        Info {
            runs: self.runs,
            moves: self.moves,
            accepted: self.accepted,
            non_finite: self.non_finite,
            ess: self.ess,
            cache_gap: self.cache_gap,
            gaps: self.gaps,
        }
    }
}

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Finished epochs; the harness reads it under this name.
    pub epochs_done: u64,
    /// Finished steps of the epoch in progress.
    pub step: u64,
    /// Whether the chains were started.
    pub chains_started: bool,
    /// Finished epochs at the last check.
    pub checked: u64,
    pub selected: Option<Selected>,
    pub sums: EpochSums,
    /// The numbers of samples of the last evaluation, as far as it has come; empty in older checkpoints, which had one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluated: Vec<usize>,
    /// The fingerprint of the data; absent in older checkpoints.
    #[serde(default)]
    pub data: Option<String>,
    /// Who made an older checkpoint; the run folder's history says it of others.
    #[serde(default, skip_serializing)]
    pub provenance: Option<Provenance>,
}

impl Progress {
    /// Position that the run has reached.
    pub fn position(&self) -> Position {
        Position {
            epochs: self.epochs_done,
            steps: self.step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(valid: f64, test: Option<f64>) -> Check {
        let nll = |mean| Nll {
            mean,
            standard_error: 0.1,
            elbo: -mean,
            samples: 5,
            images: 20,
        };
        Check {
            epoch: 1,
            valid: nll(valid),
            test: test.map(nll),
        }
    }

    #[test]
    fn the_smaller_validation_nll_is_selected_and_of_equal_ones_the_smaller_test_nll() {
        let beats = |own: [f64; 2], other: [f64; 2]| {
            let [own, other] = [own, other].map(|[valid, test]| check(valid, Some(test)));
            own.beats(&other)
        };
        assert!(beats([1.0, 9.0], [2.0, 1.0]) && !beats([2.0, 1.0], [1.0, 9.0]));
        assert!(beats([1.0, 1.0], [1.0, 2.0]) && !beats([1.0, 2.0], [1.0, 1.0]));
        assert!(!beats([1.0, 2.0], [1.0, 2.0]), "the first stays");
        assert!(!check(1.0, None).beats(&check(1.0, Some(2.0))));
        assert!(!check(1.0, Some(2.0)).beats(&check(1.0, None)));
    }

    #[test]
    fn an_epoch_sums_what_its_steps_tell() {
        let step = Info {
            runs: 1,
            moves: 20,
            accepted: 3,
            non_finite: 2,
            ess: 1.5,
            cache_gap: 0.25,
            gaps: 4,
        };
        let mut sums = EpochSums::default();
        sums.add(-90.0, &step);
        sums.add(-80.0, &step);
        let twice = Info {
            runs: 2,
            moves: 40,
            accepted: 6,
            non_finite: 4,
            ess: 3.0,
            cache_gap: 0.5,
            gaps: 8,
        };
        assert_eq!((sums.elbo, sums.info()), (-170.0, twice));
    }
}
