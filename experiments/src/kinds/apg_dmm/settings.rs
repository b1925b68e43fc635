//! The experiment as data.

use crate::population::TrainingSettings;
use crate::population::hamiltonian::HmcSettings;
use crate::source::{Kind, is_folder_name};
use helmholtz_dmm::{DmmConfig, Rings};
use serde::{Deserialize, Serialize};

/// `experiments/apg-dmm.toml`, or a file like it, by one of its profiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::ApgDmm`].
    pub kind: Kind,
    /// Names the run folder.
    pub name: String,
    /// Heads the table.
    pub title: String,
    /// Names the random streams.
    pub seed: u64,
    /// The mixture and its proposals.
    pub model: DmmConfig,
    /// Generator of the data.
    pub data: Rings,
    /// Settings of the nets' training.
    pub training: TrainingSettings,
    /// Settings of the evaluation at the end.
    pub evaluation: EvaluationSettings,
}

/// Settings of the evaluation at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSettings {
    /// Data of an instance, of each setting.
    pub points: Vec<usize>,
    /// Instances of each.
    pub instances: u64,
    /// Instances whose rings do not touch, of each setting, on which accuracy is measured too.
    pub separated: u64,
    /// Instances at a time.
    pub batch: u64,
    /// L.
    pub particles: usize,
    /// L of block population Gibbs.
    pub prior_particles: usize,
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// After how many sweeps the table shows amortized population Gibbs.
    pub shown_sweeps: Vec<usize>,
    /// Hamiltonian Monte Carlo on (μ, ln(h / (1 − h))), from the one-shot proposal.
    pub hmc: HmcSettings,
}

impl Settings {
    /// Returns what is wrong with the settings, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        let (t, e) = (&self.training, &self.evaluation);
        let counts = [e.particles, e.prior_particles, e.sweeps];
        let (m, d) = (&self.model, &self.data);
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let rings = self.data.clusters.max(1);
        let even = |&points: &usize| points >= 4 * rings && points.is_multiple_of(2 * rings);
        let checks = [
            (
                !is_folder_name(&self.name),
                "`name` names a folder: use lower-case letters, digits and hyphens",
            ),
            (
                counts.contains(&0) || e.batch == 0,
                "`evaluation`: every number of sweeps, particles and instances must be at least 1",
            ),
            (
                m.clusters != d.clusters || !(2..=8).contains(&m.clusters),
                "`model.clusters` and `data.clusters` must be the same, from 2 to 8: labels are matched in every order",
            ),
            (
                m.hidden == 0 || m.statistics == 0 || !positive(m.spread) || !positive(m.noise),
                "`model` needs at least 1 hidden unit and statistic, and a positive spread and noise",
            ),
            (
                !positive(d.spread) || !positive(d.radius) || d.noise < 0.0 || !d.noise.is_finite(),
                "`data` needs a positive spread and radius, and a finite noise, not below 0",
            ),
            (
                e.points.is_empty() || !e.points.iter().chain([&t.points]).all(even),
                "every number of points must fill the rings evenly: a multiple of twice the clusters, at least four times them",
            ),
            (
                e.instances < 2,
                "`evaluation.instances` must be at least 2: there is no spread of one",
            ),
            (
                !e.hmc.leapfrog.is_empty() && !e.hmc.is_possible(),
                "`evaluation.hmc` needs leapfrog steps of at least 1, a positive step_size, and an acceptance between 0 and 1",
            ),
            (
                e.shown_sweeps.iter().any(|k| !(1..=e.sweeps).contains(k)),
                "`evaluation.shown_sweeps` go from 1 to `evaluation.sweeps`",
            ),
        ];
        let problem = checks.iter().find(|(wrong, _)| *wrong);
        let problem = problem.map(|(_, text)| *text);
        problem.or_else(|| self.training.problem())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::stepwise::Stepwise;
    use crate::source::Source;

    fn error(from: &str, to: &str) -> String {
        let mut source = Source::find("apg-dmm").unwrap();
        assert!(source.text.contains(from), "{from}");
        source.text = source.text.replacen(from, to, 1);
        let parsed = Settings::parse(&source, "paper");
        parsed.unwrap_err().to_string()
    }

    #[test]
    fn the_bundled_file_holds_the_released_setting() {
        let source = Source::find("apg-dmm").unwrap();
        let (settings, _) = Settings::parse(&source, "paper").unwrap();
        assert_eq!(settings.model, DmmConfig::released());
        assert_eq!(settings.data, Rings::default());
        let (narrow, _) = Settings::parse(&source, "narrow").unwrap();
        assert_eq!(narrow.model, DmmConfig::paper());
        let TrainingSettings {
            sweeps,
            particles,
            batch,
            points,
            ..
        } = settings.training;
        assert_eq!((sweeps, particles, batch, points), (10, 10, 20, 200));
        let text = Settings::parse(&source, "papr").unwrap_err().to_string();
        assert!(text.contains("Did you mean `paper`?"), "{text}");
    }

    #[test]
    fn no_clusters_at_all_are_refused_too() {
        let mut source = Source::find("apg-dmm").unwrap();
        source.text = source.text.replace("clusters = 4", "clusters = 0");
        let parsed = Settings::parse(&source, "paper");
        let text = parsed.unwrap_err().to_string();
        assert!(text.contains("from 2 to 8"), "{text}");
    }

    #[test]
    fn settings_that_make_no_sense_say_why() {
        for (from, to, part) in [
            ("name = \"apg-dmm\"", "name = \"DMM\"", "lower-case"),
            ("batch = 20 ", "batch = 0 ", "at least 1"),
            ("clusters = 4", "clusters = 3", "must be the same"),
            ("points = 200", "points = 201", "evenly"),
            ("points = 200", "points = 8", "evenly"),
            ("points = 200", "points = 0", "evenly"),
            ("5e-4", "-1.0", "learning_rate"),
            ("[5, 10, 20]", "[5, 10, 21]", "shown_sweeps"),
            ("sweeps = 10 ", "swepes = 10 ", "swepes"),
            ("radius = 2.0", "radius = nan", "positive spread and radius"),
            ("noise = 0.1", "noise = inf", "a finite noise"),
            ("hidden = 32", "hidden = 0", "at least 1 hidden unit"),
            (
                "checkpoint_seconds = 60",
                "checkpoint_seconds = 1e30",
                "more than a clock",
            ),
        ] {
            let text = error(from, to);
            assert!(text.contains(part), "{from} -> {to}: {text}");
        }
    }

    #[test]
    fn hmc_rws_moves_the_particles_of_the_one_shot_proposal() {
        let source = Source::find("apg-dmm").unwrap();
        let (settings, _) = Settings::parse(&source, "hmc-rws").unwrap();
        assert!(settings.training.hmc.is_some());
    }
}
