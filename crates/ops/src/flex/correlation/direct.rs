//! Cross-correlation by direct summation: sums of a few lines of responses stay in registers while the template passes.

use super::Pairs;
use crate::flex::{LANES, dispatch, multiply_add};

/// Lines of responses at a time.
const LINES: usize = 4;
/// Vectors of a line at a time.
const VECTORS: usize = 5;

/// Images and templates with what lies between them. Neighbouring images and templates are read beyond their ends, so that both
/// have zeros there.
struct Pair<'a> {
    /// `[H, W]`, and zeros.
    image: &'a [f32],
    /// W.
    wide: usize,
    /// `[P, Q]` between LINES − 1 lines of zeros above and below.
    template: &'a [f32],
    /// Q.
    own: usize,
}

/// Writes the responses of all pairs.
pub fn responses(pairs: &Pairs<'_>, output: &mut [f32]) {
    let ([h, w], [p, q]) = (pairs.image, pairs.template);
    let [high, wide] = pairs.room();
    // What is read past an image: the lines that no response needs, and a vector.
    let mut image = vec![0.0; (h + LINES) * w + VECTORS * LANES];
    let mut template = vec![0.0; (p + 2 * (LINES - 1)) * q];
    let own = (LINES - 1) * q..(LINES - 1 + p) * q;
    for (group, responses) in output.chunks_exact_mut(high * wide).enumerate() {
        image[..h * w].copy_from_slice(pairs.image_of(group));
        template[own.clone()].copy_from_slice(pairs.template_of(group));
        let pair = Pair {
            image: &image,
            wide: w,
            template: &template,
            own: q,
        };
        dispatch!(correlate(&pair, responses, wide));
    }
}

#[inline(always)]
fn correlate<const FMA: bool>((pair, responses, wide): (&Pair<'_>, &mut [f32], usize)) {
    for (block, lines) in responses.chunks_mut(LINES * wide).enumerate() {
        let mut from = 0;
        while from < wide {
            let at = [block * LINES, from];
            let vectors = (wide - from).div_ceil(LANES);
            match vectors {
                1 => sums::<1, FMA>(pair, at, lines, wide),
                2 => sums::<2, FMA>(pair, at, lines, wide),
                3 => sums::<3, FMA>(pair, at, lines, wide),
                4 => sums::<4, FMA>(pair, at, lines, wide),
                _ => sums::<VECTORS, FMA>(pair, at, lines, wide),
            }
            from += vectors.min(VECTORS) * LANES;
        }
    }
}

/// The responses of up to [`LINES`] lines from `at`, N vectors of each.
#[inline(always)]
fn sums<const N: usize, const FMA: bool>(
    pair: &Pair<'_>,
    [top, left]: [usize; 2],
    lines: &mut [f32],
    wide: usize,
) {
    let mut sums = [[[0.0f32; LANES]; N]; LINES];
    let own = pair.own;
    // Image line top + i meets template line i − line for each line of responses, zero outside of the template.
    let (padded, count) = (pair.template, pair.template.len() / own + 1 - LINES);
    for i in 0..count {
        let image = &pair.image[(top + i) * pair.wide + left..];
        let rows: [&[f32]; LINES] =
            std::array::from_fn(|line| &padded[(LINES - 1 + i - line) * own..][..own]);
        let [first, second, third, fourth] = rows;
        let weights = first.iter().zip(second).zip(third.iter().zip(fourth));
        // Windows and weights without a check, or the sums would go through memory.
        for (window, ((w0, w1), (w2, w3))) in image.windows(N * LANES).zip(weights) {
            let weights = [*w0, *w1, *w2, *w3];
            let (pixels, _) = window.as_chunks::<LANES>();
            for n in 0..N {
                for line in 0..LINES {
                    sums[line][n] = add::<FMA>(sums[line][n], weights[line], pixels[n]);
                }
            }
        }
    }
    for (line, sums) in lines.chunks_exact_mut(wide).zip(&sums) {
        let line = &mut line[left..];
        let kept = line.len().min(N * LANES);
        line[..kept].copy_from_slice(&sums.as_flattened()[..kept]);
    }
}

#[inline(always)]
fn add<const FMA: bool>(mut sum: [f32; LANES], weight: f32, pixels: [f32; LANES]) -> [f32; LANES] {
    for lane in 0..LANES {
        sum[lane] = multiply_add::<FMA>(weight, pixels[lane], sum[lane]);
    }
    sum
}
