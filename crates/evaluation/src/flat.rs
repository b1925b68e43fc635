//! The gradient in some parameters of a module, as one vector.

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use helmholtz_ops::AutodiffBackend;

/// Gathers gradients in visiting order.
pub struct Flat<'a, B: AutodiffBackend> {
    of: &'a [ParamId],
    gradients: &'a B::Gradients,
    vector: Vec<f64>,
}

impl<'a, B: AutodiffBackend> Flat<'a, B> {
    /// The gradient in the parameters of these ids, in f64; zero where none reached.
    pub fn of(
        module: &impl Module<B>,
        parameters: &'a [ParamId],
        gradients: &'a B::Gradients,
    ) -> Vec<f64> {
        let mut flat = Self {
            of: parameters,
            gradients,
            vector: Vec::new(),
        };
        module.visit(&mut flat);
        flat.vector
    }
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Flat<'_, B> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        if !self.of.contains(&parameter.id) {
            return;
        }
        let value = parameter.val();
        let Some(gradient) = value.grad(self.gradients) else {
            let length = self.vector.len() + value.shape().num_elements();
            return self.vector.resize(length, 0.0);
        };
        let data = gradient.into_data();
        match data.as_slice::<f32>() {
            Ok(values) => self.vector.extend(values.iter().map(|&g| f64::from(g))),
            Err(_) => self.vector.extend(data.iter::<f64>()),
        }
    }
}
