//! Cross-correlation: by direct summation, or by Fourier transforms where these are faster.

mod direct;
mod fourier;

use burn_flex::FlexTensor;

use super::{elements, size, zeros};

/// Images and templates, in turn if there are fewer than pairs.
struct Pairs<'a> {
    images: &'a [f32],
    templates: &'a [f32],
    /// H and W.
    image: [usize; 2],
    /// P and Q.
    template: [usize; 2],
}

impl Pairs<'_> {
    /// Lines of responses, and responses of a line.
    fn room(&self) -> [usize; 2] {
        [0, 1].map(|at| self.image[at] - self.template[at] + 1)
    }

    fn image_of(&self, group: usize) -> &[f32] {
        own(self.images, self.image, group)
    }

    fn template_of(&self, group: usize) -> &[f32] {
        own(self.templates, self.template, group)
    }

    /// Whether Fourier transforms are faster. On the processor of `benches/correlation.rs` they take 0.3 ns times N log₂ N for N
    /// pixels, direct sums 0.03 ns a product.
    fn ask_for_fourier(&self) -> bool {
        let pixels = self.image.iter().product::<usize>() as f64;
        let products: usize = self.room().iter().chain(&self.template).product();
        10.0 * pixels * pixels.log2() < products as f64
    }
}

fn own(all: &[f32], [rows, columns]: [usize; 2], group: usize) -> &[f32] {
    let size = rows * columns;
    &all[group * size % all.len()..][..size]
}

/// See [`crate::Backend::cross_correlation`].
pub fn responses(images: &FlexTensor, templates: &FlexTensor) -> FlexTensor {
    let [r, h, w] = [0, 1, 2].map(|at| size(images, at));
    let [s, p, q] = [0, 1, 2].map(|at| size(templates, at));
    let pairs = Pairs {
        images: elements(images),
        templates: elements(templates),
        image: [h, w],
        template: [p, q],
    };
    let [high, wide] = pairs.room();
    let mut output = zeros([r.max(s), high, wide]);
    match pairs.ask_for_fourier() {
        true => fourier::responses(&pairs, output.storage_mut()),
        false => direct::responses(&pairs, output.storage_mut()),
    }
    output
}

/// One way, whichever is faster: for the bench that compares them.
pub fn one_way(
    fourier: bool,
    (images, image): (&[f32], [usize; 2]),
    (templates, template): (&[f32], [usize; 2]),
    output: &mut [f32],
) {
    let pairs = Pairs {
        images,
        templates,
        image,
        template,
    };
    match fourier {
        true => fourier::responses(&pairs, output),
        false => direct::responses(&pairs, output),
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    fn uniforms(count: usize, at: u64) -> Vec<f32> {
        let mut values = vec![0.0; count];
        Stream::new(1, Purpose::new("tests"), [at, 0]).fill_uniform_f32(&mut values);
        values
    }

    /// Both ways give the same sums: even, odd and prime sides, more images or more templates than the other.
    #[test]
    fn both_ways_agree() {
        for (image, template, counts) in [
            ([96, 96], [28, 28], [3, 3]),
            ([17, 31], [5, 8], [1, 4]),
            ([30, 22], [30, 1], [4, 2]),
            ([1, 1], [1, 1], [1, 1]),
            ([13, 8], [1, 8], [2, 1]),
        ] {
            let size = |[rows, columns]: [usize; 2]| rows * columns;
            let pairs = Pairs {
                images: &uniforms(counts[0] * size(image), 1),
                templates: &uniforms(counts[1] * size(template), 2),
                image,
                template,
            };
            let count = counts[0].max(counts[1]) * size(pairs.room());
            let [mut direct, mut fourier] = [vec![0.0; count], vec![0.0; count]];
            direct::responses(&pairs, &mut direct);
            fourier::responses(&pairs, &mut fourier);
            for (a, b) in direct.iter().zip(&fourier) {
                assert!(
                    (a - b).abs() < 1e-5 * size(template).max(4) as f32,
                    "{a}, {b}"
                );
            }
        }
    }

    #[test]
    fn large_templates_ask_for_fourier() {
        let asks = |side, own| {
            let (image, template) = ([side; 2], [own; 2]);
            let (images, templates) = (&[][..], &[][..]);
            Pairs {
                images,
                templates,
                image,
                template,
            }
            .ask_for_fourier()
        };
        assert!(asks(96, 28));
        assert!(!asks(48, 14));
        assert!(!asks(28, 28) && !asks(96, 3));
    }
}
