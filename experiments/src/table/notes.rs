//! The sentences below a table: what must be known to read its numbers.

use super::{Row, Source};
use crate::cell::Cell;
use crate::folders::CellStatus;
use crate::likelihood::cell_runner::CellResult;
use helmholtz_datasets::caution;
use helmholtz_harness::names::format_seeds;
use helmholtz_report::Note;

/// The notes of a table with these rows, the gravest first; `deviations` are those of its runs from the publication.
pub(crate) fn notes(
    source: Source,
    deviations: &[String],
    rows: &[Row],
    cells: &[(Cell, CellStatus)],
) -> Vec<Note> {
    let results: Vec<&CellResult> = rows.iter().flat_map(|row| row.results.values()).collect();
    let mut cautions = Vec::new();
    let mut data: Vec<&String> = results
        .iter()
        .filter_map(|r| r.fingerprint.as_ref())
        .collect();
    data.sort_unstable();
    data.dedup();
    if data.len() > 1 {
        cautions.push("OTHER DATA: the runs of this table are not all on the same images, by their fingerprints.".to_string());
    }
    cautions.extend(caution(source.dataset).map(String::from));
    if let (Some(published), false) = (source.published, results.is_empty()) {
        let short = |all: u64| {
            let done = results.iter().map(|r| r.epochs_done);
            distinct(done.filter(|&epochs| epochs < all))
        };
        match published.epochs.map(|all| (all, short(all))) {
            Some((all, short)) if !short.is_empty() => cautions.push(format!(
                "NOT CONVERGED NUMBERS: {} of the paper's {all} epochs.",
                list(&short)
            )),
            _ => {}
        }
    }
    if source
        .published
        .is_none_or(|published| published.epochs.is_none())
    {
        let short = cells.iter().filter_map(|(cell, status)| match status {
            CellStatus::Done(result) => {
                let spec = source.spec;
                let all = spec.whole(source.profile, &cell.net, &cell.method)?;
                (result.epochs_done < all && cell.settings.patience.is_none())
                    .then_some((result.epochs_done, all))
            }
            _ => None,
        });
        let short: Vec<(u64, u64)> = short.collect();
        if !short.is_empty() {
            let done = distinct(short.iter().map(|(done, _)| *done));
            let all = distinct(short.iter().map(|(_, all)| *all));
            cautions.push(format!(
                "NOT CONVERGED NUMBERS: {}, where the profile that trains to the end has {}.",
                epochs(&done),
                list(&all)
            ));
        }
    }
    let cut_short = cells.iter().filter(|(cell, status)| match status {
        CellStatus::Done(result) => {
            let waited = result.epochs_done - result.selected_epoch;
            cell.settings
                .patience
                .is_some_and(|patience| waited < patience)
        }
        _ => false,
    });
    let cut_short = distinct(cut_short.map(|(cell, _)| cell.settings.epochs));
    if !cut_short.is_empty() {
        cautions.push(format!(
            "NOT CONVERGED NUMBERS: {}, while validation still got better.",
            epochs(&cut_short)
        ));
    }
    let mut notes: Vec<String> = Vec::new();
    for row in rows
        .iter()
        .filter(|row| !row.results.is_empty() && !row.unfinished.is_empty())
    {
        let seeds: Vec<String> = row
            .unfinished
            .iter()
            .map(|(seed, what)| format!("seed {seed} ({what})"))
            .collect();
        notes.push(format!(
            "{} / {}: without {}.",
            row.group_label(),
            row.method_label,
            seeds.join(", ")
        ));
    }
    if !results.is_empty() {
        notes.push(ours(source, &results, rows, cells));
    }
    for (cell, status) in cells {
        if let CellStatus::Done(result) = status
            && let Some(several) = result.provenance.several_programs()
        {
            notes.push(format!("{}: {several}", cell.label()));
        }
    }
    for row in rows {
        if let Some(released) = row.released {
            notes.push(format!(
                "{} / {}: the released code's formula gives {} for the same parameters, of the epoch that the right NLL selects, on \
                 all test images; it estimates no likelihood.",
                row.group_label(),
                row.method_label,
                released.text()
            ));
        }
    }
    if rows.iter().any(|row| row.difference.is_some()) {
        let rounded = rows
            .iter()
            .any(|row| row.published.is_some_and(|number| number.sd == Some(0.0)));
        let one_seed = rows
            .iter()
            .any(|row| row.difference.is_some() && row.results.len() == 1);
        let with_sd = |row: &Row| row.difference.is_some_and(|d| d.sds.is_some());
        notes.push(match rows.iter().any(with_sd) {
            true => format!(
                "Difference: ours - published, and in units of sqrt(sd² published + sd² ours), sd over runs{}{}.",
                if one_seed { "; with one seed, of the published sd" } else { "" },
                if rounded { "; a published sd of 0.0 counts as 0.05" } else { "" },
            ),
            false => "Difference: ours - published, in nats; no spread over runs is published.".to_string(),
        });
        if rows
            .iter()
            .any(|row| row.difference.is_some() && row.published.is_none())
        {
            let what = "Where no NLL is published, the difference is that of the bounds.";
            notes.push(what.to_string());
        }
    }
    if source.spec.bounds {
        let what = "In brackets: the variational bound -ELBO, from the same samples.";
        notes.push(what.to_string());
    }
    if let Some(evaluations) = source.spec.evaluations {
        // A report knows runs of profiles that are no more.
        let out = source.spec.left_out(source.profile).unwrap_or_default();
        let out = match out.is_empty() {
            true => String::new(),
            false => format!(" Left out, since no K gives as many: {}.", out.join(", ")),
        };
        notes.push(format!(
            "Equal evaluations: every method makes {evaluations} evaluations of f an image and step, as it declares them (dreams, \
             derivatives, learned baselines and the draw for θ not counted); K follows.{out}"
        ));
    }
    notes.extend(deviations.iter().cloned());
    if let Some(published) = source.published.filter(|_| !source.synthetic) {
        let spread = match published.spread.as_str() {
            "" => String::new(),
            spread => format!("; {spread}"),
        };
        notes.push(format!("Published: {}{spread}.", published.source));
        let doubtful = |row: &Row| row.published_text().contains('†');
        if rows.iter().any(doubtful) {
            notes.push(format!("† {}.", published.doubtful_note));
        }
        if published.quoted().next().is_some() {
            notes.push(format!("* {}.", published.quoted_note));
        }
    }
    let cautions = cautions.into_iter().map(Note::caution);
    cautions
        .chain(notes.into_iter().map(Note::remark))
        .collect()
}

