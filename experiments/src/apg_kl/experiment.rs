//! The figure as an experiment: a run of the mixtures for each way to divide the budget.

use super::{Division, Settings, Trained, document, figure};
use crate::apg_gmm;
use crate::population::{Member, Members, opened, refuse};
use crate::request::Request;
use crate::seeds::{Shown, together};
use helmholtz_harness::driver::Observer;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::status::Status;
use helmholtz_harness::unit::Unit;
use helmholtz_report::files::write_text;
use helmholtz_report::markdown;
use helmholtz_runs::read_metrics;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// The figure of the seeds that are asked for.
pub struct KlCurves<'a> {
    settings: Settings,
    members: Members<'a>,
    /// Of each unit: how its budget is divided, and the clusters of its mixtures.
    of_units: Vec<(Division, usize)>,
}

/// Opens it.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense.
pub fn open<'a>(request: &Request<'a>) -> Result<KlCurves<'a>, HarnessError> {
    let args = request.args;
    let settings = Settings::parse(request.source, &args.profile)?;
    let remedy = "it takes --profile, --steps, --seeds, --jobs, --device, --out, --dry-run, --json and --fresh; the runs are chosen in \
                  its file, and an edited copy is run by its path";
    refuse(request, &settings.name, false, remedy)?;
    let steps = args.steps.or(settings.steps);
    let mut all: Vec<Box<dyn Member + 'a>> = Vec::new();
    let mut of_units = Vec::new();
    let mut of_figure = [0, 0];
    for division in &settings.divisions {
        let source = settings.source(division)?;
        let profile = &settings.profile;
        let member = opened::<apg_gmm::Settings>(request, &source, profile, steps)?;
        let (_, [of_profile, steps]) = member.place();
        of_figure = [settings.steps.unwrap_or(of_profile), steps];
        let clusters = member.experiment(0).model.clusters;
        of_units.extend(member.units().iter().map(|_| (division.clone(), clusters)));
        all.push(Box::new(member));
    }
    let divisions = settings.divisions.iter();
    let divisions = divisions.map(|d| json!({"sweeps": d.sweeps, "particles": d.particles}));
    let config = json!({
        "title": settings.title,
        "experiment": settings.experiment,
        "profile": settings.profile,
        "divisions": divisions.collect::<Vec<_>>(),
        "steps": of_figure[1],
    });
    let members = Members::new(request, all, &settings.name, of_figure, &config)?;
    Ok(KlCurves {
        settings,
        members,
        of_units,
    })
}

impl Experiment for KlCurves<'_> {
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
            let column = {
                let (member, own) = self.members.of(index);
                member.column(own, result)?
            };
            let (division, clusters) = self.of_units[index].clone();
            let folder = self.members.units[index].folder.clone();
            Ok(Trained {
                division,
                clusters,
                steps: column.steps,
                metrics: read_metrics(&folder)?,
                folder,
                provenance: column.provenance,
            })
        })?;
        let title = &self.settings.title;
        let shown = seeds.iter().map(|(seed, runs)| Shown {
            seed: *seed,
            document: document(title, runs),
            json: json!(runs.len()),
        });
        let together = together(title, shown.collect());
        let write = move || {
            let mut files = Vec::new();
            for (seed, runs) in seeds {
                files.extend(self.members.write(seed, None, |folder| {
                    let text = markdown::render(&document(title, &runs));
                    let mut own = vec![write_text(folder, "table.md", &text)?];
                    own.extend(figure(title, &runs).write(folder, "kl")?);
                    Ok(own)
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
