//! A small file of each format, damaged ones, and the parts.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use npyz::WriterBuilder;

use super::*;
use crate::Kind;
use crate::load::caution;
use crate::mat::tests::mat;
use crate::testing::gzip;

/// Ten rows of three numbers: bits, but for what `x` gives of row and column.
fn numbers(x: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    (0..30).map(|i| x(i / 3, i % 3)).collect()
}

fn bits(i: usize, j: usize) -> f32 {
    ((i * 3 + j * j) % 2) as f32
}

fn counts(i: usize, j: usize) -> f32 {
    (i * j) as f32
}

/// An array of this shape as NumPy writes it.
fn npy<T: npyz::AutoSerialize + Copy>(shape: &[u64], numbers: &[T]) -> Vec<u8> {
    ordered(npyz::Order::C, shape, numbers)
}

/// An array of this type, order and shape.
fn ordered<T: npyz::AutoSerialize + Copy>(
    order: npyz::Order,
    shape: &[u64],
    numbers: &[T],
) -> Vec<u8> {
    let mut file = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(shape);
    let mut writer = options
        .order(order)
        .writer(&mut file)
        .begin_nd()
        .expect("memory");
    writer.extend(numbers.iter().copied()).expect("memory");
    writer.finish().expect("memory");
    file
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn text(numbers: &[f32]) -> Vec<u8> {
    let line = |row: &[f32]| row.iter().map(|x| format!("{x} ")).collect::<String>() + "\n";
    numbers.chunks(3).map(line).collect::<String>().into_bytes()
}

/// Bytes of 10 x 3 x 1.
fn idx(numbers: &[f32]) -> Vec<u8> {
    let sizes = [10u32, 3, 1].map(u32::to_be_bytes).concat();
    let bytes = numbers.iter().map(|&x| x as u8);
    [0, 0, 8, 3].into_iter().chain(sizes).chain(bytes).collect()
}

/// Column by column, as MATLAB has it.
fn matlab(numbers: &[f32]) -> Vec<u8> {
    let at = |i: usize| f64::from(numbers[i % 10 * 3 + i / 10]);
    let entries: Vec<f64> = (0..30).map(at).collect();
    mat(&[("x", 10, &entries)], true)
}

#[cfg(feature = "parquet")]
fn table(numbers: &[f32], labels: Option<&[i32]>) -> Vec<u8> {
    use ::parquet::data_type::{FloatType, Int32Type};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    let label = labels.map_or("", |_| "required int32 label;");
    let schema =
        format!("message rows {{ {label} required float a; required float b; required float c; }}");
    let schema = std::sync::Arc::new(parse_message_type(&schema).unwrap());
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    if let Some(labels) = labels {
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<Int32Type>()
            .write_batch(labels, None, None)
            .unwrap();
        column.close().unwrap();
    }
    for j in 0..3 {
        let values: Vec<f32> = numbers.iter().skip(j).step_by(3).copied().collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<FloatType>()
            .write_batch(&values, None, None)
            .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn load(data: OwnData) -> Result<Splits, Error> {
    data.load(&mut |_| {})
}

fn rows(images: &Images) -> Vec<Vec<f32>> {
    let mut row = vec![f32::NAN; images.pixels()];
    let mut next = |i| {
        images.write_row_f32(i, &mut row);
        row.clone()
    };
    (0..images.len()).map(&mut next).collect()
}

/// A file of each format with the same rows.
fn files(x: impl Fn(usize, usize) -> f32) -> Vec<(&'static str, Vec<u8>)> {
    let numbers = numbers(x);
    let array = npy(&[10, 3, 1], &numbers);
    let mut files = vec![
        ("a.npy", array.clone()),
        ("a.npy.gz", gzip(&array)),
        ("a.npz", npz(&[("x", array)])),
        ("a.amat", text(&numbers)),
        ("a.mat", matlab(&numbers)),
        ("a.idx", idx(&numbers)),
    ];
    #[cfg(feature = "parquet")]
    files.push(("a.parquet", table(&numbers, None)));
    files.reverse();
    files
}

#[test]
fn every_format_gives_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    for (x, kind) in [
        (bits as fn(usize, usize) -> f32, Kind::Bits),
        (counts, Kind::Numbers),
    ] {
        let mut known = None;
        for (name, bytes) in files(x) {
            let whole = load(OwnData::new(vec![write(folder.path(), name, &bytes)])).unwrap();
            let sizes = [&whole.train, &whole.valid, &whole.test].map(Images::len);
            assert_eq!((sizes, whole.train.pixels()), ([8, 1, 1], 3), "{name}");
            // Bytes are grey levels.
            if (name, kind) == ("a.idx", Kind::Numbers) {
                assert_eq!(whole.train.kind(), Kind::Grey);
                assert!(
                    whole.name.ends_with("-grey") && caution(&whole.name).unwrap().contains("GREY")
                );
                continue;
            }
            assert_eq!(whole.train.kind(), kind, "{name}");
            assert_eq!(
                *known.get_or_insert(whole.fingerprint.clone()),
                whole.fingerprint,
                "{name}"
            );
            let mut all: Vec<_> = [&whole.train, &whole.valid, &whole.test].map(rows).concat();
            let mut expected: Vec<Vec<f32>> = numbers(x).chunks(3).map(<[f32]>::to_vec).collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
            assert_eq!(all, expected, "{name}");
            assert_eq!(
                caution(&whole.name).is_some(),
                kind == Kind::Numbers,
                "{}",
                whole.name
            );
            assert!(
                whole
                    .name
                    .starts_with(&format!("own-a-{}", &whole.fingerprint[..8]))
            );
        }
    }
}

#[test]
fn every_cut_and_many_a_wrong_byte_is_an_error_or_other_rows_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files(counts) {
        let read = |bytes: &[u8]| load(OwnData::new(vec![write(folder.path(), name, bytes)]));
        let whole = read(&bytes).unwrap();
        for len in 0..bytes.len() {
            let cut = read(&bytes[..len]);
            // A text may end at any line, or in a number; the end of a gzip file, or of a MATLAB matrix, may be padding.
            let same = cut
                .as_ref()
                .is_ok_and(|cut| cut.fingerprint == whole.fingerprint);
            assert!(
                cut.is_err() || same || name == "a.amat",
                "{name} of {len} bytes"
            );
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            let _ = read(&damaged);
        }
        for text in ["<!DOCTYPE html>", ""] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn parts_come_from_arrays_or_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let part = |rows: u64, x: f32| npy(&[rows, 2], &vec![x; 2 * rows as usize]);
    let parts = [
        ("train", part(5, 1.0)),
        ("valid", part(2, 0.0)),
        ("test", part(3, 1.0)),
    ];
    let check = |splits: Splits| {
        let sizes = [&splits.train, &splits.valid, &splits.test].map(Images::len);
        assert_eq!((sizes, splits.valid.mean()), ([5, 2, 3], 0.0));
        splits.fingerprint
    };
    let one = write(folder.path(), "Own Data!.npz", &npz(&parts));
    let three = parts
        .each_ref()
        .map(|(name, bytes)| write(folder.path(), &format!("{name}.npy"), bytes));
    let [one, three] = [vec![one], three.to_vec()].map(OwnData::new);
    for whole in [&one, &three] {
        // Even as where nothing is said.
        for (fractions, seed) in [(Some(FRACTIONS), None), (None, Some(1))] {
            let divided = OwnData {
                fractions,
                seed,
                ..whole.clone()
            };
            let text = load(divided).unwrap_err().to_string();
            assert!(text.contains("leave out how to divide"), "{text}");
        }
    }
    let [one, three] = [one, three].map(|whole| load(whole).unwrap());
    assert!(one.name.starts_with("own-own-data-"), "{}", one.name);
    assert_eq!(check(one), check(three));
}

#[test]
fn a_split_is_named_by_its_seed_and_shares_and_gives_each_class_its_share() {
    let folder = tempfile::tempdir().unwrap();
    let classes: Vec<i32> = (0..100).map(|i| i32::from(i >= 80)).collect();
    // The number of a row is its row.
    let data: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let arrays = [("x", npy(&[100, 1], &data)), ("y", npy(&[100], &classes))];
    let file = write(folder.path(), "a.npz", &npz(&arrays));
    let of = |seed, fractions| {
        let files = vec![file.clone()];
        load(OwnData {
            files,
            fractions: Some(fractions),
            seed: Some(seed),
        })
    };
    let shares = [0.5, 0.25, 0.25];
    let splits = of(1, shares).unwrap();
    for (part, [zeros, ones]) in [
        (&splits.train, [40, 10]),
        (&splits.valid, [20, 5]),
        (&splits.test, [20, 5]),
    ] {
        let rows = rows(part);
        let found = rows.iter().filter(|row| row[0] >= 80.0).count();
        assert_eq!([rows.len() - found, found], [zeros, ones]);
    }
    assert_eq!(of(1, shares).unwrap().fingerprint, splits.fingerprint);
    assert_ne!(of(2, shares).unwrap().fingerprint, splits.fingerprint);
    for (shares, part) in [
        ([0.5, 0.5, 0.5], "add up to 1"),
        ([1.0, 0.0, 0.0], "positive"),
        ([0.998, 0.001, 0.001], "none for the"),
    ] {
        let error = of(1, shares).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_column_of_labels_is_no_number_of_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let labels: Vec<i32> = (0..10).map(|i| i % 2).collect();
    let file = write(
        folder.path(),
        "a.parquet",
        &table(&numbers(bits), Some(&labels)),
    );
    let splits = load(OwnData {
        fractions: Some([0.6, 0.2, 0.2]),
        ..OwnData::new(vec![file])
    })
    .unwrap();
    assert_eq!((splits.train.pixels(), splits.valid.len()), (3, 2));
}

#[test]
fn what_is_no_data_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = |name: &str, bytes: &[u8]| {
        let file = write(folder.path(), name, bytes);
        load(OwnData::new(vec![file])).unwrap_err().to_string()
    };
    let ten = npy(&[10, 2], &[0.5f32; 20]);
    let gap = {
        let mut numbers = [0.5f32; 20];
        numbers[7] = f32::NAN;
        npy(&[10, 2], &numbers)
    };
    let complex = {
        let mut file = ten.clone();
        let at = file.windows(3).position(|w| w == b"<f4").unwrap();
        file[at..at + 3].copy_from_slice(b"<c8");
        file
    };
    // 2^61 numbers that are not there.
    let huge = {
        let header =
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976, 2), }\n";
        let start = [
            b"\x93NUMPY\x01\x00",
            &(header.len() as u16).to_le_bytes()[..],
        ]
        .concat();
        [start, header.into()].concat()
    };
    for (name, bytes, part) in [
        ("a.npy", npy::<f32>(&[0, 3], &[]), "give rows of numbers"),
        ("b.npy", gap, "row 3, column 1: leave out rows"),
        ("c.npy", complex, "save it as bool"),
        ("d.npy", huge, "numbers are the most"),
        (
            "e.npz",
            npz(&[("p", ten.clone()), ("q", ten.clone())]),
            "call the data `data`",
        ),
        ("f.npz", npz(&[("train", ten.clone())]), "not all"),
        (
            "g.npz",
            npz(&[("x", ten.clone()), ("y", npy(&[3], &[1i32; 3]))]),
            "3 numbers for 10 rows",
        ),
        (
            "h.npz",
            npz(&[("x", ten.clone()), ("y", npy(&[10], &[0.5f64; 10]))]),
            "classes are whole numbers",
        ),
        ("i.amat", b"1 0 1\n1 0\n".to_vec(), "line 2 has 2 numbers"),
        (
            "j.amat",
            b"1 0 1\n1 x 1\n".to_vec(),
            "line 2: `x` where a number",
        ),
        ("k.csv", b"1,0".to_vec(), "use one of .npy"),
    ] {
        let text = error(name, &bytes);
        assert!(text.contains(part) && text.contains(name), "{text}");
    }
    let nowhere = folder.path().join("nowhere.npy");
    let text = load(OwnData::new(vec![nowhere.clone()]))
        .unwrap_err()
        .to_string();
    assert!(text.contains("no such file"), "{text}");
    let text = load(OwnData::new(vec![nowhere.clone(), nowhere]))
        .unwrap_err()
        .to_string();
    assert!(text.contains("2 files: give one, or three"), "{text}");
    let wide = write(folder.path(), "wide.npy", &npy(&[10, 3], &[0.5f32; 30]));
    let ten = write(folder.path(), "ten.npy", &ten);
    let text = load(OwnData::new(vec![ten.clone(), ten, wide]))
        .unwrap_err()
        .to_string();
    assert!(text.contains("as wide"), "{text}");
}

