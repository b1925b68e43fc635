//! What is measured.

use crate::cell::Cell;
use crate::error::HarnessError;
use crate::names::unknown;
use crate::nets::Net;
use helmholtz_estimators::{Entry, Method};
use helmholtz_evaluation::Replication;
use helmholtz_runs::{Checkpoint, RunFolder, Status, read_checkpoint, read_config};
use helmholtz_training::Parameters;
use serde_json::Value;
use std::path::Path;

/// What is measured: methods, on a mini-batch, at the same parameters.
#[derive(Debug, Clone)]
pub struct Request {
    /// The net's name.
    pub net: String,
    /// The estimators.
    pub methods: Vec<Entry>,
    /// Particles K for each image.
    pub particles: usize,
    /// Images of the mini-batch: the first of the training set.
    pub images: usize,
    /// Whether the methods that keep a chain an image use it: their stage II.
    pub chains: bool,
    /// Whether the methods that [take it](Method::takes_analytic_kl) are given KL(q ‖ p(h)) in closed form.
    pub analytic_kl: bool,
    /// How often, and what names the draws. Fresh parameters come from the same seed.
    pub replication: Replication,
    /// Where the parameters come from; fresh ones without.
    pub run: Option<Run>,
}

/// A run whose parameters are measured at.
#[derive(Debug, Clone)]
pub struct Run {
    /// What was run.
    pub cell: Cell,
    /// Its newest checkpoint.
    pub checkpoint: Checkpoint,
    /// Which parameters of it.
    pub parameters: Parameters,
}

impl Run {
    /// The run in `folder`, finished or not, or even going on.
    ///
    /// # Errors
    /// A folder without a run or a checkpoint, or with another program's; and what it takes to find out.
    pub fn read(folder: &Path, parameters: Parameters) -> Result<Self, HarnessError> {
        let unusable = |problem: &str| {
            let folder = folder.display();
            HarnessError::Unusable(format!("cannot measure at {folder}: {problem}"))
        };
        let Some(config) = read_config(folder)? else {
            return Err(unusable(
                "there is no run; name a run folder, such as runs/table1/quick/binarized-mnist/linear/jsa/seed-1",
            ));
        };
        let cell: Cell = serde_json::from_value(config)
            .map_err(|error| unusable(&format!("it is no run of an experiment ({error})")))?;
        let checkpoint = read_checkpoint(folder)?.ok_or_else(|| match RunFolder::peek(folder) {
            Ok(Status::Finished(_)) => unusable(
                "the run is finished and its checkpoints are gone; name a run that has some, or start it over with `--fresh`",
            ),
            _ => unusable("the run has made no checkpoint yet"),
        })?;
        let run = Self {
            cell,
            checkpoint,
            parameters,
        };
        match (parameters, run.epoch()) {
            (Parameters::Selected, None) => Err(unusable(
                "the run has made no check yet, so that no parameters are selected; leave `--selected` out",
            )),
            _ => Ok(run),
        }
    }

    /// Finished epochs, where the checkpoint tells.
    pub fn epoch(&self) -> Option<u64> {
        let state = &self.checkpoint.state;
        match self.parameters {
            Parameters::Last => state["epochs_done"].as_u64(),
            Parameters::Selected => state["selected"]["epoch"].as_u64(),
        }
    }

    /// Whether it was in its second stage, with a chain an image.
    pub fn has_chains(&self) -> bool {
        self.checkpoint.state["chains_started"] == Value::Bool(true)
    }

    /// `linear / jsa / seed 1 after 12 epochs`.
    pub fn label(&self) -> String {
        let epochs = self.epoch().unwrap_or(0);
        let which = match self.parameters {
            Parameters::Last => "after",
            Parameters::Selected => "as selected, after",
        };
        format!("{} {which} {epochs} epochs", self.cell.label())
    }
}

