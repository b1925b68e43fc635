//! The variance of the gradient of φ, followed while it trains.

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use helmholtz_ops::AutodiffBackend;
use helmholtz_runs::Checkpoint;

use crate::TrainError;

pub(crate) const GRADIENT_VARIANCE: &str = "gradient-variance";

/// Exponential means of a gradient g and of its square, component by component, and the variance that they give:
///
/// m ← βm + (1−β)g, s ← βs + (1−β)g², V = mean over components of ŝ − m̂², with m̂ = m / (1−βᵗ), ŝ = s / (1−βᵗ).
///
/// g is the mean over the batch, so that V holds the noise of the estimator and that of the batch. The parameters move meanwhile: V is
/// not the variance at held parameters, which [`method_variance`](helmholtz_evaluation::method_variance) measures. (Dong, Mnih & Tucker 2020, released code, with
/// β = 0.999 and without the division by 1−βᵗ.)
#[derive(Clone, Debug, PartialEq)]
pub struct GradientVariance {
    beta: f64,
    steps: u64,
    mean: Vec<f64>,
    square: Vec<f64>,
}

impl GradientVariance {
    /// Nothing seen yet, with β from 0 to below 1.
    pub fn new(beta: f64) -> Self {
        Self {
            beta,
            steps: 0,
            mean: Vec::new(),
            square: Vec::new(),
        }
    }

    /// Takes in the gradient of a step, of as many components as those before.
    pub fn add(&mut self, gradient: &[f32]) {
        self.mean.resize(gradient.len(), 0.0);
        self.square.resize(gradient.len(), 0.0);
        let (beta, own) = (self.beta, 1.0 - self.beta);
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((mean, square), &g) in moments.zip(gradient) {
            let g = f64::from(g);
            *mean = beta * *mean + own * g;
            *square = beta * *square + own * g * g;
        }
        self.steps += 1;
    }

    /// V; none before the first step.
    pub fn value(&self) -> Option<f64> {
        let seen = 1.0 - self.beta.powf(self.steps as f64);
        let components = self.mean.iter().zip(&self.square);
        let sum: f64 = components
            .map(|(mean, square)| square / seen - (mean / seen).powi(2))
            .sum();
        (!self.mean.is_empty()).then(|| sum / self.mean.len() as f64)
    }

    /// The gradient of the parameters with these ids, one after the other; 0 where the loss has none.
    pub(crate) fn follow<B: AutodiffBackend, M: Module<B>>(
        &mut self,
        model: &M,
        ids: &[ParamId],
        gradients: &B::Gradients,
    ) {
        let mut found = Found::<B> {
            ids,
            gradients,
            numbers: Vec::with_capacity(self.mean.len()),
        };
        model.visit(&mut found);
        self.add(&found.numbers);
    }

    /// Its part of a checkpoint: the steps, m and s.
    pub(crate) fn save(&self) -> (&'static str, Vec<u8>) {
        let moments = self.mean.iter().chain(&self.square);
        let steps = self.steps.to_le_bytes().into_iter();
        let bytes = steps.chain(moments.flat_map(|number| number.to_le_bytes()));
        (GRADIENT_VARIANCE, bytes.collect())
    }

    /// Takes over what [`save`](Self::save) gave, of this model's parameters with these ids.
    pub(crate) fn load<B: AutodiffBackend, M: Module<B>>(
        &mut self,
        checkpoint: &Checkpoint,
        model: &M,
        ids: &[ParamId],
    ) -> Result<(), TrainError> {
        // A run that began without it is followed from here on.
        let Some(bytes) = checkpoint.parts.get(GRADIENT_VARIANCE) else {
            return Ok(());
        };
        let broken = TrainError::Checkpoint {
            part: GRADIENT_VARIANCE,
        };
        let (numbers, rest) = bytes.as_chunks::<8>();
        let Some((&steps, moments)) = numbers.split_first() else {
            return Err(broken);
        };
        if !rest.is_empty() || moments.len() % 2 == 1 {
            return Err(broken);
        }
        let mut components = Components { ids, count: 0 };
        Module::<B>::visit(model, &mut components);
        let (found, own) = (moments.len() / 2, components.count);
        if found != 0 && found != own {
            return Err(TrainError::OtherNet {
                part: GRADIENT_VARIANCE,
                difference: format!("it has {found} components, φ has {own}"),
            });
        }
        let moments: Vec<f64> = moments.iter().map(|&own| f64::from_le_bytes(own)).collect();
        let (mean, square) = moments.split_at(moments.len() / 2);
        self.steps = u64::from_le_bytes(steps);
        (self.mean, self.square) = (mean.to_vec(), square.to_vec());
        Ok(())
    }
}

