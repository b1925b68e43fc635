//! Where a template fits an image.

/// The valid cross-correlation, without a flip, of a square image with a square template: with e of `side` pixels and k of `own`,
///
/// > response[r, c] = Σ_ij k[i, j] e[r + i, c + j],  0 ≤ r, c ≤ side − own,
///
/// row by row. Direct summation, a line of the image at a time.
///
/// # Panics
/// If a slice has not the size of its square, or the template is larger than the image.
pub fn cross_correlation(image: &[f32], side: usize, template: &[f32], own: usize) -> Vec<f32> {
    assert_eq!(image.len(), side * side, "an image's pixels");
    assert_eq!(template.len(), own * own, "a template's pixels");
    assert!(own <= side, "the template is larger than the image");
    let wide = side - own + 1;
    let mut response = vec![0.0f32; wide * wide];
    for (row, out) in response.chunks_exact_mut(wide).enumerate() {
        for (i, weights) in template.chunks_exact(own).enumerate() {
            let line = &image[(row + i) * side..][..side];
            for (j, &weight) in weights.iter().enumerate() {
                for (out, &pixel) in out.iter_mut().zip(&line[j..]) {
                    *out += weight * pixel;
                }
            }
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;
    use crate::Canvas;

    fn noise(count: usize, at: u64) -> Vec<f32> {
        let mut values = vec![0.0; count];
        Stream::new(1, Purpose::new("correl"), [at, 0]).fill_uniform_f32(&mut values);
        values
    }

    /// Test 22: naive loops in f64.
    #[test]
    fn test_22_it_is_the_sum_that_it_says() {
        let (side, own) = (20, 7);
        let (image, template) = (noise(side * side, 0), noise(own * own, 1));
        let response = cross_correlation(&image, side, &template, own);
        for r in 0..=side - own {
            for c in 0..=side - own {
                let mut sum = 0.0;
                for i in 0..own {
                    for j in 0..own {
                        sum += f64::from(template[i * own + j])
                            * f64::from(image[(r + i) * side + c + j]);
                    }
                }
                let found = f64::from(response[r * (side - own + 1) + c]);
                assert!((found / sum - 1.0).abs() < 1e-5);
            }
        }
    }

    /// Test 22: an impulse digit, alone on the canvas, is found where it lies.
    #[test]
    fn test_22_a_digit_is_found_where_it_lies() {
        let canvas = Canvas::default();
        let mut digit = vec![0.0; canvas.digit_area()];
        digit[13 * 28 + 17] = 1.0;
        for (row, column) in [(0, 0), (5, 61), (68, 68)] {
            let z = [column as f64 / 34.0 - 1.0, 1.0 - row as f64 / 34.0];
            let mut image = vec![0.0; canvas.area()];
            canvas.place(&digit, z, 1.0, &mut image);
            let response = cross_correlation(&image, 96, &digit, 28);
            let best = (0..response.len()).max_by(|&a, &b| response[a].total_cmp(&response[b]));
            assert_eq!(best, Some(row * 69 + column));
        }
    }
}