impl Request {
    /// Estimators by name, each once; `all` is every one.
    ///
    /// # Errors
    /// An unknown name, with the nearest.
    pub fn methods(names: &[String]) -> Result<Vec<Entry>, HarnessError> {
        let mut methods: Vec<Entry> = Vec::new();
        for name in names {
            let asked = |entry: &&Entry| name == "all" || entry.name == name;
            let found: Vec<&Entry> = Method::CATALOGUE.iter().filter(asked).collect();
            if found.is_empty() {
                let known = Method::CATALOGUE.iter().map(|entry| entry.name);
                let choices = known.chain(["all"]).map(String::from);
                return Err(unknown("method", name, choices));
            }
            for entry in found {
                if methods.iter().all(|known| known.name != entry.name) {
                    methods.push(*entry);
                }
            }
        }
        Ok(methods)
    }

    /// The net: a run's own, if there is one.
    ///
    /// # Errors
    /// An unknown name.
    pub fn net(&self) -> Result<Net, HarnessError> {
        match &self.run {
            Some(run) => Net::of(&run.cell),
            None => Net::named(&self.net),
        }
    }

    /// That every method means something for the net.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check_latents(&self) -> Result<(), HarnessError> {
        let net = self.net()?;
        let mut objections = self.methods.iter().filter_map(|entry| {
            let why = net.objection(&entry.method)?;
            Some(format!("`{}` on `{}`: {why}", entry.name, self.net))
        });
        objections
            .next()
            .map_or(Ok(()), |text| Err(HarnessError::Unusable(text)))
    }

    /// Whether `method` is measured with a chain an image.
    pub fn retains(&self, method: &Method) -> bool {
        self.chains && method.keeps_chains()
    }

    /// That every method is defined for so many particles.
    ///
    /// # Errors
    /// The first that is not, with what it needs.
    pub fn check_particles(&self) -> Result<(), HarnessError> {
        for Entry { name, method, .. } in &self.methods {
            let least = method.least_particles(self.retains(method));
            if self.particles < least {
                let given = self.particles;
                return Err(HarnessError::Unusable(format!(
                    "`{name}` needs at least {least} particles, not {given}: give `--particles {least}` or leave it out"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Vec<String> {
        let of: Vec<String> = of.iter().map(|name| name.to_string()).collect();
        let methods = Request::methods(&of).unwrap();
        methods.iter().map(|entry| entry.name.into()).collect()
    }

    #[test]
    fn methods_come_once_in_the_order_given_and_all_is_every_one() {
        assert_eq!(names(&["rloo", "jsa", "rloo"]), ["rloo", "jsa"]);
        let all = names(&["vimco", "all"]);
        assert_eq!(all[0], "vimco");
        assert_eq!(all.len(), Method::CATALOGUE.len());
        let error = Request::methods(&["rlo".into()]).unwrap_err().to_string();
        assert!(error.contains("Did you mean `rloo`?"), "{error}");
        assert!(error.ends_with("all"), "{error}");
    }

    #[test]
    fn a_folder_without_a_run_is_told_what_a_run_folder_is() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = dir.path().join("nothing");
        let error = Run::read(&nothing, Parameters::Last).unwrap_err();
        assert!(
            error.to_string().contains("name a run folder, such as"),
            "{error}"
        );
    }

    #[test]
    fn a_finished_run_without_checkpoints_is_told_from_one_that_has_made_none_yet() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let recorded = results.join("table1/paper-100-epochs/linear/jsa/seed-1");
        let dir = tempfile::tempdir().unwrap();
        let error = || {
            Run::read(dir.path(), Parameters::Last)
                .unwrap_err()
                .to_string()
        };
        for (name, part) in [
            ("config.json", "no checkpoint yet"),
            ("result.json", "its checkpoints are gone"),
        ] {
            std::fs::copy(recorded.join(name), dir.path().join(name)).unwrap();
            assert!(error().contains(part), "{}", error());
        }
    }
}