/// Which learning rates were chosen, where a profile chooses.
pub(super) fn choice(source: Source, rows: &[Row], cells: &[(Cell, CellStatus)]) -> Option<Note> {
    // A report knows runs of profiles that are no more.
    let profile = source.spec.profile(source.profile).ok()?;
    let others: Vec<String> = profile
        .chosen_from
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let rate = |row: &Row| {
        let mut own = cells
            .iter()
            .filter(|(cell, status)| row.holds(cell) && matches!(status, CellStatus::Done(_)));
        let rate = own.next()?.0.settings.learning_rate;
        Some(format!(
            "{} / {} with {rate:e}",
            row.group_label(),
            row.method_label
        ))
    };
    let rates: Vec<String> = rows.iter().filter_map(rate).collect();
    (!others.is_empty() && !rates.is_empty()).then(|| {
        Note::remark(format!(
            "Learning rates have the best validation NLL among this profile and {}, as far as those are finished: {}.",
            others.join(", "),
            rates.join("; ")
        ))
    })
}

/// What our numbers are: samples, images, seeds, selection.
fn ours(
    source: Source,
    results: &[&CellResult],
    rows: &[Row],
    cells: &[(Cell, CellStatus)],
) -> String {
    let samples = distinct(results.iter().map(|r| r.reported_samples()));
    let images = distinct(results.iter().map(|r| r.images));
    // A last evaluation, with `final_samples`, is over all images.
    let subset = cells.iter().any(|(cell, _)| {
        cell.settings.test_images.is_some() && cell.settings.final_samples.is_none()
    });
    let over = if rows.iter().any(|row| row.results.len() > 1) {
        match source.spec.standard_error {
            true => "mean ± standard error over ",
            false => "mean ± sample sd over ",
        }
    } else {
        ""
    };
    let mut seeds: Vec<Vec<u64>> = rows
        .iter()
        .map(|row| row.results.keys().copied().collect())
        .filter(|seeds: &Vec<u64>| !seeds.is_empty())
        .collect();
    seeds.dedup();
    let seeds = match seeds.as_slice() {
        [seeds] => format_seeds(seeds),
        _ => "the seeds of each row (table.md lists them)".to_string(),
    };
    let subset = if subset {
        " (a seeded random subset)"
    } else {
        ""
    };
    let others = results.iter().flat_map(|result| &result.finals);
    let others = distinct(
        others
            .map(|other| other.samples)
            .filter(|s| !samples.contains(s)),
    );
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" (result.json has the NLL with S = {} too)", list(&others)),
    };
    format!(
        "Ours: test NLL in nats at the epoch with the best validation NLL; S = {} importance samples{others}, \
         {} test images{subset}; {over}{seeds}.",
        list(&samples),
        list(&images),
    )
}

