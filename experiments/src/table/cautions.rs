//! Cautions that keep a table's numbers from standing beside published ones.

use super::Source;
use crate::cell::Cell;
use crate::cell_runner::CellResult;
use crate::folders::CellStatus;
use helmholtz_datasets::caution;

/// Lists the cautions of a table of these runs.
pub(super) fn cautions(
    source: Source,
    results: &[&CellResult],
    cells: &[(Cell, CellStatus)],
) -> Vec<String> {
    let all = [
        other_data(results),
        caution(source.dataset).map(String::from),
        fewer_epochs_than_published(source, results),
        fewer_epochs_than_the_profile(source, cells),
        cut_short(cells),
    ];
    all.into_iter().flatten().collect()
}

fn other_data(results: &[&CellResult]) -> Option<String> {
    let fingerprints = results.iter().filter_map(|r| r.fingerprint.as_ref());
    let mut data: Vec<&String> = fingerprints.collect();
    data.sort_unstable();
    data.dedup();
    (data.len() > 1).then(|| {
        "OTHER DATA: the runs of this table are not all on the same images, by their fingerprints.".to_string()
    })
}

fn fewer_epochs_than_published(source: Source, results: &[&CellResult]) -> Option<String> {
    let all = source.published?.epochs?;
    let done = results.iter().map(|r| r.epochs_done);
    let short = distinct(done.filter(|&epochs| epochs < all));
    (!short.is_empty()).then(|| {
        format!(
            "NOT CONVERGED NUMBERS: {} of the paper's {all} epochs.",
            list(&short)
        )
    })
}

/// Warns of fewer epochs than the profile that trains to the end has, where nobody published how many there were.
fn fewer_epochs_than_the_profile(source: Source, cells: &[(Cell, CellStatus)]) -> Option<String> {
    if source
        .published
        .is_some_and(|published| published.epochs.is_some())
    {
        return None;
    }
    let short = cells.iter().filter_map(|(cell, status)| {
        let done = status.result()?.epochs_done;
        let all = source.spec.whole(source.profile, &cell.net, &cell.method)?;
        (done < all && cell.settings.patience.is_none()).then_some((done, all))
    });
    let (done, all): (Vec<u64>, Vec<u64>) = short.unzip();
    (!done.is_empty()).then(|| {
        format!(
            "NOT CONVERGED NUMBERS: {}, where the profile that trains to the end has {}.",
            epochs(&distinct(done.into_iter())),
            list(&distinct(all.into_iter()))
        )
    })
}

/// Runs that wait for validation to get no better, and ended before.
fn cut_short(cells: &[(Cell, CellStatus)]) -> Option<String> {
    let cut = cells.iter().filter_map(|(cell, status)| {
        let result = status.result()?;
        let waited = result.epochs_done - result.selected_epoch;
        (waited < cell.settings.patience?).then_some(cell.settings.epochs)
    });
    let cut = distinct(cut);
    (!cut.is_empty()).then(|| {
        format!(
            "NOT CONVERGED NUMBERS: {}, while validation still got better.",
            epochs(&cut)
        )
    })
}

pub(super) fn distinct(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
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

pub(super) fn list(numbers: &[u64]) -> String {
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    texts.join(" or ")
}
