//! ln Γ and its first two derivatives, on numbers and on tensors of any backend and dtype.
//!
//! The recurrence Γ(x + 1) = x Γ(x) leads from x to y = x + n, where Stirling's series is accurate (Abramowitz and Stegun
//! 1964, 6.1.41, 6.3.18 and 6.4.12). B₂ₖ are Bernoulli's numbers.

use std::f64::consts::{E, PI};
use std::ops::{Add, Div, Mul, Sub};

use burn::tensor::ops::FloatTensor;
use burn::tensor::{DType, Tensor, TensorPrimitive};

use crate::Backend;

/// What the formulas are written for.
pub trait Number:
    Clone
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    fn ln(self) -> Self;
    fn recip(self) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn ln(self) -> Self {
        self.ln()
    }

    #[inline(always)]
    fn recip(self) -> Self {
        self.recip()
    }
}

impl<B: Backend> Number for Tensor<B, 1> {
    fn ln(self) -> Self {
        self.log()
    }

    fn recip(self) -> Self {
        self.recip()
    }
}

/// How many steps the recurrence takes, n, and how many terms the series has.
#[derive(Clone, Copy)]
pub struct Order {
    steps: usize,
    terms: usize,
}

impl Order {
    /// Truncated at 3e-9 or less.
    pub const SINGLE: Self = Self { steps: 4, terms: 5 };
    /// Truncated at 2e-16 or less.
    pub const DOUBLE: Self = Self { steps: 8, terms: 8 };
}

const BERNOULLI: [f64; 8] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
];

/// Σₖ B₂ₖ weight(2k) wᵏ⁻¹ for k = 1, .., `terms`.
#[inline(always)]
fn series<T: Number>(w: &T, terms: usize, weight: impl Fn(f64) -> f64) -> T {
    let coefficient = |k: usize| BERNOULLI[k - 1] * weight((2 * k) as f64);
    let highest = w.clone() * coefficient(terms) + coefficient(terms - 1);
    (1..terms - 1)
        .rev()
        .fold(highest, |sum, k| sum * w.clone() + coefficient(k))
}

/// (x − ½)(ln y − 1) + ln(c Π_{i<n} y / (x + i)) + Σₖ B₂ₖ / (2k (2k − 1) y²ᵏ⁻¹) with c = √(2π/e) e⁻ⁿ.
///
/// The n ln y of Stirling's formula stands with the product, so that no term is much larger than 1 + |ln Γ(x)|.
#[inline(always)]
pub fn log_gamma<T: Number>(x: T, order: Order) -> T {
    let y = x.clone() + order.steps as f64;
    let c = (2.0 * PI / E).sqrt() * (-(order.steps as f64)).exp();
    let first = y.clone() * c / x.clone();
    let product = (1..order.steps).fold(first, |product, i| {
        product * y.clone() / (x.clone() + i as f64)
    });
    let r = y.clone().recip();
    let series = series(&(r.clone() * r.clone()), order.terms, |k| {
        1.0 / (k * (k - 1.0))
    });
    (x - 0.5) * (y.ln() - 1.0) + product.ln() + series * r
}

/// ln y − 1/(2y) − Σₖ B₂ₖ / (2k y²ᵏ) − Σ_{i<n} 1 / (x + i).
#[inline(always)]
pub fn digamma<T: Number>(x: T, order: Order) -> T {
    let y = x.clone() + order.steps as f64;
    let r = y.clone().recip();
    let w = r.clone() * r.clone();
    let sum = (1..order.steps).fold(x.clone().recip(), |sum, i| {
        sum + (x.clone() + i as f64).recip()
    });
    y.ln() - r * 0.5 - series(&w, order.terms, |k| 1.0 / k) * w - sum
}

/// 1/y + 1/(2y²) + Σₖ B₂ₖ / y²ᵏ⁺¹ + Σ_{i<n} 1 / (x + i)².
#[inline(always)]
pub fn trigamma<T: Number>(x: T, order: Order) -> T {
    let r = (x.clone() + order.steps as f64).recip();
    let w = r.clone() * r.clone();
    let stirling = r.clone() + w.clone() * 0.5 + series(&w, order.terms, |_| 1.0) * w * r;
    (0..order.steps).fold(stirling, |sum, i| {
        let r = (x.clone() + i as f64).recip();
        sum + r.clone() * r
    })
}

/// One of the above on a vector, with NaN for negative x: the portable definition.
pub fn portable<B: Backend>(
    function: impl Fn(Tensor<B, 1>, Order) -> Tensor<B, 1>,
    x: FloatTensor<B>,
) -> FloatTensor<B> {
    let x = Tensor::<B, 1>::from_primitive(TensorPrimitive::Float(x));
    let order = match x.dtype() {
        DType::F64 => Order::DOUBLE,
        _ => Order::SINGLE,
    };
    let negative = x.clone().lower_elem(0.0);
    let x = x.mask_fill(negative, f64::NAN);
    function(x, order).into_primitive().tensor()
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::TensorData;
    use burn_flex::Flex;

    use super::*;

    /// On the CPU f32 takes the fast path: here the portable one, which GPUs take, is held to the reference values.
    #[test]
    fn the_portable_functions_are_right_in_f32() {
        let rows = include_str!("../tests/ops/special.txt").lines().skip(1);
        let rows: Vec<Vec<f64>> = rows
            .map(|row| row.split(' ').map(|n| n.parse().unwrap()).collect())
            .collect();
        let x: Vec<f64> = rows.iter().map(|row| row[0]).collect();
        let data = TensorData::new(x.clone(), [x.len()]);
        let x = Tensor::<Flex, 1>::from_data(data, (&Default::default(), DType::F32));
        let x = || x.clone().into_primitive().tensor();
        let found = [
            portable::<Flex>(log_gamma, x()),
            portable::<Flex>(digamma, x()),
            portable::<Flex>(trigamma, x()),
        ];
        for (column, found) in found.into_iter().enumerate() {
            let found = Tensor::<Flex, 1>::from_primitive(TensorPrimitive::Float(found));
            assert_eq!(found.dtype(), DType::F32);
            for (found, row) in found.into_data().iter::<f64>().zip(&rows) {
                let expected = row[column + 1];
                let bound = 1e-6 * expected.abs().max(if column == 2 { 0.0 } else { 0.5 });
                assert!(
                    (found - expected).abs() <= bound,
                    "{column} at {}: {found}",
                    row[0]
                );
            }
        }
    }
}
