//! The plan as a user reads it.

use crate::cell::{Cell, ScanOrder, Settings};
use crate::plan::{CellStatus, Plan, PlannedCell};
use crate::schedule::{Sizes, say};
use crate::spec::Spec;
use crate::table::say_seeds;
use console::Style;
use helmholtz_training::Optimizer;

/// What the plan's heading says, besides the plan itself.
pub struct Heading<'a> {
    /// The experiment.
    pub spec: &'a Spec,
    /// The profile's name.
    pub profile: &'a str,
    /// The data set's name.
    pub dataset: &'a str,
    /// Its sizes.
    pub sizes: Sizes,
    /// The device's name.
    pub device: &'a str,
    /// Cells at once.
    pub jobs: usize,
    /// Where the runs live.
    pub base: &'a str,
}

/// The plan in lines: what runs, on what, how long, what is done.
pub fn render(plan: &Plan, heading: &Heading, colours: bool) -> String {
    let style = |style: Style| style.force_styling(colours);
    let (bold, dim) = (style(Style::new().bold()), style(Style::new().dim()));
    let mut out = format!("{}\n", bold.apply_to(&heading.spec.title));
    let Some(first) = plan.cells.first() else {
        return out;
    };
    let mut fact = |name: &str, text: String| {
        out += &format!("{} {text}\n", dim.apply_to(format!("  {name:<8}")))
    };
    fact(
        "profile",
        format!(
            "{}: {}",
            heading.profile, heading.spec.profile[heading.profile].about
        ),
    );
    fact("training", training(plan, heading.spec));
    fact("NLL", evaluation(&first.cell, heading.sizes));
    let Sizes { train, valid, test } = heading.sizes;
    fact(
        "data",
        format!("{}, {train} / {valid} / {test} images", heading.dataset),
    );
    fact(
        "device",
        format!("{}, {} at once", heading.device, count(heading.jobs, "run")),
    );
    fact("runs in", heading.base.to_string());
    if let Ok(out @ [_, ..]) = heading.spec.left_out(heading.profile).as_deref() {
        let why = "no number of particles makes their evaluations as many";
        fact("left out", format!("{}: {why}", out.join(", ")));
    }
    out.push('\n');

    // Where each method has its own K, and no column names it.
    let each_its_own = one_particles(plan).is_none() && first.cell.particles().is_none();
    let method = |planned: &PlannedCell| {
        let Cell {
            method, settings, ..
        } = &planned.cell;
        match each_its_own {
            true => format!("{method}, K = {}", settings.particles),
            false => method.clone(),
        }
    };
    let groups = groups(plan);
    let width = |of: fn(&Cell) -> String| {
        plan.cells
            .iter()
            .map(|c| of(&c.cell).chars().count())
            .max()
            .unwrap_or(0)
    };
    let (nets, methods) = (
        width(Cell::column).max(3),
        plan.cells
            .iter()
            .map(|c| method(c).chars().count())
            .max()
            .unwrap_or(0)
            .max(6),
    );
    let seeds: Vec<String> = groups.iter().map(|group| seeds(group)).collect();
    let seed_width = seeds.iter().map(String::len).max().unwrap_or(0).max(5);
    let head = format!(
        "  {:<nets$}  {:<methods$}  {:<seed_width$}  {:>13}  Status",
        "Net", "Method", "Seeds", "Work left"
    );
    out += &format!("{}\n", bold.apply_to(head));
    let mut column = String::new();
    for (group, seeds) in groups.iter().zip(&seeds) {
        let cell = &group[0].cell;
        let named = cell.column();
        let shown = if named == column { "" } else { &named };
        column.clone_from(&named);
        let left: f64 = group.iter().map(|c| c.remaining()).sum();
        let left = if left > 0.0 {
            say(left)
        } else {
            "-".to_string()
        };
        let method = method(group[0]);
        out += &format!(
            "  {shown:<nets$}  {method:<methods$}  {seeds:<seed_width$}  {left:>13}  {}\n",
            statuses(group)
        );
    }
    out.push('\n');
    out += &format!("{}\n", bold.apply_to(summary(plan, heading.jobs)));
    out
}

