//! Digits on canvases and squares cut out of them, as tensors.

use burn::tensor::{Tensor, TensorData};
use helmholtz_ops::{Backend, Piece, Pieces, add_pieces, cat};

use crate::canvas::Sampling;
use crate::{Canvas, bilinear};

/// The sums of the digits `[G, D · P²]` of each of G groups at their positions `[G, D, 2]`, not cut off at 1: canvases `[G, S²]`.
/// Differentiable in the digits, and with [`Sampling::Bilinear`] in the positions.
pub fn compose<B: Backend>(
    canvas: &Canvas,
    digits: Tensor<B, 2>,
    positions: &Tensor<B, 3>,
) -> Tensor<B, 2> {
    match canvas.sampling {
        Sampling::Nearest => {
            let like = (&digits.device(), digits.dtype());
            let dark = Tensor::zeros([1, canvas.area()], like);
            add_pieces(dark, digits, &pieces(canvas, positions), 1.0)
        }
        Sampling::Bilinear => bilinear::compose(canvas, digits, positions),
    }
}

/// What is left `[G, S²]` of images `[R, S²]` when digits `[T, P²]` at positions `[G, 1, 2]` are taken away. Images and digits are
/// repeated cyclically.
pub(crate) fn without<B: Backend>(
    canvas: &Canvas,
    images: Tensor<B, 2>,
    digits: Tensor<B, 2>,
    positions: &Tensor<B, 3>,
) -> Tensor<B, 2> {
    if canvas.sampling == Sampling::Nearest {
        return add_pieces(images, digits, &pieces(canvas, positions), -1.0);
    }
    let groups = positions.dims()[0];
    let repeat = |rows: Tensor<B, 2>| {
        let [have, width] = rows.dims();
        let rows = rows.unsqueeze::<3>();
        rows.expand([groups / have, have, width])
            .reshape([groups, width])
    };
    repeat(images) - bilinear::compose(canvas, repeat(digits), positions)
}

/// Where the pixels of D digits of each of G groups lie on their canvas.
fn pieces<B: Backend>(canvas: &Canvas, positions: &Tensor<B, 3>) -> Pieces {
    let [_, digits, _] = positions.dims();
    let points: Vec<[f64; 2]> = points(positions).collect();
    let mut all = Pieces::default();
    for group in points.chunks(digits) {
        all.push(group.iter().enumerate().flat_map(|(digit, &z)| {
            let first = digit * canvas.digit_area();
            canvas.pieces(z).map(move |piece| Piece {
                from: first + piece.from,
                ..piece
            })
        }));
    }
    all
}

/// The squares of a digit's size around positions `[L, F, D, 2]` on F canvases `[F, S²]`, zero beyond their borders:
/// `[L, F, D, P²]`.
pub fn crops<B: Backend>(
    canvas: &Canvas,
    images: Tensor<B, 2>,
    positions: &Tensor<B, 4>,
) -> Tensor<B, 4> {
    if canvas.sampling == Sampling::Bilinear {
        return bilinear::crops(canvas, images, positions);
    }
    let [particles, frames, digits, _] = positions.dims();
    let (area, own) = (canvas.area(), canvas.digit_area());
    let nothing = frames * area;
    let mut indices = Vec::with_capacity(particles * frames * digits * own);
    for (index, z) in points(positions).enumerate() {
        let frame = index / digits % frames;
        let window = canvas.window(z);
        indices.extend(window.map(|pixel| match pixel {
            Some(pixel) => (frame * area + pixel) as i64,
            None => nothing as i64,
        }));
    }
    let count = indices.len();
    let indices = Tensor::from_data(TensorData::new(indices, [count]), &images.device());
    let like = (&images.device(), images.dtype());
    let flat = cat(vec![images.reshape([nothing]), Tensor::zeros([1], like)], 0);
    flat.select(0, indices)
        .reshape([particles, frames, digits, own])
}

/// The positions, in order.
fn points<B: Backend, const D: usize>(positions: &Tensor<B, D>) -> impl Iterator<Item = [f64; 2]> {
    let numbers: Vec<f64> = positions.to_data().iter().collect();
    (0..numbers.len() / 2).map(move |at| [numbers[2 * at], numbers[2 * at + 1]])
}

#[cfg(test)]
mod tests {
    use burn_flex::Flex;

    use super::*;
    use crate::Alignment;

    fn numbers(tensor: Tensor<Flex, 2>) -> Vec<f32> {
        tensor.into_data().iter().collect()
    }

    /// Three groups on one image and one digit, which are repeated.
    #[test]
    fn what_is_left_is_the_image_less_the_digit_where_it_lies() {
        for sampling in [Sampling::Nearest, Sampling::Bilinear] {
            let canvas = Canvas {
                side: 6,
                digit: 3,
                alignment: Alignment::PixelCentre,
                sampling,
            };
            let tensor = |count: usize| {
                let numbers: Vec<f32> = (0..count).map(|i| (i * 7 % 5) as f32 / 5.0).collect();
                Tensor::<Flex, 1>::from_data(numbers.as_slice(), &Default::default())
            };
            let (image, digit) = (tensor(36).unsqueeze(), tensor(9).unsqueeze());
            let positions = (tensor(6) - 0.3).reshape([3, 1, 2]);
            let left = without(&canvas, image.clone(), digit.clone(), &positions);
            let placed = compose(&canvas, digit.expand([3, 9]), &positions);
            assert!(numbers(placed.clone()).iter().any(|&pixel| pixel > 0.5));
            let off = numbers(left + placed - image.expand([3, 36]));
            assert!(off.iter().all(|off| off.abs() < 1e-6), "{sampling:?}");
        }
    }
}
