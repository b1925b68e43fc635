//! The latents, and where data are seen from them.

use burn::tensor::Tensor;
use helmholtz_apg::particle;
use helmholtz_ops::{Backend, own_differences};

particle! {
    /// The latents of a deep mixture.
    pub struct DmmState<B> {
        /// μ `[L, B, M, 2]`
        mean: 4,
        /// c, one-hot `[L, B, N, M]`
        assignment: 4,
        /// h in (0, 1), a part of a turn `[L, B, N, 1]`
        angle: 4,
    }
}

/// x_n − μ_{c_n} `[L, B, N, 2]`.
pub(crate) fn displacements<B: Backend>(
    x: &Tensor<B, 3>,
    assignment: &Tensor<B, 4>,
    mean: &Tensor<B, 4>,
) -> Tensor<B, 4> {
    let [particles, instances, data, _] = assignment.dims();
    let groups = |latent: &Tensor<B, 4>| latent.clone().flatten::<3>(0, 1);
    let differences = own_differences(x.clone(), groups(assignment), groups(mean));
    differences.reshape([particles, instances, data, x.dims()[2]])
}
