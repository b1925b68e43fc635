//! Images: what lies on them, and where.

use burn::tensor::Tensor;

use super::{assert_groups, wrap};
use crate::{Backend, Piece, Pieces};

/// Rows `[R, S]` with weight · pieces of sources `[T, P]` added to them. Group g of the pieces takes those of source g mod T, and adds
/// them to row g mod R: `[G, S]`. Differentiable in rows and sources.
///
/// # Panics
/// If R or T doesn't divide G, or a piece reaches beyond a row or a source.
pub fn add_pieces<B: Backend>(
    rows: Tensor<B, 2>,
    sources: Tensor<B, 2>,
    pieces: &Pieces,
    weight: f64,
) -> Tensor<B, 2> {
    let ([r, width], [t, own]) = (rows.dims(), sources.dims());
    assert_groups(r, pieces.groups());
    assert_groups(t, pieces.groups());
    let inside = |piece: &Piece| {
        let Piece { to, from, length } = *piece;
        to + length <= width && from + length <= own
    };
    assert!(
        pieces.by_group().flatten().all(inside),
        "a piece reaches beyond its row of {width} or its source of {own}"
    );
    let (rows, sources) = (
        rows.into_primitive().tensor(),
        sources.into_primitive().tensor(),
    );
    wrap(B::add_pieces(rows, sources, pieces, weight))
}

/// The valid cross-correlation, without a flip, of each image e with its template k: where the template fits,
///
/// > response[r, c] = Σ_ij k[i, j] e[r + i, c + j].
///
/// Images `[R, H, W]`, templates `[S, P, Q]`, the fewer repeated cyclically to G = max(R, S) pairs: `[G, H − P + 1, W − Q + 1]`.
/// The responses carry no gradient.
///
/// # Panics
/// If one number doesn't divide the other, or templates are empty or larger than images.
pub fn cross_correlation<B: Backend>(
    images: Tensor<B, 3>,
    templates: Tensor<B, 3>,
) -> Tensor<B, 3> {
    let ([r, h, w], [s, p, q]) = (images.dims(), templates.dims());
    assert_groups(r.min(s), r.max(s));
    assert!(
        (1..=h).contains(&p) && (1..=w).contains(&q),
        "templates of {p} x {q} do not fit into images of {h} x {w}"
    );
    wrap(B::cross_correlation(
        images.into_primitive().tensor(),
        templates.into_primitive().tensor(),
    ))
}