/// Gradients that are asked for.
struct Found<'a, B: AutodiffBackend> {
    ids: &'a [ParamId],
    gradients: &'a B::Gradients,
    numbers: Vec<f32>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Found<'_, B> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        if !self.ids.contains(&parameter.id) {
            return;
        }
        let value = parameter.val();
        match value.grad(self.gradients) {
            Some(gradient) => self.numbers.extend(gradient.into_data().iter::<f32>()),
            None => {
                let size = self.numbers.len() + value.shape().num_elements();
                self.numbers.resize(size, 0.0);
            }
        }
    }
}

/// The components of the parameters with these ids.
struct Components<'a> {
    ids: &'a [ParamId],
    count: usize,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Components<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        if self.ids.contains(&parameter.id) {
            self.count += parameter.val().shape().num_elements();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights of t steps are (1−β) βⁱ / (1−βᵗ), newest first: mean and square are weighted sums.
    #[test]
    fn it_is_the_weighted_variance_by_component_averaged() {
        let beta = 0.7;
        let gradients = [[1.0f32, -2.0], [3.0, 0.5], [-1.0, 4.0], [2.0, 2.0]];
        let mut followed = GradientVariance::new(beta);
        assert_eq!(followed.value(), None);
        gradients.iter().for_each(|g| followed.add(g));
        let weights: Vec<f64> = (0..4).rev().map(|i| f64::powi(beta, i)).collect();
        let total: f64 = weights.iter().sum();
        let of = |component: usize| {
            let numbers = gradients.iter().map(|g| f64::from(g[component]));
            let mean = |power| -> f64 {
                let each = numbers.clone().zip(&weights);
                each.map(|(g, w)| w * g.powi(power)).sum::<f64>() / total
            };
            mean(2) - mean(1).powi(2)
        };
        let expected = 0.5 * (of(0) + of(1));
        assert!((followed.value().unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn a_constant_gradient_has_no_variance_from_the_first_step() {
        let mut followed = GradientVariance::new(0.999);
        for _ in 0..3 {
            followed.add(&[5.0, -1.0]);
            assert!(followed.value().unwrap().abs() < 1e-12);
        }
        // The twin without the division, as in the released code, starts far off.
        let twin = |m: f64, s: f64| s - m * m;
        let share = 1.0 - 0.999f64.powi(3);
        assert!(twin(share * 5.0, share * 25.0) > 0.05);
    }

    /// Parameters of 2, 3 and 1 numbers.
    #[derive(Module, Debug)]
    struct Three<B: burn::tensor::backend::Backend> {
        first: Param<Tensor<B, 1>>,
        second: Param<Tensor<B, 1>>,
        third: Param<Tensor<B, 1>>,
    }

    #[test]
    fn a_parameter_that_the_loss_does_not_reach_has_a_gradient_of_zero() {
        type Ad = burn::backend::Autodiff<helmholtz_ops::Flex>;
        let of =
            |values: &[f32]| Param::from_tensor(Tensor::from_floats(values, &Default::default()));
        let model = Three::<Ad> {
            first: of(&[3.0, 4.0]),
            second: of(&[0.0; 3]),
            third: of(&[5.0]),
        };
        let [first, third] = [&model.first, &model.third].map(|own| own.val().powi_scalar(2));
        let gradients = (first.sum() + third.sum()).backward();
        let ids = [model.first.id, model.second.id, model.third.id];
        let mut followed = GradientVariance::new(0.0);
        followed.follow::<Ad, _>(&model, &ids, &gradients);
        assert_eq!(followed.mean, [6.0, 8.0, 0.0, 0.0, 0.0, 10.0]);
        let mut of_two = GradientVariance::new(0.0);
        of_two.follow::<Ad, _>(&model, &ids[1..], &gradients);
        assert_eq!(of_two.mean, [0.0, 0.0, 0.0, 10.0]);
    }
}
