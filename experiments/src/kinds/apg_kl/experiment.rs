//! The figure as an experiment: a run of the mixtures for each way to divide the budget.

use super::{Division, Settings, Trained, document, figure};
use crate::kinds::apg_gmm;
use crate::population::{Figure, Joint, Member, Members, opened, reject};
use crate::request::Request;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::Experiment;
use helmholtz_report::files::write_text;
use helmholtz_report::{Document, markdown};
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
        Ok(Trained {
            published: self.settings.published(&division),
            division,
            clusters,
            steps: column.steps,
            metrics: read_metrics(&folder)?,
            folder,
            provenance: column.provenance,
        })
    }

    fn document(&self, runs: &[Trained]) -> Document {
        document(self.title(), runs)
    }

    fn json(&self, runs: &[Trained]) -> Value {
        json!(runs.iter().map(Trained::json).collect::<Vec<_>>())
    }

    fn write(&self, runs: &[Trained], folder: &Path) -> Result<Vec<PathBuf>, HarnessError> {
        let text = markdown::render(&self.document(runs));
        let mut files = vec![write_text(folder, "table.md", &text)?];
        files.extend(figure(self.title(), runs).write(folder, "kl")?);
        Ok(files)
    }
}
