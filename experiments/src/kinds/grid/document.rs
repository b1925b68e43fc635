//! Validation NLL by value, and the test NLL at the best.

use super::settings::Settings;
use crate::cell_runner::CellResult;
use crate::records::{Reader, read};
use crate::table::Ours;
use helmholtz_datasets::caution;
use helmholtz_harness::plan_text::count;
use helmholtz_report::{Block, Cell as TableCell, Document, Kind, Note, Table};
use serde::{Deserialize, Serialize};

/// What a grid shows, as its folder keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The grid.
    pub settings: Settings,
    /// The data set's name.
    pub dataset: String,
    /// The cells.
    pub cells: Cells,
}

/// Reader of a grid's folder.
pub const READER: Reader =
    Reader::of_documents(|kept| Some(document(&read(kept.result?.get(KEPT)?)?)));

/// Its key in a result.
pub const KEPT: &str = "grid";

/// The cells of a grid, in the order of their first runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// The cells.
    pub all: Vec<Cell>,
    /// The epochs of the shortest and of the longest run; none without runs.
    epochs: Option<[u64; 2]>,
}

impl Cells {
    /// Adds a run of a net and method, which is at one of so many values.
    pub fn add(&mut self, names: &[String], [value, values]: [usize; 2], run: &CellResult) {
        let at = self.all.iter().position(|cell| cell.names == names);
        let at = at.unwrap_or_else(|| {
            self.all.push(Cell::new(names, values));
            self.all.len() - 1
        });
        self.all[at].runs[value].push([run.valid_nll, run.reported_nll()]);
        let [least, most] = self.epochs.unwrap_or([run.epochs_done; 2]);
        self.epochs = Some([least.min(run.epochs_done), most.max(run.epochs_done)]);
    }

    /// Whether there is no run.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// A net with a method, at each of the values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Net and method.
    pub names: Vec<String>,
    /// Of each run at each value the validation and the test NLL of its selected epoch.
    pub runs: Vec<Vec<[f64; 2]>>,
}

impl Cell {
    /// Without runs, at so many values.
    pub fn new(names: &[String], values: usize) -> Self {
        Self {
            names: names.into(),
            runs: vec![Vec::new(); values],
        }
    }

    /// The validation NLL (0) or the test NLL (1) over the runs of a value.
    fn nll(&self, value: usize, which: usize) -> Option<Ours> {
        let runs = self.runs[value].iter();
        Ours::of(&runs.map(|run| run[which]).collect::<Vec<_>>())
    }

    /// The value with the least mean validation NLL; the first of equal ones.
    fn best(&self) -> Option<usize> {
        let means =
            (0..self.runs.len()).filter_map(|value| Some((value, self.nll(value, 0)?.mean)));
        means
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(value, _)| value)
    }

    /// Whether some values have fewer runs than others.
    fn is_partial(&self) -> bool {
        self.runs
            .iter()
            .any(|runs| runs.len() != self.runs[0].len())
    }
}

fn number(ours: Option<Ours>) -> TableCell {
    match ours {
        Some(ours) => TableCell::number(Kind::Ours, ours.text(), ours.mean).with_spread(ours.sd),
        None => TableCell::of(Kind::Ours, "-"),
    }
}

/// The table of these cells, one at least.
fn table(settings: &Settings, cells: &[Cell]) -> Table {
    let (setting, values) = (&settings.setting, &settings.values);
    let at = |value| format!("Valid NLL at {value}");
    let heads = ["Net", "Method"].map(String::from).into_iter();
    let heads = heads.chain(values.iter().map(at));
    let last = [
        format!("Best {setting}"),
        "Test NLL there".into(),
        "Runs there".into(),
    ];
    let mut table = Table::new("grid", "", heads.chain(last));
    for cell in cells {
        let names = cell.names.iter().map(|name| TableCell::from(name.as_str()));
        let mut row: Vec<TableCell> = names.collect();
        row.extend((0..values.len()).map(|value| number(cell.nll(value, 0))));
        if let Some(best) = cell.best() {
            row.push(TableCell::count(&values[best]));
            row.push(number(cell.nll(best, 1)));
            row.push(TableCell::count(cell.runs[best].len()));
        }
        table.push(row);
    }
    table
}

