//! Grey pictures, as PNG.

use crate::error::HarnessError;
use std::path::Path;

/// What is between images, and what is not given.
pub const GREY: u8 = 160;
/// Pixels between images.
const GAP: usize = 2;

/// A grey picture: 0 is black, 255 white.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    width: usize,
    height: usize,
    /// Row by row.
    pixels: Vec<u8>,
}

impl Picture {
    /// Square images, `side` pixels to a side, in rows, with grey between and around them.
    pub fn grid(rows: &[Vec<Vec<u8>>], side: usize) -> Self {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let extent = |images: usize| images * (side + GAP) + GAP;
        let (width, height) = (extent(columns), extent(rows.len()));
        let mut pixels = vec![GREY; width * height];
        for (row, images) in rows.iter().enumerate() {
            for (column, image) in images.iter().enumerate() {
                for (line, values) in image.chunks(side).enumerate() {
                    let from = (extent(row) + line) * width + extent(column);
                    pixels[from..from + side].copy_from_slice(values);
                }
            }
        }
        Self {
            width,
            height,
            pixels,
        }
    }

    /// The picture as a PNG of one byte a pixel.
    pub fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let writer = encoder.write_header();
        let written = writer.and_then(|mut writer| {
            writer.write_image_data(&self.pixels)?;
            writer.finish()
        });
        written.expect("a picture with its margins can be encoded in memory");
        bytes
    }

    /// Writes [`Picture::png`].
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), HarnessError> {
        let written = std::fs::write(path, self.png());
        written.map_err(|error| HarnessError::Io {
            action: "write",
            path: path.to_path_buf(),
            source: error,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Width, height and pixels of a PNG of one byte a pixel.
    pub(crate) fn read(path: &Path) -> (u32, u32, Vec<u8>) {
        read_bytes(&std::fs::read(path).unwrap())
    }

    /// The same of a PNG in memory.
    pub(crate) fn read_bytes(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.color_type, png::ColorType::Grayscale);
        (info.width, info.height, pixels)
    }

    #[test]
    fn images_stand_in_rows_and_come_back_from_the_file() {
        let image = |value: u8| vec![value; 4];
        let rows = [vec![image(0), image(255)], vec![image(7)]];
        let picture = Picture::grid(&rows, 2);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("picture.png");
        picture.write(&path).unwrap();
        let (width, height, pixels) = read(&path);
        assert_eq!((width, height), (10, 10));
        let at = |x: usize, y: usize| pixels[y * 10 + x];
        assert_eq!((at(2, 2), at(3, 3), at(6, 2), at(7, 3)), (0, 0, 255, 255));
        assert_eq!((at(2, 6), at(3, 7), at(6, 6)), (7, 7, GREY));
        assert_eq!((at(0, 0), at(4, 2), at(8, 9)), (GREY, GREY, GREY));
    }

    #[test]
    fn a_picture_that_cannot_be_written_names_its_file() {
        let error = Picture::grid(&[], 2).write(Path::new("/nowhere/picture.png"));
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("/nowhere/picture.png")
        );
    }
}
