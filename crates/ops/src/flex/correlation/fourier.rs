//! Cross-correlation as a product of spectra: the conjugate of the template's times the image's.

use std::cell::RefCell;
use std::sync::Arc;

use realfft::num_complex::Complex32;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};

use super::Pairs;

thread_local! {
    /// Keeps the factors of sizes that were asked for.
    static PLANNERS: RefCell<(RealFftPlanner<f32>, FftPlanner<f32>)> =
        RefCell::new((RealFftPlanner::new(), FftPlanner::new()));
}

/// Circular transforms of a size that images fit in. Responses that do not go round the border are the valid ones.
struct Transforms {
    /// Lines and columns.
    size: [usize; 2],
    lines: Arc<dyn RealToComplex<f32>>,
    columns: Arc<dyn Fft<f32>>,
    columns_back: Arc<dyn Fft<f32>>,
    lines_back: Arc<dyn ComplexToReal<f32>>,
}

/// The least number from `from` on without prime factors above 5: transforms of others are slow.
fn smooth(from: usize) -> usize {
    let rest = |mut number: usize| {
        for prime in [2, 3, 5] {
            while number.is_multiple_of(prime) {
                number /= prime;
            }
        }
        number
    };
    (from..)
        .find(|&number| rest(number) == 1)
        .expect("a power of two")
}

impl Transforms {
    fn new(image: [usize; 2]) -> Self {
        let size = image.map(smooth);
        PLANNERS.with_borrow_mut(|(real, complex)| Self {
            size,
            lines: real.plan_fft_forward(size[1]),
            columns: complex.plan_fft_forward(size[0]),
            columns_back: complex.plan_fft_inverse(size[0]),
            lines_back: real.plan_fft_inverse(size[1]),
        })
    }

    /// The spectrum of an image with lines of `width` pixels, column by column.
    fn spectrum(&self, image: &[f32], width: usize) -> Vec<Complex32> {
        let [high, wide] = self.size;
        let mut line = self.lines.make_input_vec();
        let mut of_line = self.lines.make_output_vec();
        let mut spectrum = vec![Complex32::default(); of_line.len() * high];
        for (at, pixels) in image.chunks_exact(width).enumerate() {
            line[..width].copy_from_slice(pixels);
            line[width..wide].fill(0.0);
            self.lines.process(&mut line, &mut of_line).expect("sizes");
            for (column, value) in of_line.iter().enumerate() {
                spectrum[column * high + at] = *value;
            }
        }
        self.columns.process(&mut spectrum);
        spectrum
    }

    /// The upper left `[high, wide]` of the image of a spectrum, times the size of the transform.
    fn image(&self, spectrum: &mut [Complex32], [high, wide]: [usize; 2], output: &mut [f32]) {
        self.columns_back.process(spectrum);
        let mut of_line = self.lines_back.make_input_vec();
        let mut line = self.lines_back.make_output_vec();
        let last = of_line.len() - 1;
        for (at, responses) in output.chunks_exact_mut(wide).take(high).enumerate() {
            for (column, value) in of_line.iter_mut().enumerate() {
                *value = spectrum[column * self.size[0] + at];
            }
            // Zero but for rounding, and asked to be zero.
            of_line[0].im = 0.0;
            if self.size[1].is_multiple_of(2) {
                of_line[last].im = 0.0;
            }
            self.lines_back
                .process(&mut of_line, &mut line)
                .expect("sizes");
            responses.copy_from_slice(&line[..wide]);
        }
    }
}

/// Writes the responses of all pairs.
pub fn responses(pairs: &Pairs<'_>, output: &mut [f32]) {
    let transforms = Transforms::new(pairs.image);
    let room = pairs.room();
    let scale = 1.0 / transforms.size.iter().product::<usize>() as f32;
    let of_image = |group| transforms.spectrum(pairs.image_of(group), pairs.image[1]);
    let of_template = |group| transforms.spectrum(pairs.template_of(group), pairs.template[1]);
    // What one image or template shares with all pairs.
    let single = |all: &[f32], size: [usize; 2]| all.len() == size[0] * size[1];
    let image = single(pairs.images, pairs.image).then(|| of_image(0));
    let template = single(pairs.templates, pairs.template).then(|| of_template(0));
    let (mut product, mut other);
    for (group, responses) in output.chunks_exact_mut(room[0] * room[1]).enumerate() {
        product = image.clone().unwrap_or_else(|| of_image(group));
        let template = match &template {
            Some(template) => template,
            None => {
                other = of_template(group);
                &other
            }
        };
        for (image, template) in product.iter_mut().zip(template) {
            *image *= template.conj() * scale;
        }
        transforms.image(&mut product, room, responses);
    }
}