/// The table, with what is to be known of its numbers.
pub fn document(shown: &Shown) -> Document {
    let Shown {
        settings,
        dataset,
        cells,
    } = shown;
    let [least, most] = cells.epochs.unwrap_or_default();
    let cells = &cells.all;
    let mut notes: Vec<Note> = caution(dataset).map(Note::caution).into_iter().collect();
    let names = |wanted: &dyn Fn(&&Cell) -> bool| {
        let names = cells
            .iter()
            .filter(wanted)
            .map(|cell| cell.names.join(" / "));
        Some(names.collect::<Vec<_>>().join("; ")).filter(|names| !names.is_empty())
    };
    if let Some(names) = names(&|cell| cell.is_partial()) {
        notes.push(Note::caution(format!(
            "INCOMPLETE: not as many runs at every value, of {names}."
        )));
    }
    let last = settings.values.len() - 1;
    if let Some(names) = names(&|cell| cell.best().is_some_and(|best| best == 0 || best == last)) {
        notes.push(Note::caution(format!(
            "AT THE EDGE: the best value is the first or the last, and one beyond it may be better, of {names}."
        )));
    }
    let epochs = match least == most {
        true => count(most as usize, "epoch"),
        false => format!("{least} to {most} epochs"),
    };
    notes.push(Note::remark(format!(
        "{}: NLL in nats of the selected epoch at each value, mean ± sd over seeds, after {epochs}. The value is chosen by validation \
         alone.",
        settings.setting
    )));
    let blocks = vec![Block::Table(table(settings, cells)), Block::Notes(notes)];
    Document::of_blocks(&settings.title, blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn cell(method: &str, runs: &[&[[f64; 2]]]) -> Cell {
        let names = ["linear", method].map(String::from);
        let runs = runs.iter().map(|runs| runs.to_vec()).collect();
        Cell {
            runs,
            ..Cell::new(&names, 3)
        }
    }

    fn shown(cells: &[Cell]) -> (Vec<Vec<String>>, Vec<String>) {
        let settings = Settings::parse(&Source::find("rates").unwrap()).unwrap();
        let cells = Cells {
            all: cells.to_vec(),
            epochs: Some([10, 10]),
        };
        let dataset = "binarized-mnist".into();
        let document = document(&Shown {
            settings,
            dataset,
            cells,
        });
        let [Block::Table(table), Block::Notes(notes)] = &document.sections[0].blocks[..] else {
            panic!("a table and its notes")
        };
        let text = |row: &Vec<TableCell>| row[2..].iter().map(|cell| cell.text.clone()).collect();
        let cautions = notes.iter().filter(|note| note.is_caution());
        (
            table.rows.iter().map(text).collect(),
            cautions.map(|note| note.text.clone()).collect(),
        )
    }

    #[test]
    fn the_best_is_chosen_by_validation_and_its_test_nll_shown() {
        let jsa = cell(
            "jsa",
            &[
                &[[110.0, 99.0]],
                &[[104.0, 105.0], [106.0, 107.0]],
                &[[105.5, 1.0]],
            ],
        );
        let (rows, _) = shown(&[jsa]);
        assert_eq!(rows[0][..3], ["110.00", "105.00 ± 1.41", "105.50"]);
        assert_eq!(rows[0][4..], ["106.00 ± 1.41", "2"]);
    }

    #[test]
    fn a_best_value_at_the_edge_and_missing_runs_are_said() {
        let (inside, edge) = ([3.0, 1.0, 2.0], [1.0, 2.0, 3.0]);
        let of = |nlls: [f64; 3]| nlls.map(|nll| vec![[nll, nll]]).to_vec();
        let whole = |method: &str, nlls| Cell {
            runs: of(nlls),
            ..cell(method, &[])
        };
        let (_, cautions) = shown(&[whole("jsa", inside)]);
        assert!(cautions.is_empty(), "{cautions:?}");
        let (_, cautions) = shown(&[whole("jsa", inside), whole("rws", edge)]);
        assert!(
            matches!(&cautions[..], [edge] if edge.starts_with("AT THE EDGE") && edge.ends_with("of linear / rws."))
        );
        let (rows, cautions) = shown(&[cell("jsa", &[&[[3.0, 3.0]], &[[1.0, 1.0]], &[]])]);
        assert_eq!(rows[0][2], "-");
        assert!(cautions[0].starts_with("INCOMPLETE"), "{cautions:?}");
    }
}
