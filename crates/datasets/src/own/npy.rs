//! NumPy arrays: `.npy`, and archives of them, `.npz`.

use std::io::{Cursor, Read};
use std::path::Path;

use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};
use zip::ZipArchive;

use super::arrays::{Array, Found};
use super::{fits, unsuitable};
use crate::Error;

/// The most arrays of an archive.
const MOST_ARRAYS: usize = 100;

/// The array of an `.npy` file.
pub(super) fn read_npy(file: &Path, bytes: &[u8]) -> Result<Array, Error> {
    array(file, "the array", bytes)
}

/// The arrays of an `.npz` archive, by their names without `.npy`; together they unpack to `most` bytes at most.
pub(super) fn read_npz(file: &Path, bytes: Vec<u8>, most: u64) -> Result<Found, Error> {
    let corrupt = |at: &str, found: String| Error::Corrupt {
        file: file.to_owned(),
        at: at.to_owned(),
        found,
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| corrupt("its structure", format!("no zip archive ({error})")))?;
    if archive.len() > MOST_ARRAYS {
        return Err(unsuitable(
            file,
            format!(
                "it has {} arrays; {MOST_ARRAYS} are the most",
                archive.len()
            ),
        ));
    }
    let (mut arrays, mut left) = (Vec::new(), most);
    for index in 0..archive.len() {
        let damaged = |error: std::io::Error| {
            corrupt(&format!("array {index}"), format!("damaged ({error})"))
        };
        let member = archive
            .by_index(index)
            .map_err(|error| damaged(error.into()))?;
        let name = member.name().trim_end_matches(".npy").to_owned();
        let mut bytes = Vec::new();
        // However much it unpacks to.
        member
            .take(left + 1)
            .read_to_end(&mut bytes)
            .map_err(damaged)?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            unsuitable(
                file,
                format!("its arrays have more than {most} bytes, the most"),
            )
        })?;
        let array = array(file, &format!("`{name}`"), &bytes)?;
        arrays.push((name, array));
    }
    Ok(Found(arrays))
}

fn array(file: &Path, name: &str, bytes: &[u8]) -> Result<Array, Error> {
    let corrupt = |found: String| Error::Corrupt {
        file: file.to_owned(),
        at: name.to_owned(),
        found,
    };
    let npy = NpyFile::new(bytes).map_err(|error| corrupt(format!("no NumPy array ({error})")))?;
    let shape = npy.shape().to_vec();
    let count = fits(file, name, &shape)?;
    let rows = shape.first().copied().unwrap_or(0) as usize;
    if rows == 0 {
        return Err(unsuitable(
            file,
            format!("{name} has the shape {shape:?}: give rows of numbers"),
        ));
    }
    let width = count / rows;
    if npy.order() == Order::Fortran && rows > 1 && width > 1 {
        let problem = format!("{name} is in Fortran's order: save `numpy.ascontiguousarray` of it");
        return Err(unsuitable(file, problem));
    }
    let DType::Plain(kind) = npy.dtype() else {
        return Err(unsuitable(
            file,
            format!("{name} has fields: save one array of numbers"),
        ));
    };
    let (letter, size) = (kind.type_char(), kind.size_field());
    let bytes = (letter, size) == (TypeChar::Uint, 1);
    // The file must have the numbers before memory is taken for them.
    let numbers = match (letter, size) {
        (TypeChar::Bool, 1) => numbers(npy, count, |x: bool| f32::from(u8::from(x))),
        (TypeChar::Uint, 1) => numbers(npy, count, |x: u8| f32::from(x)),
        (TypeChar::Uint, 2) => numbers(npy, count, |x: u16| f32::from(x)),
        (TypeChar::Uint, 4) => numbers(npy, count, |x: u32| x as f32),
        (TypeChar::Uint, 8) => numbers(npy, count, |x: u64| x as f32),
        (TypeChar::Int, 1) => numbers(npy, count, |x: i8| f32::from(x)),
        (TypeChar::Int, 2) => numbers(npy, count, |x: i16| f32::from(x)),
        (TypeChar::Int, 4) => numbers(npy, count, |x: i32| x as f32),
        (TypeChar::Int, 8) => numbers(npy, count, |x: i64| x as f32),
        (TypeChar::Float, 4) => numbers(npy, count, |x: f32| x),
        (TypeChar::Float, 8) => numbers(npy, count, |x: f64| x as f32),
        _ => {
            let problem =
                format!("{name} is of {kind}: save it as bool, whole numbers, float32 or float64");
            return Err(unsuitable(file, problem));
        }
    };
    let numbers = numbers.map_err(|found| match found {
        Some(error) => corrupt(error),
        None => Error::Truncated {
            file: file.to_owned(),
            found: format!("{name} has fewer than the {count} numbers of its shape {shape:?}"),
            sha256: None,
        },
    })?;
    Ok(match bytes {
        true => Array::of_bytes(width, numbers),
        false => Array::new(width, numbers),
    })
}

/// So many numbers; none where there are fewer, and what is wrong where there is something else.
fn numbers<T: Deserialize>(
    npy: NpyFile<&[u8]>,
    count: usize,
    number: impl Fn(T) -> f32,
) -> Result<Vec<f32>, Option<String>> {
    let mut numbers = Vec::new();
    let data = npy.data::<T>().map_err(|error| Some(error.to_string()))?;
    for x in data {
        match x {
            Ok(x) => numbers.push(number(x)),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Err(None),
            Err(error) => return Err(Some(error.to_string())),
        }
    }
    match numbers.len() == count {
        true => Ok(numbers),
        false => Err(None),
    }
}
