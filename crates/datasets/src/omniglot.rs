//! OMNIGLOT (Lake, Salakhutdinov & Tenenbaum 2015) at 28x28: the grey `chardata.mat` of the IWAE paper (Burda, Grosse &
//! Salakhutdinov 2016), or the original drawings, made smaller.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::content::{Content, hex};
use crate::declared::{Declared, Origin};
use crate::event::Progress;
use crate::mat::{Matrix, read_mat};
use crate::mersenne::Mersenne;
use crate::{Error, Images, Locator, Missing};

/// The side of an image.
pub(crate) const SIDE: usize = 28;
/// The side of an original drawing.
const ORIGINAL: usize = 105;
/// Images that validate.
pub(crate) const VALID: usize = 1_345;
/// Of the drawings, those that test: as many as in `chardata.mat`.
const TEST: usize = 8_070;

/// The file with grey images.
pub(crate) const CHARDATA: &str = "chardata.mat";
/// The id under which git stores it; no sha256 of it is published.
pub(crate) const CHARDATA_BLOB: &str = "016a3536ffe5e1d38e42563a18d7a78bfaf643ec";
/// Its public home.
pub(crate) const CHARDATA_HOME: &str =
    "https://github.com/yburda/iwae/raw/master/datasets/OMNIGLOT/chardata.mat";

/// An archive of original drawings.
pub(crate) struct Archive {
    /// Its name without `.zip`, which is also the folder in it.
    pub name: &'static str,
    /// Drawings in it.
    pub images: usize,
    /// The sha256 of their pixels, an ink pixel as the byte 1, drawings in the order of their names. Archives of the same drawings
    /// differ in their own bytes.
    pub sha256: &'static str,
}

impl Archive {
    /// Its file.
    pub fn file(&self) -> String {
        format!("{}.zip", self.name)
    }

    /// Its public home.
    pub fn home(&self) -> String {
        format!(
            "https://github.com/brendenlake/omniglot/raw/master/python/{}.zip",
            self.name
        )
    }
}

pub(crate) const DECLARED: Declared = Declared {
    name: "omniglot",
    train_images: 23_000,
    synthetic: false,
    caution: None,
    parts: |locator, progress| {
        let path = find_chardata(locator)?;
        let parts = of_chardata(&path, Some(CHARDATA_BLOB), progress)?;
        Ok((parts, Origin::Files(vec![path])))
    },
};

pub(crate) const REDUCED: Declared = Declared {
    name: "omniglot-105-to-28",
    train_images: 23_045,
    synthetic: false,
    caution: Some(
        "OMNIGLOT 105 TO 28 (own resampling): another resampling and another split than those of `chardata.mat`, whose \
         published numbers are of other images.",
    ),
    parts: |locator, progress| {
        let mut paths = Vec::new();
        for archive in &ARCHIVES {
            let checksum = format!("sha256 of its drawings {}", archive.sha256);
            let (name, home) = (archive.file(), archive.home());
            paths.push(locator.find_supplied(&name, &checksum, &home, Missing::GLYPHS)?);
        }
        let parts = of_drawings(&paths, &ARCHIVES, progress)?;
        Ok((parts, Origin::Files(paths)))
    },
};

/// The archives, in the order in which their drawings are counted.
pub(crate) const ARCHIVES: [Archive; 2] = [
    Archive {
        name: "images_background",
        images: 19_280,
        sha256: "dd58c588f6e2a235ab066d820e54815196df02fcb5ee660aa01b1bfd6c84ed3f",
    },
    Archive {
        name: "images_evaluation",
        images: 13_180,
        sha256: "c3cd7004d5b5d81203d43f5fcdcc7ff34e9923b8059c9e04999b0b98a1b652a8",
    },
];

/// Training, validation and test images of `chardata.mat`, as the code of ARM (Yin & Zhou 2019) makes them. Each pixel
/// is on with its grey value as probability, drawn once (seed 5, training images first). The training images are
/// permuted (seed 123), and the last 1,345 of them validate.
///
/// # Errors
/// As [`read_mat`]; [`Error::Corrupt`] for matrices that are no grey images of 28x28.
pub(crate) fn of_chardata(
    path: &Path,
    git_blob: Option<&str>,
    progress: &mut Progress,
) -> Result<[Images; 3], Error> {
    let grey = grey_chardata(path, git_blob, progress)?;
    let mut draws = Mersenne::new(5);
    let [train, test] = grey.map(|grey| binarised(&grey, &mut draws));
    let order = Mersenne::new(123).permutation(train.len() as u32);
    let (train_rows, valid_rows) = order.split_at(order.len().saturating_sub(VALID));
    Ok([train.select(train_rows), train.select(valid_rows), test])
}

