//! What AR, ARS and ARSM compare: a layer drawn by an exponential race, and drawn again with two rates swapped.

use burn::tensor::{Int, Tensor, TensorData};
use helmholtz_distributions::{Classes, Noise, Relaxable};
use helmholtz_ops::{Backend, Values, cat, pinned_logits};

use crate::{Joint, Layered, Objective, Race};

/// A layer's race, and f of its outcomes with classes swapped.
pub(crate) struct Swaps<'a, B: Backend, M, V> {
    objective: &'a Objective<B, M>,
    below: &'a [Values<B>],
    variables: V,
    rows: usize,
    /// φ with the pinned class `[rows or batch, V, C]`.
    logits: Tensor<B, 3>,
    /// π `[rows, V, C]`.
    simplex: Tensor<B, 3>,
}

impl<'a, B, M, V> Swaps<'a, B, M, V>
where
    B: Backend,
    V: Race,
    M: Layered<B, Variables = V> + Joint<B>,
{
    pub fn draw(
        objective: &'a Objective<B, M>,
        below: &'a [Values<B>],
        rows: usize,
        noise: &mut impl Noise,
    ) -> Self {
        let variables = objective.layers()[below.len()];
        let Classes {
            variables: count,
            classes,
        } = variables.classes();
        let uniforms = objective.uniforms(rows, variables.simplex_uniforms(), noise);
        Self {
            logits: pinned_logits(objective.logits(below), classes),
            simplex: variables.simplex(uniforms).reshape([rows, count, classes]),
            objective,
            below,
            variables,
            rows,
        }
    }

    /// C.
    pub fn classes(&self) -> usize {
        self.variables.classes().classes
    }

    /// π `[rows, V, C]`.
    pub fn simplex(&self) -> Tensor<B, 3> {
        self.simplex.clone()
    }

    /// F = f(z^{c⇆j}), π_c and π_j of every variable swapped, for each of the pairs (c, j), the layers above drawn anew for
    /// each: `[pairs, rows]`. A pair of equal classes swaps nothing.
    pub fn values(&self, pairs: &[(usize, usize)], noise: &mut impl Noise) -> Tensor<B, 2> {
        let copies = pairs.len() * self.rows;
        let drawn = pairs.iter().map(|&pair| self.swapped(pair)).collect();
        let mut layers: Vec<_> = self.below.iter().map(|layer| layer.cycle(copies)).collect();
        layers.push(Values::binary(cat(drawn, 0)));
        let values = self
            .objective
            .value(&self.objective.complete(layers, copies, noise));
        values.reshape([pairs.len(), self.rows])
    }

    /// The layer's values with two classes swapped: `[rows, values]`.
    fn swapped(&self, (c, j): (usize, usize)) -> Tensor<B, 2> {
        let [rows, count, classes] = self.simplex.dims();
        let mut order: Vec<i64> = (0..classes as i64).collect();
        order.swap(c, j);
        let order = TensorData::new(order, [classes]);
        let order = Tensor::<B, 1, Int>::from_data(order, &self.simplex.device());
        let simplex = self.simplex.clone().select(2, order);
        let batch = self.logits.dims()[0];
        let logits = self.logits.clone().reshape([1, batch, count * classes]);
        let logits = logits.expand([rows / batch, batch, count * classes]);
        let logits = logits.reshape([rows, count * classes]);
        let race = logits - simplex.log().reshape([rows, count * classes]);
        self.variables
            .values_of(self.variables.classes().harden(race))
    }
}

/// The gradient in the pinned logits from that in all: `[rows, V, C]` to `[rows, V (C − 1)]`.
pub(crate) fn without_pinned<B: Backend>(gradient: Tensor<B, 3>) -> Tensor<B, 2> {
    let classes = gradient.dims()[2];
    gradient.narrow(2, 1, classes - 1).flatten(1, 2)
}
