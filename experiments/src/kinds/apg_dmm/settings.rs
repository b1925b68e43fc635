//! The experiment as data.

use crate::population::TrainingSettings;
use crate::population::hamiltonian::{HmcSettings, TrainingMoves};
use crate::source::Kind;
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
    /// Returns what is wrong with the settings together, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        let (t, e) = (&self.training, &self.evaluation);
        let rings = self.data.clusters;
        let even = |&points: &usize| points >= 4 * rings && points.is_multiple_of(2 * rings);
        let beyond = |&k: &usize| k > e.sweeps;
        if self.model.clusters != rings || rings > 8 {
            Some(
                "`model.clusters` and `data.clusters` must be the same, from 2 to 8: labels are matched in every order",
            )
        } else if self.model.noise == 0.0 {
            Some("`model.noise` must be positive")
        } else if e.points.is_empty() || !e.points.iter().chain([&t.points]).all(even) {
            Some(
                "every number of points must fill the rings evenly: a multiple of twice the clusters, at least four times them",
            )
        } else if e.prior_particles == 0 {
            Some("`evaluation.prior_particles` must be at least 1")
        } else if e.shown_sweeps.iter().any(beyond) {
            Some("`evaluation.shown_sweeps` go from 1 to `evaluation.sweeps`")
        } else {
            TrainingMoves::problem(t.hmc.as_ref(), t.sweeps)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::stepwise::Stepwise;
    use crate::population::stepwise::tests::rejection;
    use crate::source::Source;

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
    fn settings_that_make_no_sense_say_why() {
        for (from, to, part) in [
            ("clusters = 4", "clusters = 3", "must be the same"),
            ("points = 200", "points = 201", "evenly"),
            ("points = 200", "points = 8", "evenly"),
            ("[5, 10, 20]", "[5, 10, 21]", "shown_sweeps"),
            ("sweeps = 10 ", "swepes = 10 ", "swepes"),
        ] {
            let text = rejection::<Settings>("apg-dmm", from, to);
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
