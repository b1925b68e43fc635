//! Progress of an experiment, from its run folders alone: nothing is computed, and no scheduler is asked.

use crate::error::HarnessError;
use crate::experiment::{Cost, Experiment};
use crate::plan::{Plan, PlannedUnit};
use crate::plan_text;
use crate::reproduce::{End, print_notice};
use crate::schedule::{format_duration, makespan};
use crate::status::Status;
use crate::streams::Streams;
use crate::unit::Unit;
use crate::work::Work;
use helmholtz_runs::read_checkpoint;
use serde_json::{Value, json};

/// A unit's state in one word.
fn word(status: &Status) -> &'static str {
    match status {
        Status::Done(_) => "done",
        Status::Running { .. } => "running",
        Status::Failed { .. } | Status::Unusable { .. } => "failed",
        Status::New | Status::Partial { .. } | Status::Trained => "waiting",
    }
}

/// A unit as its folder shows it.
struct Found {
    planned: PlannedUnit,
    word: &'static str,
    /// Finished counts, of the last checkpoint while it runs.
    done: u64,
    /// Seconds for each count, where something has been counted.
    pace: Option<f64>,
}

/// Shows which runs are done, running, waiting and failed, and what is left to do at the pace of what is done.
///
/// # Errors
/// None of its own.
pub fn overview(
    experiment: &dyn Experiment,
    json: bool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    print_notice(&experiment.banner(), streams);
    let units = experiment.units().iter().enumerate();
    let mut found: Vec<Found> = units.map(|unit| inspect(experiment, unit)).collect();
    estimate(&mut found);
    let count = |word: &str| found.iter().filter(|found| found.word == word).count();
    let [done, running, waiting, failed] = ["done", "running", "waiting", "failed"].map(count);
    let left = found
        .iter()
        .filter(|found| found.word == "running" || found.word == "waiting");
    let seconds: Vec<f64> = left.map(|found| found.planned.cost.work.last).collect();
    // The sum of none is −0.
    let work = seconds.iter().sum::<f64>() + 0.0;
    let mut longest = seconds.clone();
    longest.sort_by(|a, b| b.total_cmp(a));
    let until = makespan(longest, running.max(1));
    if json {
        let unit = |found: &Found| {
            let unit = &found.planned.unit;
            json!({
                "label": unit.label, "seed": unit.seed, "folder": unit.folder.display().to_string(), "status": found.word,
                format!("{}s_done", unit.count.name): found.done, format!("{}s", unit.count.name): unit.count.all,
            })
        };
        let seconds = |seconds: f64| seconds.is_finite().then_some(seconds);
        let line = json!({
            "event": "status", "done": done, "running": running, "waiting": waiting, "failed": failed,
            "work_seconds": seconds(work), "seconds": seconds(until),
            "units": found.iter().map(unit).collect::<Vec<Value>>(),
        });
        streams.out.line(line.to_string());
        return Ok(End::Complete);
    }
    let reasons: Vec<String> = found.iter().filter_map(reason).collect();
    let units = found.into_iter().map(|found| found.planned).collect();
    let heading = experiment.heading();
    streams.out.line(plan_text::table(
        &Plan { units },
        &heading,
        streams.out_colours,
    ));
    let mut line = format!("{done} done, {running} running, {waiting} waiting, {failed} failed");
    if running + waiting > 0 {
        line += &match running {
            0 => format!("; {} of work left, and none at work", format_duration(work)),
            _ => format!(
                "; {} of work left, about {} at {running} at once",
                format_duration(work),
                format_duration(until)
            ),
        };
    }
    streams.out.line(line + ".");
    for reason in reasons {
        streams.err.line(reason);
    }
    Ok(End::Complete)
}

fn reason(found: &Found) -> Option<String> {
    let (Status::Failed { reason, .. } | Status::Unusable { reason }) = &found.planned.status
    else {
        return None;
    };
    Some(format!("  {}: {reason}", found.planned.unit.label))
}

fn inspect(experiment: &dyn Experiment, (index, unit): (usize, &Unit)) -> Found {
    let status = experiment.status(unit);
    let word = word(&status);
    let checkpoint = match &status {
        Status::Running { .. } | Status::Partial { .. } | Status::Failed { .. } => {
            read_checkpoint(&unit.folder).unwrap_or(None)
        }
        _ => None,
    };
    let of_result = |result: &Value| {
        let seconds = [&result["provenance"]["seconds"], &result["seconds"]];
        seconds.into_iter().find_map(Value::as_f64)
    };
    let (done, seconds) = match (&status, &checkpoint) {
        (Status::Done(result), _) => (unit.count.all, of_result(result)),
        (_, Some(last)) => {
            let done = last.state[experiment.done_key()].as_u64().unwrap_or(0);
            (done, Some(last.seconds))
        }
        (status, None) => (status.done(unit.count.all), None),
    };
    let pace = seconds
        .filter(|_| done > 0)
        .map(|seconds| seconds / done as f64);
    let planned = PlannedUnit {
        index,
        unit: unit.clone(),
        status,
        cost: Cost::default(),
    };
    Found {
        planned,
        word,
        done,
        pace,
    }
}

