//! Counting a sampling operation exactly (K1): every uniform of a grid is fed to it, on any backend.

use burn::tensor::{DType, Device, Tensor, TensorData};
use helmholtz_ops::Backend;

use crate::data::read;

/// Logits whose σ is far from every line of the grid 2⁻¹², but for 0: an exact tie at u = ½. At ±17 and beyond, σ is
/// nearer to an end than a grid of 2⁻²⁴ can tell.
pub const LOGITS: [f32; 17] = [
    0.0,
    0.3,
    -0.3,
    1.0,
    -1.0,
    4.4,
    -4.4,
    9.0,
    -9.0,
    17.0,
    -17.0,
    80.0,
    -80.0,
    1e4,
    -1e4,
    f32::INFINITY,
    f32::NEG_INFINITY,
];

/// Relative error allowed in a backend's σ: eight roundings of its dtype.
fn sigma_error(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 8.0 * 2f64.powi(-53),
        _ => 8.0 * 2f64.powi(-24),
    }
}

/// σ(a) in f64.
fn sigma(a: f32) -> f64 {
    let a = f64::from(a);
    if a >= 0.0 {
        1.0 / (1.0 + (-a).exp())
    } else {
        a.exp() / (1.0 + a.exp())
    }
}

/// The numbers of ones that σ(a) allows on the grid k/2ⁿ: ⌈σ(a) 2ⁿ⌉, for σ rounded in any way that its error allows.
/// σ(0) = ½, σ(∞) = 1 and σ(−∞) = 0 are exact.
pub fn allowed(a: f32, n: i32, dtype: DType) -> std::ops::RangeInclusive<u64> {
    let sigma = sigma(a);
    let error = match a == 0.0 || a.is_infinite() {
        true => 0.0,
        false => sigma_error(dtype) * sigma,
    };
    let count = |sigma: f64| (sigma.clamp(0.0, 1.0) * 2f64.powi(n)).ceil() as u64;
    count(sigma - error)..=count(sigma + error)
}

/// Feeds u = k/2ⁿ for every k from 0 to 2ⁿ − 1 to `sample`, for every logit, and counts.
///
/// The ones must be those of the smallest uniforms, without a gap, and as many as [`allowed`] says. The logits are two
/// rows, the second in reverse, and each uniform meets both (two particles-major rows), so a row that meets the wrong
/// logits is seen. Blocks of at most 2¹⁶ uniforms go up at a time.
pub fn check_sampler<B: Backend>(
    sample: impl Fn(Tensor<B, 2>, Tensor<B, 2>) -> Tensor<B, 2>,
    logits: &[f32],
    n: i32,
    dtype: DType,
) -> Result<(), String> {
    let columns = logits.len();
    let device = Device::<B>::default();
    let rows: Vec<f32> = logits.iter().chain(logits.iter().rev()).copied().collect();
    let tensor = |elements: Vec<f32>| {
        let shape = [elements.len() / columns, columns];
        Tensor::<B, 2>::from_data(TensorData::new(elements, shape), (&device, dtype))
    };
    let size = 1u64 << n;
    let mut counts = vec![0u64; 2 * columns];
    for first in (0..size).step_by(1 << 16) {
        let block = first..size.min(first + (1 << 16));
        let uniforms = block
            .clone()
            .flat_map(|k| std::iter::repeat_n(k as f32 / size as f32, 2 * columns))
            .collect();
        let bits = read(sample(tensor(rows.clone()), tensor(uniforms)));
        for (k, bits) in block.zip(bits.chunks_exact(2 * columns)) {
            for (i, (count, &bit)) in counts.iter_mut().zip(bits).enumerate() {
                match bit {
                    1.0 if *count == k => *count += 1,
                    0.0 => {}
                    _ => {
                        return Err(format!(
                            "logit {}: a bit of {bit} at u = {k}/2^{n}, after {count} ones",
                            rows[i]
                        ));
                    }
                }
            }
        }
    }
    for (&a, &count) in rows.iter().zip(&counts) {
        let allowed = allowed(a, n, dtype);
        if !allowed.contains(&count) {
            return Err(format!("logit {a}: {count} ones of 2^{n}, not {allowed:?}"));
        }
    }
    Ok(())
}
