//! From runs to a document.

use super::document::{Block, Column, Datum, Document, Kind, Section, Table, slug};
use super::group::{Group, groups};
use super::markdown;
use super::record::{CellRun, OtherRun, Record, What};
use crate::cell_runner::CellResult;
use crate::figures::curves::{Line, Quantity, both};
use crate::figures::runs::steps_an_epoch;
use crate::plan::CellStatus;
use crate::plot::Style;
use crate::schedule::say;
use crate::table::{self, Row, Source, say_seeds};
use helmholtz_runs::Provenance;

/// A picture of what a run has learned: caption and content of a PNG.
pub type Picture = (String, Vec<u8>);

/// What is known of a run's pictures: those that there are, and why there are no more, if so.
pub type Pictures<'a> = dyn FnMut(&Record, &CellRun) -> Vec<Picture> + 'a;

/// The runs below the folder that was searched, and what is wrong with other folders there.
#[derive(Debug)]
pub struct Found {
    /// What the report calls the folder.
    pub root: String,
    /// The runs, by place.
    pub records: Vec<Record>,
    /// Folders that could not be read, with the reason.
    pub problems: Vec<String>,
}

/// The report of these runs; `pictures` draws what a run has learned.
pub fn document(found: &[Found], pictures: &mut Pictures<'_>) -> Document {
    let mut sections: Vec<Section> = Vec::new();
    let mut overview = Vec::new();
    let mut ids = vec![OVERVIEW.to_string()];
    for found in found {
        let at = |place: &str| match place.is_empty() {
            true => found.root.clone(),
            false => format!("{}/{place}", found.root),
        };
        for group in groups(&found.records) {
            let place = at(&group.place);
            let id = distinct(&place, &mut ids);
            let section = of_group(&group, &place, id, pictures);
            overview.push(overview_row(&section, &place, &group));
            sections.push(section);
        }
        for record in &found.records {
            if let What::Other(run) = &record.what
                && !run.is_empty()
            {
                let place = at(&record.place);
                let id = distinct(&place, &mut ids);
                let section = of_other(run, &place, &record.place, id);
                let finished = u8::from(run.unfinished.is_none()).to_string();
                let left = run.unfinished.clone().unwrap_or("0".into());
                let title = link(&section);
                overview.push(vec![
                    title,
                    place.into(),
                    "1".into(),
                    finished.into(),
                    left.into(),
                ]);
                sections.push(section);
            }
        }
    }
    let problems: Vec<String> = found
        .iter()
        .flat_map(|found| found.problems.iter().map(|p| format!("{}/{p}", found.root)))
        .collect();
    sections.insert(0, summary(overview, problems));
    Document {
        title: "helmholtz: recorded results".into(),
        sections,
    }
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

fn link(section: &Section) -> Datum {
    Datum {
        link: Some(section.id.clone()),
        ..section.title.as_str().into()
    }
}

fn overview_row(section: &Section, place: &str, group: &Group) -> Vec<Datum> {
    let done = |(_, run): &&(&Record, &CellRun)| matches!(run.status, CellStatus::Done(_));
    let finished = group.runs.iter().filter(done).count();
    vec![
        link(section),
        place.into(),
        group.runs.len().to_string().into(),
        finished.to_string().into(),
        (group.runs.len() - finished).to_string().into(),
    ]
}

fn summary(rows: Vec<Vec<Datum>>, problems: Vec<String>) -> Section {
    let mut blocks = vec![
        Block::Text(
            "Likelihoods are in nats, estimated by importance sampling with S samples at the epoch with the best validation \
             NLL. Ours: from the result of a run, or the mean ± sample sd over those of several seeds; each leads to its run \
             folder, with commit, configuration and seed. Published: from the publication named below the table, in a column \
             of its own. The difference is ours minus published, and in units of √(sd² published + sd² ours)."
                .into(),
        ),
        Block::Table(Table {
            name: OVERVIEW.into(),
            caption: "What is recorded".into(),
            columns: ["Experiment", "Folder", "Runs", "Finished", "Unfinished"]
                .map(Column::plain)
                .to_vec(),
            rows,
        }),
    ];
    if !problems.is_empty() {
        blocks.push(Block::Text("Folders that cannot be read:".into()));
        blocks.push(Block::Notes(problems));
    }
    Section {
        id: OVERVIEW.into(),
        title: "Overview".into(),
        blocks,
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
    // A run's folder names its profile, unless the experiment has it no more.
    let profile = group.place.split('/');
    let mut profile = profile.filter(|part| group.spec.profile.contains_key(*part));
    let profile = profile.next_back().unwrap_or("");
    let deviations = match group.follows(profile) {
        true => group.spec.deviations(profile).unwrap_or_default(),
        false if profile.is_empty() => vec![],
        false => vec![format!(
            "These runs had other settings than `{profile}` has today: each one's configuration says which."
        )],
    };
    let source = Source {
        spec: &group.spec,
        profile,
        epochs: None,
        dataset: &group.dataset,
        synthetic,
        published,
    };
    let mut notes = unfinished(&rows);
    notes.extend(table::notes(source, &deviations, &rows, &cells));
    // Rows of quoted numbers alone, which stars are in too, stand in the table's own file.
    let starred = rows.iter().any(|row| row.published_text().contains('*'));
    notes.retain(|note| starred || !note.starts_with("* "));
    let mut blocks = vec![
        Block::Table(results(group, &rows, &id)),
        Block::Notes(notes),
    ];
    let figures = figures(group, &id);
    if !figures.is_empty() {
        blocks.push(Block::Text(
            "Solid: on training images, where a run records it; dashed: on test images. Time is that of training, without \
             the checks. A vertical line: the chains of stage II begin."
                .into(),
        ));
    }
    blocks.extend(figures);
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

/// A title, and which of the folders with the same title: the place below the folder that was searched.
fn titled(title: &str, place: &str) -> String {
    match place {
        "" => title.to_string(),
        place => format!("{title} ({place})"),
    }
}

/// Rows none of whose runs is finished: the table's own notes say nothing of these.
fn unfinished(rows: &[Row]) -> Vec<String> {
    let none = rows.iter().filter(|row| row.results.is_empty());
    none.map(|row| {
        let left = row.unfinished.iter();
        let left: Vec<_> = left
            .map(|(seed, what)| format!("seed {seed}: {what}"))
            .collect();
        let (net, method) = (row.group_label(), &row.method_label);
        format!("CUT SHORT: {net} / {method}: {}.", left.join(", "))
    })
    .collect()
}

fn anchor(id: &str, place: &str) -> String {
    format!("{id}-run-{}", slug(place))
}

/// The table of a group: ours, published, difference.
fn results(group: &Group, rows: &[Row], id: &str) -> Table {
    let published = |row: &Row| row.published.or(row.published_bound);
    let beside = rows.iter().any(|row| published(row).is_some());
    let mut columns = vec![
        Column::plain("Net"),
        Column::plain("Method"),
        Column::new("Ours", Kind::Own),
    ];
    if beside {
        columns.push(Column::new("Published", Kind::Published));
        columns.push(Column::plain("Difference"));
    }
    columns.extend(["Best epoch", "Epochs", "Seeds", "S", "Test images"].map(Column::plain));
    let rows = rows.iter().map(|row| {
        let of_row = group.runs.iter().find(|(_, run)| {
            let same = (&run.cell.net, &run.cell.method) == (&row.net, &row.method);
            same && run.cell.particles() == row.particles
                && row.results.contains_key(&run.cell.seed)
        });
        let ours = Datum {
            exact: row.ours.map(|ours| ours.mean),
            link: of_row.map(|(record, _)| anchor(id, &record.place)),
            ..row
                .ours_of(&group.dataset, group.synthetic(), group.spec.standard_error)
                .into()
        };
        let mut data = vec![
            row.group_label().into(),
            row.method_label.as_str().into(),
            ours,
        ];
        if beside {
            data.push(published(row).map_or(row.published_text().into(), |p| {
                Datum::number(row.published_text(), p.mean)
            }));
            let difference = row
                .difference
                .map(|d| Datum::number(row.difference_text(), d.nats));
            data.push(difference.unwrap_or("-".into()));
        }
        let seeds: Vec<u64> = row.results.keys().copied().collect();
        let best = match seeds.is_empty() {
            true => "-".into(),
            false => row.epoch_text(),
        };
        data.extend([
            best.into(),
            epochs(
                row,
                group
                    .published
                    .as_ref()
                    .filter(|_| beside)
                    .and_then(|p| p.epochs),
            )
            .into(),
            if seeds.is_empty() {
                "-".into()
            } else {
                say_seeds(&seeds).into()
            },
            row.samples_text().into(),
            row.images_text().into(),
        ]);
        data
    });
    Table {
        name: format!("{id}-results"),
        caption: format!("{}: test NLL, nats, on {}", group.spec.title, group.dataset),
        columns,
        rows: rows.collect(),
    }
}

/// `1000`, `100 (published: 1000)`, `ended at 120 of 1000`, `cut short: 17 of 20 epochs`.
fn epochs(row: &Row, published: Option<u64>) -> String {
    let short = |result: &&CellResult| result.epochs_done < result.epochs_planned;
    let mut done: Vec<u64> = row
        .results
        .values()
        .map(|result| result.epochs_done)
        .collect();
    done.sort_unstable();
    done.dedup();
    if let Some(result) = row.results.values().find(short) {
        return format!(
            "ended at {} of {}",
            result.epochs_done, result.epochs_planned
        );
    }
    if done.is_empty() {
        let first = row.unfinished.first();
        return first.map_or("-".into(), |(_, what)| format!("cut short: {what}"));
    }
    let text: Vec<String> = done.iter().map(u64::to_string).collect();
    let text = text.join(" or ");
    match published.filter(|&published| done.iter().any(|&done| done != published)) {
        Some(published) => format!("{text} (published: {published})"),
        None => text,
    }
}

/// Where each number comes from.
fn runs(group: &Group, place: &str, id: &str) -> Table {
    let columns = [
        Column::plain("Run folder"),
        Column::new("Test NLL", Kind::Own),
        Column::new("Validation NLL at the check", Kind::Own),
        Column::plain("Best epoch"),
        Column::plain("Epochs done of planned"),
        Column::plain("Seed"),
        Column::plain("Commit"),
        Column::plain("Configuration"),
        Column::plain("Device"),
        Column::plain("Started"),
        Column::plain("Time"),
    ];
    let rows = group.runs.iter().map(|(record, run)| {
        let folder = Datum {
            anchor: Some(anchor(id, &record.place)),
            ..below(group, record).into()
        };
        let seed = run.cell.seed.to_string();
        let planned = run.cell.settings.epochs;
        let mut data = vec![folder];
        data.extend(match &run.status {
            CellStatus::Done(result) => of_result(result, &seed),
            status => {
                let (epoch, left) = (run.curve.epochs, unfinished_text(status));
                let epochs = format!("{left}: {epoch} of {planned}");
                let dash = || Datum::from("-");
                vec![
                    dash(),
                    dash(),
                    dash(),
                    epochs.into(),
                    seed.into(),
                    dash(),
                    dash(),
                    dash(),
                    dash(),
                    dash(),
                ]
            }
        });
        data
    });
    Table {
        name: format!("{id}-runs"),
        caption: format!(
            "Runs in {place}; ± is the standard error over images; commit and configuration are the first digits of \
             those in each run's result.json"
        ),
        columns: columns.to_vec(),
        rows: rows.collect(),
    }
}

/// A run's folder below that of its group.
fn below<'a>(group: &Group, record: &'a Record) -> &'a str {
    let own = record.place.strip_prefix(&group.place);
    own.unwrap_or(&record.place).trim_start_matches('/')
}

fn of_result(result: &CellResult, seed: &str) -> Vec<Datum> {
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
    let valid = format!("{:.2} ± {:.2}", result.valid_nll, result.valid_se);
    vec![
        Datum::number(format!("{nll:.2} ± {error:.2}"), nll),
        Datum::number(valid, result.valid_nll),
        result.selected_epoch.to_string().into(),
        epochs.into(),
        seed.into(),
        first(&from.commit).into(),
        first(&from.config_hash).into(),
        format!("{} ({})", from.device, from.cpu).into(),
        from.started.as_str().into(),
        say(result.seconds).into(),
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

/// The likelihoods of a group's runs, as many methods in a figure as styles tell apart.
fn figures(group: &Group, id: &str) -> Vec<Block> {
    let drawn = || {
        group
            .runs
            .iter()
            .filter(|(_, run)| run.curve.points.len() > 1)
    };
    let mut methods: Vec<&str> = Vec::new();
    for (_, run) in drawn() {
        if !methods.contains(&run.cell.method.as_str()) {
            methods.push(&run.cell.method);
        }
    }
    let figure = |(number, methods): (usize, &[&str])| {
        let mut nets: Vec<(String, Vec<Line>)> = Vec::new();
        for (_, run) in drawn() {
            let Some(style) = methods.iter().position(|method| *method == run.cell.method) else {
                continue;
            };
            let line = Line {
                label: group.spec.method_label(&run.cell.method).to_string(),
                style,
                steps: steps_an_epoch(&run.cell),
                curve: run.curve.clone(),
            };
            let net = group.spec.net_label(&run.cell.net);
            let net = match run.cell.particles() {
                Some(particles) => format!("{net}, K = {particles}"),
                None => net.to_string(),
            };
            match nets.iter_mut().find(|(name, _)| *name == net) {
                Some((_, lines)) => lines.push(line),
                None => nets.push((net, vec![line])),
            }
        }
        let name = format!("{id}-nll-{}", number + 1);
        let figure = both(&group.spec.title, &nets, Quantity::Nll);
        Block::Figure { name, figure }
    };
    methods
        .chunks(Style::COUNT)
        .enumerate()
        .map(figure)
        .collect()
}

/// What the runs have learned, and what they keep to look at.
fn images(group: &Group, id: &str, pictures: &mut Pictures<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (record, run) in &group.runs {
        let label = run.cell.label();
        for (caption, bytes) in pictures(record, run) {
            blocks.push(Block::Image {
                name: format!("{id}-{}-{}.png", slug(below(group, record)), slug(&caption)),
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
        blocks.push(Block::Notes(vec![format!("CUT SHORT: {what}.")]));
    }
    if let Some(table) = &run.table {
        blocks.extend(markdown::read(table, &id));
    }
    blocks.extend(run.images.iter().map(|(name, bytes)| Block::Image {
        name: format!("{id}-{name}"),
        caption: name.clone(),
        bytes: bytes.clone(),
    }));
    if let Some(from) = &run.provenance {
        blocks.push(Block::Folded {
            title: "The run behind the numbers".into(),
            blocks: vec![Block::Table(provenance(from, place, &id))],
        });
    }
    Section {
        id,
        title: titled(&run.title, own),
        blocks,
    }
}

fn provenance(from: &Provenance, place: &str, id: &str) -> Table {
    let columns = [
        "Run folder",
        "Seed",
        "Commit",
        "Configuration",
        "Device",
        "Started",
        "Time",
    ];
    let row = [
        place.into(),
        from.seed.to_string(),
        first(&from.commit),
        first(&from.config_hash),
        format!("{} ({})", from.device, from.cpu),
        from.started.clone(),
        say(from.seconds),
    ];
    Table {
        name: format!("{id}-run"),
        caption: "The run".into(),
        columns: columns.map(Column::plain).to_vec(),
        rows: vec![row.map(Datum::from).to_vec()],
    }
}
