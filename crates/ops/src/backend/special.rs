//! ln Γ and its first two derivatives, in plain tensor operations on any backend and dtype.
//!
//! The recurrence Γ(x + 1) = x Γ(x) leads from x to y = x + n, where Stirling's series is accurate (Abramowitz and Stegun
//! 1964, 6.1.41, 6.3.18 and 6.4.12). B₂ₖ are Bernoulli's numbers.

use std::f64::consts::{E, PI};

use burn::tensor::ops::FloatTensor;
use burn::tensor::{DType, Tensor, TensorPrimitive};

use crate::Backend;
use crate::primitive::unwrap;

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

/// x and y = x + n, with as many steps and terms as the dtype can tell.
struct Shifted<B: Backend> {
    x: Tensor<B, 1>,
    y: Tensor<B, 1>,
    steps: usize,
    terms: usize,
}

impl<B: Backend> Shifted<B> {
    /// Negative x become NaN.
    fn new(x: FloatTensor<B>) -> Self {
        let x = Tensor::<B, 1>::from_primitive(TensorPrimitive::Float(x));
        // Truncated below 4e-16 and below 4e-9.
        let (steps, terms) = match x.dtype() {
            DType::F64 => (8, 8),
            _ => (4, 5),
        };
        let negative = x.clone().lower_elem(0.0);
        let x = x.mask_fill(negative, f64::NAN);
        let y = x.clone() + steps as f64;
        Self { x, y, steps, terms }
    }

    /// x + 1, .., x + n − 1.
    fn between(&self) -> impl Iterator<Item = Tensor<B, 1>> {
        (1..self.steps).map(|i| self.x.clone() + i as f64)
    }

    /// Σₖ B₂ₖ weight(2k) wᵏ⁻¹ for k = 1, .., terms.
    fn series(&self, w: &Tensor<B, 1>, weight: impl Fn(f64) -> f64) -> Tensor<B, 1> {
        let coefficient = |k: usize| BERNOULLI[k - 1] * weight((2 * k) as f64);
        let highest = w.clone() * coefficient(self.terms) + coefficient(self.terms - 1);
        (1..self.terms - 1)
            .rev()
            .fold(highest, |sum, k| sum * w.clone() + coefficient(k))
    }
}

/// (x − ½)(ln y − 1) + ln(c Π_{i<n} y / (x + i)) + Σₖ B₂ₖ / (2k (2k − 1) y²ᵏ⁻¹) with c = √(2π/e) e⁻ⁿ.
///
/// The n ln y of Stirling's formula stands with the product, so that no term is much larger than 1 + |ln Γ(x)|.
pub fn log_gamma<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let shifted = Shifted::<B>::new(x);
    let (x, y) = (&shifted.x, &shifted.y);
    let c = (2.0 * PI / E).sqrt() * (-(shifted.steps as f64)).exp();
    let product = shifted
        .between()
        .fold(y.clone() * c / x.clone(), |product, step| {
            product * y.clone() / step
        });
    let r = y.clone().recip();
    let series = shifted.series(&r.clone().square(), |k| 1.0 / (k * (k - 1.0))) * r;
    unwrap((x.clone() - 0.5) * (y.clone().log() - 1.0) + product.log() + series)
}

/// ln y − 1/(2y) − Σₖ B₂ₖ / (2k y²ᵏ) − Σ_{i<n} 1 / (x + i).
pub fn digamma<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let shifted = Shifted::<B>::new(x);
    let sum = shifted
        .between()
        .fold(shifted.x.clone().recip(), |sum, step| sum + step.recip());
    let r = shifted.y.clone().recip();
    let w = r.clone().square();
    let series = shifted.series(&w, |k| 1.0 / k) * w;
    unwrap(shifted.y.log() - r * 0.5 - series - sum)
}

/// 1/y + 1/(2y²) + Σₖ B₂ₖ / y²ᵏ⁺¹ + Σ_{i<n} 1 / (x + i)².
pub fn trigamma<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let shifted = Shifted::<B>::new(x);
    let squares = shifted
        .between()
        .fold(shifted.x.clone().recip().square(), |sum, step| {
            sum + step.recip().square()
        });
    let r = shifted.y.clone().recip();
    let w = r.clone().square();
    let series = shifted.series(&w, |_| 1.0) * w.clone() * r.clone();
    unwrap(r + w * 0.5 + series + squares)
}
