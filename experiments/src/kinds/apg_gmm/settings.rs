//! The experiment as data.

use crate::population::TrainingSettings;
use crate::population::hamiltonian::TrainingMoves;
use crate::published::{LogJoint, entries};
use crate::source::Kind;
use helmholtz_gmm::GmmConfig;
use serde::{Deserialize, Serialize};

/// `experiments/apg-gmm.toml`, or a file like it, by one of its profiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::ApgGmm`].
    pub kind: Kind,
    /// Names the run folder.
    pub name: String,
    /// Heads the table.
    pub title: String,
    /// Names the random streams.
    pub seed: u64,
    /// Published log joints, named in the file.
    #[serde(default, skip_serializing, deserialize_with = "entries")]
    pub published: Vec<LogJoint>,
    /// The mixture and its proposals.
    pub model: GmmConfig,
    /// Settings of the proposals' training.
    pub training: TrainingSettings,
    /// Settings of the evaluation at the end.
    pub evaluation: EvaluationSettings,
}

/// Settings of the evaluation at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSettings {
    /// Data of an instance.
    pub points: usize,
    /// Instances of the table.
    pub instances: u64,
    /// Instances at a time.
    pub batch: u64,
    /// K of the table, the one-shot proposal counted.
    pub sweeps: usize,
    /// For which K the table shows amortized population Gibbs.
    pub shown_sweeps: Vec<usize>,
    /// L of the table.
    pub particles: usize,
    /// L of block population Gibbs in the table.
    pub prior_particles: usize,
    /// Leapfrog steps of Hamiltonian Monte Carlo.
    pub leapfrog: Vec<usize>,
    /// Its step size, in the table.
    pub step_size: f64,
    /// Moves of a curve.
    pub curve_sweeps: usize,
    /// L of a curve.
    pub curve_particles: usize,
    /// Runs of which a curve is the mean.
    pub curve_runs: u64,
    /// L of block population Gibbs in a curve.
    pub curve_prior_particles: usize,
    /// The step size of Hamiltonian Monte Carlo in a curve.
    pub curve_step_size: f64,
    /// K L where one is weighed against the other.
    pub budget: usize,
    /// Each K there, a divisor of the budget.
    pub budget_sweeps: Vec<usize>,
}

impl Settings {
    /// Whether proposals of blocks are trained, not only the one-shot proposal.
    pub fn trains_blocks(&self) -> bool {
        self.training.sweeps > 1
    }

    /// Returns what is wrong with the settings together, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        let (t, e) = (&self.training, &self.evaluation);
        let beyond = |&k: &usize| k > e.sweeps;
        if e.prior_particles == 0 {
            Some("`evaluation.prior_particles` must be at least 1")
        } else if e.shown_sweeps.iter().any(beyond) {
            Some("`evaluation.shown_sweeps` go from 1 to `evaluation.sweeps`")
        } else if e.budget_sweeps.iter().any(|&k| !e.budget.is_multiple_of(k)) {
            Some("`evaluation.budget_sweeps` must divide `evaluation.budget`")
        } else {
            TrainingMoves::problem(t.hmc.as_ref(), t.sweeps)
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::population::stepwise::Stepwise;
    use crate::population::stepwise::tests::rejection;
    use crate::source::Source;
    use helmholtz_gmm::Start;

    pub(crate) fn apg_gmm() -> Settings {
        let source = Source::find("apg-gmm").unwrap();
        Settings::parse(&source, "paper").unwrap().0
    }

    #[test]
    fn the_bundled_file_holds_the_published_setting() {
        let settings = apg_gmm();
        let TrainingSettings {
            sweeps,
            particles,
            batch,
            points,
            ..
        } = settings.training;
        assert_eq!((sweeps, particles, batch, points), (10, 10, 20, 60));
        assert_eq!(settings.model, GmmConfig::default());
        let source = Source::find("apg-gmm").unwrap();
        assert_eq!(Settings::parse(&source, "paper").unwrap().1, 200_000);
        let text = Settings::parse(&source, "papr").unwrap_err().to_string();
        assert!(text.contains("Did you mean `paper`?"), "{text}");
    }

    #[test]
    fn settings_that_make_no_sense_say_why() {
        for (from, to, part) in [
            ("[5, 10, 20]", "[5, 10, 21]", "shown_sweeps"),
            ("[1, 5, 10, 20, 25]", "[1, 7]", "must divide"),
            ("sweeps = 10 ", "swepes = 10 ", "swepes"),
        ] {
            let text = rejection::<Settings>("apg-gmm", from, to);
            assert!(text.contains(part), "{from} -> {to}: {text}");
        }
    }

    #[test]
    fn a_profile_starts_the_values_unaligned_or_at_the_exact_statistic() {
        let source = Source::find("apg-gmm").unwrap();
        let of = |profile: &str| Settings::parse(&source, profile).unwrap();
        let (paper, steps) = of("paper");
        for (profile, aligned, start) in [
            ("unaligned", false, Start::Drawn),
            ("identity", true, Start::Identity),
        ] {
            let mut expected = paper.clone();
            expected.model = GmmConfig {
                aligned,
                start,
                ..expected.model
            };
            assert_eq!(of(profile), (expected, steps));
        }
    }

    #[test]
    fn hmc_rws_moves_the_particles_of_the_one_shot_proposal() {
        let source = Source::find("apg-gmm").unwrap();
        let (settings, _) = Settings::parse(&source, "hmc-rws").unwrap();
        assert!(settings.training.hmc.is_some());
    }
}
