//! Grey pictures, as PNG, and moving ones, as animated PNG.

use crate::error::ReportError;
use crate::write::write_bytes;
use std::path::Path;

/// Grey level between images, and of what is not given.
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

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The pixels, row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The picture as a PNG of one byte a pixel.
    pub fn png(&self) -> Vec<u8> {
        encoded(std::slice::from_ref(self), None)
    }

    /// Writes [`Picture::png`].
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ReportError> {
        write_bytes(path, &self.png())
    }

    /// The same picture with squares of `factor` pixels for each.
    pub fn enlarged(&self, factor: usize) -> Self {
        let lines = self.pixels.chunks(self.width.max(1)).flat_map(|line| {
            let line: Vec<u8> = line
                .iter()
                .flat_map(|&pixel| std::iter::repeat_n(pixel, factor))
                .collect();
            std::iter::repeat_n(line, factor).flatten()
        });
        Self {
            pixels: lines.collect(),
            width: self.width * factor,
            height: self.height * factor,
        }
    }
}

/// Writes pictures of the same size, one after the other and again, as an animated PNG: browsers play it, and what knows none shows the
/// first.
///
/// # Errors
/// A file that cannot be written.
///
/// # Panics
/// If there are no pictures, or they differ in size.
pub fn write_animation(
    pictures: &[Picture],
    milliseconds: u16,
    path: &Path,
) -> Result<(), ReportError> {
    write_bytes(path, &encoded(pictures, Some(milliseconds)))
}

/// A picture, or several of the same size that are shown for so many milliseconds each, as a PNG of one byte a pixel.
fn encoded(pictures: &[Picture], milliseconds: Option<u16>) -> Vec<u8> {
    let (width, height) = (pictures[0].width as u32, pictures[0].height as u32);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let written = || -> Result<(), png::EncodingError> {
        if let Some(milliseconds) = milliseconds {
            encoder.set_animated(pictures.len() as u32, 0)?;
            encoder.set_frame_delay(milliseconds, 1000)?;
        }
        let mut writer = encoder.write_header()?;
        for picture in pictures {
            writer.write_image_data(&picture.pixels)?;
        }
        writer.finish()
    };
    written().expect("pictures of one size, with their margins, can be encoded in memory");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Width, height and pixels of a PNG of one byte a pixel.
    fn read(path: &Path) -> (u32, u32, Vec<u8>) {
        let bytes = std::fs::read(path).unwrap();
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
    fn an_animation_shows_its_pictures_one_after_the_other() {
        let of = |value: u8| Picture::grid(&[vec![vec![value; 4]]], 2).enlarged(3);
        let pictures = [of(0), of(90), of(200)];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("animation.png");
        write_animation(&pictures, 120, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let control = reader.info().animation_control.unwrap();
        assert_eq!((control.num_frames, control.num_plays), (3, 0));
        for picture in pictures {
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut pixels).unwrap();
            assert_eq!((info.width, info.height), (18, 18));
            assert_eq!(pixels, picture.pixels);
            let delay = reader.info().frame_control.unwrap();
            assert_eq!((delay.delay_num, delay.delay_den), (120, 1000));
        }
    }
}
