//! The experiment as data.

use super::Estimator;
use crate::error::HarnessError;
use crate::source::{Kind, Source};
use serde::{Deserialize, Serialize};

/// `experiments/arm-toy.toml`, or a file like it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::ArmToy`].
    pub kind: Kind,
    /// Names the run folder.
    pub name: String,
    /// Heads the table.
    pub title: String,
    /// Names the random streams.
    pub seed: u64,
    /// Gradient ascent.
    pub ascent: AscentSettings,
    /// The variance against the logit.
    pub variance: VarianceSettings,
    /// The same for a categorical variable.
    pub classes: ClassesSettings,
    /// The variance on T1.
    pub t1: T1Settings,
}

/// Gradient ascent on the logit of one bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AscentSettings {
    /// p₀ of each problem.
    pub targets: Vec<f64>,
    /// The logit at the start.
    pub start: f64,
    /// The step size.
    pub step: f64,
    /// Steps.
    pub iterations: usize,
    /// The estimators, beside the exact gradient.
    pub estimators: Vec<Estimator>,
    /// K of each run: trajectories are drawn with the first, gradient estimates with the last.
    pub samples: Vec<usize>,
    /// Independent runs of each problem and estimator.
    pub replicates: usize,
    /// Iterations from one point of a figure to the next.
    pub plot_every: usize,
}

/// The variance of an estimate against the logit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarianceSettings {
    /// p₀.
    pub target: f64,
    /// The estimators.
    pub estimators: Vec<Estimator>,
    /// Logits are the whole numbers from minus this to this, and where ARM's variance is largest.
    pub largest_logit: u32,
    /// Estimates at each logit.
    pub replicates: usize,
}

/// Gradient ascent on the logits of a categorical variable, and the variance of an estimate along it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassesSettings {
    /// C.
    pub classes: usize,
    /// All logits at the start.
    pub start: f64,
    /// The step size.
    pub step: f64,
    /// Steps.
    pub iterations: usize,
    /// The estimators, beside the exact gradient.
    pub estimators: Vec<Estimator>,
    /// Estimates at the same logits, for their variance.
    pub replicates: usize,
    /// Iterations from one measurement to the next.
    pub measure_every: usize,
}

/// The variance of the gradient of T1's inference net.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct T1Settings {
    /// The estimators.
    pub estimators: Vec<Estimator>,
    /// Values of f an estimate.
    pub values: usize,
    /// Estimates.
    pub replicates: usize,
}

/// Bytes of a number as text.
const NUMBER: u64 = 20;

impl Settings {
    /// The settings in an experiment file.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense.
    pub fn parse(source: &Source) -> Result<Self, HarnessError> {
        let settings: Self = source.parse()?;
        source.check(settings.problem())?;
        Ok(settings)
    }

    /// The parts of a run, each of which is kept when it is done: ascents, variances, ascents with classes, variances on T1.
    pub fn parts(&self) -> u64 {
        let ascents = self.ascent.samples.len() * self.ascent.estimators.len();
        // The exact ascent with classes, too.
        (ascents + 1 + 1 + self.classes.estimators.len() + 1) as u64
    }

    /// The same with so many times fewer iterations and replicates.
    pub(super) fn smaller(&self, times: usize) -> Self {
        let mut small = self.clone();
        let fewer = |number: &mut usize, least: usize| *number = (*number / times).max(least);
        let (ascent, classes) = (&mut small.ascent, &mut small.classes);
        fewer(&mut ascent.iterations, 1);
        ascent.plot_every = ascent.plot_every.min(ascent.iterations);
        fewer(&mut small.variance.replicates, 2);
        fewer(&mut classes.iterations, 1);
        classes.measure_every = classes.measure_every.min(classes.iterations);
        fewer(&mut small.t1.replicates, 2);
        small
    }

    /// The least memory that it needs, in bytes: the numbers of its largest batch of estimates, or of the exact ascent.
    pub(super) fn memory(&self) -> u64 {
        let product = |sizes: &[usize]| {
            let sizes = sizes.iter().map(|&size| size as u64);
            sizes.fold(8, u64::saturating_mul)
        };
        let ascent = &self.ascent;
        let most = ascent.samples.iter().copied().max().unwrap_or(0);
        let classes = product(&[self.classes.classes, self.classes.replicates]);
        product(&[ascent.targets.len(), ascent.replicates, most])
            .max(product(&[ascent.iterations]))
            .max(product(&[self.variance.replicates]))
            .max(classes)
    }

    /// The least space that its run folder takes, in bytes: the points of its curves and the ends of its replicates, as text.
    pub(super) fn disk(&self) -> u64 {
        let Self {
            ascent, classes, ..
        } = self;
        let product = |sizes: &[usize]| {
            sizes
                .iter()
                .map(|&size| size as u64)
                .fold(NUMBER, u64::saturating_mul)
        };
        let runs = product(&[
            ascent.targets.len(),
            ascent.estimators.len(),
            ascent.samples.len(),
        ]);
        // Three curves of pairs, and two numbers of a replicate.
        let points = 6 * (ascent.iterations / ascent.plot_every.max(1)) + 2 * ascent.replicates;
        let climbs = product(&[
            classes.estimators.len() + 1,
            classes.iterations / classes.measure_every.max(1),
        ]);
        runs.saturating_mul(points as u64)
            .saturating_add(climbs.saturating_mul(4))
    }

