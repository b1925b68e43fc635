//! Variates of real numbers, from the host.

use burn::tensor::{Tensor, TensorData, Transaction, backend::Backend};

/// `variate` of the parameters of each element of `shape`, in row order, in the parameters' dtype. No gradient passes.
pub(crate) fn variates<B: Backend, const D: usize, const P: usize>(
    parameters: [&Tensor<B, D>; P],
    shape: [usize; D],
    variate: impl FnMut([f64; P]) -> f64,
) -> Tensor<B, D> {
    let like = (&parameters[0].device(), parameters[0].dtype());
    let transaction = parameters
        .into_iter()
        .map(|parameter| parameter.clone().expand(shape))
        .fold(Transaction::default(), Transaction::register);
    let columns: Vec<Vec<f64>> = transaction
        .execute()
        .iter()
        .map(|data| data.iter().collect())
        .collect();
    let values: Vec<f64> = (0..shape.iter().product())
        .map(|i| std::array::from_fn(|p| columns[p][i]))
        .map(variate)
        .collect();
    Tensor::from_data(TensorData::new(values, shape), like)
}
