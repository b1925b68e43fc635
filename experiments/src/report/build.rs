//! From runs to a document.

use super::group::{Group, groups};
use super::part::Part;
use super::{curves, evaluations, results, variance_curve};
use crate::cell_runner::CellResult;
use crate::folders::CellStatus;
use crate::records::{CellRun, OtherRun, Record, What};
use crate::registry::Registry;
use crate::scoreboard;
use crate::source;
use crate::table::{self, Row, Source};
use helmholtz_harness::schedule::format_duration;
use helmholtz_report::document::slug;
use helmholtz_report::{Block, Cell, Document, Note, Section, Table};
use helmholtz_runs::Provenance;

pub use crate::works::draw::Drawn as Picture;

/// Function that gives a run's pictures.
pub type Pictures<'a> = dyn FnMut(&Record, &CellRun) -> Vec<Picture> + 'a;

/// The runs below the folder that was searched, and what is wrong with other folders there.
#[derive(Debug)]
pub struct Found {
    /// Name of the folder in the report.
    pub root: String,
    /// The runs, by place.
    pub records: Vec<Record>,
    /// Folders that could not be read, with the reason.
    pub problems: Vec<String>,
}

/// The report of these runs, which opens with the scoreboard; `pictures` draws what a run has learned.
pub fn document(found: &[Found], registry: &Registry, pictures: &mut Pictures<'_>) -> Document {
    let records: Vec<Record> = found.iter().flat_map(|f| f.records.clone()).collect();
    let mut sections = vec![scoreboard::section(&scoreboard::lines(&records))];
    sections.extend(of_runs(found, registry, pictures));
    Document {
        title: "helmholtz: recorded results".into(),
        sections,
    }
}

/// The page of one run.
pub fn page_of_run(found: &Found, registry: &Registry, pictures: &mut Pictures<'_>) -> Document {
    let mut sections = of_runs(std::slice::from_ref(found), registry, pictures);
    // An overview of one run says nothing.
    sections.remove(0);
    Document {
        title: format!("helmholtz: {}", found.root),
        sections,
    }
}

/// An overview, then a section for the runs of each folder.
fn of_runs(found: &[Found], registry: &Registry, pictures: &mut Pictures<'_>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut overview = Vec::new();
    let mut ids = vec![OVERVIEW.to_string()];
    for found in found {
        let at = |place: &str| match place.is_empty() {
            true => found.root.clone(),
            false => format!("{}/{place}", found.root),
        };
        let groups = groups(&found.records, registry).into_iter().map(of_cells);
        let parts = groups
            .chain(evaluations::parts(&found.records))
            .chain(variance_curve::parts(&found.records, registry));
        for part in parts {
            let place = at(&part.place);
            let id = distinct(&place, &mut ids);
            let section = (part.section)(&place, id, pictures);
            let [all, done] = part.runs;
            let left = (all - done).to_string();
            overview.push(overview_row(&section, &place, [all, done], left));
            sections.push(section);
        }
        let mut records: Vec<&Record> = found.records.iter().collect();
        records.sort_by_key(|record| source::Source::shown_at(&record.place));
        for record in records {
            if let What::Other(run) = &record.what
                && run.measured.is_none()
                && run.evaluated.is_none()
                && !run.is_empty()
            {
                let place = at(&record.place);
                let id = distinct(&place, &mut ids);
                let mut section = of_other(run, &place, &record.place, id);
                let damage = record.damage_note().map(|note| Block::Notes(vec![note]));
                section.blocks.splice(..0, damage);
                let done = usize::from(run.unfinished.is_none());
                let left = run.unfinished.clone().unwrap_or("0".into());
                overview.push(overview_row(&section, &place, [1, done], left));
                sections.push(section);
            }
        }
    }
    let problems: Vec<String> = found
        .iter()
        .flat_map(|found| found.problems.iter().map(|p| format!("{}/{p}", found.root)))
        .collect();
    let problems: Vec<Note> = problems.into_iter().map(Note::remark).collect();
    sections.insert(0, summary(overview, problems));
    sections
}

/// The id of the section of the first.
const OVERVIEW: &str = "overview";

/// The id of a place's section, which is none of those that are taken: places whose ids would be the same are numbered.
fn distinct(place: &str, taken: &mut Vec<String>) -> String {
    let own = slug(place);
    let mut id = own.clone();
    let mut number = 2;
    while taken.contains(&id) {
        id = format!("{own}-{number}");
        number += 1;
    }
    taken.push(id.clone());
    id
}

fn overview_row(
    section: &Section,
    place: &str,
    [runs, finished]: [usize; 2],
    left: String,
) -> Vec<Cell> {
    let link = Cell {
        link: Some(section.id.clone()),
        ..section.title.as_str().into()
    };
    vec![
        link,
        place.into(),
        Cell::count(runs),
        Cell::count(finished),
        left.into(),
    ]
}

