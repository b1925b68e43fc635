//! The figure as an experiment: a run of the mixtures for each way to divide the budget.

use super::ends::{End, Ends};
use super::{Division, Settings, Trained, figure};
use crate::kinds::apg_gmm;
use crate::population::stepwise::points;
use crate::population::{Figure, Joint, Member, Members, opened, reject};
use crate::request::Request;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::Experiment;
use helmholtz_report::Document;
use helmholtz_report::files::write_tables;
use helmholtz_runs::read_metrics;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The figure of the seeds that are asked for.
pub struct KlCurves {
    settings: Settings,
    /// Division of each unit's budget, and the clusters of its mixtures.
    of_units: Vec<(Division, usize)>,
}

/// Opens it.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense.
pub fn open<'a>(request: &Request<'a>) -> Result<Figure<'a, KlCurves>, HarnessError> {
    let args = request.args;
    let (settings, own) = Settings::parse(request.source, &args.profile)?;
    let remedy = "it takes --profile, --steps, --seeds, --jobs, --threads, --device, --out, --dry-run, --json and --fresh. The runs are chosen in \
                  its file, and an edited copy is run by its path";
    reject(request, &settings.name, false, remedy)?;
    let steps = args.steps.or(own.steps);
    let mut all: Vec<Box<dyn Member + 'a>> = Vec::new();
    let mut of_units = Vec::new();
    let mut of_figure = [0, 0];
    let beside = settings.divisions.len();
    for division in &settings.divisions {
        let source = settings.source(division)?;
        let member = opened::<apg_gmm::Settings>(request, &source, (&own.profile, steps), beside)?;
        let (_, [of_profile, steps]) = member.place();
        of_figure = [own.steps.unwrap_or(of_profile), steps];
        let clusters = member.experiment(0).model.clusters;
        of_units.extend(member.units().iter().map(|_| (division.clone(), clusters)));
        all.push(Box::new(member));
    }
    let divisions = settings.divisions.iter();
    let divisions = divisions.map(|d| json!({"sweeps": d.sweeps, "particles": d.particles}));
    let config = json!({
        "title": settings.title,
        "experiment": settings.experiment,
        "profile": own.profile,
        "divisions": divisions.collect::<Vec<_>>(),
        "steps": of_figure[1],
    });
    let members = Members::new(request, all, &settings.name, of_figure, &config)?;
    let joint = KlCurves { settings, of_units };
    Ok(Figure { joint, members })
}

impl KlCurves {
    fn ends(&self, runs: &[Trained]) -> Ends {
        Ends {
            title: self.settings.title.clone(),
            ends: runs.iter().map(|run| run.end.clone()).collect(),
        }
    }
}

impl Joint for KlCurves {
    type Part = Trained;

    fn title(&self) -> &str {
        &self.settings.title
    }

    fn part(
        &self,
        members: &Members,
        index: usize,
        result: &Value,
    ) -> Result<Trained, HarnessError> {
        let (member, own) = members.of(index);
        let column = member.column(own, result)?;
        let (division, clusters) = self.of_units[index].clone();
        let folder = members.units[index].folder.clone();
        let metrics = read_metrics(&folder)?;
        let last = |key| points(&metrics, key).last().map(|[_, value]| *value);
        let end = End {
            published: self.settings.published(&division),
            sweeps: division.sweeps,
            particles: division.particles,
            clusters,
            steps: column.steps,
            folder,
            kl: last("kl"),
            assignment_kl: last("assignment_kl"),
            one_shot_kl: last("one_shot_kl"),
            ess_eta: last("ess_eta"),
            ess_c: last("ess_c"),
            provenance: column.provenance,
        };
        Ok(Trained { end, metrics })
    }

    fn document(&self, runs: &[Trained]) -> Document {
        self.ends(runs).document()
    }

    fn json(&self, runs: &[Trained]) -> Value {
        json!(self.ends(runs).ends)
    }

    fn record(&self, runs: &[Trained]) -> Option<Value> {
        Some(json!(self.ends(runs)))
    }

    fn write(&self, runs: &[Trained], folder: &Path) -> Result<Vec<PathBuf>, HarnessError> {
        let mut files = write_tables(&self.document(runs), folder)?;
        files.extend(figure(self.title(), runs).write(folder, "kl")?);
        Ok(files)
    }
}
