//! What Hamiltonian Monte Carlo moves, the centres and the places on rings, as rows of numbers; and what it leaves, the rings, drawn
//! from their exact conditional.

use burn::tensor::{Tensor, activation};
use helmholtz_apg::{Choices, Model};
use helmholtz_distributions::Beta;
use helmholtz_ops::{Backend, cat};

use crate::{Dmm, DmmState};

impl<B: burn::tensor::backend::Backend> DmmState<B> {
    /// Each particle's μ, then y = ln(h / (1 − h)) of each datum: `[L B, 2 M + N]`.
    pub fn to_rows(&self) -> Tensor<B, 2> {
        let [particles, instances, m, d] = self.mean.dims();
        let groups = particles * instances;
        let odds = self.angle.clone() / (self.angle.clone().neg() + 1.0);
        let centres = self.mean.clone().reshape([groups, m * d]);
        let places = odds.log().reshape([groups as i32, -1]);
        cat(vec![centres, places], 1)
    }
}

impl<B: Backend> DmmState<B> {
    /// The particles with these rows, and the rings that `self` has. Each h is kept [`Beta::MARGIN`] from 0 and 1, where
    /// |y| > 13.8, so that it stays within the law that proposes it.
    ///
    /// # Panics
    /// If the rows have another width than those of `self`.
    pub fn with_rows(&self, rows: Tensor<B, 2>) -> Self {
        let (mean, angle) = (self.mean.dims(), self.angle.dims());
        let centres = mean[2] * mean[3];
        assert_eq!(rows.dims()[1], centres + angle[2], "numbers of a row");
        let places = rows.clone().narrow(1, centres, angle[2]);
        let margin = Beta::<B, 4>::MARGIN;
        Self {
            mean: rows.narrow(1, 0, centres).reshape(mean),
            assignment: self.assignment.clone(),
            angle: activation::sigmoid(places.reshape(angle)).clamp(margin, 1.0 - margin),
        }
    }
}

impl<B: Backend> Dmm<B> {
    /// ln of the density of (μ, y) at rows, given x and the rings c that `like` has, up to a constant: `[L B]`, nats,
    ///
    /// > log p(x, μ, c, h) + Σ_n ln h_n (1 − h_n),
    ///
    /// the second being the Jacobian's. Where [`with_rows`](DmmState::with_rows) keeps h from 0 and 1 the first does not depend on y.
    pub fn log_density_of_rows(
        &self,
        x: &Tensor<B, 3>,
        like: &DmmState<B>,
        rows: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        let [_, _, m, d] = like.mean.dims();
        let y = rows.clone().narrow(1, m * d, like.angle.dims()[2]);
        let jacobian = activation::log_sigmoid(y.clone()) + activation::log_sigmoid(y.neg());
        let log_joint = self.log_joint(x, &like.with_rows(rows));
        log_joint.flatten::<1>(0, 1) + jacobian.sum_dim(1).squeeze_dim::<1>(1)
    }

    /// p(c | x, μ, h), the exact conditional: p(c_n = m | ..) ∝ N(x_n; μ_m + g_θ(h_n), σ² I).
    pub fn exact_choices(
        &self,
        x: &Tensor<B, 3>,
        mean: &Tensor<B, 4>,
        angle: &Tensor<B, 4>,
    ) -> Choices<B> {
        // ‖x − g‖² is the same for all clusters, and drops out of the squares.
        let centred = x.clone().unsqueeze::<4>() - self.decode(angle);
        let along = centred.matmul(mean.clone().swap_dims(2, 3));
        let norms = mean.clone().square().sum_dim(3).swap_dims(2, 3);
        Choices::new((along - norms * 0.5) / (self.noise * self.noise))
    }
}
