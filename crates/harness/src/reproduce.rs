//! The whole: plan, drive, show.

use crate::cancel::check_cancelled;
use crate::driver::{Ended, drive};
use crate::error::HarnessError;
use crate::experiment::{Experiment, Hint, Outcome};
use crate::loading::{Loading, Planning};
use crate::machine::Machine;
use crate::plan::{Plan, PlannedUnit};
use crate::plan_text::{self, count};
use crate::progress::bars::Bars;
use crate::progress::board::Board;
use crate::progress::json::Json;
use crate::progress::lines::Lines;
use crate::progress::{Progress, Sink};
use crate::status::Status;
use crate::streams::Streams;
use console::style;
use helmholtz_runs::{OpenMode, RunError, RunFolder};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// End of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Everything asked for is done.
    Complete,
    /// Some runs failed; the errors have been shown.
    Failed,
    /// Stopped on request; the same command resumes.
    Interrupted,
    /// A task of a cluster was stopped after a checkpoint, and is queued again.
    Requeued,
}

/// Options of a request, whatever the experiment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Units at once.
    pub jobs: usize,
    /// Plan only.
    pub dry_run: bool,
    /// Lines of JSON on standard output.
    pub json: bool,
    /// Start the units over; their old folders are kept aside.
    pub fresh: bool,
    /// Free memory and disk space where the run folders are.
    pub machine: Machine,
}

/// Carries out a request, until it is done or `stop` is set.
///
/// # Errors
/// What keeps the request from starting: a unit that cannot be built, too little memory or disk, a stop before anything ran
/// ([`HarnessError::Interrupted`]). Errors of single units are shown at the end and give [`End::Failed`].
pub fn reproduce(
    experiment: &dyn Experiment,
    options: &Options,
    stop: &Arc<AtomicBool>,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let Options { jobs, json, .. } = *options;
    let heading = experiment.heading();
    print_notice(&experiment.banner(), streams);
    let (mut plan, hint) = plan(experiment, options, stop, streams)?;
    streams.out.line(match json {
        true => plan_text::json(&plan, jobs, hint.as_ref()).to_string(),
        false => plan_text::render(&plan, &heading, jobs, streams.out_colours),
    });
    options.machine.check(plan.needs(jobs), heading.remedy)?;
    let mut outcomes = Vec::new();
    let mut printed = Ok(());
    // One without runs of its own draws those of others, which costs nothing to show.
    if plan.units.is_empty() {
        printed = print_outcome(experiment, options, &plan, &outcomes, streams);
    } else if !options.dry_run {
        if options.fresh {
            experiment.archive_folders()?;
            archive_folders(&mut plan);
        }
        let sinks = sinks(options, &plan, streams);
        let progress = Progress::new(&plan, jobs, Arc::clone(stop), sinks);
        outcomes = drive(experiment, &plan, jobs, &progress, stop);
        progress.finish();
        printed = print_outcome(experiment, options, &plan, &outcomes, streams);
    }
    let end = end(options, &plan, &outcomes, streams);
    printed?;
    if let (End::Complete, Some(hint), false) = (end, hint, json) {
        streams.out.line(hint.text);
    }
    Ok(end)
}

