//! Text images: the `.amat` format of fixed binarised MNIST.
//!
//! A line is one image: `0` or `1` for each pixel in row-major order, single spaces between them, `\n` at the end. The
//! parser is as strict as the format, so that a damaged file is noticed where it is damaged.

use std::path::Path;

use crate::content::{Content, describe};
use crate::event::Progress;
use crate::{DataFile, Error, Images};

/// Lines read at a time.
const LINES: usize = 64;

/// Reads an `.amat` file (or `.amat.gz`) of images of `pixels` pixels.
///
/// When `published` is given, the content must be that file's: its sha256 is computed in the same pass.
///
/// # Errors
///
/// [`Error::Corrupt`] names the line; [`Error::Truncated`], [`Error::WrongChecksum`], [`Error::NotGzip`], [`Error::Io`].
///
/// # Panics
///
/// If `pixels` is 0.
pub fn read_amat(
    path: &Path,
    pixels: usize,
    published: Option<&DataFile>,
    progress: &mut Progress,
) -> Result<Images, Error> {
    let mut images = Images::empty(pixels);
    let mut content = Content::open(path, published, progress)?;
    let width = 2 * pixels;
    let mut buffer = vec![0; LINES * width];
    loop {
        let filled = content.fill(&mut buffer)?;
        let (lines, rest) = buffer[..filled].split_at(filled - filled % width);
        for line in lines.chunks_exact(width) {
            if !parse(line, images.push_zeros()) {
                return Err(
                    content.corrupt(format!("line {}", images.len()), complaint(line, pixels))
                );
            }
        }
        if filled == buffer.len() {
            continue;
        }
        if !rest.is_empty() {
            let number = images.len() + 1;
            return Err(if is_beginning(rest) {
                content.truncated(format!(
                    "it ends in line {number}, after {} of {width} bytes",
                    rest.len()
                ))
            } else {
                content.corrupt(format!("line {number}"), complaint(rest, pixels))
            });
        }
        content.finish()?;
        return Ok(images);
    }
}

/// Packs one line into `row`; false when the line is not of the format.
///
/// A word of 8 bytes is 4 pixels, each a digit and a separator. What differs from `0 0 0 0 ` may be the lowest bit of a
/// digit only, and a multiplication gathers these four bits.
fn parse(line: &[u8], row: &mut [u8]) -> bool {
    const ZEROS: u64 = u64::from_le_bytes(*b"0 0 0 0 ");
    const DIGITS: u64 = 0x0001_0001_0001_0001;
    let Some((b'\n', _)) = line.split_last() else {
        return false;
    };
    let (words, tail) = line.as_chunks::<8>();
    // The separator of the last pixel is the line's end.
    let newline = u64::from(b'\n' ^ b' ') << 56;
    let mut strange = 0;
    for (i, word) in words.iter().enumerate() {
        let mut bits = u64::from_le_bytes(*word) ^ ZEROS;
        if tail.is_empty() && i + 1 == words.len() {
            bits ^= newline;
        }
        strange |= bits & !DIGITS;
        let four = (bits & DIGITS).wrapping_mul(0x0001_0002_0004_0008) >> 48;
        row[i / 2] |= ((four & 0xf) as u8) << (4 * (i % 2));
    }
    for (i, pair) in tail.chunks_exact(2).enumerate() {
        let end = if 2 * (i + 1) == tail.len() {
            b'\n'
        } else {
            b' '
        };
        let bit = pair[0] ^ b'0';
        strange |= u64::from(bit & !1) | u64::from(pair[1] ^ end);
        let pixel = 4 * words.len() + i;
        row[pixel / 8] |= (bit & 1) << (pixel % 8);
    }
    strange == 0
}

/// Whether this is the beginning of a line of the format.
fn is_beginning(line: &[u8]) -> bool {
    line.chunks(2)
        .all(|pair| matches!(pair, [b'0' | b'1'] | [b'0' | b'1', b' ']))
}