/// Puts into each unit's cost what is left of it, at its own pace, or that of units of the same names, or of all; unknown without any.
fn estimate(found: &mut [Found]) {
    let mean = |of: &dyn Fn(&&Found) -> bool| {
        let paces = found.iter().filter(of).filter_map(|found| found.pace);
        let paces: Vec<f64> = paces.collect();
        (!paces.is_empty()).then(|| paces.iter().sum::<f64>() / paces.len() as f64)
    };
    let left: Vec<f64> = found
        .iter()
        .map(|own| {
            let counts = own.planned.unit.count.all.saturating_sub(own.done);
            let alike = |other: &&Found| other.planned.unit.names == own.planned.unit.names;
            let pace = own
                .pace
                .or_else(|| mean(&alike))
                .or_else(|| mean(&|_| true));
            pace.unwrap_or(f64::NAN) * counts as f64
        })
        .collect();
    for (own, left) in found.iter_mut().zip(left) {
        own.planned.cost.work = Work {
            last: left,
            ..Work::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::NoopObserver;
    use crate::fake::Counting;
    use crate::streams::Captured;
    use crate::streams::assert_contains;
    use helmholtz_runs::{Failure, OpenMode, RunFolder};
    use std::sync::atomic::AtomicBool;

    fn shown(experiment: &Counting, json: bool) -> String {
        let written = Captured::default();
        let streams = Captured::streams(&written, &written);
        overview(experiment, json, &streams).unwrap();
        written.take()
    }

    #[test]
    fn what_is_left_goes_at_its_own_pace_or_that_of_its_kind_or_of_all() {
        let found = |name: &str, done: u64, pace: Option<f64>| Found {
            planned: crate::fake::planned(name, Status::New, Work::default()),
            word: "waiting",
            done,
            pace,
        };
        let left = |mut all: Vec<Found>| -> Vec<f64> {
            estimate(&mut all);
            all.iter().map(|own| own.planned.cost.work.last).collect()
        };
        let all = vec![
            found("a", 3, Some(10.0)),
            found("a", 1, Some(20.0)),
            found("a", 0, None),
            found("b", 2, None),
            found("c", 5, Some(60.0)),
        ];
        // Of five each: its own; the mean of its name, 15; the mean of all, 30.
        assert_eq!(left(all), [20.0, 80.0, 75.0, 90.0, 0.0]);
        assert!(left(vec![found("a", 0, None)])[0].is_nan());
    }

    #[test]
    fn the_work_that_is_left_is_told_and_how_long_it_takes_what_is_at_work() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b", "c", "d"]);
        experiment.stop_in = Some(("a", 3));
        let go = AtomicBool::new(false);
        experiment.run(0, &NoopObserver, &go).unwrap_err();
        let pace =
            |experiment: &Counting, n: usize| inspect(experiment, (n, &experiment.units()[n])).pace;
        let own = pace(&experiment, 0).unwrap();
        let last = read_checkpoint(&experiment.units()[0].folder).unwrap();
        assert_eq!(own, last.unwrap().seconds / 3.0);
        assert_eq!(pace(&experiment, 1), None);
        // A checkpoint of nothing has no pace.
        let open = |n: usize| {
            let unit = &experiment.units()[n];
            RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume).unwrap()
        };
        let mut at_work = [open(1), open(2)];
        at_work[0]
            .save_checkpoint(&serde_json::json!({"epochs_done": 0}), &[])
            .unwrap();
        assert_eq!(pace(&experiment, 1), None);
        let line: Value = serde_json::from_str(&shown(&experiment, true)).unwrap();
        let of = |key: &str| line[key].as_f64().unwrap();
        // Two counts of one, and five each of three.
        assert!((of("work_seconds") / own - 17.0).abs() < 0.01, "{line}");
        // Two at once: 5 and 5, then 5, then 2.
        assert!((of("seconds") / own - 10.0).abs() < 0.01, "{line}");
        let text = shown(&experiment, false);
        assert_contains(
            &text,
            &["0 done, 2 running, 2 waiting, 0 failed", "at 2 at once."],
        );
        assert!(text.starts_with("Counting\n"), "{text}");
        drop(at_work);
        assert_contains(
            shown(&experiment, false),
            &["of work left, and none at work."],
        );
    }

    #[test]
    fn of_what_is_done_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a"]);
        let go = AtomicBool::new(false);
        experiment.run(0, &NoopObserver, &go).unwrap();
        let text = shown(&experiment, false);
        assert!(
            text.ends_with("1 done, 0 running, 0 waiting, 0 failed.\n"),
            "{text}"
        );
    }

    #[test]
    fn every_state_is_told_from_the_folders_and_nothing_is_measured() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b", "c", "d", "e"]);
        assert!(
            shown(&experiment, false)
                .contains("0 done, 0 running, 5 waiting, 0 failed; ? of work left")
        );
        let go = AtomicBool::new(false);
        experiment.run(0, &NoopObserver, &go).unwrap();
        experiment.stop_in = Some(("b", 3));
        experiment.run(1, &NoopObserver, &go).unwrap_err();
        let open = |n: usize| {
            let unit = &experiment.units()[n];
            RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume).unwrap()
        };
        let mut running = open(2);
        running
            .save_checkpoint(&serde_json::json!({"epochs_done": 4}), &[])
            .unwrap();
        let failure = Failure {
            reason: "NaN loss".into(),
            ..Failure::default()
        };
        open(3).fail(&failure).unwrap();
        let text = shown(&experiment, false);
        assert_contains(&text, &["1 done, 1 running, 2 waiting, 1 failed"]);
        assert!(text.contains("d / seed 1: NaN loss"), "{text}");
        let line: Value = serde_json::from_str(&shown(&experiment, true)).unwrap();
        let of = |n: usize| {
            (
                line["units"][n]["status"].clone(),
                line["units"][n]["epochs_done"].clone(),
            )
        };
        assert_eq!(
            [of(0), of(1), of(2)],
            [("done", 5), ("waiting", 3), ("running", 4)].map(|(s, n)| (s.into(), n.into()))
        );
        assert!(experiment.measured.lock().unwrap().is_empty());
        drop(running);
    }
}