fn summary(rows: Vec<Vec<Cell>>, problems: Vec<Note>) -> Section {
    let heads = ["Experiment", "Folder", "Runs", "Finished", "Unfinished"];
    let mut table = Table::new(OVERVIEW, "What is recorded", heads);
    rows.into_iter().for_each(|row| table.push(row));
    let mut blocks = vec![
        Block::Text(
            "Likelihoods are in nats, estimated by importance sampling with S samples at the epoch with the best validation \
             NLL. Ours: from the result of a run, or the mean ± sample sd over those of several seeds, with their number. Each \
             leads to its run, or the first of them: folder, commit, configuration and seed. Published: from the publication named below the table, in a column \
             of its own. The difference is ours minus published, and in units of √(sd² published + sd² ours)."
                .into(),
        ),
        Block::Table(table),
    ];
    if !problems.is_empty() {
        blocks.push(Block::Text(
            "Folders that cannot be read, or hold damaged metrics:".into(),
        ));
        blocks.push(Block::Notes(problems));
    }
    Section {
        id: OVERVIEW.into(),
        title: "Overview".into(),
        blocks,
    }
}

fn of_cells(group: Group<'_>) -> Part<'_> {
    let done = group.runs.iter().filter(|(_, run)| run.status.is_done());
    Part {
        place: group.place.clone(),
        runs: [group.runs.len(), done.count()],
        section: Box::new(move |place, id, pictures| of_group(&group, place, id, pictures)),
    }
}

fn of_group(group: &Group, place: &str, id: String, pictures: &mut Pictures<'_>) -> Section {
    let cells: Vec<_> = group
        .runs
        .iter()
        .map(|(_, run)| (run.cell.clone(), run.status.clone()))
        .collect();
    let synthetic = group.synthetic();
    let published = group.published.as_ref().filter(|_| !synthetic);
    let rows = table::rows(&group.spec, published, &cells);
    let (profile, epochs) = group.profile();
    let deviations = deviations(group, profile);
    let source = Source {
        spec: &group.spec,
        profile,
        epochs,
        dataset: &group.dataset,
        images: None,
        synthetic,
        published,
    };
    let damaged = group
        .runs
        .iter()
        .filter_map(|(record, _)| record.damage_note());
    let mut notes: Vec<Note> = damaged.collect();
    notes.extend(unfinished(&rows));
    notes.extend(table::notes(source, &deviations, &rows, &cells));
    notes.extend(choice(group, profile).map(Note::remark));
    // Rows of quoted numbers alone, which stars are in too, stand in the table's own file.
    let starred = rows.iter().any(|row| row.published_text().contains('*'));
    notes.retain(|note| starred || !note.text.starts_with("* "));
    let mut blocks = vec![Block::Table(results::table(group, &rows, &id))];
    blocks.extend(curves::blocks(group, &id));
    blocks.push(Block::Notes(notes));
    let images = images(group, &id, pictures);
    if !images.is_empty() {
        blocks.push(Block::Folded {
            title: "Digits".into(),
            blocks: images,
        });
    }
    blocks.push(Block::Folded {
        title: "Runs behind the numbers".into(),
        blocks: vec![Block::Table(runs(group, place, &id))],
    });
    Section {
        id,
        title: titled(&group.spec.title, &group.place),
        blocks,
    }
}

/// Lists where the profile departs from the publication, for runs that have its settings; and which runs have others.
fn deviations(group: &Group, profile: &str) -> Vec<String> {
    let Ok(own) = group.spec.deviations(profile) else {
        // The experiment has no such profile.
        return Vec::new();
    };
    let unlike = group.unlike(profile);
    if unlike.is_empty() {
        return own;
    }
    if unlike.len() == group.runs.len() {
        return vec![format!(
            "These runs had other settings than `{profile}` has today: each one's configuration says which."
        )];
    }
    let unlike: Vec<String> = unlike.iter().map(|run| run.cell.label()).collect();
    let mut notes = vec![format!(
        "These runs had other settings than `{profile}` has today, and perhaps other deviations than those named here: {}. Each \
         one's configuration says which.",
        unlike.join("; ")
    )];
    notes.extend(own);
    notes
}

/// Notes that other profiles' runs, which stand in sections of their own here, may take the place of these.
fn choice(group: &Group, profile: &str) -> Option<String> {
    let others = &group.spec.profile.get(profile)?.chosen_from;
    let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
    let experiment = &group.spec.name;
    (!others.is_empty()).then(|| {
        format!(
            "These are the runs of `{profile}` alone. `reproduce {experiment} --profile {profile}` makes the choice by validation among \
             them and those of {}, which have sections of their own here.",
            others.join(", ")
        )
    })
}

/// A title, and which of the folders with the same title: the place below the folder that was searched.
pub(super) fn titled(title: &str, place: &str) -> String {
    match place {
        "" => title.to_string(),
        place => format!("{title} ({place})"),
    }
}

/// Rows none of whose runs is finished: the table's own notes say nothing of these.
fn unfinished(rows: &[Row]) -> Vec<Note> {
    let none = rows.iter().filter(|row| row.results.is_empty());
    none.map(|row| {
        let left = row.unfinished.iter();
        let left: Vec<_> = left
            .map(|(seed, what)| format!("seed {seed}: {what}"))
            .collect();
        let (net, method) = (row.group_label(), &row.method_label);
        Note::caution(format!("CUT SHORT: {net} / {method}: {}.", left.join(", ")))
    })
    .collect()
}

/// The place in the page of a run.
pub(super) fn anchor(id: &str, place: &str) -> String {
    format!("{id}-run-{}", slug(place))
}

/// Table of where each number comes from.
fn runs(group: &Group, place: &str, id: &str) -> Table {
    let heads = [
        "Run folder",
        "Test NLL",
        "Validation NLL at the check",
        "Best epoch",
        "Epochs done of planned",
        "Seed",
        "Commit",
        "Configuration",
        "Device",
        "Started",
        "Time",
    ];
    let caption = format!(
        "Runs in {place}; ± is the standard error over images; commit and configuration are the first digits of those in \
         each run's result.json"
    );
    let mut table = Table::new(format!("{id}-runs"), caption, heads);
    let rows = group.runs.iter().map(|(record, run)| {
        let folder = Cell {
            anchor: Some(anchor(id, &record.place)),
            ..below(&group.place, record).into()
        };
        let seed = run.cell.seed.to_string();
        let planned = run.cell.settings.epochs;
        let mut data = vec![folder];
        data.extend(match &run.status {
            CellStatus::Done(result) => of_result(result, &seed),
            status => {
                let (epoch, left) = (run.curve.epochs, unfinished_text(status));
                let epochs = format!("{left}: {epoch} of {planned}");
                let dash = || Cell::from("-");
                // A run that was cut short has no number; one that goes on tells its last check.
                let goes_on = matches!(run.status, CellStatus::Running { .. });
                let last = run.curve.points.last().filter(|_| goes_on);
                let at_check = |nll: f64, at: f64| Cell::from(format!("{nll:.2} at epoch {at}"));
                let test = last.and_then(|last| Some(at_check(last.test?, last.epoch)));
                let valid = last.map(|last| at_check(last.valid, last.epoch));
                let known = [
                    test.unwrap_or_else(dash),
                    valid.unwrap_or_else(dash),
                    dash(),
                    epochs.into(),
                    seed.into(),
                ];
                known.into_iter().chain([(); 5].map(|()| dash())).collect()
            }
        });
        data
    });
    rows.for_each(|row| table.push(row));
    table
}

/// A run's folder below that of its group.
pub(super) fn below<'a>(group: &str, record: &'a Record) -> &'a str {
    let own = record.place.strip_prefix(group);
    own.unwrap_or(&record.place).trim_start_matches('/')
}

