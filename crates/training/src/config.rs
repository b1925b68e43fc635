//! Every number that decides a run.

use helmholtz_estimators::{Declaration, Method};
use helmholtz_samplers::ScanOrder;
use serde::{Deserialize, Serialize};

use crate::{Betas, Optimizer, TrainError};

/// Configuration of the training and evaluation of one model, by an estimator E.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainConfig<E = Method> {
    /// Names every random stream.
    pub seed: u64,
    /// The gradient estimator.
    pub method: E,
    /// Passes over the training set.
    pub epochs: u64,
    /// The epochs of stage I: an estimator that keeps chains starts them when this many are done.
    pub switch_epoch: u64,
    /// Start of the chains.
    pub chain_start: ChainStart,
    /// Data a step.
    pub batch: usize,
    /// Particles K a datum.
    pub particles: usize,
    /// Whether KL(q ‖ p(h)) is in closed form in the estimate ([`Declaration::takes_analytic_kl`]).
    pub analytic_kl: bool,
    /// Optimiser of the model's parameters. What a method learns beside the model always follows Adam.
    pub optimizer: Optimizer,
    /// β of Adam.
    pub betas: Betas,
    /// The optimiser's learning rate.
    pub learning_rate: f64,
    /// Learning rate of the parameters of q, where it is another.
    pub inference_rate: Option<f64>,
    /// The rate at which the learned logits of the prior ([`Parts::learned_prior`](helmholtz_estimators::Parts::learned_prior)) follow plain gradient
    /// descent on the batch mean; absent: they follow the optimiser with the rest of θ.
    pub prior_rate: Option<f64>,
    /// Steps from one sleep phase to the next, of a method that has one: a step of its own of φ, on this many dreams a datum
    /// of the batch. Without it each step has its sleep phase, with a dream a datum.
    pub sleep_every: Option<u64>,
    /// β of the exponential means by which [`GradientVariance`](crate::GradientVariance) follows the gradient of φ; not followed if
    /// absent. The metrics of each epoch then hold its value as `gradient_variance`. Every step copies the gradient to the host, which
    /// a GPU waits for.
    pub gradient_beta: Option<f64>,
    /// The order in which data are visited.
    pub scan: ScanOrder,
    /// Epochs from one check to the next; the last epoch is checked too.
    pub check_every: u64,
    /// The run ends at the first check this many epochs, or more, after the best one; never before `epochs` if absent.
    pub patience: Option<u64>,
    /// Samples S of each validation image at a check.
    pub valid_samples: usize,
    /// Validation images, a random subset named by the seed; all if absent.
    pub valid_images: Option<usize>,
    /// Samples S of each test image at a check.
    pub test_samples: usize,
    /// Test images, a random subset named by the seed; all if absent.
    pub test_images: Option<usize>,
    /// Training images whose NLL is recorded at a check too, a random subset named by the seed, with `valid_samples`; none if
    /// absent.
    pub train_images: Option<usize>,
    /// Whether the test images are evaluated at every check; else only at the selected one, in the end. Selection goes by the
    /// validation images.
    pub test_at_checks: bool,
    /// Each number of samples S with which all test images are evaluated at the selected epoch, in one pass; not at all if there
    /// is none.
    pub final_samples: Vec<usize>,
    /// Seconds from one checkpoint to the next. One is also made after each check.
    pub checkpoint_seconds: f64,
    /// Threads of a step on the CPU and of an evaluation: results have the same bits for any number.
    pub threads: usize,
    /// Name of the device in the provenance, such as `cpu`.
    pub device_name: String,
}

/// Start of the chains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChainStart {
    /// Each at a draw from q(h | x), of its own datum.
    #[default]
    Proposal,
    /// Each at a uniform state, whatever its datum, as in the released code of Ou & Song (2020) for table 1. Where q is certain, ℓ
    /// of a state that it never proposes can be so high that the chain stays there.
    Uniform,
}

impl<E> TrainConfig<E> {
    /// Training by this estimator, to be changed field by field: seed 1, 100 epochs, batches of 50, K = 2, Adam at
    /// 3e-4, one stage (chains from the start). A check of validation and test data with 100 samples follows every
    /// epoch, and one with 1000 samples the end.
    pub fn new(method: E) -> Self {
        Self {
            seed: 1,
            method,
            epochs: 100,
            switch_epoch: 0,
            chain_start: ChainStart::default(),
            batch: 50,
            particles: 2,
            analytic_kl: false,
            optimizer: Optimizer::default(),
            betas: Betas::default(),
            learning_rate: 3e-4,
            inference_rate: None,
            prior_rate: None,
            sleep_every: None,
            gradient_beta: None,
            scan: ScanOrder::Shuffled,
            check_every: 1,
            patience: None,
            valid_samples: 100,
            valid_images: None,
            test_samples: 100,
            test_images: None,
            train_images: None,
            test_at_checks: true,
            final_samples: vec![1000],
            checkpoint_seconds: 60.0,
            threads: 1,
            device_name: "cpu".into(),
        }
    }
}

impl<E: Declaration> TrainConfig<E> {
    /// Whether epoch `epoch` (from 0) is of stage II.
    pub fn keeps_chains(&self, epoch: u64) -> bool {
        self.method.keeps_chains() && epoch >= self.switch_epoch
    }

    /// Whether a check is made after `epochs` epochs.
    pub fn checks_after(&self, epochs: u64) -> bool {
        epochs > 0 && (epochs.is_multiple_of(self.check_every) || epochs == self.epochs)
    }

    /// The learning rates that are set, by name.
    fn rates(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("learning_rate", Some(self.learning_rate)),
            ("inference_rate", self.inference_rate),
            ("prior_rate", self.prior_rate),
        ];
        all.into_iter()
            .filter_map(|(name, rate)| Some((name, rate?)))
    }

    pub(crate) fn check(&self) -> Result<(), TrainError> {
        let least = self.method.least_particles(self.keeps_chains(0));
        let problem = if self.particles < least {
            format!(
                "`particles` is {}, but this method needs at least {least}",
                self.particles
            )
        } else if self.analytic_kl && !self.method.takes_analytic_kl() {
            "`analytic_kl` is set, but this method has no form with an analytic KL".into()
        } else if self.epochs == 0 || self.check_every == 0 {
            "`epochs` and `check_every` must be at least 1".into()
        } else if self.sleep_every == Some(0) || self.patience == Some(0) {
            "`sleep_every` and `patience` must be at least 1".into()
        } else if self.valid_samples == 0
            || self.test_samples == 0
            || self.final_samples.contains(&0)
        {
            "numbers of samples must be at least 1".into()
        } else if [self.valid_images, self.test_images, self.train_images].contains(&Some(0)) {
            "numbers of images must be at least 1".into()
        } else if let Some((name, rate)) = self.rates().find(|(_, rate)| !is_rate(*rate)) {
            format!("`{name}` is {rate}, but must be positive and finite")
        } else if ![self.betas.generative, self.betas.inference]
            .as_flattened()
            .iter()
            .all(|beta| (0.0..1.0).contains(beta))
        {
            format!("{:?}: β of Adam must be from 0 to below 1", self.betas)
        } else if let Some(beta) = self.gradient_beta.filter(|b| !(0.0..1.0).contains(b)) {
            format!("`gradient_beta` is {beta}, but must be from 0 to below 1")
        } else {
            return Ok(());
        };
        Err(TrainError::Config { problem })
    }
}

fn is_rate(rate: f64) -> bool {
    rate > 0.0 && rate.is_finite()
}