#[test]
fn files_are_told_by_their_endings() {
    for (word, files) in [
        ("a.npz", true),
        ("x/b.amat.gz", true),
        ("a.npy,b.npy,c.npy", true),
        ("train-images-idx3-ubyte", true),
        ("glyphs", false),
        ("binarized-mnist", false),
        ("a.npy,b", false),
        ("a.csv", false),
        ("a.parquet", true),
        ("a.parquet.gz", false),
        ("a.npz.gz", false),
    ] {
        assert_eq!(OwnData::is_files(word), files, "{word}");
    }
}

#[test]
fn numbers_of_every_type_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let expected: Vec<Vec<f32>> = (0..10).map(|i| vec![i as f32, 2.0]).collect();
    macro_rules! of {
        ($($kind:ty)*) => {
            [$((stringify!($kind), {
                let numbers: Vec<$kind> = (0..10).flat_map(|i| [i as $kind, 2 as $kind]).collect();
                npy(&[10, 2], &numbers)
            })),*]
        };
    }
    for (kind, bytes) in of!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64) {
        let array = npy::read_npy(Path::new("a.npy"), &bytes).unwrap();
        let images = array.images();
        assert_eq!(images.kind() == Kind::Grey, kind == "u8", "{kind}");
        let found = rows(&images);
        match kind {
            "u8" => assert_eq!(found[9], [9.0 / 255.0, 2.0 / 255.0]),
            _ => assert_eq!(found, expected, "{kind}"),
        }
    }
    let bits = npy(&[2, 2], &[true, false, false, true]);
    let array = npy::read_npy(&write(folder.path(), "b.npy", &bits), &bits).unwrap();
    assert_eq!(rows(&array.images()), [[1.0, 0.0], [0.0, 1.0]]);
    let damaged = [&bits[..bits.len() - 1], &[7]].concat();
    let error = |bytes: &[u8]| npy::read_npy(Path::new("b.npy"), bytes).unwrap_err();
    assert!(matches!(error(&damaged), Error::Corrupt { .. }));
    assert!(matches!(
        error(&bits[..bits.len() - 1]),
        Error::Truncated { .. }
    ));
}

