//! The outcome of a cell, and the cost of its work.

use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};

/// Quantity of a run that a table shows and compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The test NLL of the selected epoch.
    #[default]
    Test,
    /// Minus the training ELBO over the last epoch: the mean over its steps of each batch's estimate.
    Training,
}

impl Score {
    /// Whether it is the test NLL.
    pub fn is_test(&self) -> bool {
        *self == Self::Test
    }
}

/// Cost of a cell's work: seconds, on one thread, and bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds for a training step.
    pub step: f64,
    /// Seconds for one importance sample of one image.
    pub image_sample: f64,
    /// Numbers that are learned.
    pub parameters: u64,
    /// Bytes that are kept for a training image: the state of its chain.
    pub row_bytes: u64,
}

/// The outcome of a finished cell: what its run folder keeps, and the table shows. NLLs are in nats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// The check with the smallest validation NLL (ties: the smaller test NLL).
    pub selected_epoch: u64,
    /// Validation NLL there.
    pub valid_nll: f64,
    /// Its standard error over images.
    pub valid_se: f64,
    /// Test NLL there.
    pub test_nll: f64,
    /// Its standard error over images.
    pub test_se: f64,
    /// Importance samples S behind `test_nll`.
    pub samples: u64,
    /// Test images behind the number that is reported: all of them for `final_nll`.
    pub images: u64,
    /// Importance samples S behind `final_nll`.
    pub final_samples: Option<u64>,
    /// Test NLL of the selected epoch, again, with `final_samples` samples.
    pub final_nll: Option<f64>,
    /// Its standard error over images.
    pub final_se: Option<f64>,
    /// Results for each S, in one pass, where the last evaluation was for several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finals: Vec<Final>,
    /// The file beside the result with the last evaluation's estimate of each image
    /// ([`LogLikelihoods`](helmholtz_evaluation::LogLikelihoods)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_likelihoods: Option<KeptFile>,
    /// Number that released code reports for the same parameters, by a formula that estimates no likelihood
    /// ([`AnalyticKl`](helmholtz_evaluation::AnalyticKl)), over all test images; where the settings ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_nll: Option<f64>,
    /// Minus the evidence lower bound, from the samples of the number that is reported, in nats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// The mean over the last epoch's steps of the estimated ELBO of their batches, in nats; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_elbo: Option<f64>,
    /// The variance of the gradient of φ at the end of training ([`GradientVariance`](helmholtz_training::GradientVariance)), where the
    /// settings ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_variance: Option<f64>,
    /// Epochs run.
    pub epochs_done: u64,
    /// Epochs asked for.
    pub epochs_planned: u64,
    /// Seconds of work over all resumes.
    pub seconds: f64,
    /// Commit, versions, device, machine.
    pub provenance: Provenance,
    /// The fingerprint of the images; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Whether the images are generated, so that no number compares with a published one.
    pub synthetic: bool,
}

/// Result of the last evaluation with one number of samples, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Final {
    /// S.
    pub samples: u64,
    /// Test NLL.
    pub nll: f64,
    /// Its standard error over images.
    pub se: f64,
    /// Minus the evidence lower bound.
    pub bound: f64,
}

/// A file in a run folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptFile {
    /// Its name.
    pub name: String,
    /// The sha256 of its bytes.
    pub sha256: String,
}

impl CellResult {
    /// The test NLL that the table reports: with the final number of samples where there is one.
    pub fn reported_nll(&self) -> f64 {
        self.final_nll.unwrap_or(self.test_nll)
    }

    /// Returns the number that a table of this quantity shows, in nats.
    pub fn number(&self, shown: Score) -> Option<f64> {
        match shown {
            Score::Test => Some(self.reported_nll()),
            Score::Training => self.training_elbo.map(|elbo| -elbo),
        }
    }

    /// Its standard error over test images.
    pub fn reported_se(&self) -> f64 {
        self.final_se.unwrap_or(self.test_se)
    }

    /// The importance samples S behind [`CellResult::reported_nll`].
    pub fn reported_samples(&self) -> u64 {
        self.final_nll
            .and(self.final_samples)
            .unwrap_or(self.samples)
    }
}
