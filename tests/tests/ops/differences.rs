//! Derivatives by autodiff in f64, and the check of them by central differences.

use burn::backend::Autodiff;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_ops::Backend;

use crate::data::{Matrix, read};

/// A function of several matrices, on any backend.
pub trait Function {
    /// The shapes of the arguments.
    fn shapes(&self) -> Vec<[usize; 2]>;

    /// The value `[1]`.
    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1>;

    /// Where the checks take place: anywhere, as long as it is smooth there.
    fn point(&self) -> Vec<f64> {
        let size = self.shapes().iter().map(|[n, d]| n * d).sum();
        let point = Matrix::symmetric([1, size], 1.5, 11).elements;
        point.into_iter().map(f64::from).collect()
    }
}

/// The arguments that a flat point stands for.
fn arguments<B: Backend>(function: &impl Function, point: &[f64]) -> Vec<Tensor<B, 2>> {
    let mut rest = point;
    let take = |shape: [usize; 2]| {
        let (head, tail) = rest.split_at(shape[0] * shape[1]);
        rest = tail;
        constant(head, shape)
    };
    function.shapes().into_iter().map(take).collect()
}

/// A matrix of f64.
pub fn constant<B: Backend>(elements: &[f64], shape: [usize; 2]) -> Tensor<B, 2> {
    let data = TensorData::new(elements.to_vec(), shape);
    Tensor::from_data(data, (&Device::<B>::default(), DType::F64))
}

/// f(point).
pub fn value(function: &impl Function, point: &[f64]) -> f64 {
    read(function.of(&arguments::<Flex>(function, point)))[0]
}

/// ∇f(point).
pub fn gradient(function: &impl Function, point: &[f64]) -> Vec<f64> {
    let arguments = arguments::<Autodiff<Flex>>(function, point);
    let arguments: Vec<_> = arguments.into_iter().map(Tensor::require_grad).collect();
    let gradients = function.of(&arguments).backward();
    let of = |tensor: &Tensor<Autodiff<Flex>, 2>| read(tensor.grad(&gradients).unwrap());
    arguments.iter().flat_map(of).collect()
}

/// ∇(direction · ∇f)(point): the gradient, differentiated.
pub fn hessian_times(function: &impl Function, point: &[f64], direction: &[f64]) -> Vec<f64> {
    let inner = arguments::<Autodiff<Flex>>(function, point);
    let inner: Vec<_> = inner.into_iter().map(Tensor::require_grad).collect();
    let outer: Vec<_> = inner
        .iter()
        .map(|tensor| Tensor::<Autodiff<Autodiff<Flex>>, 2>::from_inner(tensor.clone()))
        .map(Tensor::require_grad)
        .collect();
    let gradients = function.of(&outer).backward();
    let directions = arguments::<Autodiff<Flex>>(function, direction);
    let along = outer
        .iter()
        .zip(directions)
        .map(|(tensor, direction)| (tensor.grad(&gradients).unwrap() * direction).sum());
    let gradients = along.reduce(|a, b| a + b).unwrap().backward();
    let shapes = function.shapes();
    inner
        .iter()
        .zip(shapes)
        .flat_map(|(tensor, [n, d])| match tensor.grad(&gradients) {
            Some(gradient) => read(gradient),
            None => vec![0.0; n * d],
        })
        .collect()
}

/// Holds a gradient to central differences of the function, to 1e-6 of itself.
///
/// The differences have four points: their error is h⁴/30 times the fifth derivative, below 1e-12 at h = 10⁻³ for the
/// functions here, and the roundings of f over h, below 1e-12 (1 + |f|).
pub fn check_gradient(
    f: impl Fn(&[f64]) -> f64,
    gradient: &[f64],
    point: &[f64],
) -> Result<(), String> {
    const H: f64 = 1e-3;
    let floor = 1e-10 * (1.0 + f(point).abs());
    for (i, &found) in gradient.iter().enumerate() {
        let at = |steps: f64| {
            let mut point = point.to_vec();
            point[i] += steps * H;
            f(&point)
        };
        let expected = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * H);
        let bound = 1e-6 * expected.abs() + floor;
        let error = (found - expected).abs();
        if error.is_nan() || error > bound {
            return Err(format!(
                "element {i}: {found} against {expected}, bound {bound:e}"
            ));
        }
    }
    Ok(())
}