#[test]
fn bits_as_bytes_of_255_are_bits() {
    let bytes = npy(&[2, 3], &[0u8, 255, 0, 255, 255, 0]);
    let images = npy::read_npy(Path::new("a.npy"), &bytes).unwrap().images();
    assert_eq!(images.kind(), Kind::Bits);
    assert_eq!(rows(&images), [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]);
}

#[test]
fn the_order_of_fortran_is_read_where_it_is_the_order_of_c() {
    use npyz::Order::Fortran;
    let read = |shape: &[u64]| {
        let numbers = vec![0.5f32; shape.iter().product::<u64>() as usize];
        npy::read_npy(Path::new("a.npy"), &ordered(Fortran, shape, &numbers))
    };
    let text = read(&[10, 2]).unwrap_err().to_string();
    assert!(text.contains("ascontiguousarray"), "{text}");
    for (shape, count) in [(&[10, 1][..], 10), (&[1, 3], 1), (&[5], 5)] {
        assert_eq!(read(shape).unwrap().rows(), count, "{shape:?}");
    }
}

#[test]
fn an_archive_has_so_many_arrays_and_so_many_bytes_at_most() {
    let array = npy(&[2, 1], &[0.5f32; 2]);
    let archive = |arrays: usize| {
        let names: Vec<String> = (0..arrays).map(|i| format!("a{i}")).collect();
        let arrays: Vec<_> = names
            .iter()
            .map(|name| (&name[..], array.clone()))
            .collect();
        npz(&arrays)
    };
    let read = |arrays, most| npy::read_npz(Path::new("a.npz"), archive(arrays), most);
    assert!(read(100, LARGEST).is_ok());
    let text = read(101, LARGEST).unwrap_err().to_string();
    assert!(text.contains("101 arrays; 100 are the most"), "{text}");
    let bytes = 3 * array.len() as u64;
    assert!(read(3, bytes).is_ok());
    let text = read(3, bytes - 1).unwrap_err().to_string();
    assert!(text.contains("the most"), "{text}");
    // The most numbers fit.
    assert_eq!(LARGEST / MOST as u64, size_of::<f32>() as u64);
}

#[test]
fn a_text_has_so_many_numbers_at_most() {
    let read = |most| text::read(Path::new("a.amat"), b"1 0 1\n0 0 1\n", most);
    assert_eq!(read(6).unwrap().rows(), 2);
    let text = read(5).unwrap_err().to_string();
    assert!(text.contains("more than 5 numbers"), "{text}");
}

#[test]
fn a_class_is_a_whole_number_up_to_a_million() {
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<f32> = (0..10).map(|i| i as f32).collect();
    let read = |class: f64| {
        let classes: Vec<f64> = (0..10).map(|i| if i < 5 { 0.0 } else { class }).collect();
        let arrays = [("x", npy(&[10, 1], &data)), ("y", npy(&[10], &classes))];
        load(OwnData {
            fractions: Some([0.6, 0.2, 0.2]),
            ..OwnData::new(vec![write(folder.path(), "a.npz", &npz(&arrays))])
        })
    };
    assert!(read(1e6).is_ok() && read(-1e6).is_ok());
    let text = read(1e6 + 1.0).unwrap_err().to_string();
    assert!(text.contains("no class"), "{text}");
}
