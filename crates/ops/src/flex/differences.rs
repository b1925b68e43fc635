//! Differences of data from their own centres.

use burn_flex::FlexTensor;

use super::columns::{ROWS, add, transpose, untranspose};
use super::{dispatch, elements, size, zeros};

/// See [`crate::Backend::own_differences`].
pub fn own_differences(
    values: &FlexTensor,
    classes: &FlexTensor,
    centres: &FlexTensor,
) -> FlexTensor {
    let [n, d] = [1, 2].map(|at| size(values, at));
    let [g, m] = [0, 1].map(|at| size(centres, at));
    let mut output = zeros([g, n, d]);
    if n * m * d > 0 {
        let parts = [values, classes, centres].map(elements);
        dispatch!(subtract([n, m, d], parts, output.storage_mut()));
    }
    output
}

#[inline(always)]
fn subtract<const FMA: bool>(
    ([n, m, d], [values, classes, centres], output): ([usize; 3], [&[f32]; 3], &mut [f32]),
) {
    let nothing = [0.0f32; ROWS];
    let (mut xs, mut own) = (vec![nothing; d], vec![nothing; m]);
    let groups = output
        .chunks_exact_mut(n * d)
        .zip(classes.chunks_exact(n * m));
    let groups = groups.zip(centres.chunks_exact(m * d));
    for (group, ((output, classes), centres)) in groups.enumerate() {
        let values = &values[group * n * d % values.len()..][..n * d];
        let blocks = output.chunks_mut(ROWS * d).zip(values.chunks(ROWS * d));
        for ((output, values), classes) in blocks.zip(classes.chunks(ROWS * m)) {
            transpose(values, &mut xs);
            transpose(classes, &mut own);
            for (own, centre) in own.iter().zip(centres.chunks_exact(d)) {
                for (x, &mu) in xs.iter_mut().zip(centre) {
                    add::<FMA>(x, -mu, own);
                }
            }
            untranspose(&xs, output);
        }
    }
}
