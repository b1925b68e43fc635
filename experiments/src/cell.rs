//! One cell of an experiment: a net trained by a method with a seed, and every number that decides its outcome.

use crate::samples::FinalSamples;
use helmholtz_datasets::Splits;
use helmholtz_training::{Betas, ChainStart, Optimizer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A net as a file describes it, and as the configuration of its runs records it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnNet {
    /// The name of its family.
    pub family: String,
    /// Sizes that differ from those of the first named net of the family.
    #[serde(flatten)]
    pub sizes: Map<String, Value>,
}

/// A net trained by a method with a seed: the unit that is planned, run, resumed and tabulated.
///
/// Its canonical JSON is the configuration of its run folder, so two cells that differ in any number
/// never share a folder unnoticed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The experiment's name, `table1`.
    pub experiment: String,
    /// The data set's name, `binarized-mnist`.
    pub dataset: String,
    /// The net's name, `linear`.
    pub net: String,
    /// The method's name, `jsa`.
    pub method: String,
    /// The run seed, from which every random stream of the run is named.
    pub seed: u64,
    /// Whether the experiment compares numbers of particles: then the cell's is a part of its folder and its label.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_particles: bool,
    /// [`Splits::fingerprint`] of the images; absent where they are not known, as in older records.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fingerprint: Option<String>,
    /// The net, where the experiment's file describes it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub own_net: Option<OwnNet>,
    /// The numbers of a datum, where they are not those of the nets that have names.
    #[serde(default, skip_serializing_if = "is_default")]
    pub width: Option<usize>,
    /// Settings of its training and evaluation.
    pub settings: Settings,
}

/// The numbers of a datum for which the nets that have names are made: pixels of a digit.
const WIDTH: usize = 28 * 28;

impl Cell {
    /// The cell on these images.
    pub fn on(self, data: &Splits) -> Self {
        let width = data.train.pixels();
        Self {
            fingerprint: Some(data.fingerprint.clone()),
            width: (width != WIDTH).then_some(width),
            ..self
        }
    }

    /// The numbers of a datum.
    pub fn width(&self) -> usize {
        self.width.unwrap_or(WIDTH)
    }

    /// The cell's run folder below the folder of its experiment, profile and data set: `<net>/<method>/seed-<n>`, or
    /// `<net>/particles-<K>/<method>/seed-<n>`.
    pub fn folder(&self, base: &Path) -> PathBuf {
        self.row_folder(base).join(format!("seed-{}", self.seed))
    }

    /// The folder of the cells that differ in their seed alone.
    pub fn row_folder(&self, base: &Path) -> PathBuf {
        let net = base.join(&self.net);
        let column = match self.particles() {
            Some(particles) => net.join(format!("{PARTICLES}{particles}")),
            None => net,
        };
        column.join(&self.method)
    }

    /// K, where the experiment compares numbers of particles.
    pub fn particles(&self) -> Option<usize> {
        self.by_particles.then_some(self.settings.particles)
    }

    /// `linear`, or `structured, K = 5`: what the cells of a group of rows have in common.
    pub fn column(&self) -> String {
        match self.particles() {
            Some(particles) => format!("{}, K = {particles}", self.net),
            None => self.net.clone(),
        }
    }

    /// `linear / jsa / seed 1`, as progress lines and error messages name it.
    pub fn label(&self) -> String {
        format!("{} / {} / seed {}", self.column(), self.method, self.seed)
    }
}

/// Prefix of the folders of a number of particles.
pub(crate) const PARTICLES: &str = "particles-";

/// Returns whether a value is the default, which is absent from a configuration unless it is asked for.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Order in which the training images are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScanOrder {
    /// A new permutation each epoch, the last partial batch dropped (as the released JSA code does).
    Shuffled,
    /// Indices uniform with replacement (JSA, Algorithm 2).
    WithReplacement,
}

