//! Counting the sampling of classes exactly (K1): every uniform of a grid is fed to it, on any backend.

use std::ops::RangeInclusive;

use burn::tensor::{DType, Device, Tensor, TensorData};
use helmholtz_ops::Backend;

use crate::data::read;

/// For each class but the last, the numbers of uniforms of the grid k/2ⁿ that may draw it or one before: ⌈F(c) 2ⁿ⌉ for a
/// cumulative probability F(c) rounded in any way that C + 10 roundings allow. For two or four equal logits, all others
/// −∞, it is exact.
pub fn allowed(logits: &[f32], n: i32, dtype: DType) -> Vec<RangeInclusive<u64>> {
    let all: Vec<f64> = std::iter::once(0.0)
        .chain(logits.iter().copied().map(f64::from))
        .collect();
    let largest = all.iter().copied().fold(0.0, f64::max);
    let weights: Vec<f64> = all.iter().map(|phi| (phi - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let exact = weights.iter().all(|&w| w == 0.0 || w == 1.0);
    let rounding = match dtype {
        DType::F64 => 2f64.powi(-53),
        _ => 2f64.powi(-24),
    };
    let error = match exact {
        true => 0.0,
        false => (all.len() + 10) as f64 * rounding,
    };
    let count = |f: f64| (f.clamp(0.0, 1.0) * 2f64.powi(n)).ceil() as u64;
    let mut sum = 0.0;
    weights[..logits.len()]
        .iter()
        .map(|weight| {
            sum += weight;
            let f = sum / total;
            count(f * (1.0 - error))..=count(f * (1.0 + error))
        })
        .collect()
}

/// Feeds u = k/2ⁿ for every k from 0 to 2ⁿ − 1 to `sample`, for every variable, and counts.
///
/// The values must be one-hot, the classes must not fall as u rises, and each must be drawn as often as [`allowed`] says.
/// The logits are two rows, the second with the variables in reverse, and each uniform meets both (two particle-major rows),
/// so a row that meets the wrong logits is seen.
pub fn check_sampler<B: Backend>(
    sample: impl Fn(Tensor<B, 2>, Tensor<B, 2>, usize) -> Tensor<B, 2>,
    variables: &[[f32; 3]],
    n: i32,
    dtype: DType,
) -> Result<(), String> {
    const CLASSES: usize = 4;
    let device = Device::<B>::default();
    let tensor = |elements: Vec<f32>, columns: usize| {
        let shape = [elements.len() / columns, columns];
        Tensor::<B, 2>::from_data(TensorData::new(elements, shape), (&device, dtype))
    };
    let rows: Vec<[f32; 3]> = variables
        .iter()
        .chain(variables.iter().rev())
        .copied()
        .collect();
    let size = 1u64 << n;
    let uniforms = (0..size)
        .flat_map(|k| std::iter::repeat_n(k as f32 / size as f32, rows.len()))
        .collect();
    let values = read(sample(
        tensor(rows.concat(), variables.len() * (CLASSES - 1)),
        tensor(uniforms, variables.len()),
        CLASSES,
    ));
    let mut counts = vec![[0u64; CLASSES]; rows.len()];
    for (i, value) in values.chunks_exact(CLASSES).enumerate() {
        let (k, i) = (i / rows.len(), i % rows.len());
        let class = value.iter().position(|&z| z == 1.0);
        let one_hot = value.iter().filter(|&&z| z == 0.0).count() == CLASSES - 1;
        match class {
            Some(class) if one_hot && counts[i][class + 1..].iter().all(|&later| later == 0) => {
                counts[i][class] += 1;
            }
            _ => return Err(format!("{:?}: {value:?} at u = {k}/2^{n}", rows[i])),
        }
    }
    for (logits, counts) in rows.iter().zip(&counts) {
        let mut reached = 0;
        for (class, allowed) in allowed(logits, n, dtype).into_iter().enumerate() {
            reached += counts[class];
            if !allowed.contains(&reached) {
                return Err(format!(
                    "{logits:?}: {reached} of 2^{n} up to class {class}, not {allowed:?}"
                ));
            }
        }
    }
    Ok(())
}