/// What is wrong with a line that does not parse.
fn complaint(line: &[u8], pixels: usize) -> String {
    let end = line.iter().position(|&b| b == b'\n').unwrap_or(line.len());
    for (i, value) in line[..end].split(|&b| b == b' ').enumerate().take(pixels) {
        if !matches!(value, b"0" | b"1") {
            return format!("value {} is {}, not 0 or 1", i + 1, describe(value));
        }
    }
    let values = line[..end].split(|&b| b == b' ').count();
    if end < line.len() {
        format!("{values} values, not {pixels}")
    } else {
        format!("more than {pixels} values")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gzip, published};
    use std::fs;

    fn text(rows: usize, pixels: usize, on: impl Fn(usize, usize) -> bool) -> String {
        (0..rows)
            .map(|i| {
                let row: Vec<_> = (0..pixels)
                    .map(|j| if on(i, j) { "1" } else { "0" })
                    .collect();
                row.join(" ") + "\n"
            })
            .collect()
    }

    fn read(bytes: &[u8], pixels: usize) -> Result<Images, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat");
        fs::write(&path, bytes).unwrap();
        read_amat(&path, pixels, None, &mut |_| {})
    }

    #[test]
    fn every_pixel_of_every_width_is_read() {
        let on = |i: usize, j: usize| (i * 37 + j * j * 5 + j / 3).is_multiple_of(3);
        for pixels in [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 784] {
            for rows in [0, 1, LINES - 1, LINES, 2 * LINES + 5] {
                let images = read(text(rows, pixels, on).as_bytes(), pixels).unwrap();
                assert_eq!(images, Images::from_fn(rows, pixels, on));
            }
        }
    }

    #[test]
    fn gzip_and_checksum_go_in_the_same_pass() {
        let folder = tempfile::tempdir().unwrap();
        let content = text(300, 20, |i, j| i % 20 >= j);
        let path = folder.path().join("a.amat.gz");
        fs::write(&path, gzip(content.as_bytes())).unwrap();
        let file = published("a.amat", content.as_bytes());
        let images = read_amat(&path, 20, Some(&file), &mut |_| {}).unwrap();
        assert_eq!(images, Images::from_fn(300, 20, |i, j| i % 20 >= j));
        let other = published("a.amat", &content.as_bytes()[1..]);
        let error = read_amat(&path, 20, Some(&other), &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::WrongChecksum { .. }));
    }

    #[test]
    fn any_changed_byte_of_a_line_is_noticed() {
        for pixels in [1, 3, 4, 10, 16] {
            let line = text(1, pixels, |_, j| j % 3 == 1).into_bytes();
            for (at, byte) in (0..line.len()).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
                let digit = |byte| matches!(byte, b'0' | b'1');
                let fine = byte == line[at] || digit(byte) && digit(line[at]);
                let mut changed = line.clone();
                changed[at] = byte;
                assert_eq!(parse(&changed, &mut [0; 2]), fine, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn the_line_of_a_changed_byte_is_named() {
        let content = text(LINES + 3, 2, |i, j| i == j).into_bytes();
        for line in [1, 2, LINES, LINES + 1, LINES + 3] {
            let mut damaged = content.clone();
            damaged[4 * (line - 1) + 2] = b'?';
            let text = read(&damaged, 2).unwrap_err().to_string();
            assert!(
                text.contains(&format!("line {line}: value 2 is `?`")),
                "{text}"
            );
        }
    }

    #[test]
    fn a_corrupt_line_says_what_was_found() {
        for (content, expected) in [
            ("0 1 0\n0 x 1\n", "line 2: value 2 is `x`, not 0 or 1"),
            ("0 1 0\n0 1\n0 0 0\n", "line 2: 2 values, not 3"),
            ("0 1 0\n0 1 1 1\n0 0 0\n", "line 2: more than 3 values"),
            (
                "0 1 0\n0  1 1\n",
                "line 2: value 2 is nothing (it is empty)",
            ),
            ("0 1 0\r\n0 1 0\r\n", "line 1: value 3 is `0\\r`"),
            ("<html>moved</html>\n", "line 1: value 1 is `<html>`"),
            ("0 1 0\n0\n", "line 2: 1 values, not 3"),
            ("0 1 0\n<p>", "line 2: value 1 is `<p>`"),
            ("0 1 0\n0  ", "line 2: value 2 is nothing"),
        ] {
            let text = read(content.as_bytes(), 3).unwrap_err().to_string();
            assert!(text.contains(expected), "{expected} in {text}");
            assert!(text.contains("a.amat"), "{text}");
        }
    }

    #[test]
    fn a_line_that_just_stops_is_a_truncated_file() {
        let content = text(3, 10, |_, _| true);
        for len in [41, 50, 59] {
            let error = read(&content.as_bytes()[..len], 10).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }));
            assert!(error.to_string().contains("line 3"), "{error}");
        }
    }

    /// The same difference in a digit and in what follows it.
    #[test]
    fn two_changed_bytes_of_a_pixel_are_noticed() {
        for pixels in [1, 3, 5, 10] {
            let line = text(1, pixels, |_, j| j % 3 == 1).into_bytes();
            for at in 0..pixels {
                for change in 2..=255 {
                    let mut changed = line.clone();
                    changed[2 * at] ^= change;
                    changed[2 * at + 1] ^= change;
                    assert!(!parse(&changed, &mut [0; 2]), "{change} at {at}");
                }
            }
        }
    }
}