/// Defines [`Settings`] and [`Overrides`] from one list of fields.
macro_rules! settings {
    ($($(#[$attribute:meta])* $name:ident: $type:ty,)*) => {
        /// Settings of a cell's training and evaluation.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($(#[$attribute])* pub $name: $type,)*
        }

        /// The settings that a profile or a method changes; what is absent stays as it was.
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Overrides {
            $($(#[$attribute])* pub $name: Option<$type>,)*
        }

        impl Overrides {
            /// `settings` with the present fields replaced.
            pub fn apply(&self, settings: &mut Settings) {
                $(if let Some(value) = &self.$name {
                    settings.$name = value.clone();
                })*
            }
        }
    };
}

settings! {
    /// Passes over the training set.
    epochs: u64,
    /// Training steps in place of `epochs`, which are then as many as hold them.
    #[serde(default, skip_serializing_if = "is_default")]
    steps: Option<u64>,
    /// The fraction of the epochs after which stage II (JSA with its chain store) starts.
    switch: f64,
    /// Start of the chains of stage II: at draws from q (`proposal`), or at uniform states (`uniform`).
    #[serde(default, skip_serializing_if = "is_default")]
    chain_start: ChainStart,
    /// Images in a mini-batch.
    batch: usize,
    /// Particles K for each image.
    particles: usize,
    /// The optimiser of the model: `adam`, or `momentum`, damped and along the sum of a batch's gradients.
    #[serde(default, skip_serializing_if = "is_default")]
    optimizer: Optimizer,
    /// β₁ and β₂ of Adam; absent: 0.9 and 0.999.
    #[serde(default, skip_serializing_if = "is_default")]
    betas: Option<[f64; 2]>,
    /// β₁ and β₂ of Adam on the parameters of q; absent: as on those of p.
    #[serde(default, skip_serializing_if = "is_default")]
    inference_betas: Option<[f64; 2]>,
    /// Its learning rate.
    learning_rate: f64,
    /// Learning rate of the parameters of q; absent: the same.
    #[serde(default, skip_serializing_if = "is_default")]
    inference_rate: Option<f64>,
    /// The rate at which a learned prior follows plain gradient descent; absent: it follows the optimiser with the rest.
    #[serde(default, skip_serializing_if = "is_default")]
    prior_rate: Option<f64>,
    /// Steps from one sleep phase to the next, with as many dreams an image, of a method that has one; absent: each step has its.
    #[serde(default, skip_serializing_if = "is_default")]
    sleep_every: Option<u64>,
    /// β of the exponential means that follow the gradient of φ and its square, whose variance tables show; absent: it is not followed.
    #[serde(default, skip_serializing_if = "is_default")]
    gradient_beta: Option<f64>,
    /// Stage I of JSA: 0 draws K proposals, the first of which starts the chain; 1 draws one more.
    stage1_extra: usize,
    /// The order in which training images are visited.
    scan: ScanOrder,
    /// Epochs from one check (validation and test NLL) to the next.
    check_every: u64,
    /// The run ends at a check this many epochs after the best one; absent: after all `epochs`.
    #[serde(default, skip_serializing_if = "is_default")]
    patience: Option<u64>,
    /// Importance samples S for each validation image at a check.
    valid_samples: u64,
    /// Number of validation images (a seeded random subset); absent: all.
    valid_images: Option<u64>,
    /// Importance samples S for each test image at a check.
    test_samples: u64,
    /// Number of test images (a seeded random subset); absent: all.
    test_images: Option<u64>,
    /// Number of training images (a seeded random subset) whose NLL is computed at a check too, with `valid_samples`, for
    /// figures; absent: none, and nothing is spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    train_images: Option<u64>,
    /// Whether the test images are evaluated at every check, for figures of the test NLL during training. Else they are evaluated
    /// at the selected one alone, in the end; selection is the same. Absent: it is.
    #[serde(default, skip_serializing_if = "is_default")]
    test_at_checks: Option<bool>,
    /// Importance samples S, one number or a list, with which the selected epoch's test NLL is computed again; absent: it is not.
    final_samples: Option<FinalSamples>,
    /// Number among several `final_samples` that tables report; absent: the largest.
    #[serde(default, skip_serializing_if = "is_default")]
    reported_samples: Option<u64>,
    /// Seconds from one checkpoint to the next.
    checkpoint_seconds: u64,
    /// Whether a categorical net's encoder gives the logits of all classes, instead of all but the first.
    #[serde(default, skip_serializing_if = "is_default")]
    free_logits: bool,
    /// Whether KL(q ‖ p(h)) is in closed form in the gradient estimate, in place of the densities of the sample.
    #[serde(default, skip_serializing_if = "is_default")]
    analytic_kl: bool,
    /// Whether the selected parameters are evaluated once more with the formula of released code,
    /// [`AnalyticKl`](helmholtz_evaluation::AnalyticKl).
    #[serde(default, skip_serializing_if = "is_default")]
    released_nll: bool,
    /// The slope of the leaky rectifiers of a sigmoid belief network or of the categorical net; absent: the net's own.
    #[serde(default, skip_serializing_if = "is_default")]
    slope: Option<f64>,
    /// Whether values v, of pixels and of bits, enter the factors of a sigmoid belief network as 2v - 1.
    #[serde(default, skip_serializing_if = "is_default")]
    signed: bool,
    /// Whether tanh is between the deterministic layers of a sigmoid belief network, in place of leaky rectifiers.
    #[serde(default, skip_serializing_if = "is_default")]
    tanh: bool,
    /// Whether pixels enter the inference net of a sigmoid belief network less their means over the training images. The biases
    /// of p(x | h¹) start at the logits of these means.
    #[serde(default, skip_serializing_if = "is_default")]
    centred: bool,
    /// Whether the prior of a sigmoid belief network or of the categorical net is learned; absent: as the net has it.
    #[serde(default, skip_serializing_if = "is_default")]
    learned_prior: Option<bool>,
    /// Whether a sigmoid belief network starts from Glorot's uniform weights and biases of 0, whatever its own start.
    #[serde(default, skip_serializing_if = "is_default")]
    glorot: bool,
}

impl Settings {
    /// The number of epochs of stage I: stage II starts after this many.
    pub fn switch_epoch(&self) -> u64 {
        (self.switch * self.epochs as f64).round() as u64
    }

    /// The same with as many epochs as hold `steps`, on so many training images.
    pub fn with_steps_of(self, images: usize) -> Self {
        let each = (images / self.batch.max(1)).max(1) as u64;
        let epochs = self.steps.map_or(self.epochs, |steps| steps.div_ceil(each));
        Self { epochs, ..self }
    }

    /// The number of checks, of those that [`checks_after`](Self::checks_after) tells, that are left after `done` epochs.
    pub fn checks_left(&self, done: u64) -> u64 {
        if done >= self.epochs {
            return 0;
        }
        let every = self.check_every.max(1);
        let last = u64::from(!self.epochs.is_multiple_of(every));
        self.epochs / every - done / every + last
    }

    /// Whether a check is made after `epoch` epochs.
    pub fn checks_after(&self, epoch: u64) -> bool {
        epoch > 0 && (epoch.is_multiple_of(self.check_every) || epoch == self.epochs)
    }

    /// Whether the test images are evaluated at every check.
    pub fn tests_at_checks(&self) -> bool {
        self.test_at_checks.unwrap_or(true)
    }

    /// The samples of the last evaluation whose number tables report, if there is one.
    pub fn reported_samples(&self) -> Option<u64> {
        let all = self.final_samples.as_ref()?;
        Some(self.reported_samples.unwrap_or(all.largest()))
    }

    /// The keys that change the net and are set.
    pub fn net_options(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("slope", self.slope.is_some()),
            ("learned_prior", self.learned_prior.is_some()),
            ("signed", self.signed),
            ("tanh", self.tanh),
            ("centred", self.centred),
            ("glorot", self.glorot),
            ("prior_rate", self.prior_rate.is_some()),
            ("free_logits", self.free_logits),
            ("released_nll", self.released_nll),
        ];
        let set = options.into_iter().filter(|(_, set)| *set);
        set.map(|(key, _)| key)
    }

    /// β of Adam.
    pub fn betas(&self) -> Betas {
        let default = Betas::default();
        let generative = self.betas.unwrap_or(default.generative);
        Betas {
            generative,
            inference: self.inference_betas.unwrap_or(generative),
        }
    }

    /// What is wrong with these settings together, if anything: each number is in its range.
    pub fn problem(&self) -> Option<String> {
        let finals = self.final_samples.as_ref().map(FinalSamples::all);
        if finals.is_some_and(<[u64]>::is_empty) {
            return Some("`final_samples` needs at least one number".into());
        }
        let of_finals = |own: &u64| finals.is_some_and(|all| all.contains(own));
        let stranger = self.reported_samples.filter(|own| !of_finals(own))?;
        Some(format!(
            "`reported_samples` is {stranger}, which is none of `final_samples`"
        ))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Settings and a cell that the harness's tests vary.
    pub(crate) fn settings() -> Settings {
        Settings {
            epochs: 5,
            steps: None,
            switch: 0.6,
            chain_start: ChainStart::Proposal,
            batch: 50,
            particles: 2,
            optimizer: Optimizer::Adam,
            betas: None,
            inference_betas: None,
            learning_rate: 3e-4,
            inference_rate: None,
            prior_rate: None,
            sleep_every: None,
            gradient_beta: None,
            stage1_extra: 0,
            scan: ScanOrder::Shuffled,
            check_every: 5,
            patience: None,
            valid_samples: 100,
            valid_images: None,
            test_samples: 100,
            test_images: None,
            train_images: None,
            test_at_checks: None,
            final_samples: None,
            reported_samples: None,
            checkpoint_seconds: 60,
            free_logits: false,
            analytic_kl: false,
            released_nll: false,
            slope: None,
            signed: false,
            tanh: false,
            centred: false,
            learned_prior: None,
            glorot: false,
        }
    }

    pub(crate) fn cell(net: &str, method: &str, seed: u64) -> Cell {
        Cell {
            experiment: "table1".into(),
            dataset: "binarized-mnist".into(),
            net: net.into(),
            method: method.into(),
            seed,
            by_particles: false,
            fingerprint: None,
            own_net: None,
            width: None,
            settings: settings(),
        }
    }

    #[test]
    fn the_switch_is_at_epoch_600_of_1000_and_3_of_5() {
        let mut s = settings();
        assert_eq!(s.switch_epoch(), 3);
        s.epochs = 1000;
        assert_eq!(s.switch_epoch(), 600);
    }

    #[test]
    fn steps_are_made_in_whole_epochs() {
        let steps = |steps, batch| Settings {
            steps: Some(steps),
            batch,
            ..settings()
        };
        // A million steps of 50 of 50,000 images, and of 50 and of 100 of 23,000.
        for (batch, images, epochs) in [(50, 50_000, 1000), (50, 23_000, 2174), (100, 23_000, 4348)]
        {
            let s = steps(1_000_000, batch).with_steps_of(images);
            assert_eq!(s.epochs, epochs);
        }
        assert_eq!(settings().with_steps_of(50_000), settings());
    }

    #[test]
    fn the_last_epoch_is_always_checked() {
        let mut s = settings();
        s.epochs = 12;
        assert_eq!(
            [0, 4, 5, 11, 12].map(|done| s.checks_left(done)),
            [3, 3, 2, 1, 0]
        );
        s.epochs = 10;
        assert_eq!([0, 5, 10, 11].map(|done| s.checks_left(done)), [2, 1, 0, 0]);
        for done in 0..=10 {
            let after = (done + 1..=10).filter(|&epoch| s.checks_after(epoch));
            assert_eq!(s.checks_left(done), after.count() as u64);
        }
    }

    #[test]
    fn overrides_replace_what_they_hold_and_nothing_else() {
        let mut s = settings();
        let overrides: Overrides = toml::from_str("epochs = 7\nvalid_images = 1000").unwrap();
        overrides.apply(&mut s);
        assert_eq!((s.epochs, s.valid_images), (7, Some(1000)));
        assert_eq!(
            Settings {
                epochs: 5,
                valid_images: None,
                ..s
            },
            settings()
        );
    }

    #[test]
    fn what_an_older_configuration_does_not_say_is_not_written_either() {
        let old = serde_json::to_value(cell("linear", "jsa", 1)).unwrap();
        let keys = ["fingerprint", "test_at_checks", "reported_samples"];
        assert!(keys.iter().all(|key| !old.to_string().contains(key)));
        let read: Cell = serde_json::from_value(old).unwrap();
        assert!(read.settings.tests_at_checks() && read.fingerprint.is_none());
        let cheap = Settings {
            test_at_checks: Some(false),
            ..settings()
        };
        assert_eq!(
            serde_json::to_value(cheap).unwrap()["test_at_checks"],
            false
        );
    }

    #[test]
    fn tables_report_the_largest_of_several_samples_or_the_one_that_is_named() {
        let mut s = settings();
        assert_eq!(s.reported_samples(), None);
        let several = toml::from_str::<Overrides>("final_samples = [1000, 100]").unwrap();
        several.apply(&mut s);
        assert_eq!(s.reported_samples(), Some(1000));
        s.reported_samples = Some(100);
        assert_eq!((s.reported_samples(), s.problem()), (Some(100), None));
        s.reported_samples = Some(10);
        assert!(s.problem().unwrap().contains("`reported_samples` is 10"));
        toml::from_str::<Overrides>("final_samples = []")
            .unwrap()
            .apply(&mut s);
        assert!(s.problem().unwrap().contains("at least one"));
    }

    #[test]
    fn a_cell_survives_its_json_and_refuses_unknown_fields() {
        let c = cell("linear", "jsa", 1);
        let mut json = serde_json::to_value(&c).unwrap();
        assert_eq!(serde_json::from_value::<Cell>(json.clone()).unwrap(), c);
        json["colour"] = "red".into();
        assert!(serde_json::from_value::<Cell>(json).is_err());
    }

    #[test]
    fn the_folder_names_net_method_and_seed() {
        assert_eq!(
            cell("linear", "jsa", 3).folder(Path::new("runs")),
            Path::new("runs/linear/jsa/seed-3")
        );
        let by_particles = Cell {
            by_particles: true,
            ..cell("structured", "jsa", 3)
        };
        assert_eq!(
            by_particles.folder(Path::new("runs")),
            Path::new("runs/structured/particles-2/jsa/seed-3")
        );
        assert_eq!(by_particles.label(), "structured, K = 2 / jsa / seed 3");
    }

    /// A recorded configuration of a run is what the cell still makes, byte for byte of its canonical form.
    #[test]
    fn a_recorded_configuration_stays_as_it_is() {
        let recorded =
            include_str!("../results/table1/paper-100-epochs/linear/jsa/seed-1/config.json");
        let recorded: serde_json::Value = serde_json::from_str(recorded).unwrap();
        let cell: Cell = serde_json::from_value(recorded["content"].clone()).unwrap();
        assert_eq!(serde_json::to_value(&cell).unwrap(), recorded["content"]);
        assert!(!cell.by_particles && !cell.settings.free_logits);
    }
}
