//! Log-probabilities of rows of grey values under means, and their derivatives.

use burn_flex::FlexTensor;

use super::exp::ln;
use super::{LANES, dispatch, elements, size, zeros};

/// See [`crate::Backend::bernoulli_mean_log_prob`]; with `slopes` `[N, D]` the derivatives in the means too.
pub fn log_prob(
    means: &FlexTensor,
    values: &FlexTensor,
    floor: f32,
    mut slopes: Option<&mut [f32]>,
) -> FlexTensor {
    let (rows, width) = (size(means, 0).max(size(values, 0)), size(means, 1));
    let mut output = zeros([rows]);
    for (n, sum) in output.storage_mut::<f32>().iter_mut().enumerate() {
        let row = |of: &FlexTensor| n % size(of, 0) * width..(n % size(of, 0) + 1) * width;
        let pair = [&elements(means)[row(means)], &elements(values)[row(values)]];
        if let Some(slopes) = &mut slopes {
            let slopes = &mut slopes[n * width..(n + 1) * width];
            dispatch!(slope(pair, floor, slopes));
        }
        dispatch!(score(pair, floor, sum));
    }
    output
}

#[inline(always)]
fn score<const FMA: bool>(([means, values], floor, sum): ([&[f32]; 2], f32, &mut f32)) {
    let ((means, rest), (values, rest_values)) =
        (means.as_chunks::<LANES>(), values.as_chunks::<LANES>());
    let mut sums = [0.0f32; LANES];
    for (means, values) in means.iter().zip(values) {
        for lane in 0..LANES {
            sums[lane] += term::<FMA>(means[lane], values[lane], floor);
        }
    }
    for (&mean, &value) in rest.iter().zip(rest_values) {
        sums[0] += term::<FMA>(mean, value, floor);
    }
    *sum = sums.iter().sum();
}

#[inline(always)]
fn term<const FMA: bool>(mean: f32, value: f32, floor: f32) -> f32 {
    let mean = mean.clamp(0.0, 1.0);
    value * ln::<FMA>(mean + floor) + (1.0 - value) * ln::<FMA>(1.0 - mean + floor)
}

#[inline(always)]
fn slope<const FMA: bool>(([means, values], floor, slopes): ([&[f32]; 2], f32, &mut [f32])) {
    for ((&mean, &value), slope) in means.iter().zip(values).zip(slopes) {
        let inside = f32::from(u8::from((0.0..=1.0).contains(&mean)));
        let mean = mean.clamp(0.0, 1.0);
        *slope = inside * (value / (mean + floor) - (1.0 - value) / (1.0 - mean + floor));
    }
}