/// `9 runs: 3 done, 1 resumes, 5 to do; about 2 min 40 s here.`
fn summary(plan: &Plan, jobs: usize) -> String {
    let all: Vec<&PlannedCell> = plan.cells.iter().collect();
    let runs = count(all.len(), "run");
    if all.iter().all(|planned| planned.is_done()) {
        return format!("{runs}, all done.");
    }
    let impatient = |planned: &&PlannedCell| planned.cell.settings.patience.is_some();
    let about = match all.iter().any(impatient) {
        true => "at most about",
        false => "about",
    };
    format!(
        "{runs} ({}): {about} {} on this machine.",
        statuses(&all),
        say(plan.seconds(jobs))
    )
}

/// K, if it is the same in all cells.
fn one_particles(plan: &Plan) -> Option<usize> {
    let mut particles = plan.cells.iter().map(|c| c.cell.settings.particles);
    let first = particles.next()?;
    particles.all(|other| other == first).then_some(first)
}

fn training(plan: &Plan, spec: &Spec) -> String {
    let cell = &plan.cells[0].cell;
    let s = &cell.settings;
    // Where numbers of particles are compared, or each method has its own, each row has its own.
    let particles = match (cell.particles(), one_particles(plan), spec.evaluations) {
        (_, _, Some(evaluations)) => format!(", {evaluations} evaluations of f an image"),
        (None, Some(particles), None) => format!(", K = {particles}"),
        _ => String::new(),
    };
    let patience = match s.patience {
        Some(patience) => format!(" or until {patience} after the best"),
        None => String::new(),
    };
    let optimizer = match s.optimizer {
        Optimizer::Adam => "Adam",
        Optimizer::Momentum => "damped momentum",
    };
    let scan = match s.scan {
        ScanOrder::Shuffled => "",
        ScanOrder::WithReplacement => ", images drawn with replacement",
    };
    let stage = match s.switch_epoch() {
        switch if switch == s.epochs => String::new(),
        switch => format!(", stage II after epoch {switch}"),
    };
    let batch = range(plan, |settings| settings.batch as u64);
    let epochs = match range(plan, |settings| settings.epochs).as_str() {
        "1" => "1 epoch".to_string(),
        epochs => format!("{epochs} epochs"),
    };
    format!(
        "{epochs}{patience}{stage}, batch {batch}{particles}, {optimizer} {}{scan}",
        s.learning_rate
    )
}

/// `400`, or `363-2272` where cells differ.
fn range(plan: &Plan, of: impl Fn(&Settings) -> u64) -> String {
    let numbers = || plan.cells.iter().map(|planned| of(&planned.cell.settings));
    match (numbers().min(), numbers().max()) {
        (Some(least), Some(most)) if least < most => format!("{least}-{most}"),
        (least, _) => least.unwrap_or(0).to_string(),
    }
}

fn evaluation(cell: &Cell, sizes: Sizes) -> String {
    let s = &cell.settings;
    let images = |wanted: Option<u64>, all: u64| match wanted {
        Some(n) if n < all => format!("{n} random"),
        _ => format!("{all}"),
    };
    let every = if s.check_every == 1 {
        "every epoch".to_string()
    } else {
        format!("every {} epochs", s.check_every)
    };
    let last = s
        .final_samples
        .as_ref()
        .map_or(String::new(), |samples| format!(", finally {samples}"));
    let valid = images(s.valid_images, sizes.valid);
    if !s.tests_at_checks() {
        return format!("{every} on {valid} valid; S = {}{last}", s.valid_samples);
    }
    format!(
        "{every} on {valid} valid, {} test; S = {}{last}",
        images(s.test_images, sizes.test),
        s.test_samples,
    )
}

/// Cells that differ in their seed alone, which follow each other.
fn groups(plan: &Plan) -> Vec<Vec<&PlannedCell>> {
    plan.cells
        .chunk_by(|a, b| a.cell.column() == b.cell.column() && a.cell.method == b.cell.method)
        .map(|group| group.iter().collect())
        .collect()
}

