//! What is between the layers of a net, as functions that a loop is compiled for.

use super::exp::tanh;
use super::multiply_add;

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
