//! `reproduce apg-table1` and its like: the runs of several experiments, and their numbers side by side.

use super::joint;
use super::reproduce::{End, named_together, shown, stopped};
use super::stepwise::{self, Folder};
use super::streams::Streams;
use crate::apg_table::{Column, Member, Settings, Table};
use crate::cli::Reproduce;
use crate::error::HarnessError;
use crate::source::{Kind, Source};
use crate::stepwise::Stepwise;
use crate::{apg_bmnist, apg_dmm, apg_gmm};
use helmholtz_datasets::Locator;
use helmholtz_report::files::write_text;
use helmholtz_report::{csv, markdown, text};
use serde_json::json;
use std::sync::atomic::AtomicBool;

/// Carries out a request for the table in `source`: each run in its own folder, as its own experiment would, and the table at the end.
///
/// # Errors
/// As [`stepwise::reproduce`] for any of the runs.
pub fn reproduce(
    args: &Reproduce,
    source: &Source,
    locator: &Locator,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let settings = Settings::parse(source, &args.profile)?;
    let remedy = "it takes --profile, --seed, --device, --data-dir, --out, --dry-run, --json and --fresh; the runs are chosen in its file, \
                  and an edited copy of experiments/apg-table1.toml is run by its path";
    args.refuse(&settings.name, &[("--steps", args.steps.is_some())], remedy)?;
    stepwise::refuse(args, &settings.name, true, remedy)?;
    let members = settings.members.iter().map(|member| {
        let source = Source::find(&member.experiment)?;
        let kind = source.kind()?;
        match kind {
            Kind::ApgGmm | Kind::ApgDmm | Kind::ApgBmnist => Ok((member, source, kind)),
            _ => Err(HarnessError::Spec {
                file: settings.name.clone(),
                problem: format!(
                    "`{}` is no experiment of amortized population Gibbs",
                    member.experiment
                ),
            }),
        }
    });
    let members: Vec<_> = members.collect::<Result<_, HarnessError>>()?;
    let runs = members.iter().map(|(member, source, kind)| {
        let run = Run {
            member,
            source,
            locator,
            stop,
            streams,
        };
        (run, kind)
    });
    let planned = runs.clone().map(|(run, kind)| match kind {
        Kind::ApgGmm => run.plan::<apg_gmm::Settings>(args),
        Kind::ApgDmm => run.plan::<apg_dmm::Settings>(args),
        _ => run.plan::<apg_bmnist::Settings>(args),
    });
    let planned: Vec<_> = planned.collect::<Result<_, HarnessError>>()?;
    let seed = planned[0].0;
    let config = json!({"title": settings.title, "members": settings.members});
    let place = stepwise::place(args, &settings.name, seed, [0, 0]);
    let mut folders = vec![joint::folder(args, place, config)?];
    folders.extend(planned.into_iter().map(|(_, folder)| folder));
    let of_runs = stepwise::started_over(args, &folders)?;
    let mut columns = Vec::new();
    for (run, kind) in runs {
        let column = match kind {
            Kind::ApgGmm => run.column::<apg_gmm::Settings>(&of_runs),
            Kind::ApgDmm => run.column::<apg_dmm::Settings>(&of_runs),
            _ => run.column::<apg_bmnist::Settings>(&of_runs),
        };
        columns.extend(match column {
            Err(HarnessError::Interrupted { .. }) if !args.dry_run => {
                return Ok(stopped(args, streams));
            }
            column => column?,
        });
    }
    if args.dry_run || columns.is_empty() {
        return Ok(End::Complete);
    }
    let folder = folders[0].open()?;
    let table = Table::new(&settings, columns);
    if !args.json {
        streams
            .out
            .line(text::render(&table.document(), streams.out_colours));
    }
    let json_text = serde_json::to_string_pretty(&table).expect("a table is plain data") + "\n";
    let files = [
        write_text(
            folder.path(),
            "table.md",
            &markdown::render(&table.document()),
        )?,
        write_text(
            folder.path(),
            "table.csv",
            &csv::render(&table.samplers_table()),
        )?,
        write_text(folder.path(), "table.json", &json_text)?,
    ];
    joint::finish(folder, args, seed, Some(json!(table)))?;
    if args.json {
        let line = json!({"event": "table", "table": table, "files": shown(&files)});
        streams.out.line(line.to_string());
    } else {
        let line = format!("Written to {}", named_together(&files));
        streams.out.line(line);
    }
    Ok(End::Complete)
}

struct Run<'a> {
    member: &'a Member,
    source: &'a Source,
    locator: &'a Locator,
    stop: &'a AtomicBool,
    streams: &'a Streams,
}

impl Run<'_> {
    /// The request for the member's run.
    fn request<E: Stepwise>(&self, args: &Reproduce) -> Reproduce {
        let Member {
            experiment,
            profile,
            steps,
        } = self.member.clone();
        Reproduce {
            experiment,
            profile,
            steps,
            data_dir: args.data_dir.clone().filter(|_| E::READS_DATA),
            ..args.clone()
        }
    }

    /// The seed and the folder of the member's run, which can start.
    fn plan<E: Stepwise>(&self, args: &Reproduce) -> Result<(u64, Folder), HarnessError> {
        let args = self.request::<E>(args);
        let planned = stepwise::plan::<E>(&args, self.source, self.locator)?;
        Ok((planned.seed, planned.folder))
    }

    /// The member's run, as a column if it is finished.
    fn column<E: Stepwise>(&self, args: &Reproduce) -> Result<Option<Column>, HarnessError> {
        let args = self.request::<E>(args);
        let done = stepwise::run::<E>(&args, self.source, self.locator, self.stop, self.streams)?;
        Ok(done.outcome.map(|outcome| {
            let mut column = done.experiment.column(&outcome);
            column.folder = done.place.display().to_string();
            column
        }))
    }
}
