//! What is between the layers of a net: functions that a loop is compiled for, and the loops of a layer, in place.

use burn_flex::FlexTensor;

use super::exp::tanh;
use super::{dispatch, elements, multiply_add};
use crate::Activation;
use crate::threads::{block, each, threads};

/// Calls `$function::<FMA, _>($f, $arguments)` with f the activation's function.
macro_rules! with_function {
    ($activation:expr, $function:ident::<$fma:ident>($arguments:expr)) => {
        match $activation {
            $crate::Activation::Tanh => {
                $function::<$fma, _>($crate::flex::activation::Tanh, $arguments)
            }
            $crate::Activation::LeakyRelu(slope) => $function::<$fma, _>(
                $crate::flex::activation::LeakyRelu(slope as f32),
                $arguments,
            ),
        }
    };
}
pub(super) use with_function;

/// How long an element takes, in multiplications of a product.
const COST: usize = 128;

/// See [`crate::Backend::fused_activation`].
pub fn activate(mut x: FlexTensor, activation: Activation) -> FlexTensor {
    let all = x.storage_mut::<f32>();
    let threads = threads(all.len() * COST);
    let blocks = all.chunks_mut(block(all.len(), threads));
    each(threads, blocks, |_, x| dispatch!(values(activation, x)));
    x
}

#[inline(always)]
fn values<const FMA: bool>((activation, x): (Activation, &mut [f32])) {
    with_function!(activation, values_of::<FMA>(x));
}

#[inline(always)]
fn values_of<const FMA: bool, F: Function>(f: F, x: &mut [f32]) {
    x.iter_mut().for_each(|x| *x = f.value::<FMA>(*x));
}

/// See [`crate::Backend::fused_activation_backward`].
pub fn backward(output: &FlexTensor, mut grad: FlexTensor, activation: Activation) -> FlexTensor {
    let (output, all) = (elements(output), grad.storage_mut::<f32>());
    let threads = threads(all.len() * COST);
    let block = block(all.len(), threads);
    let blocks = output.chunks(block).zip(all.chunks_mut(block));
    each(threads, blocks, |_, (output, grad)| {
        dispatch!(slopes(activation, output, grad));
    });
    grad
}

#[inline(always)]
fn slopes<const FMA: bool>((activation, output, grad): (Activation, &[f32], &mut [f32])) {
    with_function!(activation, slopes_of::<FMA>((output, grad)));
}

#[inline(always)]
fn slopes_of<const FMA: bool, F: Function>(f: F, (output, grad): (&[f32], &mut [f32])) {
    for (&t, g) in output.iter().zip(grad) {
        *g *= f.slope::<FMA>(t);
    }
}

/// t = f(x), and f' as a function of t.
pub trait Function: Copy {
    fn value<const FMA: bool>(self, x: f32) -> f32;
    fn slope<const FMA: bool>(self, t: f32) -> f32;
}

#[derive(Clone, Copy)]
pub struct Tanh;

impl Function for Tanh {
    #[inline(always)]
    fn value<const FMA: bool>(self, x: f32) -> f32 {
        tanh::<FMA>(x)
    }

    #[inline(always)]
    fn slope<const FMA: bool>(self, t: f32) -> f32 {
        multiply_add::<FMA>(-t, t, 1.0)
    }
}

/// Its slope below 0.
#[derive(Clone, Copy)]
pub struct LeakyRelu(pub f32);

impl Function for LeakyRelu {
    #[inline(always)]
    fn value<const FMA: bool>(self, x: f32) -> f32 {
        if x > 0.0 { x } else { x * self.0 }
    }

    #[inline(always)]
    fn slope<const FMA: bool>(self, t: f32) -> f32 {
        if t > 0.0 { 1.0 } else { self.0 }
    }
}
