//! The plan as a user reads it, and as a line of JSON.

use crate::experiment::{Heading, Hint};
use crate::machine::bytes;
use crate::names::format_seeds;
use crate::plan::{Plan, PlannedUnit};
use crate::schedule::format_duration;
use crate::status::Status;
use console::Style;
use serde_json::{Value, json};

/// The plan in lines: what runs, on what, how long, what is done.
pub fn render(plan: &Plan, heading: &Heading, jobs: usize, colours: bool) -> String {
    let table = table(plan, heading, colours);
    if plan.units.is_empty() {
        return table;
    }
    let bold = Style::new().bold().force_styling(colours);
    let summary = summary(plan, heading, jobs);
    table + &format!("{}\n", bold.apply_to(summary))
}

/// Its units, a line for those of the same names.
pub fn table(plan: &Plan, heading: &Heading, colours: bool) -> String {
    let style = |style: Style| style.force_styling(colours);
    let (bold, dim) = (style(Style::new().bold()), style(Style::new().dim()));
    let mut out = format!("{}\n", bold.apply_to(&heading.title));
    for (name, text) in &heading.facts {
        out += &format!("{} {text}\n", dim.apply_to(format!("  {name:<8}")));
    }
    if plan.units.is_empty() {
        return out;
    }
    out.push('\n');
    let groups: Vec<&[PlannedUnit]> = plan
        .units
        .chunk_by(|a, b| a.unit.names == b.unit.names)
        .collect();
    let seeds: Vec<String> = groups.iter().map(|group| seeds(group)).collect();
    let width = |texts: &mut dyn Iterator<Item = &str>, least: usize| {
        texts.fold(least, |width, text| text.chars().count().max(width))
    };
    let widths: Vec<usize> = (0..heading.columns.len())
        .map(|column| {
            let mut names = plan.units.iter().map(|p| p.unit.names[column].as_str());
            width(&mut names, heading.columns[column].chars().count())
        })
        .collect();
    let seed_width = width(&mut seeds.iter().map(String::as_str), 5);
    let row = |names: &[&str], seeds: &str, left: &str, status: &str| {
        let names = names.iter().zip(&widths);
        let names: String = names.map(|(name, w)| format!("{name:<w$}  ")).collect();
        format!("  {names}{seeds:<seed_width$}  {left:>13}  {status}")
    };
    let head = row(&heading.columns, "Seeds", "Work left", "Status");
    out += &format!("{}\n", bold.apply_to(head));
    let mut above = "";
    for (group, seeds) in groups.iter().zip(&seeds) {
        let mut names: Vec<&str> = group[0].unit.names.iter().map(String::as_str).collect();
        // What the row above has, too, is not said again, unless it is all that there is.
        if let [first, _, ..] = names.as_mut_slice() {
            let own = std::mem::replace(&mut above, first);
            if own == *first {
                *first = "";
            }
        }
        let left: f64 = group.iter().map(PlannedUnit::remaining).sum();
        let left = match left > 0.0 || left.is_nan() {
            true => format_duration(left),
            false => "-".to_string(),
        };
        out += &format!("{}\n", row(&names, seeds, &left, &statuses(group)));
    }
    out.push('\n');
    out
}

/// The plan as a line of JSON.
pub fn json(plan: &Plan, jobs: usize, hint: Option<&Hint>) -> Value {
    let units = plan.units.iter().map(|planned| {
        let unit = &planned.unit;
        let mut line = json!({
            "label": unit.label,
            "seed": unit.seed,
            "config": unit.config,
            "folder": unit.folder.display().to_string(),
            "status": statuses(std::slice::from_ref(planned)),
            "done": planned.status.is_done(),
            "seconds_left": planned.remaining(),
        });
        line[format!("{}s_done", unit.count.name)] = planned.done().into();
        line[format!("{}s", unit.count.name)] = unit.count.all.into();
        for (name, value) in &unit.fields {
            line[name] = value.clone();
        }
        line
    });
    let needs = plan.needs(jobs);
    let mut line = json!({
        "event": "plan",
        "units": units.collect::<Vec<_>>(),
        "jobs": jobs,
        "seconds": plan.seconds(jobs),
        "memory": needs.memory,
        "disk": needs.disk,
    });
    if let Some(Value::Object(fields)) = hint.map(|hint| &hint.fields) {
        for (name, value) in fields {
            line[name] = value.clone();
        }
    }
    line
}

/// `9 runs (3 done, 6 to do): about 2 min 40 s on this machine, with at least 1.20 MiB of memory and 64.00 KiB of disk.`
fn summary(plan: &Plan, heading: &Heading, jobs: usize) -> String {
    let runs = count(plan.units.len(), "run");
    if plan.units.iter().all(|planned| planned.status.is_done()) {
        return format!("{runs}, all done.");
    }
    let about = match heading.may_end_early {
        true => "at most about",
        false => "about",
    };
    format!(
        "{runs} ({}): {about} {} on this machine{}.",
        statuses(&plan.units),
        format_duration(plan.seconds(jobs)),
        needs(plan, jobs)
    )
}

/// `, with at least 1.20 MiB of memory and 64.00 KiB of disk`; nothing where nothing is known to be needed.
fn needs(plan: &Plan, jobs: usize) -> String {
    let needs = plan.needs(jobs);
    let known = [("memory", needs.memory), ("disk", needs.disk)];
    let known = known.iter().filter(|(_, needed)| *needed > 0);
    let known: Vec<String> = known
        .map(|(what, needed)| format!("{} of {what}", bytes(*needed)))
        .collect();
    match known.is_empty() {
        true => String::new(),
        false => format!(", with at least {}", known.join(" and ")),
    }
}

