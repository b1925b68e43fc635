//! Tables of columns: `.parquet`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::arrays::{Array, Found};
use super::{fits, unsuitable};
use crate::Error;

/// The numeric columns beside one another, and one called `label`, `labels` or `y` apart.
pub(super) fn read(file: &Path, bytes: Vec<u8>) -> Result<Found, Error> {
    let corrupt = |found: String| Error::Corrupt {
        file: file.to_owned(),
        at: "its structure".into(),
        found,
    };
    // The parser may panic at what no table has.
    let table = catch_unwind(AssertUnwindSafe(|| table(file, bytes)));
    let table = table.unwrap_or_else(|_| Ok(Err("sizes that no table has".into())))?;
    table.map_err(|found| corrupt(format!("no table of numbers ({found})")))
}

/// The columns as rows; what the parser says of a damaged file inside.
fn table(file: &Path, bytes: Vec<u8>) -> Result<Result<Found, String>, Error> {
    let reader = match SerializedFileReader::new(Bytes::from(bytes)) {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(u64::MAX);
    let width = schema.num_columns();
    let count = fits(file, "the table", &[rows, width as u64])?;
    let (rows, mut columns) = (count / width.max(1), Vec::new());
    for (index, column) in schema.columns().iter().enumerate() {
        let name = column.path().string();
        if column.max_rep_level() > 0 {
            let problem =
                format!("column `{name}` has lists: make each number a column, or save `.npz`");
            return Err(unsuitable(file, problem));
        }
        let mut numbers = Vec::new();
        for group in 0..reader.num_row_groups() {
            let column = reader
                .get_row_group(group)
                .and_then(|group| group.get_column_reader(index));
            let read = match column {
                Ok(ColumnReader::BoolColumnReader(column)) => {
                    push(column, rows, &mut numbers, |x| f32::from(u8::from(x)))
                }
                Ok(ColumnReader::Int32ColumnReader(column)) => {
                    push(column, rows, &mut numbers, |x| x as f32)
                }
                Ok(ColumnReader::Int64ColumnReader(column)) => {
                    push(column, rows, &mut numbers, |x| x as f32)
                }
                Ok(ColumnReader::FloatColumnReader(column)) => {
                    push(column, rows, &mut numbers, |x| x)
                }
                Ok(ColumnReader::DoubleColumnReader(column)) => {
                    push(column, rows, &mut numbers, |x| x as f32)
                }
                Ok(_) => {
                    return Err(unsuitable(
                        file,
                        format!("column `{name}` has no numbers: leave it out"),
                    ));
                }
                Err(error) => Err(error),
            };
            if let Err(ParquetError::General(text)) = &read
                && text.contains("Disabled feature")
            {
                let problem = format!(
                    "column `{name}` is compressed in a way that is not read ({text}): write it with snappy, gzip or uncompressed"
                );
                return Err(unsuitable(file, problem));
            }
            if let Err(error) = read {
                return Ok(Err(format!("column `{name}`: {error}")));
            }
        }
        if numbers.len() != rows {
            let problem = format!(
                "column `{name}` has {} values for {rows} rows: leave out rows with missing values, or fill them",
                numbers.len()
            );
            return Err(unsuitable(file, problem));
        }
        columns.push((name, numbers));
    }
    let (labels, columns): (Vec<_>, Vec<_>) = columns
        .into_iter()
        .partition(|(name, _)| ["label", "labels", "y"].contains(&name.as_str()));
    let of_row = |row: usize| columns.iter().map(move |(_, numbers)| numbers[row]);
    let data = Array::new(columns.len(), (0..rows).flat_map(of_row).collect());
    let labels = labels
        .into_iter()
        .map(|(name, numbers)| (name, Array::new(1, numbers)));
    Ok(Ok(Found(
        labels.chain([("data".to_owned(), data)]).collect(),
    )))
}

/// Appends the values of a column, at most `most` in all.
fn push<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    most: usize,
    numbers: &mut Vec<f32>,
    number: impl Fn(T::T) -> f32,
) -> Result<(), ParquetError> {
    const CHUNK: usize = 1 << 16;
    loop {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let (records, _, _) = column.read_records(CHUNK, Some(&mut levels), None, &mut values)?;
        numbers.extend(values.into_iter().map(&number));
        if records == 0 || numbers.len() > most {
            return Ok(());
        }
    }
}
