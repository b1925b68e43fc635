//! Sequences with what is found in them, still and moving.

use super::evaluation::Pictured;
use super::watched::Frame;
use helmholtz_report::picture::{GREY, Picture};
use helmholtz_tracker::Canvas;

/// Frames of a sequence on a sheet.
const SHEET_FRAMES: usize = 10;
/// A frame of a moving picture.
pub(super) const MILLISECONDS: u16 = 150;
/// Pixels of a frame's side in a moving picture, at least.
const MOVIE_SIDE: usize = 192;

/// A frame, each digit in a box.
fn image(canvas: &Canvas, (frame, positions): &Frame) -> Vec<u8> {
    let grey = |&pixel: &f32| (pixel.clamp(0.0, 1.0) * 255.0).round() as u8;
    let mut pixels: Vec<u8> = frame.iter().map(grey).collect();
    let boxes = positions.iter();
    boxes.for_each(|&z| boxed(canvas, z, &mut pixels));
    pixels
}

/// The first frames of the data, and below what is found in them after one shot and after more sweeps.
pub(super) fn sheet(shown: &Pictured) -> Picture {
    let rows = shown.rows.iter().map(|row| {
        let frames = row.iter().take(SHEET_FRAMES);
        frames.map(|frame| image(&shown.canvas, frame)).collect()
    });
    let rows: Vec<Vec<Vec<u8>>> = rows.collect();
    Picture::grid(&rows, shown.canvas.side)
}

/// Frame by frame, the data and beside them what is found.
pub(super) fn movie(shown: &Pictured) -> Vec<Picture> {
    let Canvas { side, .. } = shown.canvas;
    let at = |t: usize| {
        let images = shown.rows.iter().map(|row| image(&shown.canvas, &row[t]));
        let picture = Picture::grid(&[images.collect()], side);
        picture.enlarged(MOVIE_SIDE.div_ceil(side))
    };
    (0..shown.rows[0].len()).map(at).collect()
}

/// Draws the border of a digit's square.
fn boxed(canvas: &Canvas, z: [f64; 2], pixels: &mut [u8]) {
    let footprint = canvas.footprint(z);
    let last = canvas.digit - 1;
    for (pixel, own) in footprint {
        let (row, column) = (own / canvas.digit, own % canvas.digit);
        if [row, column].iter().any(|&at| at == 0 || at == last) {
            pixels[pixel] = pixels[pixel].max(GREY);
        }
    }
}
