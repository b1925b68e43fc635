//! The experiment as data.

use crate::cell::{Cell, Overrides};
use crate::error::HarnessError;
use crate::profiles::named;
use crate::registry::Registry;
use crate::source::{Kind, Source};
use crate::spec::{Selection, Spec};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::VarianceCurve`].
    pub kind: Kind,
    /// Names the run folders.
    pub name: String,
    /// Heads figure and table.
    pub title: String,
    /// The table whose settings the runs have, those of its profile `paper`.
    pub table: String,
    /// The net.
    pub net: String,
    /// The methods that run unless the user names some.
    pub methods: Vec<String>,
    /// The seed, unless the user names some.
    pub seed: u64,
    /// Settings that differ from the table's.
    #[serde(default)]
    pub settings: Overrides,
    /// The scales at which it can be run.
    pub profile: BTreeMap<String, Profile>,
}

pub use crate::works::track::Profile;

/// The profile of the table whose settings the runs have.
const PROFILE: &str = "paper";

impl Settings {
    /// The experiment that a file describes, and the table that it stands on.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense.
    pub fn parse(source: &Source, registry: &Registry) -> Result<(Self, Spec), HarnessError> {
        let settings: Self = source.parse()?;
        let spec = Spec::parse(&Source::find(&settings.table)?, registry)?;
        let table = &settings.table;
        let without = (!spec.profile.contains_key(PROFILE)).then(|| {
            format!("`{table}` has no profile `{PROFILE}`, from which settings are taken")
        });
        source.check(without)?;
        Ok((settings, spec))
    }

    /// The profile called `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn profile(&self, name: &str) -> Result<&Profile, HarnessError> {
        named("profile", name, &self.profile)
    }

    /// The cells of these methods and seeds, as the table has them but for what this experiment changes.
    ///
    /// # Errors
    /// Unknown names, or a cell that cannot be run.
    pub fn cells(
        &self,
        spec: &Spec,
        profile: &Profile,
        methods: &[String],
        seeds: &[u64],
        dataset: &str,
    ) -> Result<Vec<Cell>, HarnessError> {
        let selection = Selection {
            nets: vec![self.net.clone()],
            methods: methods.to_vec(),
            seeds: seeds.to_vec(),
            epochs: Some(profile.epochs),
            ..Selection::default()
        };
        let mut cells = spec.cells(PROFILE, &selection, dataset)?;
        for cell in &mut cells {
            cell.experiment = self.name.clone();
            self.settings.apply(&mut cell.settings);
            // What the table makes of a finished run is not asked for here.
            cell.settings.test_at_checks = None;
            cell.settings.final_samples = None;
            cell.settings.reported_samples = None;
            cell.settings.released_nll = false;
            if let Some(problem) = cell.settings.problem() {
                let file = cell.label();
                return Err(HarnessError::Spec { file, problem });
            }
            spec.registry.trial(cell)?;
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fig3() -> (Settings, Spec) {
        Settings::parse(&Source::find("fig3").unwrap(), &Registry::default()).unwrap()
    }

    #[test]
    fn a_table_without_the_papers_settings_is_refused() {
        let mut source = Source::find("fig3").unwrap();
        source.text = source.text.replace("\"table2\"", "\"estimators\"");
        let refused = Settings::parse(&source, &Registry::default());
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("`estimators` has no profile `paper`"),
            "{text}"
        );
    }

    #[test]
    fn the_paper_measures_every_fiftieth_epoch_and_the_last() {
        let (settings, _) = fig3();
        let paper = settings.profile("paper").unwrap();
        let expected = [0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 499];
        assert_eq!(paper.measured(), expected);
        assert_eq!((paper.images, paper.replicates), (200, 1000));
    }

    #[test]
    fn cells_train_as_table_2_does() {
        let (settings, spec) = fig3();
        let paper = settings.profile("paper").unwrap();
        let cells = settings.cells(&spec, paper, &settings.methods, &[1], "threshold-mnist");
        let cells = cells.unwrap();
        assert_eq!(cells.len(), 4);
        for cell in &cells {
            let of = &cell.settings;
            assert_eq!(
                (of.batch, of.learning_rate, of.switch_epoch()),
                (200, 3e-4, 300)
            );
            let races = cell.method == "arsm";
            assert_eq!(of.particles, if races { 1 } else { 20 });
            assert_eq!(of.free_logits, cell.method == "st-gumbel-softmax-learned");
        }
        let rejected = settings.cells(&spec, paper, &["disarm".into()], &[1], "threshold-mnist");
        assert!(rejected.unwrap_err().to_string().contains("bits alone"));
    }

    #[test]
    fn a_profile_that_leads_out_of_the_folder_is_refused() {
        let mut source = Source::find("fig3").unwrap();
        source.text = source.text.replace("profile.quick", "profile.\"../quick\"");
        let text = Settings::parse(&source, &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(text.contains("`../quick` names a folder"), "{text}");
    }

    #[test]
    fn the_last_epoch_is_measured_once() {
        let (settings, _) = fig3();
        let quick = settings.profile("quick").unwrap();
        assert_eq!(quick.measured(), [0, 1, 2, 3]);
    }
}
