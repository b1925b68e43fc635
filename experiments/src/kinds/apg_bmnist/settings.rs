//! The experiment as data.

use std::ops::RangeInclusive;

use crate::population::hamiltonian::{HmcSettings, TrainingMoves};
use crate::published::{SquaredErrors, entries};
use crate::source::Kind;
use helmholtz_tracker::{Bounce, TrackerConfig};
use serde::{Deserialize, Serialize};

/// `experiments/apg-bmnist.toml`, or a file like it, by one of its profiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::ApgBmnist`].
    pub kind: Kind,
    /// Names the run folder.
    pub name: String,
    /// Heads the table.
    pub title: String,
    /// Names the random streams.
    pub seed: u64,
    /// Published numbers, named in the file.
    #[serde(default, skip_serializing, deserialize_with = "entries")]
    pub published: Vec<SquaredErrors>,
    /// The model and its proposals.
    pub model: TrackerConfig,
    /// Settings of the nets' training.
    pub training: TrainingSettings,
    /// Settings of the evaluation at the end.
    pub evaluation: EvaluationSettings,
}

/// Settings of the nets' training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// L.
    pub particles: usize,
    /// Sequences of a step.
    pub batch: u64,
    /// T.
    pub frames: usize,
    /// D.
    pub digits: usize,
    /// The least D, where steps have from so many digits to `digits` in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewest_digits: Option<usize>,
    /// Distance that a digit moves in a frame, in units of positions.
    pub speed: f64,
    /// Moves of the particles before they are learned from, in HMC-RWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmc: Option<TrainingMoves>,
    /// Adam's.
    pub learning_rate: f64,
    /// Share of the steps, the last of them, over which the learning rate falls linearly to zero.
    pub decay: f64,
    /// Adam's.
    pub beta_2: f64,
    /// Steps from one check to the next.
    pub check_every: u64,
    /// Sequences of a check.
    pub check_sequences: u64,
    /// Seconds from one checkpoint to the next.
    pub checkpoint_seconds: f64,
}

/// Settings of the evaluation at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSettings {
    /// T and D of each setting.
    pub settings: Vec<[usize; 2]>,
    /// Sequences of each.
    pub sequences: u64,
    /// Sequences at a time.
    pub batch: u64,
    /// L.
    pub particles: usize,
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// After how many sweeps the table shows the sampler.
    pub shown_sweeps: Vec<usize>,
    /// L of block population Gibbs; 0 leaves it out.
    pub prior_particles: usize,
    /// Hamiltonian Monte Carlo from the one-shot proposal.
    pub hmc: ChainSettings,
}

/// Hamiltonian Monte Carlo on some of the sequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainSettings {
    /// Settings of the chains' moves.
    pub moves: HmcSettings,
    /// Sequences, the first of those of the table.
    pub sequences: u64,
    /// Sequences at a time.
    pub batch: u64,
}

impl TrainingSettings {
    /// D of the steps, which have them in turn.
    pub fn digits(&self) -> RangeInclusive<usize> {
        self.fewest_digits.unwrap_or(self.digits)..=self.digits
    }

    /// The same in words.
    pub fn digits_in_words(&self) -> String {
        match self.digits().into_inner() {
            (fewest, most) if fewest < most => format!("{fewest} to {most}"),
            (_, most) => most.to_string(),
        }
    }
}

impl Settings {
    /// Sequences of this many frames and digits.
    pub fn bounce(&self, frames: usize, digits: usize) -> Bounce {
        Bounce {
            canvas: self.model.canvas,
            frames,
            digits,
            speed: self.training.speed,
        }
    }

