//! Normal-gamma laws given moments, and their gradient, cluster by cluster.

use burn::tensor::TensorData;
use burn_flex::FlexTensor;

use super::{elements, size, zeros};

/// Where S₂, S₃ and S₄ of D dimensions begin among so many moments.
fn places(columns: usize, dimensions: usize) -> [usize; 3] {
    let last = columns / 2 - dimensions;
    [1, 1 + last, 1 + 2 * last + dimensions]
}

/// See [`crate::Backend::normal_gamma_posterior`].
pub fn parameters(prior: [f64; 4], moments: &FlexTensor, dimensions: usize) -> FlexTensor {
    let [m, nu, alpha, beta] = prior.map(|of| of as f32);
    let (rows, columns) = (size(moments, 0), size(moments, 1));
    let [located, sum, squares] = places(columns, dimensions);
    let each = rows * dimensions;
    let mut output = vec![0.0f32; 4 * each];
    for (row, own) in elements(moments).chunks_exact(columns).enumerate() {
        let (count, nu) = (own[0], own[0] + nu);
        let (shift, inverse) = (count * m, 1.0 / nu);
        for d in 0..dimensions {
            let at = row * dimensions + d;
            let centred = own[sum + d] - shift;
            let around = own[squares + d] - (2.0 * own[sum + d] - shift) * m;
            output[at] = (own[located + d] - shift) * inverse + m;
            output[each + at] = nu;
            output[2 * each + at] = 0.5 * count + alpha;
            output[3 * each + at] = 0.5 * (around - centred * (centred * inverse)) + beta;
        }
    }
    FlexTensor::from_data(TensorData::new(output, [4, rows, dimensions]))
}

/// See [`crate::Backend::normal_gamma_posterior_backward`].
pub fn backward(
    prior: [f64; 4],
    moments: &FlexTensor,
    dimensions: usize,
    grad: &FlexTensor,
) -> FlexTensor {
    let [m, nu, ..] = prior.map(|of| of as f32);
    let (rows, columns) = (size(moments, 0), size(moments, 1));
    let [located, sum, squares] = places(columns, dimensions);
    let (each, grad) = (rows * dimensions, elements(grad));
    let mut output = zeros([rows, columns]);
    let gradients = output.storage_mut::<f32>().chunks_exact_mut(columns);
    let pairs = gradients.zip(elements(moments).chunks_exact(columns));
    for (row, (gradient, own)) in pairs.enumerate() {
        let (shift, inverse) = (own[0] * m, 1.0 / (own[0] + nu));
        for d in 0..dimensions {
            let at = row * dimensions + d;
            let [of_mean, of_nu, of_alpha, of_beta] = [0, 1, 2, 3].map(|p| grad[p * each + at]);
            let average = |sum: f32| (sum - shift) * inverse + m;
            let (x, pull) = (average(own[sum + d]), of_mean * inverse);
            gradient[0] += of_nu + 0.5 * (of_alpha + of_beta * x * x);
            gradient[0] -= pull * average(own[located + d]);
            gradient[located + d] += pull;
            gradient[sum + d] -= of_beta * x;
            gradient[squares + d] += 0.5 * of_beta;
        }
    }
    output
}
