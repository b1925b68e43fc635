//! The fast Fourier transform.

use std::f64::consts::PI;

/// A complex number, real part first.
pub(super) type Complex = [f64; 2];

/// X_k = Σ_j x_j exp(-2πi j k / m) in place, for m a power of two: radix-2 decimation in time (Cooley and Tukey, 1965).
///
/// Every root of unity comes from its own sine and cosine, so the error grows as √(log m) and not as m.
///
/// # Panics
/// If the length is not a power of two.
pub(super) fn transform(x: &mut [Complex]) {
    let m = x.len();
    assert!(m.is_power_of_two(), "{m} values");
    let shift = usize::BITS - m.trailing_zeros();
    for i in 1..m {
        let reversed = i.reverse_bits() >> shift;
        if i < reversed {
            x.swap(i, reversed);
        }
    }
    let roots: Vec<Complex> = (0..m / 2)
        .map(|k| {
            let (sin, cos) = (-2.0 * PI * k as f64 / m as f64).sin_cos();
            [cos, sin]
        })
        .collect();
    let mut half = 1;
    while half < m {
        for block in x.chunks_exact_mut(2 * half) {
            let (even, odd) = block.split_at_mut(half);
            for ((a, b), w) in (even.iter_mut().zip(odd)).zip(roots.iter().step_by(m / (2 * half)))
            {
                let turned = [w[0] * b[0] - w[1] * b[1], w[0] * b[1] + w[1] * b[0]];
                (*a, *b) = (
                    [a[0] + turned[0], a[1] + turned[1]],
                    [a[0] - turned[0], a[1] - turned[1]],
                );
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the definition.
    fn slow(x: &[Complex]) -> Vec<Complex> {
        let m = x.len();
        (0..m)
            .map(|k| {
                (0..m).fold([0.0, 0.0], |sum, j| {
                    let (sin, cos) = (-2.0 * PI * ((j * k) % m) as f64 / m as f64).sin_cos();
                    [
                        sum[0] + x[j][0] * cos - x[j][1] * sin,
                        sum[1] + x[j][0] * sin + x[j][1] * cos,
                    ]
                })
            })
            .collect()
    }

    #[test]
    fn it_is_the_sum_of_the_definition() {
        for m in [1, 2, 4, 8, 64, 256] {
            let value = |j: usize, a: usize| ((j * a + 3) % 17) as f64 / 17.0 - 0.4;
            let x: Vec<Complex> = (0..m).map(|j| [value(j, 5), value(j, 11)]).collect();
            let (expected, mut found) = (slow(&x), x);
            transform(&mut found);
            for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
                assert!((a - b).abs() < 1e-12, "{m}: {a} {b}");
            }
        }
    }
}
