//! Heading of a table's plan.

use crate::cell::{Cell, ScanOrder, Settings};
use crate::cli::Reproduce;
use crate::data::{Data, Sizes};
use crate::spec::Spec;
use crate::trial::Trial;
use helmholtz_harness::experiment::Heading;
use helmholtz_harness::plan_text::count;
use helmholtz_training::Optimizer;
use std::path::Path;

/// Heading of the plan: what runs, on what, where.
pub fn of(
    args: &Reproduce,
    spec: &Spec,
    data: &Data,
    trials: &[Trial],
    jobs: usize,
    base: &Path,
) -> Heading {
    let (profile, sizes) = (&args.profile, data.sizes());
    let Sizes { train, valid, test } = sizes;
    let dataset = &data.splits.name;
    let mut facts = vec![
        (
            "profile",
            format!("{profile}: {}", spec.profile[profile].about),
        ),
        ("training", training(trials, spec)),
        ("NLL", evaluation(&trials[0].cell, sizes)),
        (
            "data",
            format!("{dataset}, {train} / {valid} / {test} images"),
        ),
        (
            "device",
            format!("{}, {} at once", args.device.as_str(), count(jobs, "run")),
        ),
        ("runs in", base.display().to_string()),
    ];
    if let Ok(out @ [_, ..]) = spec.excluded(profile).as_deref() {
        let why = "no number of particles makes their evaluations as many";
        facts.push(("left out", format!("{}: {why}", out.join(", "))));
    }
    Heading {
        title: spec.title.clone(),
        facts,
        columns: vec!["Net", "Method"],
        may_end_early: trials
            .iter()
            .any(|trial| trial.cell.settings.patience.is_some()),
        remedy: "give fewer `--jobs` or another `--out`, or choose some of the `--method`s, `--net`s and `--seeds`",
    }
}

/// K, if it is the same in all cells.
pub fn one_particles(trials: &[Trial]) -> Option<usize> {
    let mut particles = trials.iter().map(|trial| trial.cell.settings.particles);
    let first = particles.next()?;
    particles.all(|other| other == first).then_some(first)
}

fn training(trials: &[Trial], spec: &Spec) -> String {
    let cell = &trials[0].cell;
    let s = &cell.settings;
    // Where numbers of particles are compared, or each method has its own, each row has its own.
    let particles = match (cell.particles(), one_particles(trials), spec.evaluations) {
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
    let batch = range(trials, |settings| settings.batch as u64);
    let epochs = match range(trials, |settings| settings.epochs).as_str() {
        "1" => "1 epoch".to_string(),
        epochs => format!("{epochs} epochs"),
    };
    format!(
        "{epochs}{patience}{stage}, batch {batch}{particles}, {optimizer} {}{scan}",
        s.learning_rate
    )
}

/// `400`, or `363-2272` where cells differ.
fn range(trials: &[Trial], of: impl Fn(&Settings) -> u64) -> String {
    let numbers = || trials.iter().map(|trial| of(&trial.cell.settings));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::tests::table1;
    use crate::trial::tests::trial;

    #[test]
    fn training_and_evaluation_read_as_they_should() {
        let trial = trial("linear", "jsa", 1);
        assert_eq!(
            training(std::slice::from_ref(&trial), &table1()),
            "5 epochs, stage II after epoch 3, batch 50, K = 2, Adam 0.0003"
        );
        let sizes = Sizes {
            train: 50_000,
            valid: 10_000,
            test: 10_000,
        };
        assert_eq!(
            evaluation(&trial.cell, sizes),
            "every 5 epochs on 10000 valid, 10000 test; S = 100"
        );
    }
}
