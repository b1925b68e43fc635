//! What AR, ARS and ARSM compare: a layer drawn by an exponential race, and drawn again with two rates swapped.

use burn::tensor::Tensor;
use helmholtz_distributions::{Classes, Noise};
use helmholtz_ops::{Backend, Values, pinned_logits, swapped_classes};

use crate::{Joint, Layered, Objective, Race};

/// A layer's race, and f of its outcomes with classes swapped.
pub(crate) struct Swaps<'a, B: Backend, M, V> {
    objective: &'a Objective<B, M>,
    below: &'a [Values<B>],
    variables: V,
    rows: usize,
    /// φ with the pinned class `[rows or batch, V C]`.
    logits: Tensor<B, 2>,
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
            logits: pinned_logits(objective.logits(below), classes).flatten(1, 2),
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
        let logarithms = self.simplex.clone().log().flatten(1, 2);
        let one_hot = swapped_classes(self.logits.clone(), logarithms, self.classes(), pairs);
        let drawn = self.variables.values_of(one_hot);
        let mut layers: Vec<_> = self.below.iter().map(|layer| layer.cycle(copies)).collect();
        layers.push(Values::binary(drawn));
        let values = self
            .objective
            .value(&self.objective.complete(layers, copies, noise));
        values.reshape([pairs.len(), self.rows])
    }
}

/// The gradient in the pinned logits from that in all: `[rows, V, C]` to `[rows, V (C − 1)]`.
pub(crate) fn without_pinned<B: Backend>(gradient: Tensor<B, 3>) -> Tensor<B, 2> {
    let classes = gradient.dims()[2];
    gradient.narrow(2, 1, classes - 1).flatten(1, 2)
}
