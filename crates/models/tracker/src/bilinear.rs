//! Digits on canvases and squares cut out of them, read between pixels: products with matrices of hat functions of the positions.

use burn::tensor::{Int, Tensor};
use helmholtz_ops::Backend;

use crate::Canvas;
use crate::canvas::Way;

/// The matrices `[G, drawn, read]` with entries max(0, 1 − |a i + b + c z − j|), for places z `[G]` along an axis that grows with the
/// pixels' index.
fn hats<B: Backend>(canvas: &Canvas, way: Way, z: Tensor<B, 1>) -> Tensor<B, 3> {
    let (drawn, read) = match way {
        Way::Place => (canvas.side, canvas.digit),
        Way::Crop => (canvas.digit, canvas.side),
    };
    let (device, dtype) = (z.device(), z.dtype());
    let pixels = |count: usize| {
        let indices = Tensor::<B, 1, Int>::arange(0..count as i64, &device);
        indices.float().cast(dtype)
    };
    let [a, b, c] = canvas.places(way);
    let drawn = pixels(drawn).mul_scalar(a).add_scalar(b);
    let at: Tensor<B, 2> = z.mul_scalar(c).unsqueeze_dim(1) + drawn.unsqueeze_dim(0);
    let read: Tensor<B, 3> = pixels(read).unsqueeze::<2>().unsqueeze_dim(0);
    let distance: Tensor<B, 3> = at.unsqueeze_dim::<3>(2) - read;
    burn::tensor::activation::relu(distance.abs().neg().add_scalar(1.0))
}

/// The matrices of rows and columns for positions `[G, 2]`.
fn axes<B: Backend>(canvas: &Canvas, way: Way, positions: Tensor<B, 2>) -> [Tensor<B, 3>; 2] {
    let axis = |coordinate: usize| positions.clone().narrow(1, coordinate, 1).squeeze_dim(1);
    [hats(canvas, way, axis(1).neg()), hats(canvas, way, axis(0))]
}

/// The sums of digits `[G, D · P²]` at positions `[G, D, 2]`: Σ_d R_d X_d C_d', canvases `[G, S²]`.
pub fn compose<B: Backend>(
    canvas: &Canvas,
    digits: Tensor<B, 2>,
    positions: &Tensor<B, 3>,
) -> Tensor<B, 2> {
    let [groups, count, _] = positions.dims();
    let (side, own) = (canvas.side, canvas.digit);
    let flat = positions.clone().reshape([groups * count, 2]);
    let [rows, columns] = axes(canvas, Way::Place, flat);
    let stretched = digits
        .reshape([groups * count, own, own])
        .matmul(columns.swap_dims(1, 2));
    let stretched = stretched.reshape([groups, count * own, side]);
    // The digits' matrices of rows side by side: one product sums over digits too.
    let rows = rows.reshape([groups, count, side, own]).swap_dims(1, 2);
    let rows = rows.reshape([groups, side, count * own]);
    rows.matmul(stretched).reshape([groups, side * side])
}

/// The squares around positions `[L, F, D, 2]` on canvases `[F, S²]`: R X C', `[L, F, D, P²]`.
pub fn crops<B: Backend>(
    canvas: &Canvas,
    images: Tensor<B, 2>,
    positions: &Tensor<B, 4>,
) -> Tensor<B, 4> {
    let [particles, frames, digits, _] = positions.dims();
    let (side, own) = (canvas.side, canvas.digit);
    let count = particles * frames * digits;
    let [rows, columns] = axes(canvas, Way::Crop, positions.clone().reshape([count, 2]));
    let images = images
        .reshape([1, frames, 1, side * side])
        .expand([particles, frames, digits, side * side])
        .reshape([count, side, side]);
    let seen = rows.matmul(images).matmul(columns.swap_dims(1, 2));
    seen.reshape([particles, frames, digits, own * own])
}