/// The training and the test images of `chardata.mat`, in the order of the file: levels from 0 to 1, row-major.
///
/// # Errors
/// As [`of_chardata`].
pub(crate) fn grey_chardata(
    path: &Path,
    git_blob: Option<&str>,
    progress: &mut Progress,
) -> Result<[Vec<f64>; 2], Error> {
    let names = ["data", "testdata"];
    let matrices = read_mat(path, names, git_blob, progress)?;
    for (name, matrix) in names.iter().zip(&matrices) {
        let grey = matrix.entries.iter().all(|p| (0.0..=1.0).contains(p));
        if matrix.rows != SIDE * SIDE || !grey {
            return Err(Error::Corrupt {
                file: path.to_owned(),
                at: format!("`{name}`"),
                found: format!(
                    "{} numbers a column, where 784 from 0 to 1 are expected",
                    matrix.rows
                ),
            });
        }
    }
    Ok(matrices.map(|matrix| row_major(&matrix)))
}

/// Finds `chardata.mat`.
///
/// # Errors
/// As [`Locator::find`](crate::Locator::find).
pub(crate) fn find_chardata(locator: &Locator) -> Result<PathBuf, Error> {
    let checksum = format!("git blob id {CHARDATA_BLOB}");
    let instead = "without it: the data set `omniglot-105-to-28` is made from images_background.zip and \
                   images_evaluation.zip; `glyphs` needs no file";
    locator.find_supplied(CHARDATA, &checksum, CHARDATA_HOME, instead)
}

/// The images of a matrix that has one a column, its pixels column by column, in rows.
fn row_major(matrix: &Matrix) -> Vec<f64> {
    let pixels = 0..SIDE * SIDE;
    let image = |column: &[f64]| {
        let at = |pixel: usize| column[pixel % SIDE * SIDE + pixel / SIDE];
        pixels.clone().map(at).collect::<Vec<_>>()
    };
    matrix.columns().flat_map(image).collect()
}

/// Grey images from 0 to 1, each pixel on with that probability.
fn binarised(grey: &[f64], draws: &mut Mersenne) -> Images {
    let pixels = SIDE * SIDE;
    Images::from_fn(grey.len() / pixels, pixels, |i, j| {
        draws.uniform() < grey[i * pixels + j]
    })
}

/// Training, validation and test images made from the original drawings of these archives. The ink of each drawing is
/// averaged over 28x28 areas of 3.75x3.75 pixels, and binarised once as [`of_chardata`] does. The images of all alphabets are permuted
/// (seed 123): the last 8,070 of them to test and the 1,345 before them to validate.
///
/// Neither the resampling nor the split is that of `chardata.mat`.
///
/// # Errors
/// [`Error::Corrupt`] for a file that is no such archive, [`Error::WrongChecksum`] for other drawings, [`Error::NotGzip`],
/// [`Error::Io`].
pub(crate) fn of_drawings(
    paths: &[impl AsRef<Path>],
    archives: &[Archive],
    progress: &mut Progress,
) -> Result<[Images; 3], Error> {
    let mut grey = Vec::new();
    for (path, archive) in paths.iter().zip(archives) {
        let path = path.as_ref();
        let drawings = drawings(path, archive.name, progress)?;
        let mut hash = Sha256::new();
        drawings.iter().for_each(|ink| hash.update(ink));
        let found = hex(&hash.finalize());
        if drawings.len() != archive.images || found != archive.sha256 {
            return Err(Error::WrongChecksum {
                file: path.to_owned(),
                kind: "sha256 of its drawings",
                expected: archive.sha256.to_owned(),
                found: format!("{found} of {} drawings", drawings.len()),
            });
        }
        grey.extend(drawings.iter().flat_map(|ink| reduced(ink)));
    }
    let images = binarised(&grey, &mut Mersenne::new(5));
    let order = Mersenne::new(123).permutation(images.len() as u32);
    let (others, test) = order.split_at(order.len().saturating_sub(TEST));
    let (train, valid) = others.split_at(others.len().saturating_sub(VALID));
    Ok([train, valid, test].map(|rows| images.select(rows)))
}

