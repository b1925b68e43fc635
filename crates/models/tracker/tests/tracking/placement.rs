//! Placing and cropping as tensors against the canvas' own loops; tests 21 to 23.

use burn::tensor::{Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_ops::cross_correlation;
use helmholtz_random::{Purpose, Stream};
use helmholtz_tracker::{Alignment, Canvas, Sampling, compose, crops};

const fn canvas(alignment: Alignment, sampling: Sampling) -> Canvas {
    Canvas {
        side: 20,
        digit: 7,
        alignment,
        sampling,
    }
}

const CANVASES: [Canvas; 4] = [
    canvas(Alignment::PixelCentre, Sampling::Nearest),
    canvas(Alignment::Corner, Sampling::Nearest),
    canvas(Alignment::PixelCentre, Sampling::Bilinear),
    canvas(Alignment::Corner, Sampling::Bilinear),
];

/// By nearest pixels the same numbers; between pixels sums and products are rounded.
fn assert_same(canvas: &Canvas, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let allowed = match canvas.sampling {
        Sampling::Nearest => 0.0,
        Sampling::Bilinear => 1e-4,
    };
    assert!(differences.fold(0.0, f32::max) <= allowed, "{canvas:?}");
}

fn stream(at: u64) -> Stream {
    Stream::new(7, Purpose::new("tests"), [at, 0])
}

fn uniforms(count: usize, at: u64) -> Vec<f32> {
    let mut values = vec![0.0; count];
    stream(at).fill_uniform_f32(&mut values);
    values
}

/// Positions inside the canvas, and some whose digit crosses the border or is beyond it.
fn positions(count: usize, at: u64) -> Vec<f32> {
    let mut values = uniforms(2 * count, at);
    values.iter_mut().for_each(|z| *z = 3.0 * *z - 1.5);
    values[0] = 5.0;
    values
}

fn tensor<const D: usize>(values: &[f32], shape: [usize; D]) -> Tensor<Flex, D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &Default::default())
}

fn read<const D: usize>(tensor: Tensor<Flex, D>) -> Vec<f32> {
    tensor.into_data().to_vec().expect("f32")
}

fn point(positions: &[f32], at: usize) -> [f64; 2] {
    [positions[2 * at].into(), positions[2 * at + 1].into()]
}

#[test]
fn a_composition_is_what_the_canvas_places() {
    for canvas in CANVASES {
        let (groups, digits, own) = (4, 3, canvas.digit_area());
        let (z, pixels) = (
            positions(groups * digits, 1),
            uniforms(groups * digits * own, 2),
        );
        let at = tensor(&z, [groups, digits, 2]);
        let found = compose(&canvas, tensor(&pixels, [groups, digits * own]), &at);
        let mut expected = vec![0.0; groups * canvas.area()];
        for (at, digit) in pixels.chunks_exact(own).enumerate() {
            let image = &mut expected[at / digits * canvas.area()..][..canvas.area()];
            canvas.place(digit, point(&z, at), 1.0, image);
        }
        assert_same(&canvas, &read(found), &expected);
    }
}

#[test]
fn crops_are_what_the_canvas_crops() {
    for canvas in CANVASES {
        let (particles, frames, digits) = (2, 3, 2);
        let z = positions(particles * frames * digits, 3);
        let images = uniforms(frames * canvas.area(), 4);
        let found = crops(
            &canvas,
            tensor(&images, [frames, canvas.area()]),
            &tensor(&z, [particles, frames, digits, 2]),
        );
        let expected = (0..particles * frames * digits).flat_map(|at| {
            let image = &images[at / digits % frames * canvas.area()..][..canvas.area()];
            canvas.crop(image, point(&z, at))
        });
        assert_same(&canvas, &read(found), &expected.collect::<Vec<_>>());
    }
}

#[test]
fn no_footprint_is_wider_than_its_reach() {
    for (side, digit) in [(96, 28), (48, 14), (20, 7), (17, 4), (10, 3), (96, 8)] {
        for alignment in [Alignment::PixelCentre, Alignment::Corner] {
            let canvas = Canvas {
                side,
                digit,
                alignment,
                sampling: Sampling::Nearest,
            };
            let widest = (0..=4000).map(|at| {
                let z = at as f64 / 1000.0 - 2.0;
                let footprint = canvas.footprint([z, 0.0]);
                let mut columns: Vec<usize> = footprint.iter().map(|(p, _)| p % side).collect();
                columns.sort_unstable();
                columns.dedup();
                columns.len()
            });
            assert_eq!(widest.max(), Some(canvas.reach()));
        }
    }
}

/// Test 22: an isolated impulse is found where it lies, and a digit where its own template is laid.
#[test]
fn test_22_the_response_is_largest_where_the_digit_is() {
    let canvas = Canvas::default();
    let (room, own) = (canvas.room(), canvas.digit_area());
    let digit = uniforms(own, 5);
    for (row, column) in [(0, 0), (31, 2), (17, 68), (68, 68)] {
        let scale = 2.0 / room as f32;
        let z = [column as f32 * scale - 1.0, 1.0 - row as f32 * scale];
        let image = compose(&canvas, tensor(&digit, [1, own]), &tensor(&z, [1, 1, 2]));
        let responses = cross_correlation(
            image.reshape([1, canvas.side, canvas.side]),
            tensor(&digit, [1, canvas.digit, canvas.digit]),
        );
        let best = |responses: Vec<f32>| {
            (0..responses.len()).max_by(|&a, &b| responses[a].total_cmp(&responses[b]))
        };
        assert_eq!(best(read(responses)), Some(row * (room + 1) + column));
        // One pixel of a frame under one pixel of a template.
        let (side, own) = (canvas.side, canvas.digit);
        let impulse = |side: usize, at: [usize; 2]| {
            let mut pixels = vec![0.0; side * side];
            pixels[at[0] * side + at[1]] = 1.0;
            tensor(&pixels, [1, side, side])
        };
        let responses =
            cross_correlation(impulse(side, [row + 3, column + 5]), impulse(own, [3, 5]));
        assert_eq!(best(read(responses)), Some(row * (room + 1) + column));
    }
}

/// Test 23: of two digits on a canvas, what is left without the first is the second, which may lie below it.
#[test]
fn test_23_what_is_left_without_a_digit_are_the_others() {
    for canvas in CANVASES {
        let own = canvas.digit_area();
        let pixels = uniforms(2 * own, 6);
        for z in [
            [0.3, -0.2, 0.1, 0.0],
            [-0.9, 0.9, 0.8, -0.7],
            [0.2, 0.1, 0.2, 0.1],
        ] {
            let (mut both, mut second) = (vec![0.0; canvas.area()], vec![0.0; canvas.area()]);
            canvas.place(&pixels[..own], point(&z, 0), 1.0, &mut both);
            for image in [&mut both, &mut second] {
                canvas.place(&pixels[own..], point(&z, 1), 1.0, image);
            }
            let first = tensor(&pixels[..own], [1, own]);
            let first = compose(&canvas, first, &tensor(&z[..2], [1, 1, 2]));
            let left = read(tensor(&both, [1, canvas.area()]) - first);
            let off = left.iter().zip(&second).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f32::max) < 1e-4, "{canvas:?} at {z:?}");
            assert!(second.iter().any(|&pixel| pixel > 0.1));
        }
    }
}
