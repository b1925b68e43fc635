//! The figure as data.

use std::collections::BTreeMap;

use crate::error::HarnessError;
use crate::profiles::named;
use crate::published::{KlRange, entries};
use crate::source::{Kind, Source};
use serde::Deserialize;

/// `experiments/apg-kl.toml`, or a file like it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::ApgKl`].
    pub kind: Kind,
    /// Names the folder.
    pub name: String,
    /// Heads the figure.
    pub title: String,
    /// The experiment that is run: its name, or the path of its file.
    pub experiment: String,
    /// Published ends, named in the file.
    #[serde(default, deserialize_with = "entries")]
    pub published: Vec<KlRange>,
    /// Its runs.
    pub divisions: Vec<Division>,
    /// The scales at which it can be run.
    pub profile: BTreeMap<String, Profile>,
}

/// A profile of the experiment that is run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    pub profile: String,
    /// Gradient steps instead of its own.
    pub steps: Option<u64>,
}

/// A way to spend a budget.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Division {
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// L.
    pub particles: usize,
}

impl Division {
    /// Name of its run in a figure of this name.
    pub fn name(&self, figure: &str) -> String {
        format!(
            "{figure}-{}-sweeps-{}-particles",
            self.sweeps, self.particles
        )
    }
}

impl Settings {
    /// A figure's file, and one of its profiles.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense; an unknown profile, with the choices.
    pub fn parse(source: &Source, profile: &str) -> Result<(Self, Profile), HarnessError> {
        let settings: Self = source.parse()?;
        let own = named("profile", profile, &settings.profile)?.clone();
        match settings.divisions.is_empty() {
            true => Err(source.reject("`divisions` need at least one")),
            false => Ok((settings, own)),
        }
    }

    /// From where to where the published KL of a division ends, summed over clusters and dimensions.
    pub fn published(&self, division: &Division) -> Option<[f64; 2]> {
        let mut all = self.published.iter();
        let own =
            all.find(|own| [own.sweeps, own.particles] == [division.sweeps, division.particles])?;
        Some(own.range)
    }

    /// The experiment's file with the sweeps and particles of a division, and a name that says them.
    ///
    /// # Errors
    /// An experiment that is none of mixtures.
    pub fn source(&self, division: &Division) -> Result<Source, HarnessError> {
        let source = Source::find(&self.experiment)?;
        let mut table: toml::Table = source.parse()?;
        if source.kind()? != Kind::ApgGmm {
            return Err(source.reject("only runs of `kind = \"apg-gmm\"` watch this KL"));
        }
        let Division { sweeps, particles } = division;
        table.insert("name".into(), division.name(&self.name).into());
        // The published log joint is of the experiment's own sweeps and particles.
        table.remove("published");
        let training = table
            .get_mut("training")
            .and_then(toml::Value::as_table_mut);
        let training = training.ok_or_else(|| source.reject("`training` is missing"))?;
        training.insert("sweeps".into(), (*sweeps as i64).into());
        training.insert("particles".into(), (*particles as i64).into());
        Ok(Source {
            file: source.file,
            text: table.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::apg_gmm;
    use crate::population::stepwise::Stepwise;

    #[test]
    fn the_runs_are_those_of_the_mixtures_with_their_own_sweeps_and_particles() {
        let source = Source::find("apg-kl").unwrap();
        let (settings, _) = Settings::parse(&source, "paper").unwrap();
        let gmm = Source::find("apg-gmm").unwrap();
        let (gmm, _) = <apg_gmm::Settings as Stepwise>::parse(&gmm, "paper").unwrap();
        let mut counts = Vec::new();
        for division in &settings.divisions {
            let source = settings.source(division).unwrap();
            let (mut run, steps) =
                <apg_gmm::Settings as Stepwise>::parse(&source, "paper").unwrap();
            assert_eq!(steps, 200_000);
            let t = &mut run.training;
            counts.push((run.name.clone(), t.sweeps, t.particles));
            assert_eq!(t.sweeps * t.particles, 100);
            // Nothing else is changed.
            (t.sweeps, t.particles) = (gmm.training.sweeps, gmm.training.particles);
            run.name = gmm.name.clone();
            assert!(run.published.is_empty());
            run.published = gmm.published.clone();
            assert_eq!(run, gmm);
        }
        let names = [
            "apg-kl-10-sweeps-10-particles",
            "apg-kl-5-sweeps-20-particles",
            "apg-kl-2-sweeps-50-particles",
        ];
        let expected = names.into_iter().zip([(10, 10), (5, 20), (2, 50)]);
        let expected: Vec<_> = expected
            .map(|(name, (k, l))| (name.to_string(), k, l))
            .collect();
        assert_eq!(counts, expected);
    }

    #[test]
    fn what_makes_no_sense_says_why() {
        let error = |from: &str, to: &str| {
            let mut source = Source::find("apg-kl").unwrap();
            assert!(source.text.contains(from), "{from}");
            source.text = source.text.replacen(from, to, 1);
            let settings = Settings::parse(&source, "quick");
            let of = settings.and_then(|(s, _)| s.source(&s.divisions[0]).map(|_| ()));
            of.unwrap_err().to_string()
        };
        assert!(error("\"apg-gmm\"", "\"apg-dmm\"").contains("only runs of"));
        assert!(error("quick =", "quack =").contains("Did you mean `quack`?"));
    }
}