/// The most bytes of an archive; the larger one has 10 MB.
const LARGEST_ARCHIVE: u64 = 1 << 26;

/// The most drawings of an archive; the larger one has 19,280.
const MOST_DRAWINGS: usize = 30_000;

/// The most bytes of a drawing's file, decompressed; they have some hundred.
const LARGEST: u64 = 1 << 16;

/// The ink of the drawings of an archive, in the order of their names: 1 or 0 a pixel.
fn drawings(path: &Path, folder: &str, progress: &mut Progress) -> Result<Vec<Vec<u8>>, Error> {
    let mut content = Content::open(path, None, progress)?.at_most(LARGEST_ARCHIVE);
    let bytes = content.rest()?;
    let corrupt = |at: &str, found: String| content.corrupt(at.to_owned(), found);
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| corrupt("its structure", format!("no zip archive ({error})")))?;
    let inside = |name: &&str| {
        name.ends_with(".png")
            && name.split('/').next() == Some(folder)
            && name.matches('/').count() == 3
    };
    let mut names: Vec<String> = archive
        .file_names()
        .filter(inside)
        .map(String::from)
        .collect();
    if names.len() > MOST_DRAWINGS {
        let found = format!(
            "{} drawings, where there are {MOST_DRAWINGS} at most",
            names.len()
        );
        return Err(corrupt("its structure", found));
    }
    names.sort_unstable();
    let mut all = Vec::with_capacity(names.len());
    for name in names {
        let mut png = Vec::new();
        let read = archive.by_name(&name).map_err(std::io::Error::from);
        read.and_then(|mut file| file.by_ref().take(LARGEST).read_to_end(&mut png))
            .map_err(|error| corrupt(&name, format!("damaged ({error})")))?;
        all.push(ink(&png).map_err(|found| corrupt(&name, found))?);
    }
    Ok(all)
}

/// The ink of a drawing: paper is white.
fn ink(file: &[u8]) -> Result<Vec<u8>, String> {
    let no_png = |error: png::DecodingError| format!("no PNG ({error})");
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(no_png)?;
    let side = ORIGINAL as u32;
    let (width, height) = (reader.info().width, reader.info().height);
    // Before anything is allocated: a header of some bytes may claim any size.
    if (width, height) != (side, side) {
        return Err(format!(
            "{width}x{height}, where a grey drawing of 105x105 is expected"
        ));
    }
    let size = reader.output_buffer_size().unwrap_or(0);
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(no_png)?;
    if (info.width, info.height) != (side, side) || info.color_type != png::ColorType::Grayscale {
        return Err(format!(
            "{}x{} {:?}, where a grey drawing of 105x105 is expected",
            info.width, info.height, info.color_type
        ));
    }
    Ok(pixels.iter().map(|&level| u8::from(level < 128)).collect())
}