fn of_result(result: &CellResult, seed: &str) -> Vec<Cell> {
    let from = &result.provenance;
    let nll = result.reported_nll();
    let error = result
        .final_nll
        .and(result.final_se)
        .unwrap_or(result.test_se);
    let (done, planned) = (result.epochs_done, result.epochs_planned);
    let epochs = match done < planned {
        true => format!("ended at {done} of {planned}"),
        false => format!("{done} of {planned}"),
    };
    vec![
        Cell::measured(nll, error, 2),
        Cell::measured(result.valid_nll, result.valid_se, 2),
        result.selected_epoch.to_string().into(),
        epochs.into(),
        seed.into(),
        first(&from.commit).into(),
        first(&from.config_hash).into(),
        format!("{} ({})", from.device, from.cpu).into(),
        from.started.as_str().into(),
        format_duration(result.seconds).into(),
    ]
}

fn unfinished_text(status: &CellStatus) -> &'static str {
    match status {
        CellStatus::Running { .. } => "running",
        CellStatus::Failed { .. } => "failed",
        _ => "cut short",
    }
}

/// The first digits of a hash; `-dirty` stays.
fn first(hash: &str) -> String {
    let (digits, rest) = hash.split_once('-').unwrap_or((hash, ""));
    let digits: String = digits.chars().take(12).collect();
    match rest {
        "" => digits,
        rest => format!("{digits}-{rest}"),
    }
}

