//! The state of an estimator that learns.

mod controls;
mod controls_config;
mod mlp;
mod moments;

use burn::tensor::DType;
use helmholtz_distributions::Variables;
use helmholtz_ops::Backend;

pub use controls::Controls;
pub use controls_config::{ControlsConfig, Temperature};
pub use mlp::Mlp;
pub use moments::Moments;

/// What an estimator learns and remembers beside the model; empty for most.
#[derive(Clone, Debug)]
pub struct Learned<B: Backend> {
    /// Trained parts.
    pub controls: Option<Controls<B>>,
    /// Running averages of each layer's learning signal.
    pub moments: Vec<Moments>,
}

impl<B: Backend> Learned<B> {
    /// What an estimator with these `controls` starts from, for layers of these variables. The data have this `mean` of each
    /// component, which is asked for only where there is something to learn.
    pub fn init<V: Variables>(
        controls: &ControlsConfig,
        mean: impl FnOnce() -> Vec<f32>,
        layers: &[V],
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Self {
        let init = || Controls::init(controls, &mean(), layers, seed, dtype, device);
        Self {
            controls: (!controls.is_empty()).then(init),
            moments: vec![Moments::default(); layers.len()],
        }
    }

    /// The trained parts of an estimator that has some.
    ///
    /// # Panics
    /// If none were made.
    pub fn trained(&self) -> &Controls<B> {
        let controls = self.controls.as_ref();
        controls.expect("this method's controls were made")
    }

    /// [`trained`](Self::trained), and the running averages to be moved on.
    ///
    /// # Panics
    /// If none were made.
    pub fn both(&mut self) -> (&Controls<B>, &mut [Moments]) {
        let controls = self.controls.as_ref();
        let controls = controls.expect("this method's controls were made");
        (controls, &mut self.moments)
    }
}
