//! Images: what lies on them, and where.

use burn::tensor::ops::{ConvOptions, FloatTensor};
use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData, module};

use super::{cycle, unwrap, wrap};
use crate::{Backend, Pieces, cat};

/// Where the pieces of each group lie on its row `[G, K]`, entry `beyond` standing for none, and on its source.
fn indices<B: Backend>(
    pieces: &Pieces,
    beyond: usize,
    device: &B::Device,
) -> [Tensor<B, 2, Int>; 2] {
    let (places, count) = pieces.places([beyond, 0]);
    [0, 1].map(|which| {
        let own: Vec<i64> = places.iter().map(|place| place[which] as i64).collect();
        Tensor::from_data(TensorData::new(own, [pieces.groups(), count]), device)
    })
}

pub fn add_pieces<B: Backend>(
    rows: FloatTensor<B>,
    sources: FloatTensor<B>,
    pieces: &Pieces,
    weight: f64,
) -> FloatTensor<B> {
    let (rows, sources) = (wrap::<B, 2>(rows), wrap::<B, 2>(sources));
    let (groups, width) = (pieces.groups(), rows.dims()[1]);
    let like = (&rows.device(), rows.dtype());
    let [to, from] = indices::<B>(pieces, width, like.0);
    let seen = cycle(sources, groups).gather(1, from);
    let placed = Tensor::<B, 2>::zeros([groups, width + 1], like);
    let placed = placed.scatter(1, to, seen, IndexingUpdateOp::Add);
    unwrap(cycle(rows, groups) + placed.narrow(1, 0, width) * weight)
}

pub fn add_pieces_backward<B: Backend>(
    grad: FloatTensor<B>,
    [count, own]: [usize; 2],
    pieces: &Pieces,
    weight: f64,
) -> FloatTensor<B> {
    let grad = wrap::<B, 2>(grad);
    let [groups, width] = grad.dims();
    let like = (&grad.device(), grad.dtype());
    let [to, from] = indices::<B>(pieces, width, like.0);
    let grad = cat(vec![grad.clone(), Tensor::zeros([groups, 1], like)], 1);
    let taken = Tensor::<B, 2>::zeros([groups, own], like);
    let taken = taken.scatter(1, from, grad.gather(1, to), IndexingUpdateOp::Add);
    let taken = taken.reshape([groups / count, count, own]).sum_dim(0);
    unwrap(taken.reshape([count, own]) * weight)
}

pub fn cross_correlation<B: Backend>(
    images: FloatTensor<B>,
    templates: FloatTensor<B>,
) -> FloatTensor<B> {
    let (images, templates) = (wrap::<B, 3>(images), wrap::<B, 3>(templates));
    let ([r, h, w], [s, p, q]) = (images.dims(), templates.dims());
    let groups = r.max(s);
    let images = cycle(images.reshape([r, h * w]), groups).reshape([1, groups, h, w]);
    let templates = cycle(templates.reshape([s, p * q]), groups).reshape([groups, 1, p, q]);
    let options = ConvOptions::new([1, 1], [0, 0], [1, 1], groups);
    let responses = module::conv2d(images, templates, None, options);
    unwrap(responses.squeeze_dim::<3>(0))
}