fn seeds(group: &[&PlannedCell]) -> String {
    let seeds: Vec<u64> = group.iter().map(|c| c.cell.seed).collect();
    let said = say_seeds(&seeds);
    said.split_once(' ')
        .map_or(said.clone(), |(_, numbers)| numbers.to_string())
}

/// `2 done, 1 resumes after epoch 300, 2 to do`.
fn statuses(group: &[&PlannedCell]) -> String {
    let count = |of: &dyn Fn(&CellStatus) -> bool| group.iter().filter(|c| of(&c.status)).count();
    let partial = group.iter().filter_map(|c| match c.status {
        CellStatus::Partial { epoch } => Some(epoch),
        _ => None,
    });
    let partial: Vec<u64> = partial.collect();
    let mut parts = Vec::new();
    let mut part = |n: usize, text: &str| {
        if n > 0 {
            parts.push(format!("{n} {text}"));
        }
    };
    part(count(&|s| matches!(s, CellStatus::Done(_))), "done");
    let resumes = match (partial.iter().min(), partial.iter().max()) {
        (Some(first), Some(last)) if first == last => format!("resume after epoch {first}"),
        (Some(first), Some(last)) => format!("resume after epoch {first}-{last}"),
        _ => String::new(),
    };
    part(partial.len(), &resumes);
    part(
        count(&|s| matches!(s, CellStatus::Failed { .. })),
        "failed before, to try again",
    );
    part(
        count(&|s| matches!(s, CellStatus::Running { .. })),
        "running in another process",
    );
    part(
        count(&|s| matches!(s, CellStatus::Unusable { .. })),
        "folder unusable",
    );
    part(count(&|s| *s == CellStatus::New), "to do");
    match parts.as_slice() {
        [one] if group.len() == 1 => one.trim_start_matches("1 ").to_string(),
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
    use crate::cell::tests::cell;
    use crate::schedule::Work;
    use crate::spec::tests::table1;

    #[test]
    fn the_plan_reads_as_it_should() {
        let work = Work {
            epoch: 10.0,
            check: 5.0,
            last: 0.0,
        };
        let planned = |net: &str, method: &str, seed, status| PlannedCell {
            cell: cell(net, method, seed),
            folder: "x".into(),
            status,
            needs: Default::default(),
            work,
        };
        let plan = Plan {
            cells: vec![
                planned("linear", "jsa", 1, CellStatus::Partial { epoch: 3 }),
                planned("linear", "jsa", 2, CellStatus::New),
                planned("linear", "rws", 1, CellStatus::New),
                planned(
                    "two-layers",
                    "jsa",
                    1,
                    CellStatus::Failed {
                        reason: "NaN".into(),
                    },
                ),
            ],
        };
        let spec = table1();
        let heading = Heading {
            spec: &spec,
            profile: "quick",
            dataset: "binarized-mnist",
            sizes: Sizes {
                train: 50_000,
                valid: 10_000,
                test: 10_000,
            },
            device: "cpu",
            jobs: 2,
            base: "runs/table1/quick/binarized-mnist",
        };
        assert_eq!(
            render(&plan, &heading, false),
            "\
JSA Table 1: Bernoulli VAEs, test NLL
  profile  quick: a few epochs of one seed, in minutes
  training 5 epochs, stage II after epoch 3, batch 50, K = 2, Adam 0.0003
  NLL      every 5 epochs on 10000 valid, 10000 test; S = 100
  data     binarized-mnist, 50000 / 10000 / 10000 images
  device   cpu, 2 runs at once
  runs in  runs/table1/quick/binarized-mnist

  Net         Method  Seeds      Work left  Status
  linear      jsa     1-2       1 min 20 s  1 resume after epoch 3, 1 to do
              rws     1               55 s  to do
  two-layers  jsa     1               55 s  failed before, to try again

4 runs (1 resume after epoch 3, 1 failed before, to try again, 2 to do): about 1 min 50 s on this machine.
"
        );
    }
}
