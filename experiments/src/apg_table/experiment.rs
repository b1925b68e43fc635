//! The table as an experiment: the runs of its members.

use super::{Settings, Table};
use crate::population::{Member, Members, opened, refuse};
use crate::request::Request;
use crate::seeds::{Shown, together};
use crate::source::{Kind, Source};
use crate::{apg_bmnist, apg_dmm, apg_gmm};
use helmholtz_harness::driver::Observer;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::status::Status;
use helmholtz_harness::unit::Unit;
use helmholtz_report::files::write_text;
use helmholtz_report::{csv, markdown};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// The table of the seeds that are asked for.
pub struct SamplersTable<'a> {
    settings: Settings,
    members: Members<'a>,
}

/// Opens it.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense, data that are not there.
pub fn open<'a>(request: &Request<'a>) -> Result<SamplersTable<'a>, HarnessError> {
    let args = request.args;
    let settings = Settings::parse(request.source, &args.profile)?;
    let remedy = "it takes --profile, --seeds, --jobs, --device, --data-dir, --out, --dry-run, --json and --fresh; the runs are chosen \
                  in its file, and an edited copy of experiments/apg-table1.toml is run by its path";
    args.refuse(&settings.name, &[("--steps", args.steps.is_some())], remedy)?;
    refuse(request, &settings.name, true, remedy)?;
    let mut all: Vec<Box<dyn Member + 'a>> = Vec::new();
    for member in &settings.members {
        let source = Source::find(&member.experiment)?;
        let (profile, steps) = (&member.profile, member.steps);
        all.push(match source.kind()? {
            Kind::ApgGmm => Box::new(opened::<apg_gmm::Settings>(
                request, &source, profile, steps,
            )?),
            Kind::ApgDmm => Box::new(opened::<apg_dmm::Settings>(
                request, &source, profile, steps,
            )?),
            Kind::ApgBmnist => Box::new(opened::<apg_bmnist::Settings>(
                request, &source, profile, steps,
            )?),
            _ => {
                return Err(HarnessError::Spec {
                    file: settings.name.clone(),
                    problem: format!(
                        "`{}` is no experiment of amortized population Gibbs",
                        member.experiment
                    ),
                });
            }
        });
    }
    let config = json!({"title": settings.title, "members": settings.members});
    let members = Members::new(request, all, &settings.name, [0, 0], &config)?;
    Ok(SamplersTable { settings, members })
}

impl Experiment for SamplersTable<'_> {
    fn heading(&self) -> Heading {
        Heading {
            title: self.settings.title.clone(),
            columns: vec!["Experiment"],
            remedy: "give fewer `--jobs`",
            ..Heading::default()
        }
    }

    /// Two trainings at once in one process were seen to end in other bits than one after the other; in two processes they do not.
    fn most_at_once(&self) -> usize {
        1
    }

    fn units(&self) -> &[Unit] {
        &self.members.units
    }

    fn status(&self, unit: &Unit) -> Status {
        self.members.status(unit)
    }

    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        self.members.cost(index)
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        self.members.run(index, observer, stop)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let (member, own) = self.members.of(index);
        member.summary(own, result)
    }

    fn start_over(&self) -> Result<(), HarnessError> {
        self.members.start_over()
    }

    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let seeds = self.members.by_seed(results, |index, result| {
            let (member, own) = self.members.of(index);
            member.column(own, result)
        })?;
        let tables = seeds
            .into_iter()
            .map(|(seed, columns)| (seed, Table::new(&self.settings, columns)));
        let tables: Vec<(u64, Table)> = tables.collect();
        let shown = tables.iter().map(|(seed, table)| Shown {
            seed: *seed,
            document: table.document(),
            json: json!(table),
        });
        let together = together(&self.settings.title, shown.collect());
        let write = move || {
            let mut files = Vec::new();
            for (seed, table) in tables {
                let value = json!(table);
                let pretty = serde_json::to_string_pretty(&table).expect("a table is plain data");
                files.extend(self.members.write(seed, Some(value), |folder| {
                    let text = markdown::render(&table.document());
                    Ok(vec![
                        write_text(folder, "table.md", &text)?,
                        write_text(folder, "table.csv", &csv::render(&table.samplers_table()))?,
                        write_text(folder, "table.json", &(pretty + "\n"))?,
                    ])
                })?);
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