    /// Returns what is wrong with the settings together, if anything.
    fn problem(&self) -> Option<String> {
        let Self {
            ascent,
            variance,
            classes,
            t1,
            ..
        } = self;
        let half = |p0: f64| !(p0 > 0.0 && p0 < 1.0) || p0 == 0.5;
        let least = |estimator: &Estimator| estimator.entry().least_particles();
        let fewest = ascent.samples.iter().min().copied().unwrap_or(0);
        let few = |estimator: &&Estimator| fewest < least(estimator);
        let misfit = |estimator: &Estimator| estimator.samples(t1.values).is_none();
        let checks = [
            (
                ascent.targets.is_empty()
                    || ascent.estimators.is_empty()
                    || ascent.samples.is_empty(),
                "`ascent` needs at least one of `targets`, of `estimators` and of `samples`",
            ),
            (
                ascent.targets.iter().any(|&p0| half(p0)) || half(variance.target),
                "a target p0 lies between 0 and 1, and not at 1/2, where f is constant",
            ),
            (classes.classes < 2, "`classes.classes` must be at least 2"),
            (
                !classes
                    .estimators
                    .iter()
                    .all(|estimator| estimator.takes_classes()),
                "`classes.estimators` are for one value of f of classes: reinforce, ar, ars or arsm",
            ),
            (
                t1.estimators.iter().any(misfit),
                "`t1.values` must be a number of values of f that each of `t1.estimators` can take: 2, or more in pairs",
            ),
        ];
        let problem = checks.iter().find(|(wrong, _)| *wrong);
        problem.map(|(_, text)| text.to_string()).or_else(|| {
            let estimator = ascent.estimators.iter().find(few)?;
            Some(format!(
                "`ascent.samples` must be at least {} for {}",
                least(estimator),
                estimator.label()
            ))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use helmholtz_harness::streams::assert_contains;

    pub(crate) fn arm_toy() -> Settings {
        Settings::parse(&Source::find("arm-toy").unwrap()).unwrap()
    }

    fn error(from: &str, to: &str) -> String {
        let mut source = Source::find("arm-toy").unwrap();
        assert!(source.text.contains(from), "{from}");
        source.text = source.text.replace(from, to);
        source.file = "my.toml".into();
        Settings::parse(&source).unwrap_err().to_string()
    }

    #[test]
    fn the_bundled_file_holds_the_protocol() {
        let AscentSettings {
            targets,
            start,
            step,
            iterations,
            ..
        } = arm_toy().ascent;
        assert_eq!(targets, [0.49, 0.499, 0.501, 0.51]);
        assert_eq!((start, step, iterations), (0.0, 1.0, 2000));
    }

    #[test]
    fn an_unknown_key_or_estimator_is_named_with_its_line_and_the_choices() {
        let text = error("iterations = 2000", "iteratons = 2000");
        assert_contains(&text, &["my.toml", "line 14"]);
        assert_contains(&text, &["`iteratons`", "`iterations`"]);
        let text = error("\"rloo\", \"arm\"", "\"rloo\", \"arn\"");
        assert_contains(&text, &["`arn`", "`disarm`"]);
    }

    #[test]
    fn a_copy_as_small_as_can_be_is_whole_settings() {
        let mut all = arm_toy();
        (all.ascent.plot_every, all.classes.measure_every) = (usize::MAX, usize::MAX);
        let small = all.smaller(usize::MAX);
        assert_eq!((small.ascent.iterations, small.ascent.plot_every), (1, 1));
        assert_eq!(
            (small.classes.iterations, small.classes.measure_every),
            (1, 1)
        );
        assert_eq!(small.problem(), None);
        assert_eq!(arm_toy().memory(), 8 * 40_000);
        all.ascent.replicates = usize::MAX;
        assert_eq!(all.memory(), u64::MAX);
    }

    #[test]
    fn settings_that_make_no_sense_say_why() {
        for (from, to, part) in [
            ("name = \"arm-toy\"", "name = \"ARM toy\"", "lower-case"),
            ("target = 0.49", "target = 0.5", "f is constant"),
            ("[0.49, 0.499, 0.501, 0.51]", "[]", "at least one"),
            ("step = 1.0", "step = -1.0", "positive"),
            ("plot_every = 20", "plot_every = 0", "plot_every"),
            (
                "replicates = 200 ",
                "replicates = 1 ",
                "`replicates` is 1, but must be at least 2",
            ),
            ("values = 2 ", "values = 3 ", "in pairs"),
            (
                "[\"reinforce\", \"arm\"]   ",
                "[\"rloo\"]",
                "at least 2 for RLOO",
            ),
        ] {
            let text = error(from, to);
            assert!(text.contains(part), "{from} -> {to}: {text}");
        }
    }
}