pub(crate) fn plan(
    experiment: &dyn Experiment,
    options: &Options,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<(Plan, Option<Hint>), HarnessError> {
    let (_planning, loading) = (Planning::begin(), Loading::new(streams));
    let plan = Plan::new(experiment, options.fresh, &|unit| {
        loading.state(format!("measuring {}", unit.label));
        check_cancelled(stop)
    })?;
    let hint = experiment.hint(options.jobs)?;
    check_cancelled(stop)?;
    Ok((plan, hint))
}

/// Empties the run folders of a plan, keeping the old ones aside, all before the first unit starts: however that ends, no old result is
/// taken for a new one. A folder that cannot be emptied is left, and not run.
pub(crate) fn archive_folders(plan: &mut Plan) {
    for planned in &mut plan.units {
        let unit = &planned.unit;
        if let Err(error) = RunFolder::open(&unit.folder, &unit.config, OpenMode::Fresh) {
            planned.status = Status::Unusable {
                reason: error.to_string(),
            };
        }
    }
}

pub(crate) fn sinks(options: &Options, plan: &Plan, streams: &Streams) -> Vec<Box<dyn Sink>> {
    let units = plan.units.len();
    let mut sinks: Vec<Box<dyn Sink>> = vec![match streams.err_is_live {
        true => Box::new(Bars::new(&Board::new(plan, options.jobs))),
        false => Box::new(Lines::new(streams.err.clone(), units)),
    }];
    if options.json {
        sinks.push(Box::new(Json::new(streams.out.clone(), units)));
    }
    sinks
}

/// Shows what has come of it, and writes its files unless a folder could not be used: they may hold what is in there.
pub(crate) fn print_outcome(
    experiment: &dyn Experiment,
    options: &Options,
    plan: &Plan,
    outcomes: &[Ended],
    streams: &Streams,
) -> Result<(), HarnessError> {
    let result = |ended: &Ended| match ended {
        Ended::Done(result, _) => Some(result.clone()),
        _ => None,
    };
    let results: Vec<Option<Value>> = outcomes.iter().map(result).collect();
    let Some(outcome) = experiment.outcome(&results)? else {
        return Ok(());
    };
    let Outcome {
        document,
        json: table,
        write,
    } = outcome;
    if !options.json {
        streams.out.line("");
        streams.show(&document);
        print_notice(&experiment.banner(), streams);
    }
    let files = match plan.has_unusable() || options.dry_run {
        true => Vec::new(),
        false => write()?,
    };
    if options.json {
        // Paths as text: JSON has no others.
        let files = files.iter().map(|path| path.display().to_string());
        let files: Vec<String> = files.collect();
        let line = json!({"event": "table", "document": document, "table": table, "files": files});
        streams.out.line(line.to_string());
    } else if !files.is_empty() {
        let line = format!("Written to {}", named_together(&files));
        streams.out.line(line);
    }
    if plan.has_unusable() {
        streams.err.line(
            "Tables and figures are not written, as not every run folder can be used: they are left as they were.",
        );
    }
    Ok(())
}

/// Shows every error, says how to go on, and tells how it ended.
pub(crate) fn end(options: &Options, plan: &Plan, outcomes: &[Ended], streams: &Streams) -> End {
    let without = if options.fresh {
        " without --fresh"
    } else {
        ""
    };
    let (mut failures, mut again) = (Vec::new(), false);
    for (index, planned) in plan.units.iter().enumerate() {
        let label = &planned.unit.label;
        match (&planned.status, outcomes.get(index)) {
            (_, Some(Ended::Failed(error))) => {
                again |= tries_again(planned, error);
                failures.push(format!("  {label}: {error}"));
            }
            (Status::Unusable { reason }, None) => failures.push(format!("  {label}: {reason}")),
            _ => {}
        }
    }
    if !failures.is_empty() {
        let title = match options.dry_run {
            true => format!("{} cannot be run:", count(failures.len(), "run")),
            false => format!("{} failed:", count(failures.len(), "run")),
        };
        let title = style(title).for_stderr().red().bold().to_string();
        let lines = [String::new(), title].into_iter().chain(failures.clone());
        lines.for_each(|line| streams.err.line(line));
        if again {
            streams.err.line(format!(
                "The same command{without} tries again, from the last checkpoint of each."
            ));
        }
    }
    let is_stopped = |end: &Ended| matches!(end, Ended::Interrupted { .. } | Ended::NotStarted);
    if outcomes.iter().any(is_stopped) {
        let remedy = format!("Stopped. The same command{without} resumes.");
        streams.err.line(remedy);
        return End::Interrupted;
    }
    match failures.is_empty() {
        true => End::Complete,
        false => End::Failed,
    }
}

/// Whether the same command would come further with a unit: it was at work, and nothing is wrong with its folder or its settings.
pub(crate) fn tries_again(planned: &PlannedUnit, error: &HarnessError) -> bool {
    let ends_again = match error {
        HarnessError::Result { .. } | HarnessError::Again(_) => true,
        HarnessError::Run(error) => matches!(
            error,
            RunError::OtherConfig { .. }
                | RunError::OtherData { .. }
                | RunError::OtherVersion { .. }
                | RunError::NotARunFolder { .. }
                | RunError::Damaged { .. }
                | RunError::NoUsableCheckpoint { .. }
        ),
        _ => false,
    };
    planned.status.is_to_run() && !ends_again
}

pub(crate) fn print_notice(lines: &[String], streams: &Streams) {
    if lines.is_empty() {
        return;
    }
    streams.err.line("");
    for line in lines {
        let line = style(line).for_stderr().yellow().bold().to_string();
        streams.err.line(line);
    }
    streams.err.line("");
}

/// `runs/x/table.md, table.csv, table.json`.
pub fn named_together(paths: &[PathBuf]) -> String {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        format!(", {}", name.to_string_lossy())
    };
    let rest: String = paths.iter().skip(1).map(|path| name(path)).collect();
    let first = paths.first().map(|first| first.display().to_string());
    first.unwrap_or_default() + &rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Counting;
    use crate::streams::Captured;
    use crate::streams::assert_contains;

    fn options() -> Options {
        Options {
            jobs: 1,
            machine: Machine {
                memory: Some(1 << 30),
                disk: Some(1 << 30),
            },
            ..Options::default()
        }
    }

    /// The end, standard output and standard error.
    fn carried_out(
        experiment: &Counting,
        options: &Options,
    ) -> (Result<End, HarnessError>, String, String) {
        let (out, err) = (Captured::default(), Captured::default());
        let streams = Captured::streams(&out, &err);
        let stop = experiment.stop.clone().unwrap_or_default();
        let end = reproduce(experiment, options, &stop, &streams);
        (end, out.take(), err.take())
    }

    #[test]
    fn a_dry_run_plans_and_runs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        let mut options = options();
        options.dry_run = true;
        let (end, out, _) = carried_out(&experiment, &options);
        assert_eq!(end.unwrap(), End::Complete);
        assert!(out.contains("2 runs (2 to do)"), "{out}");
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn an_interrupted_request_resumes_with_the_same_command_and_is_then_done() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b", "c"]);
        experiment.stop = Some(Arc::default());
        experiment.stop_in = Some(("b", 2));
        let (end, out, err) = carried_out(&experiment, &options());
        assert_eq!(end.unwrap(), End::Interrupted);
        assert!(err.contains("The same command resumes."), "{err}");
        assert!(out.contains("1 of 3 units are done."), "{out}");

        let experiment = Counting::new(dir.path(), &["a", "b", "c"]);
        let (end, out, err) = carried_out(&experiment, &options());
        assert_eq!(end.unwrap(), End::Complete);
        assert_contains(&out, &["3 runs (1 done, 1 resume after epoch 2, 1 to do)"]);
        assert!(err.contains("b / seed 1: resumes after epoch 2/5"), "{err}");

        let (end, out, err) = carried_out(&experiment, &options());
        assert_eq!(end.unwrap(), End::Complete);
        assert!(
            out.contains("3 runs, all done.") && !err.contains("started"),
            "{out}{err}"
        );
    }

    #[test]
    fn a_plan_that_needs_more_memory_than_there_is_is_refused_before_anything_starts() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a"]);
        experiment.memory = 1 << 50;
        let (end, _, err) = carried_out(&experiment, &options());
        let text = end.unwrap_err().to_string();
        assert_contains(
            &text,
            &["not enough memory: at least ", "give fewer `--jobs`"],
        );
        assert!(!err.contains("started"), "{err}");
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_stop_while_measuring_runs_and_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a"]);
        experiment.stop = Some(Arc::new(true.into()));
        let (end, out, _) = carried_out(&experiment, &options());
        assert!(matches!(end, Err(HarnessError::Interrupted { epoch: 0 })));
        assert_eq!(
            (out.as_str(), dir.path().read_dir().unwrap().count()),
            ("", 0)
        );
    }

    #[test]
    fn a_failed_unit_is_shown_at_the_end_and_the_others_are_in_the_outcome() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b", "c"]);
        experiment.fail = "b";
        let (end, out, err) = carried_out(&experiment, &options());
        assert_eq!(end.unwrap(), End::Failed);
        let failed = "1 run failed:\n  b / seed 1: NaN loss at epoch 2, step 7";
        assert!(err.contains(failed), "{err}");
        assert!(err.contains("The same command tries again"), "{err}");
        assert!(out.contains("2 of 3 units are done."), "{out}");
    }

    #[test]
    fn where_the_outcome_cannot_be_written_it_is_shown_and_so_are_failures() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("table.md/x")).unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b"]);
        experiment.fail = "b";
        let (end, out, err) = carried_out(&experiment, &options());
        let text = end.unwrap_err().to_string();
        assert!(text.contains("cannot write") && text.contains("table.md"));
        assert!(out.contains("1 of 2 units are done."), "{out}");
        assert!(err.contains("1 run failed:"), "{err}");
    }

    #[test]
    fn fresh_starts_all_over_before_the_first_runs_and_keeps_the_old_folders() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        carried_out(&experiment, &options()).0.unwrap();
        let mut options = options();
        options.fresh = true;
        let mut stopped = Counting::new(dir.path(), &["a", "b"]);
        stopped.stop = Some(Arc::default());
        stopped.stop_in = Some(("a", 1));
        let (end, out, err) = carried_out(&stopped, &options);
        assert_eq!(end.unwrap(), End::Interrupted);
        assert!(out.contains("2 runs (2 to do)"), "{out}");
        assert_contains(&err, &["The same command without --fresh resumes."]);
        for name in ["a", "b"] {
            let aside = dir.path().join(name).join("seed-1.old-1/result.json");
            assert!(aside.is_file());
            assert!(!dir.path().join(name).join("seed-1/result.json").exists());
        }
    }

    #[test]
    fn a_folder_of_another_configuration_fails_alone_and_what_is_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        carried_out(&experiment, &options()).0.unwrap();
        let table = || std::fs::read(dir.path().join("table.md")).unwrap();
        let before = table();
        let mut other = Counting::new(dir.path(), &["a", "b"]);
        other.change_config();
        let (end, out, err) = carried_out(&other, &options());
        assert_eq!(end.unwrap(), End::Failed);
        assert_contains(&err, &["another configuration", "--fresh"]);
        assert!(
            out.contains("folder unusable") && !out.contains("Written to"),
            "{out}"
        );
        assert!(
            err.contains("left as they were") && !err.contains("tries again"),
            "{err}"
        );
        assert_eq!(table(), before);
        let mut dry = options();
        dry.dry_run = true;
        let (end, _, err) = carried_out(&other, &dry);
        assert_eq!(end.unwrap(), End::Failed);
        assert!(
            err.contains("1 run cannot be run:") && !err.contains("tries again"),
            "{err}"
        );
    }

    #[test]
    fn json_lines_hold_the_plan_the_events_and_the_table_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        let mut options = options();
        options.json = true;
        let (end, out, _) = carried_out(&experiment, &options);
        assert_eq!(end.unwrap(), End::Complete);
        let lines = out.lines().map(serde_json::from_str);
        let lines: Vec<Value> = lines.collect::<Result<_, _>>().unwrap();
        let last = lines.last().unwrap();
        assert_eq!(
            (&lines[0]["event"], &last["event"], &last["table"]["done"]),
            (&"plan".into(), &"table".into(), &2.into())
        );
        let blocks = &last["document"]["sections"][0]["blocks"];
        assert!(blocks[0].is_object(), "{}", last["document"]);
        assert_eq!(last["files"].as_array().unwrap().len(), 1);
        assert_eq!(
            lines.iter().filter(|line| line["event"] == "done").count(),
            2
        );
    }

    #[test]
    fn what_is_wrong_with_a_folder_is_not_mended_by_the_same_command() {
        let planned = crate::fake::planned("a", Status::New, crate::work::Work::default());
        let folder = || "a".into();
        let tries = |error| tries_again(&planned, &error);
        assert!(tries(HarnessError::Cell("NaN loss".into())));
        assert!(!tries(HarnessError::Again("it diverged".into())));
        assert!(!tries(HarnessError::Run(RunError::NotARunFolder {
            path: folder(),
            why: String::new(),
        })));
        assert!(tries(HarnessError::Run(RunError::Io {
            action: "read",
            path: folder(),
            source: std::io::Error::other("stale file handle"),
        })));
        assert!(!tries(HarnessError::Result {
            folder: folder(),
            source: serde_json::from_str::<u8>("x").unwrap_err(),
        }));
    }

    #[test]
    fn a_notice_stands_by_itself_and_files_of_one_folder_together() {
        let err = Captured::default();
        let streams = Captured::streams(&Captured::default(), &err);
        print_notice(&[], &streams);
        assert_eq!(err.take(), "");
        print_notice(&["Generated images.".into()], &streams);
        assert_eq!(err.take(), "\nGenerated images.\n\n");
        let paths = ["runs/x/table.md", "runs/x/table.csv"].map(PathBuf::from);
        assert_eq!(named_together(&paths), "runs/x/table.md, table.csv");
        assert_eq!(named_together(&[]), "");
    }
}
