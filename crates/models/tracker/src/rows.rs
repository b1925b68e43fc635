//! Particles as rows of numbers, as Hamiltonian Monte Carlo moves them.

use burn::tensor::{Tensor, backend::Backend};
use helmholtz_apg::Model;
use helmholtz_ops::cat;

use crate::{Tracker, TrackerState, Video};

impl<B: Backend> TrackerState<B> {
    /// Each particle's latents, the positions before the appearances: `[L B, 2 T D + D W]`.
    pub fn to_rows(&self) -> Tensor<B, 2> {
        let [particles, instances, ..] = self.position.dims();
        let groups = particles * instances;
        let positions = self.position.clone().reshape([groups as i32, -1]);
        let appearances = self.appearance.clone().reshape([groups as i32, -1]);
        cat(vec![positions, appearances], 1)
    }

    /// The particles with these rows, of the shapes that `self` has.
    ///
    /// # Panics
    /// If the rows have another width than those of `self`.
    pub fn with_rows(&self, rows: Tensor<B, 2>) -> Self {
        let (position, appearance) = (self.position.dims(), self.appearance.dims());
        let positions = position[2..].iter().product();
        let rest = appearance[2..].iter().product();
        assert_eq!(rows.dims()[1], positions + rest, "numbers of a row");
        Self {
            position: rows.clone().narrow(1, 0, positions).reshape(position),
            appearance: rows.narrow(1, positions, rest).reshape(appearance),
        }
    }
}

impl<B: helmholtz_ops::Backend> Tracker<B> {
    /// log p(x, z) of rows of particles of the shapes that `like` has: `[L B]`, nats.
    ///
    /// With [`Sampling::Nearest`](crate::Sampling::Nearest) its gradient in the positions is that of their prior alone: the likelihood
    /// is constant between roundings.
    pub fn log_joint_of_rows(
        &self,
        x: &Video<B>,
        like: &TrackerState<B>,
        rows: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        self.log_joint(x, &like.with_rows(rows)).flatten(0, 1)
    }
}
