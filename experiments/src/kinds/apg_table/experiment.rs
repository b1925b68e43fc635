//! The table as an experiment: the runs of its members.

use super::{Settings, Table};
use crate::kinds::{apg_bmnist, apg_dmm, apg_gmm};
use crate::population::{Column, Figure, Joint, Member, Members, opened, reject};
use crate::request::Request;
use crate::source::{Kind, Source};
use helmholtz_harness::error::HarnessError;
use helmholtz_report::Document;
use helmholtz_report::files::{write_tables, write_text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Opens it, of the seeds that are asked for.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense, data that are not there.
pub fn open<'a>(request: &Request<'a>) -> Result<Figure<'a, Settings>, HarnessError> {
    let args = request.args;
    let settings = Settings::parse(request.source, &args.profile)?;
    let remedy = "it takes --profile, --seeds, --jobs, --threads, --device, --data-dir, --out, --dry-run, --json and --fresh. The runs are chosen \
                  in its file, and an edited copy of experiments/apg-table1.toml is run by its path";
    args.reject(&settings.name, &[("--steps", args.steps.is_some())], remedy)?;
    reject(request, &settings.name, true, remedy)?;
    let mut all: Vec<Box<dyn Member + 'a>> = Vec::new();
    let beside = settings.members.len();
    for member in &settings.members {
        let source = Source::find(&member.experiment)?;
        let of = (member.profile.as_str(), member.steps);
        all.push(match source.kind()? {
            Kind::ApgGmm => Box::new(opened::<apg_gmm::Settings>(request, &source, of, beside)?),
            Kind::ApgDmm => Box::new(opened::<apg_dmm::Settings>(request, &source, of, beside)?),
            Kind::ApgBmnist => Box::new(opened::<apg_bmnist::Settings>(
                request, &source, of, beside,
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
    Ok(Figure {
        joint: settings,
        members,
    })
}

impl Joint for Settings {
    type Part = Column;

    fn title(&self) -> &str {
        &self.title
    }

    fn part(
        &self,
        members: &Members,
        index: usize,
        result: &Value,
    ) -> Result<Column, HarnessError> {
        let (member, own) = members.of(index);
        let mut column = member.column(own, result)?;
        column
            .rows
            .clone_from(&self.members[members.number(index)].rows);
        if let Some(sampler) = &column.rows {
            column.reached.entries.retain(|entry| entry.is_of(sampler));
            if column.reached.entries.is_empty() {
                let problem = format!("no row of the run in {} is of `{sampler}`", column.folder);
                return Err(HarnessError::Spec {
                    file: self.name.clone(),
                    problem,
                });
            }
        }
        Ok(column)
    }

    fn document(&self, columns: &[Column]) -> Document {
        Table::new(self, columns.to_vec()).document()
    }

    fn json(&self, columns: &[Column]) -> Value {
        json!(Table::new(self, columns.to_vec()))
    }

    fn record(&self, columns: &[Column]) -> Option<Value> {
        Some(self.json(columns))
    }

    fn write(&self, columns: &[Column], folder: &Path) -> Result<Vec<PathBuf>, HarnessError> {
        let table = Table::new(self, columns.to_vec());
        let pretty = serde_json::to_string_pretty(&table).expect("a table is plain data");
        let mut files = write_tables(&table.document(), folder)?;
        files.push(write_text(folder, "table.json", &(pretty + "\n"))?);
        Ok(files)
    }
}
