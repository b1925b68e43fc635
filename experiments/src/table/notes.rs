//! The sentences below a table: what must be known to read its numbers.

use super::cautions::{cautions, distinct, list};
use super::{Row, Source};
use crate::cell::Cell;
use crate::cell_runner::{CellResult, Score};
use crate::folders::CellStatus;
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
    let cautions = cautions(source, &results, cells);
    let mut notes: Vec<String> = rows.iter().filter_map(unfinished).collect();
    if !results.is_empty() {
        notes.push(ours(source, &results, rows, cells));
    }
    notes.extend(cells.iter().filter_map(several_programs));
    notes.extend(rows.iter().filter_map(released));
    notes.extend(gradient_variance(rows));
    notes.extend(differences(rows));
    if source.spec.bounds {
        let what = "In brackets: the variational bound -ELBO, from the same samples.";
        notes.push(what.to_string());
    }
    notes.extend(equal_evaluations(source));
    notes.extend(deviations.iter().cloned());
    notes.extend(published(source, rows));
    let cautions = cautions.into_iter().map(Note::caution);
    let remarks = notes.into_iter().map(Note::remark);
    cautions.chain(remarks).collect()
}

/// Seeds of a row that are not finished.
fn unfinished(row: &Row) -> Option<String> {
    if row.results.is_empty() || row.unfinished.is_empty() {
        return None;
    }
    let seeds = row.unfinished.iter();
    let seeds: Vec<String> = seeds
        .map(|(seed, what)| format!("seed {seed} ({what})"))
        .collect();
    Some(format!(
        "{} / {}: without {}.",
        row.group_label(),
        row.method_label,
        seeds.join(", ")
    ))
}

fn several_programs((cell, status): &(Cell, CellStatus)) -> Option<String> {
    let several = status.result()?.provenance.several_programs()?;
    Some(format!("{}: {several}", cell.label()))
}

fn released(row: &Row) -> Option<String> {
    Some(format!(
        "{} / {}: the released code's formula gives {} for the same parameters, of the epoch that the right NLL selects, on \
         all test images; it estimates no likelihood.",
        row.group_label(),
        row.method_label,
        row.released?.text()
    ))
}

/// The meaning of the column.
fn gradient_variance(rows: &[Row]) -> Option<String> {
    let mut results = rows.iter().flat_map(|row| row.results.values());
    results.any(|result| result.gradient_variance.is_some()).then(|| {
        "ln V of φ: the logarithm of the variance of the batch's gradient by exponential means over steps, as in DisARM's released code; \
         the mean over components, at parameters in motion."
            .to_string()
    })
}

/// Explains the differences.
fn differences(rows: &[Row]) -> Vec<String> {
    let with: Vec<&Row> = rows.iter().filter(|row| row.difference.is_some()).collect();
    if with.is_empty() {
        return Vec::new();
    }
    let rounded = |row: &Row| row.published.is_some_and(|number| number.sd == Some(0.0));
    let with_sd = |row: &&Row| row.difference.is_some_and(|d| d.sds.is_some());
    let one_seed = match with.iter().any(|row| row.results.len() == 1) {
        true => "; with one seed, of the published sd",
        false => "",
    };
    let rounded = match rows.iter().any(rounded) {
        true => "; a published sd of 0.0 counts as 0.05",
        false => "",
    };
    let mut notes = vec![match with.iter().any(with_sd) {
        true => format!(
            "Difference: ours - published, and in units of sqrt(sd² published + sd² ours), sd over runs{one_seed}{rounded}."
        ),
        false => {
            "Difference: ours - published, in nats; no spread over runs is published.".to_string()
        }
    }];
    if with.iter().any(|row| row.published.is_none()) {
        let what = "Where no NLL is published, the difference is that of the bounds.";
        notes.push(what.to_string());
    }
    notes
}

fn equal_evaluations(source: Source) -> Option<String> {
    let evaluations = source.spec.evaluations?;
    // A report knows runs of profiles that are no more.
    let out = source.spec.excluded(source.profile).unwrap_or_default();
    let out = match out.is_empty() {
        true => String::new(),
        false => format!(" Left out, since no K gives as many: {}.", out.join(", ")),
    };
    Some(format!(
        "Equal evaluations: every method makes {evaluations} evaluations of f an image and step, as it declares them (dreams, \
         derivatives, learned baselines and the draw for θ not counted); K follows.{out}"
    ))
}

/// Names the source of the published numbers, and explains their marks.
fn published(source: Source, rows: &[Row]) -> Vec<String> {
    let Some(published) = source.published.filter(|_| !source.synthetic) else {
        return Vec::new();
    };
    let spread = match published.spread.as_str() {
        "" => String::new(),
        spread => format!("; {spread}"),
    };
    let mut notes = vec![format!("Published: {}{spread}.", published.source)];
    if rows.iter().any(|row| row.published_text().contains('†')) {
        notes.push(format!("† {}.", published.doubtful_note));
    }
    if published.quoted().next().is_some() {
        notes.push(format!("* {}.", published.quoted_note));
    }
    notes
}

/// Lists the learning rates that were chosen, where a profile chooses.
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
            .filter(|(cell, status)| row.holds(cell) && status.is_done());
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

/// Describes our numbers: samples, images, seeds, selection.
fn ours(
    source: Source,
    results: &[&CellResult],
    rows: &[Row],
    cells: &[(Cell, CellStatus)],
) -> String {
    let samples = distinct(results.iter().map(|r| r.reported_samples()));
    let images = distinct(results.iter().map(|r| r.images));
    // A last evaluation, with `final_samples`, is over all images.
    let subset = cells.iter().any(|(cell, status)| {
        let (asked, result) = (cell.settings.test_images, status.result());
        // Fewer than were asked for are all that there are.
        let is_part = result.is_some_and(|result| asked == Some(result.images));
        is_part && cell.settings.final_samples.is_none()
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
    let what = match source.spec.shown {
        Score::Test => "test NLL in nats at the epoch with the best validation NLL",
        Score::Training => {
            "minus the training ELBO in nats over the last epoch, an estimate at parameters in motion; the test bound at the epoch with \
             the best validation NLL"
        }
    };
    format!(
        "Ours: {what}; S = {} importance samples{others}, {} test images{subset}; {over}{seeds}.",
        list(&samples),
        list(&images),
    )
}

#[cfg(test)]
mod tests {
    use crate::table::tests::{done, notes_text, table};
    use helmholtz_harness::streams::assert_contains;

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
        assert_contains(&notes, &["mean ± sample sd over the seeds of each row"]);
    }

    #[test]
    fn samples_images_and_deviations_are_said() {
        let quick = notes_text(&table(
            "quick",
            false,
            &[done("linear", "jsa", 1, 120.0, 5)],
        ));
        assert_contains(
            &quick,
            &["S = 100 importance samples, 1000 test images (a seeded random subset); seed 1."],
        );
        assert_contains(&quick, &["with one seed, of the published sd"]);
        let cells = [
            done("linear", "jsa", 1, 106.0, 1000),
            done("linear", "jsa", 2, 105.0, 1000),
        ];
        let paper = notes_text(&table("paper", false, &cells));
        assert_contains(&paper, &["mean ± sample sd over seeds 1-2."]);
        assert!(
            paper.contains("Checks use 1,000 random images") && !paper.contains("one seed"),
            "{paper}"
        );
    }
}
