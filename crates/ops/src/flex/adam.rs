//! Adam on a parameter and its moments in one pass.

use burn_flex::FlexTensor;

use super::{dispatch, elements, multiply_add};
use crate::AdamStep;
use crate::threads::{block, each, threads};

/// How long an element takes, in multiplications of a product.
const COST: usize = 96;

/// See [`crate::Backend::adam`]. In place where the tensors are not shared.
pub fn update(
    mut parameter: FlexTensor,
    grad: &FlexTensor,
    mut moment_1: FlexTensor,
    mut moment_2: FlexTensor,
    step: AdamStep,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let (first, second) = step.bias_corrections();
    let scalars = Scalars {
        keep_1: step.beta_1 as f32,
        take_1: (1.0 - step.beta_1) as f32,
        keep_2: step.beta_2 as f32,
        take_2: (1.0 - step.beta_2) as f32,
        rate: (step.learning_rate / first) as f32,
        root_scale: (1.0 / second.sqrt()) as f32,
        epsilon: step.epsilon as f32,
    };
    let threads = threads(elements(grad).len() * COST);
    let block = block(elements(grad).len(), threads);
    let moments = moment_1.storage_mut().chunks_mut(block);
    let moments = moments.zip(moment_2.storage_mut().chunks_mut(block));
    let parameters = parameter.storage_mut().chunks_mut(block);
    let blocks = parameters.zip(elements(grad).chunks(block)).zip(moments);
    each(threads, blocks, |_, ((parameter, grad), (m, v))| {
        dispatch!(pass(parameter, grad, m, v, scalars));
    });
    (parameter, moment_1, moment_2)
}

/// θ ← θ − (α/(1−β₁ᵗ)) m / (√v · 1/√(1−β₂ᵗ) + ε).
#[derive(Clone, Copy)]
struct Scalars {
    keep_1: f32,
    take_1: f32,
    keep_2: f32,
    take_2: f32,
    rate: f32,
    root_scale: f32,
    epsilon: f32,
}

/// A root and a quotient an element, which a processor of today makes at the pace at which the numbers come from memory.
#[inline(always)]
fn pass<const FMA: bool>(
    (parameter, grad, m, v, s): (&mut [f32], &[f32], &mut [f32], &mut [f32], Scalars),
) {
    let moments = m.iter_mut().zip(v.iter_mut());
    for ((p, &g), (m, v)) in parameter.iter_mut().zip(grad).zip(moments) {
        *m = multiply_add::<FMA>(s.keep_1, *m, s.take_1 * g);
        *v = multiply_add::<FMA>(s.keep_2, *v, s.take_2 * (g * g));
        let step = *m / multiply_add::<FMA>(v.sqrt(), s.root_scale, s.epsilon);
        *p = multiply_add::<FMA>(-s.rate, step, *p);
    }
}