    /// Returns what is wrong with the settings together, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        let (t, e) = (&self.training, &self.evaluation);
        let canvas = &self.model.canvas;
        let digits = e.settings.iter().map(|[_, digits]| digits);
        let beyond = |&k: &usize| k > e.sweeps;
        if canvas.digit < 2 || !28usize.is_multiple_of(canvas.digit) {
            Some(
                "a digit's side must be at least 2 and divide 28: MNIST's images are averaged to it",
            )
        } else if canvas.side <= canvas.digit {
            Some("the canvas' side must be larger than a digit's")
        } else if e.settings.is_empty() || digits.chain([&t.digits]).any(|&digits| digits > 8) {
            Some(
                "`evaluation.settings` are pairs of T and D, D at most 8 there and in `training`: digits are matched in every order",
            )
        } else if t.digits().is_empty() {
            Some("`training.fewest_digits` goes from 1 to `training.digits`")
        } else if e.shown_sweeps.iter().any(beyond) {
            Some("`evaluation.shown_sweeps` go from 1 to `evaluation.sweeps`")
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
    use helmholtz_tracker::Canvas;

    #[test]
    fn the_bundled_file_holds_the_stated_settings() {
        let source = Source::find("apg-bmnist").unwrap();
        let (paper, _) = Settings::parse(&source, "paper").unwrap();
        assert_eq!(paper.model, TrackerConfig::default());
        let TrainingSettings {
            sweeps,
            particles,
            batch,
            frames,
            digits,
            ..
        } = paper.training;
        assert_eq!(
            (sweeps, particles, batch, frames, digits),
            (5, 20, 5, 10, 3)
        );
        let (quick, _) = Settings::parse(&source, "quick").unwrap();
        assert_eq!(quick.model.canvas, Canvas::SMALL);
        let text = Settings::parse(&source, "papr").unwrap_err().to_string();
        assert!(text.contains("Did you mean `paper`?"), "{text}");
    }

    #[test]
    fn settings_that_make_no_sense_say_why() {
        for (from, to, part) in [
            ("digit = 28", "digit = 27", "divide 28"),
            ("digit = 28", "digit = 1", "at least 2"),
            ("side = 96", "side = 28", "larger than a digit's"),
            (
                "[[20, 3], [20, 5], [100, 3], [100, 5]]",
                "[[6, 9]]",
                "at most 8",
            ),
            ("digits = 3 ", "digits = 9 ", "at most 8"),
            (
                "digits = 3 ",
                "fewest_digits = 4\ndigits = 3 ",
                "fewest_digits",
            ),
            (
                "digits = 3 ",
                "fewest_digits = 0\ndigits = 3 ",
                "fewest_digits",
            ),
            ("[5, 10, 20]", "[5, 10, 21]", "shown_sweeps"),
            ("sweeps = 5 ", "swepes = 5 ", "swepes"),
        ] {
            let text = rejection::<Settings>("apg-bmnist", from, to);
            assert!(text.contains(part), "{from} -> {to}: {text}");
        }
    }

    #[test]
    fn the_mixed_profile_has_one_to_five_digits() {
        let source = Source::find("apg-bmnist").unwrap();
        let training = Settings::parse(&source, "mixed").unwrap().0.training;
        assert_eq!(training.digits(), 1..=5);
        assert_eq!(training.digits_in_words(), "1 to 5");
        let training = Settings::parse(&source, "quick").unwrap().0.training;
        assert_eq!(training.digits(), 2..=2);
        assert_eq!(training.digits_in_words(), "2");
    }

    #[test]
    fn the_moves_of_hmc_rws_are_of_the_one_shot_proposal_alone() {
        let source = Source::find("apg-bmnist").unwrap();
        let (settings, _) = Settings::parse(&source, "hmc-rws").unwrap();
        assert!(settings.training.hmc.is_some());
        let mut other = settings.clone();
        other.training.sweeps = 2;
        let problem = other.problem().unwrap();
        assert!(problem.contains("`training.sweeps` to 1"), "{problem}");
        let text = serde_json::to_string(&Settings::parse(&source, "rws").unwrap().0).unwrap();
        assert!(!text.contains("\"hmc\":null"), "{text}");
    }
}