fn distinct(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// `1 epoch`, `5 or 10 epochs`.
fn epochs(numbers: &[u64]) -> String {
    match numbers {
        [1] => "1 epoch".into(),
        _ => format!("{} epochs", list(numbers)),
    }
}

fn list(numbers: &[u64]) -> String {
    numbers
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(" or ")
}

#[cfg(test)]
mod tests {
    use crate::table::tests::{done, notes_text, table};

    #[test]
    fn a_cell_of_fewer_epochs_than_the_paper_says_how_many() {
        let notes = |epochs| {
            notes_text(&table(
                "quick",
                false,
                &[done("linear", "jsa", 1, 120.0, epochs)],
            ))
        };
        assert!(
            notes(5).contains("NOT CONVERGED NUMBERS: 5 of the paper's 1000 epochs."),
            "{}",
            notes(5)
        );
        assert!(!notes(1000).contains("CONVERGED"));
    }

    #[test]
    fn cautions_come_first() {
        let notes = table("quick", true, &[done("linear", "jsa", 1, 50.0, 5)]).notes;
        assert!(notes[0].is_caution() && notes[0].text.contains("GENERATED"));
        assert!(notes.is_sorted_by_key(|note| !note.is_caution()));
        assert!(!notes.last().unwrap().is_caution());
    }

    #[test]
    fn rows_of_different_seeds_are_not_said_to_have_the_same() {
        let cells = [
            done("linear", "jsa", 1, 106.0, 1000),
            done("linear", "jsa", 2, 105.0, 1000),
            done("linear", "rws", 1, 108.0, 1000),
        ];
        let notes = notes_text(&table("paper", false, &cells));
        assert!(
            notes.contains("mean ± sample sd over the seeds of each row"),
            "{notes}"
        );
    }

    #[test]
    fn samples_images_and_deviations_are_said() {
        let quick = notes_text(&table(
            "quick",
            false,
            &[done("linear", "jsa", 1, 120.0, 5)],
        ));
        assert!(
            quick.contains(
                "S = 100 importance samples, 1000 test images (a seeded random subset); seed 1."
            ),
            "{quick}"
        );
        assert!(
            quick.contains("with one seed, of the published sd"),
            "{quick}"
        );
        let cells = [
            done("linear", "jsa", 1, 106.0, 1000),
            done("linear", "jsa", 2, 105.0, 1000),
        ];
        let paper = notes_text(&table("paper", false, &cells));
        assert!(
            paper.contains("mean ± sample sd over seeds 1-2."),
            "{paper}"
        );
        assert!(
            paper.contains("Checks use 1,000 random images") && !paper.contains("one seed"),
            "{paper}"
        );
    }
}
