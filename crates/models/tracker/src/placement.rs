//! Digits on canvases and squares cut out of them, as tensors.

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData, backend::Backend};
use helmholtz_ops::cat;

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
        Sampling::Nearest => Nearest::new(canvas, positions).compose(digits),
        Sampling::Bilinear => bilinear::compose(canvas, digits, positions),
    }
}

/// Which pixels meet where D digits of each of G groups lie on their canvas.
#[derive(Clone, Debug)]
struct Nearest<B: Backend> {
    /// The canvas' pixel of each entry `[G, K]`; pixel `area` catches what lies beyond the border.
    pixels: Tensor<B, 2, Int>,
    /// The pixel of the group's digits that is seen there `[G, K]`.
    sources: Tensor<B, 2, Int>,
    area: usize,
}

impl<B: Backend> Nearest<B> {
    fn new(canvas: &Canvas, positions: &Tensor<B, 3>) -> Self {
        let [groups, digits, _] = positions.dims();
        let (area, own) = (canvas.area(), canvas.digit_area());
        let entries = digits * canvas.reach().pow(2);
        let (mut pixels, mut sources) = (vec![], vec![]);
        for (index, z) in points(positions).enumerate() {
            let first = index % digits * own;
            let footprint = canvas.footprint(z);
            for entry in (0..canvas.reach().pow(2)).map(|at| footprint.get(at)) {
                let &(pixel, source) = entry.unwrap_or(&(area, 0));
                pixels.push(pixel as i64);
                sources.push((first + source) as i64);
            }
        }
        let device = positions.device();
        let tensor = |indices: Vec<i64>| {
            Tensor::from_data(TensorData::new(indices, [groups, entries]), &device)
        };
        Self {
            pixels: tensor(pixels),
            sources: tensor(sources),
            area,
        }
    }

    fn compose(&self, digits: Tensor<B, 2>) -> Tensor<B, 2> {
        let [groups, _] = self.pixels.dims();
        let seen = digits.gather(1, self.sources.clone());
        let like = (&seen.device(), seen.dtype());
        let canvas = Tensor::<B, 2>::zeros([groups, self.area + 1], like);
        let canvas = canvas.scatter(1, self.pixels.clone(), seen, IndexingUpdateOp::Add);
        canvas.narrow(1, 0, self.area)
    }
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