/// Images of what the runs have learned, and what they keep to look at.
fn images(group: &Group, id: &str, pictures: &mut Pictures<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (record, run) in &group.runs {
        let label = run.cell.label();
        for (caption, bytes) in pictures(record, run) {
            blocks.push(Block::Image {
                name: format!(
                    "{id}-{}-{}.png",
                    slug(below(&group.place, record)),
                    slug(&caption)
                ),
                caption: format!("{label}: {caption}"),
                bytes,
            });
        }
    }
    blocks
}

/// A run of another kind: what it keeps itself.
fn of_other(run: &OtherRun, place: &str, own: &str, id: String) -> Section {
    let mut blocks = Vec::new();
    if let Some(what) = &run.unfinished {
        let note = Note::caution(format!("CUT SHORT: {what}."));
        blocks.push(Block::Notes(vec![note]));
    }
    for mut block in run.blocks.iter().cloned() {
        if let Block::Table(table) = &mut block {
            table.name = format!("{id}-{}", table.name);
        }
        blocks.push(block);
    }
    blocks.extend(run.figures.iter().map(|(name, figure)| Block::Figure {
        name: format!("{id}-{name}"),
        figure: figure.clone(),
    }));
    blocks.extend(run.images.iter().map(|(name, bytes)| Block::Image {
        name: format!("{id}-{name}"),
        caption: name.clone(),
        bytes: bytes.clone(),
    }));
    if let Some(from) = &run.provenance {
        blocks.push(Block::Folded {
            title: "The run behind the numbers".into(),
            blocks: vec![Block::Table(provenance([(place.into(), from)], &id))],
        });
    }
    Section {
        id,
        title: titled(&run.title, own),
        blocks,
    }
}

/// Table of where the numbers of these run folders come from.
pub(super) fn provenance<'a>(
    runs: impl IntoIterator<Item = (String, &'a Provenance)>,
    id: &str,
) -> Table {
    let columns = [
        "Run folder",
        "Seed",
        "Commit",
        "Configuration",
        "Device",
        "Started",
        "Time",
    ];
    let row = |(folder, from): (String, &Provenance)| {
        let row = [
            folder,
            from.seed.to_string(),
            first(&from.commit),
            first(&from.config_hash),
            format!("{} ({})", from.device, from.cpu),
            from.started.clone(),
            format_duration(from.seconds),
        ];
        row.map(Cell::from)
    };
    let caption = "Where the numbers come from";
    let mut table = Table::new(format!("{id}-run"), caption, columns);
    runs.into_iter().for_each(|run| table.push(row(run)));
    table
}

#[cfg(test)]
mod tests {
    use crate::cell::Cell;
    use crate::report::testing::{finished, notes, paper, record, sections};
    use crate::spec::{Selection, Spec};
    use helmholtz_harness::streams::assert_contains;

    /// Runs of Table 1's profile `paper` with these learning rates.
    fn with_rates(rates: &[f64]) -> String {
        let run = |(seed, &learning_rate): (u64, &f64)| {
            let mut cell = Cell {
                seed,
                ..paper("jsa")
            };
            cell.settings.learning_rate = learning_rate;
            let place = format!("table1/paper/binarized-mnist/linear/jsa/seed-{seed}");
            record(&place, finished(cell, 105.0))
        };
        let records = (1..).zip(rates).map(run).collect();
        notes(&sections(records)[0])
    }

    #[test]
    fn deviations_of_a_profile_are_not_stated_of_runs_with_other_settings() {
        let (deviation, other) = ("Checks use 1,000 random images", "had other settings");
        let own = with_rates(&[3e-4, 3e-4]);
        assert!(own.contains(deviation) && !own.contains(other), "{own}");
        let some = with_rates(&[3e-4, 1e-3]);
        assert!(some.contains(deviation), "{some}");
        assert_contains(&some, &["than those named here: linear / jsa / seed 2."]);
        let all = with_rates(&[1e-3, 1e-3]);
        assert!(!all.contains(deviation) && all.contains(other), "{all}");
    }

    #[test]
    fn a_profile_that_is_chosen_from_others_says_who_chooses() {
        let spec = Spec::load("arm-table3").unwrap();
        let cells = spec.cells("paper", &Selection::default(), &spec.dataset);
        let cell = cells.unwrap().remove(0);
        let of = |profile: &str| {
            let place = format!("arm-table3/{profile}/threshold-mnist/feedforward/arm/seed-1");
            let records = vec![record(&place, finished(cell.clone(), 60.0))];
            notes(&sections(records)[0])
        };
        let paper = of("paper");
        assert_contains(
            &paper,
            &[
                "the runs of `paper` alone",
                "those of `rate-3e-4`, `rate-1e-3`",
            ],
        );
        assert!(!of("quick").contains("alone"));
    }
}
