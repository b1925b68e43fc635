//! Log-densities of data under normals.

use std::f64::consts::PI;

use burn_flex::FlexTensor;

use super::{dispatch, elements, size, zeros};

/// See [`crate::Backend::normal_log_probs`].
pub fn log_probs(values: &FlexTensor, means: &FlexTensor, precisions: &FlexTensor) -> FlexTensor {
    let [n, g, m] = [size(values, 1), size(means, 0), size(means, 1)];
    let shape = [n, m, size(values, 2)];
    let mut output = zeros([g, n, m]);
    let parts = [values, means, precisions].map(elements);
    dispatch!(score(shape, parts, output.storage_mut()));
    output
}

#[inline(always)]
fn score<const FMA: bool>(
    ([n, m, d], [values, means, precisions], log_probs): ([usize; 3], [&[f32]; 3], &mut [f32]),
) {
    let constant = d as f32 * (2.0 * PI).ln() as f32;
    let of_normals = means
        .chunks_exact(m * d)
        .zip(precisions.chunks_exact(m * d));
    let groups = log_probs.chunks_exact_mut(n * m).zip(of_normals);
    let mut norms = vec![0.0; m];
    for (group, (log_probs, (means, precisions))) in groups.enumerate() {
        for (norm, precisions) in norms.iter_mut().zip(precisions.chunks_exact(d)) {
            *norm = precisions.iter().map(|tau| tau.ln()).sum::<f32>() - constant;
        }
        let first = group * n * d % values.len();
        for datum in 0..n {
            let value = &values[first + datum * d..][..d];
            for cluster in 0..m {
                let own = cluster * d..(cluster + 1) * d;
                let pairs = means[own.clone()].iter().zip(&precisions[own]);
                let energy = value
                    .iter()
                    .zip(pairs)
                    .map(|(x, (mu, tau))| (x - mu) * (x - mu) * tau);
                log_probs[datum * m + cluster] = 0.5 * (norms[cluster] - energy.sum::<f32>());
            }
        }
    }
}