fn seeds(group: &[PlannedUnit]) -> String {
    let seeds: Vec<u64> = group.iter().map(|planned| planned.unit.seed).collect();
    let said = format_seeds(&seeds);
    let numbers = said.split_once(' ').map(|(_, numbers)| numbers.to_string());
    numbers.unwrap_or(said)
}

/// `2 done, 1 resume after epoch 300, 2 to do`.
fn statuses(group: &[PlannedUnit]) -> String {
    let partial = group.iter().filter_map(|planned| match planned.status {
        Status::Partial { done } => Some(done),
        _ => None,
    });
    let partial: Vec<u64> = partial.collect();
    let name = group.first().map_or("", |planned| planned.unit.count.name);
    let resume = match (partial.iter().min(), partial.iter().max()) {
        (Some(first), Some(last)) if first == last => format!("resume after {name} {first}"),
        (Some(first), Some(last)) => format!("resume after {name} {first}-{last}"),
        _ => String::new(),
    };
    type Is = fn(&Status) -> bool;
    let kinds: [(Is, &str); 7] = [
        (Status::is_done, "done"),
        (|s| matches!(s, Status::Partial { .. }), &resume),
        (
            |s| *s == Status::Trained,
            "trained, measured by other settings, to measure again",
        ),
        (
            |s| matches!(s, Status::Failed { .. }),
            "failed before, to try again",
        ),
        (
            |s| matches!(s, Status::Running { .. }),
            "running in another process",
        ),
        (|s| matches!(s, Status::Unusable { .. }), "folder unusable"),
        (|s| *s == Status::New, "to do"),
    ];
    let parts = kinds.iter().filter_map(|(is, text)| {
        let n = group.iter().filter(|planned| is(&planned.status)).count();
        (n > 0).then(|| format!("{n} {text}"))
    });
    let parts: Vec<String> = parts.collect();
    match parts.as_slice() {
        // Of one unit, or of several: "2 to do".
        [one] => one.trim_start_matches("1 ").to_string(),
        _ => parts.join(", "),
    }
}

/// `1 run`, `2 runs`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;
    use crate::work::Work;

    fn planned(net: &str, method: &str, seed: u64, status: Status) -> PlannedUnit {
        let work = Work {
            each: 10.0,
            check: 5.0,
            check_every: Some(5),
            last: 0.0,
        };
        let mut planned = fake::planned(net, status, work);
        planned.unit.seed = seed;
        planned.unit.names.push(method.into());
        planned
    }

    #[test]
    fn the_plan_reads_as_it_should() {
        let failed = Status::Failed {
            reason: "NaN".into(),
            done: 0,
        };
        let units = vec![
            planned("linear", "jsa", 1, Status::Partial { done: 3 }),
            planned("linear", "jsa", 2, Status::New),
            planned("linear", "rws", 1, Status::New),
            planned("two-layers", "jsa", 1, failed),
            planned("two-layers", "rws", 1, Status::Done(Box::default())),
        ];
        let heading = Heading {
            title: "Table 1".into(),
            facts: vec![("profile", "quick".into()), ("device", "cpu".into())],
            columns: vec!["Net", "Method"],
            ..Heading::default()
        };
        assert_eq!(
            render(&Plan { units }, &heading, 2, false),
            "\
Table 1
  profile  quick
  device   cpu

  Net         Method  Seeds      Work left  Status
  linear      jsa     1-2       1 min 20 s  1 resume after epoch 3, 1 to do
              rws     1               55 s  to do
  two-layers  jsa     1               55 s  failed before, to try again
              rws     1                  -  done

5 runs (1 done, 1 resume after epoch 3, 1 failed before, to try again, 2 to do): about 1 min 50 s on this machine.
"
        );
    }

    #[test]
    fn what_is_left_says_what_it_needs() {
        let mut units = vec![
            planned("linear", "jsa", 1, Status::New),
            planned("linear", "jsa", 2, Status::New),
        ];
        for unit in &mut units {
            (unit.cost.needs.memory, unit.cost.needs.disk) = (3 << 20, 5 << 10);
        }
        let plan = Plan { units };
        // Of memory what runs at once, of disk what all leave.
        let expected = ", with at least 3.00 MiB of memory and 10.00 KiB of disk";
        assert_eq!(needs(&plan, 1), expected);
        let line = json(&plan, 2, None);
        assert_eq!(
            (&line["memory"], &line["disk"]),
            (&(6 << 20).into(), &(10 << 10).into())
        );
    }

    #[test]
    fn every_line_of_json_has_the_same_form() {
        let units = vec![planned("linear", "jsa", 1, Status::Partial { done: 3 })];
        let line = json(&Plan { units }, 2, None);
        let unit = &line["units"][0];
        assert_eq!((&line["event"], &line["jobs"]), (&"plan".into(), &2.into()));
        assert_eq!(
            (&unit["epochs_done"], &unit["epochs"]),
            (&3.into(), &5.into())
        );
        assert_eq!(
            (&unit["net"], &unit["done"]),
            (&"linear".into(), &false.into())
        );
    }

    #[test]
    fn runs_of_one_state_are_counted_together() {
        let at = |done| planned("linear", "jsa", 1, Status::Partial { done });
        assert_eq!(statuses(&[at(3)]), "resume after epoch 3");
        assert_eq!(statuses(&[at(3), at(3)]), "2 resume after epoch 3");
        assert_eq!(statuses(&[at(4), at(1), at(3)]), "3 resume after epoch 1-4");
        let new = || planned("linear", "jsa", 1, Status::New);
        let eleven: Vec<PlannedUnit> = (0..11).map(|_| new()).collect();
        assert_eq!(statuses(&eleven), "11 to do");
    }
}
