//! Arrays of a file, and which of them are data.

use std::path::Path;

use super::unsuitable;
use crate::{Error, Images};

/// Rows of numbers.
#[derive(Debug)]
pub(super) struct Array {
    width: usize,
    numbers: Vec<f32>,
    /// Whether they were bytes: then they are grey levels, unless all are 0 or 1.
    bytes: bool,
}

impl Array {
    pub(super) fn new(width: usize, numbers: Vec<f32>) -> Self {
        let bytes = false;
        Self {
            width,
            numbers,
            bytes,
        }
    }

    pub(super) fn of_bytes(width: usize, numbers: Vec<f32>) -> Self {
        let bytes = true;
        Self {
            width,
            numbers,
            bytes,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.numbers.len() / self.width.max(1)
    }

    /// The rows in the least memory.
    pub(super) fn images(&self) -> Images {
        let of = |bit: f32| self.numbers.iter().all(|&x| x == 0.0 || x == bit);
        match self.bytes && !of(1.0) {
            false => Images::of_numbers(self.width, &self.numbers),
            // Bits as bytes, 255 for 1.
            true if of(255.0) => {
                let bits: Vec<f32> = self.numbers.iter().map(|&x| x / 255.0).collect();
                Images::of_numbers(self.width, &bits)
            }
            true => {
                let bytes = self.numbers.iter().map(|&x| x as u8);
                Images::grey(self.width, bytes.collect())
            }
        }
    }

    /// That these are rows of finite numbers.
    fn checked(self, file: &Path, name: &str) -> Result<Self, Error> {
        let what = match name {
            "" => "the array".to_owned(),
            name => format!("`{name}`"),
        };
        if self.numbers.is_empty() {
            return Err(unsuitable(file, format!("{what} is empty")));
        }
        match self.numbers.iter().position(|x| !x.is_finite()) {
            None => Ok(self),
            Some(at) => {
                let (row, column, x) = (at / self.width, at % self.width, self.numbers[at]);
                let problem = format!(
                    "{what} has {x} in row {row}, column {column}: leave out rows with missing values, or fill them"
                );
                Err(unsuitable(file, problem))
            }
        }
    }
}

/// The arrays of a file, by name; the only one of a file without names has none.
#[derive(Debug)]
pub(super) struct Found(pub(super) Vec<(String, Array)>);

const PARTS: [&str; 3] = ["train", "valid", "test"];
const LABELS: [&str; 3] = ["labels", "label", "y"];

/// All rows and, where there are some, their classes.
type Whole = (Array, Option<Vec<i64>>);

impl Found {
    fn take(&mut self, name: &str) -> Option<Array> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// The parts, where they are there; else all rows.
    pub(super) fn parts(mut self, file: &Path) -> Result<Result<[Images; 3], Whole>, Error> {
        let there = PARTS.map(|name| self.has(name));
        if there == [true; 3] {
            let mut part = |name| {
                let array = self.take(name).expect("it is there");
                Ok(array.checked(file, name)?.images())
            };
            return Ok(Ok([part(PARTS[0])?, part(PARTS[1])?, part(PARTS[2])?]));
        }
        if there.contains(&true) {
            let problem = format!("it has some of the arrays {}, not all", PARTS.join(", "));
            return Err(unsuitable(file, problem));
        }
        self.whole(file).map(Err)
    }

    /// The only array that is no labels, or the one called `data` or `x`.
    pub(super) fn whole(mut self, file: &Path) -> Result<Whole, Error> {
        let known = self
            .0
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>();
        let labels = LABELS
            .iter()
            .find_map(|name| Some((*name, self.take(name)?)));
        let named = ["data", "x"]
            .iter()
            .find_map(|name| Some(((*name).to_owned(), self.take(name)?)));
        let (name, array) = match (named, self.0.len()) {
            (Some(named), _) => named,
            (None, 1) => self.0.remove(0),
            _ => {
                let problem = format!(
                    "it has the arrays {}: call the data `data`, or its parts `train`, `valid` and `test`",
                    known.join(", ")
                );
                return Err(unsuitable(file, problem));
            }
        };
        let array = array.checked(file, &name)?;
        let labels = labels.map(|(name, labels)| classes(file, name, &labels, array.rows()));
        Ok((array, labels.transpose()?))
    }
}

/// Labels as classes.
fn classes(file: &Path, name: &str, labels: &Array, rows: usize) -> Result<Vec<i64>, Error> {
    let numbers = &labels.numbers;
    if numbers.len() != rows {
        let problem = format!("`{name}` has {} numbers for {rows} rows", numbers.len());
        return Err(unsuitable(file, problem));
    }
    match numbers.iter().find(|x| x.fract() != 0.0 || x.abs() > 1e6) {
        None => Ok(numbers.iter().map(|&x| x as i64).collect()),
        Some(x) => Err(unsuitable(
            file,
            format!("`{name}` has {x}, which is no class: classes are whole numbers"),
        )),
    }
}