/// The share of ink in each of 28x28 equal areas of a drawing of 105x105, row-major.
fn reduced(ink: &[u8]) -> Vec<f64> {
    // In quarters of a pixel: a pixel is 4 wide, an area 15.
    let weights: Vec<Vec<(usize, u32)>> = (0..SIDE)
        .map(|area| {
            let (from, to) = (15 * area, 15 * (area + 1));
            let shared = |pixel: usize| (to.min(4 * pixel + 4) - from.max(4 * pixel)) as u32;
            (from / 4..to.div_ceil(4))
                .map(|pixel| (pixel, shared(pixel)))
                .collect()
        })
        .collect();
    let mut grey = Vec::with_capacity(SIDE * SIDE);
    for rows in &weights {
        for columns in &weights {
            let mut sum = 0;
            for &(y, of_y) in rows {
                for &(x, of_x) in columns {
                    sum += of_y * of_x * u32::from(ink[y * ORIGINAL + x]);
                }
            }
            grey.push(f64::from(sum) / 225.0);
        }
    }
    grey
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;
    use crate::mat::tests::mat;

    const PIXELS: usize = SIDE * SIDE;

    /// `chardata.mat` with so many images, the pixel at row r and column c of image i being `grey(i, r, c)`.
    pub(crate) fn chardata(
        train: usize,
        test: usize,
        grey: impl Fn(usize, usize, usize) -> f64,
    ) -> Vec<u8> {
        let columns = |images: usize| -> Vec<f64> {
            let at = |k: usize| grey(k / PIXELS, k % SIDE, k % PIXELS / SIDE);
            (0..images * PIXELS).map(at).collect()
        };
        let (train, test) = (columns(train), columns(test));
        mat(
            &[("data", PIXELS, &train), ("testdata", PIXELS, &test)],
            true,
        )
    }

    fn of(bytes: &[u8]) -> Result<[Images; 3], Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CHARDATA);
        fs::write(&path, bytes).unwrap();
        of_chardata(&path, None, &mut |_| {})
    }

    fn row(images: &Images, i: usize) -> Vec<f32> {
        let mut row = vec![f32::NAN; images.pixels()];
        images.write_row_f32(i, &mut row);
        row
    }

    /// Pixels of probability 0 and 1 are certain: each image tells its number, in a row and not in a column.
    #[test]
    fn images_are_transposed_permuted_and_split() {
        let number = |i: usize, r: usize, c: usize| f64::from(r == 3 && i >> c & 1 == 1);
        let [train, valid, test] = of(&chardata(1_350, 4, number)).unwrap();
        assert_eq!([train.len(), valid.len(), test.len()], [5, VALID, 4]);
        let told = |row: &[f32]| -> u32 {
            let bits = row[3 * SIDE..][..11].iter().enumerate();
            bits.map(|(c, &x)| (x as u32) << c).sum()
        };
        let order = Mersenne::new(123).permutation(1_350);
        for (i, &number) in order.iter().enumerate() {
            let image = match i {
                0..5 => row(&train, i),
                _ => row(&valid, i - 5),
            };
            assert_eq!(told(&image), number);
        }
        assert_eq!(told(&row(&test, 3)), 3);
    }

    /// Against numpy 2.4.6: `RandomState(5).random_sample(3 * 784) < 0.3`, the first two images being the training images.
    #[test]
    fn grey_pixels_are_drawn_once_training_images_first() {
        let [_, valid, test] = of(&chardata(2, 1, |_, _, _| 0.3)).unwrap();
        let on = |images: &Images, i| row(images, i).iter().filter(|&&x| x == 1.0).count();
        let first = Mersenne::new(123).permutation(2)[0] as usize;
        assert_eq!(
            [on(&valid, first), on(&valid, 1 - first), on(&test, 0)],
            [241, 216, 241]
        );
        assert_eq!(row(&test, 0)[..6], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn what_is_no_grey_image_is_corrupt() {
        let error = of(&chardata(1, 1, |_, _, _| 1.5)).unwrap_err().to_string();
        assert!(
            error.contains("`data`") && error.contains("from 0 to 1"),
            "{error}"
        );
        let other = mat(
            &[
                ("data", 5, &[0.0; 10]),
                ("testdata", PIXELS, &[0.0; PIXELS]),
            ],
            false,
        );
        assert!(
            of(&other)
                .unwrap_err()
                .to_string()
                .contains("5 numbers a column")
        );
    }

    /// A drawing as the archives have them: one bit a pixel, paper 1.
    fn drawing(side: usize, ink: impl Fn(usize, usize) -> bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, side as u32, side as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        let bytes = side.div_ceil(8);
        let mut rows = vec![0; bytes * side];
        for y in 0..side {
            for x in (0..side).filter(|&x| !ink(y, x)) {
                rows[y * bytes + x / 8] |= 0x80 >> (x % 8);
            }
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&rows).unwrap();
        writer.finish().unwrap();
        out
    }

    /// An archive of these files.
    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(*name, options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn written(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn drawings_come_in_the_order_of_their_names_and_nothing_else_does() {
        let (first, second) = (drawing(105, |y, _| y == 0), drawing(105, |_, x| x == 104));
        let (_folder, path) = written(&zipped(&[
            ("top/b/character01/0002_01.png", &second),
            ("top/a/character01/0001_01.png", &first),
            ("__MACOSX/top/a/character01/._0001_01.png", b"no drawing"),
            ("top/notes.txt", b"no drawing"),
        ]));
        let found = drawings(&path, "top", &mut |_| {}).unwrap();
        let ink = |on: &dyn Fn(usize, usize) -> bool| -> Vec<u8> {
            let at = |k: usize| u8::from(on(k / ORIGINAL, k % ORIGINAL));
            (0..ORIGINAL * ORIGINAL).map(at).collect()
        };
        assert_eq!(found, [ink(&|y, _| y == 0), ink(&|_, x| x == 104)]);
    }

    #[test]
    fn a_bad_archive_or_drawing_is_corrupt_and_names_what() {
        let error = |bytes: &[u8]| {
            let (_folder, path) = written(bytes);
            let error = drawings(&path, "top", &mut |_| {}).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            error.to_string()
        };
        assert!(error(b"PK, but no more").contains("no zip archive"));
        let name = "top/a/character01/0001_01.png";
        assert!(error(&zipped(&[(name, b"\x89PNG")])).contains(name));
        let small = error(&zipped(&[(name, &drawing(28, |_, _| true))]));
        assert!(
            small.contains("28x28") && small.contains("105x105"),
            "{small}"
        );
        let (_folder, path) = written(&zipped(&[(name, &drawing(105, |_, _| true))]));
        let archives = [Archive {
            name: "top",
            images: 1,
            sha256: "5eed",
        }];
        let error = of_drawings(&[&path], &archives, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
    }

    #[test]
    fn an_area_is_as_grey_as_the_ink_in_it() {
        // All of the first 3.75 columns, and nothing else.
        let ink: Vec<u8> = (0..ORIGINAL * ORIGINAL)
            .map(|k| u8::from(k % ORIGINAL < 3))
            .collect();
        let grey = reduced(&ink);
        assert_eq!(grey.len(), PIXELS);
        for row in grey.chunks(SIDE) {
            assert_eq!(row[..2], [0.8, 0.0]);
        }
        // Ink is neither lost nor made, and one pixel that four areas share is shared out.
        let ink: Vec<u8> = (0..ORIGINAL * ORIGINAL)
            .map(|k| u8::from(k * 7 % 11 < 3))
            .collect();
        let sum: f64 = reduced(&ink).iter().sum();
        let pixels: f64 = ink.iter().map(|&i| f64::from(i)).sum();
        assert!((sum * 225.0 / 16.0 - pixels).abs() < 1e-9);
        let mut one = vec![0; ORIGINAL * ORIGINAL];
        one[3 * ORIGINAL + 3] = 1;
        let grey = reduced(&one);
        let shares = [grey[0], grey[1], grey[SIDE], grey[SIDE + 1]].map(|g| g * 225.0);
        assert_eq!(shares, [9.0, 3.0, 3.0, 1.0]);
    }

    /// A pixel's probability is that of draws below it.
    #[test]
    fn a_pixel_whose_draw_is_its_level_is_off() {
        let first = Mersenne::new(7).uniform();
        let image = binarised(&[first; PIXELS], &mut Mersenne::new(7));
        assert_eq!(row(&image, 0)[0], 0.0);
    }

    #[test]
    fn a_drawing_of_another_kind_is_refused_and_the_middle_grey_is_paper() {
        let encoded = |color, level: &dyn Fn(usize) -> u8, bytes: usize| {
            let mut out = Vec::new();
            let mut encoder = png::Encoder::new(&mut out, ORIGINAL as u32, ORIGINAL as u32);
            encoder.set_color(color);
            let mut writer = encoder.write_header().unwrap();
            let pixels: Vec<u8> = (0..bytes * ORIGINAL * ORIGINAL).map(level).collect();
            writer.write_image_data(&pixels).unwrap();
            writer.finish().unwrap();
            ink(&out)
        };
        let colours = encoded(png::ColorType::Rgb, &|_| 0, 3).unwrap_err();
        assert!(colours.contains("Rgb"), "{colours}");
        let level = |pixel: usize| 127 + (pixel % 2) as u8;
        let grey = encoded(png::ColorType::Grayscale, &level, 1).unwrap();
        assert_eq!(grey[..4], [1, 0, 1, 0]);
    }

    #[test]
    fn more_drawings_than_an_archive_has_are_refused() {
        let error = |drawings: usize| {
            let names: Vec<String> = (0..drawings).map(|i| format!("top/a/b/{i}.png")).collect();
            let files: Vec<(&str, &[u8])> = names.iter().map(|name| (&name[..], &[][..])).collect();
            let (_folder, path) = written(&zipped(&files));
            drawings_of(&path).unwrap_err().to_string()
        };
        assert!(error(MOST_DRAWINGS).contains("no PNG"));
        let text = error(MOST_DRAWINGS + 1);
        assert!(text.contains("30001 drawings, where there are"), "{text}");
    }

    fn drawings_of(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
        drawings(path, "top", &mut |_| {})
    }
}
