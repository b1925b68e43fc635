//! A figure or table of several experiments' runs, as an experiment.

use super::Members;
use crate::seeds::{SeedDocument, together};
use helmholtz_harness::driver::Observer;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::status::Status;
use helmholtz_harness::unit::Unit;
use helmholtz_report::Document;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Result that the runs of one seed show together.
pub trait Joint: Sync {
    /// Part that a finished run adds to it.
    type Part;

    /// Heads it.
    fn title(&self) -> &str;

    /// Returns the part that the run of a unit adds.
    ///
    /// # Errors
    /// A result of another shape, files that cannot be read.
    fn part(
        &self,
        members: &Members,
        index: usize,
        result: &Value,
    ) -> Result<Self::Part, HarnessError>;

    /// For people.
    fn document(&self, parts: &[Self::Part]) -> Document;

    /// Its line of JSON.
    fn json(&self, parts: &[Self::Part]) -> Value;

    /// Returns what the result of its folder keeps.
    fn record(&self, _parts: &[Self::Part]) -> Option<Value> {
        None
    }

    /// Writes its files into `folder`.
    ///
    /// # Errors
    /// Files that cannot be written.
    fn write(&self, parts: &[Self::Part], folder: &Path) -> Result<Vec<PathBuf>, HarnessError>;
}

/// Joint result, and the runs that it is made of.
pub struct Figure<'a, J> {
    /// Result that they show together.
    pub joint: J,
    /// The runs.
    pub members: Members<'a>,
}

impl<J: Joint> Experiment for Figure<'_, J> {
    fn heading(&self) -> Heading {
        Heading {
            title: self.joint.title().into(),
            columns: vec!["Experiment"],
            remedy: "give fewer `--jobs`",
            ..Heading::default()
        }
    }

    fn units(&self) -> &[Unit] {
        &self.members.units
    }

    fn status(&self, unit: &Unit) -> Status {
        let mut units = self.members.units.iter();
        let index = units.position(|own| own.folder == unit.folder);
        let (member, own) = self.members.of(index.expect("a unit of its own"));
        member.status(&member.units()[own])
    }

    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        let (member, own) = self.members.of(index);
        member.cost(own)
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        let (member, own) = self.members.of(index);
        member.run(own, observer, stop)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let (member, own) = self.members.of(index);
        member.summary(own, result)
    }

    fn archive_folders(&self) -> Result<(), HarnessError> {
        self.members.archive_folders()
    }

    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let Self { joint, members } = self;
        let part = |index: usize, result: &Value| joint.part(members, index, result);
        let seeds = members.by_seed(results, part)?;
        let shown = seeds.iter().map(|(seed, parts)| SeedDocument {
            seed: *seed,
            document: joint.document(parts),
            json: joint.json(parts),
        });
        let together = together(joint.title(), shown.collect());
        let write = move || {
            let mut files = Vec::new();
            for (seed, parts) in &seeds {
                let record = joint.record(parts);
                files.extend(members.write(*seed, record, |folder| joint.write(parts, folder))?);
            }
            Ok(files)
        };
        Ok(together.map(|(document, json)| Outcome {
            document,
            json,
            write: Box::new(write),
        }))
    }
}
