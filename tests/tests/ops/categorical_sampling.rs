//! K1 for classes: sampling counted exactly over a grid of uniforms, and samplers that are wrong on purpose.

use burn::tensor::{Bool, DType, Tensor, TensorData, activation};
use burn_flex::Flex;
use helmholtz_ops::{pinned_logits, sample_categorical};

use crate::counted_classes::{allowed, check_sampler};
use crate::data::{Matrix, read};

const COARSE: i32 = 12;
/// All the uniforms that there are.
const FINE: i32 = 24;

/// Variables of four classes, their first logit 0, whose cumulative probabilities are far from every line of the grid 2⁻¹²;
/// equal logits give exact ties.
const VARIABLES: [[f32; 3]; 12] = [
    [0.0, 0.0, 0.0],
    [0.3, -1.0, 2.0],
    [-2.2, 1.3, 0.4],
    [3.0, 2.9, -4.0],
    [-0.7, 0.1, -3.3],
    [80.0, 0.0, -80.0],
    [-80.0, 80.0, 79.0],
    [-80.0, -80.0, 0.4],
    [-1e4, 0.0, -1e4],
    [1e4, 1e4, 0.0],
    [f32::NEG_INFINITY, 0.0, f32::NEG_INFINITY],
    [f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY],
];

#[test]
fn sampling_counts_exactly_on_a_grid() {
    for dtype in [DType::F32, DType::F64] {
        for logits in VARIABLES {
            for allowed in allowed(&logits, COARSE, dtype) {
                assert_eq!(allowed.start(), allowed.end(), "{logits:?}: an exact count");
            }
        }
        check_sampler::<Flex>(sample_categorical, &VARIABLES, COARSE, dtype).unwrap();
    }
}

/// The uniforms k 2⁻²⁴ at which each class gives way to the next, found by bisection, which [`check_sampler`] makes
/// legitimate.
#[test]
fn thresholds_on_all_uniforms_are_right_for_many_logits() {
    const COUNT: usize = 500;
    for (classes, scale) in [(2, 15.0), (3, 5.0), (10, 3.0)] {
        let free = classes - 1;
        let logits = Matrix::symmetric([1, COUNT * free], scale, 1);
        for dtype in [DType::F32, DType::F64] {
            let expected: Vec<_> = logits
                .elements
                .chunks(free)
                .map(|logits| allowed(logits, FINE, dtype))
                .collect();
            for class in 0..free {
                let (mut low, mut high) = ([-1i64; COUNT], [1i64 << FINE; COUNT]);
                while high.iter().zip(&low).any(|(high, low)| high - low > 1) {
                    let middle: Vec<i64> =
                        low.iter().zip(&high).map(|(l, h)| (l + h) / 2).collect();
                    let unit = |&k: &i64| k as f32 / (1 << FINE) as f32;
                    let uniforms = Matrix {
                        rows: 1,
                        columns: COUNT,
                        elements: middle.iter().map(unit).collect(),
                    };
                    let values = read(sample_categorical::<Flex>(
                        logits.tensor(dtype),
                        uniforms.tensor(dtype),
                        classes,
                    ));
                    for (i, value) in values.chunks(classes).enumerate() {
                        let within = value[..=class].contains(&1.0);
                        let end = if within { &mut low } else { &mut high };
                        end[i] = middle[i];
                    }
                }
                for (i, &count) in high.iter().enumerate() {
                    let allowed = &expected[i][class];
                    assert!(
                        allowed.contains(&(count as u64)),
                        "variable {i}, class {class} of {classes}: {count}, not {allowed:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn ties_and_ends_are_right() {
    let largest = 1.0 - 2f32.powi(-24);
    let (none, sure) = (f32::NEG_INFINITY, 80.0);
    for dtype in [DType::F32, DType::F64] {
        for (logits, u, expected) in [
            ([0.0, 0.0, 0.0], 0.0, 0),
            ([0.0, 0.0, 0.0], 0.25 - 2f32.powi(-26), 0),
            ([0.0, 0.0, 0.0], 0.25, 1),
            ([0.0, 0.0, 0.0], 0.5, 2),
            ([0.0, 0.0, 0.0], 0.75 - 2f32.powi(-24), 2),
            ([0.0, 0.0, 0.0], 0.75, 3),
            ([0.0, 0.0, 0.0], largest, 3),
            // Classes of no probability are passed over, at both ends and between.
            ([none, none, 0.0], 0.5 - 2f32.powi(-25), 0),
            ([none, none, 0.0], 0.5, 3),
            ([0.0, 0.0, none], largest, 2),
            ([0.1, none, none], largest, 1),
            ([none, none, none], largest, 0),
            ([0.3, -200.0, -1e4], largest, 1),
            ([-200.0, 0.3, -1e4], largest, 2),
            ([1e4, 0.0, 0.0], 0.0, 1),
            // As a bit whose σ is e⁻⁸⁰ is drawn by u = 0 alone.
            ([sure, 0.0, 0.0], 0.0, 0),
            ([sure, 0.0, 0.0], 2f32.powi(-24), 1),
            ([sure, 0.0, 0.0], largest, 1),
            ([f32::NAN, 0.0, 0.0], 0.5, 3),
        ] {
            for variables in [1, 33] {
                let logits = Matrix {
                    rows: 1,
                    columns: 3 * variables,
                    elements: logits.repeat(variables),
                };
                let uniforms = Matrix::uniform([1, variables], 0).map(|_| u);
                let values = read(sample_categorical::<Flex>(
                    logits.tensor(dtype),
                    uniforms.tensor(dtype),
                    4,
                ));
                let mut one_hot = [0.0; 4];
                one_hot[expected] = 1.0;
                let logits = &logits.elements[..3];
                assert_eq!(
                    values,
                    one_hot.repeat(variables),
                    "{logits:?}, u = {u}, {dtype:?}"
                );
            }
        }
    }
}

/// How a twin samples: what becomes of the logits `[M, V, C]` of all classes to make probabilities, how u is compared with
/// their cumulative sums, both `[N, V, C − 1]`, and whether the particles of a row lie beside each other.
struct Twin {
    probabilities: fn(Tensor<Flex, 3>) -> Tensor<Flex, 3>,
    reached: fn(Tensor<Flex, 3>, Tensor<Flex, 3>) -> Tensor<Flex, 3, Bool>,
    grouped: bool,
}

const RIGHT: Twin = Twin {
    probabilities: |logits| activation::softmax(logits, 2),
    reached: |cumulative, u| cumulative.lower_equal(u),
    grouped: false,
};

impl Twin {
    fn outcome(&self) -> Result<(), String> {
        let sample = |logits, uniforms: Tensor<Flex, 2>, classes| {
            let probabilities = (self.probabilities)(pinned_logits(logits, classes));
            let [rows, variables, _] = probabilities.dims();
            let particles = uniforms.dims()[0] / rows;
            let shape = [rows * particles, variables, classes - 1];
            let cumulative = probabilities.cumsum(2).narrow(2, 0, classes - 1);
            let cumulative = match self.grouped {
                false => cumulative.repeat_dim(0, particles),
                true => cumulative
                    .unsqueeze_dim::<4>(1)
                    .repeat_dim(1, particles)
                    .reshape(shape),
            };
            let uniforms = uniforms.unsqueeze_dim::<3>(2).expand(shape);
            let class = (self.reached)(cumulative, uniforms).int().sum_dim(2);
            let one_hot = class.squeeze_dim::<2>(2).one_hot::<3>(classes);
            one_hot.flatten::<2>(1, 2).float()
        };
        check_sampler::<Flex>(sample, &VARIABLES, COARSE, DType::F64)
    }
}

#[test]
fn samplers_that_are_wrong_are_caught() {
    RIGHT.outcome().unwrap();
    let wrong = [
        (
            "the class below at the tie",
            Twin {
                reached: |cumulative, u| cumulative.lower(u),
                ..RIGHT
            },
        ),
        (
            "1 − u",
            Twin {
                reached: |cumulative, u| cumulative.lower_equal(-u + 1.0),
                ..RIGHT
            },
        ),
        (
            "the pinned class last",
            Twin {
                probabilities: |logits| activation::softmax(logits.flip([2]), 2),
                ..RIGHT
            },
        ),
        (
            "what rounding leaves for the last class",
            Twin {
                probabilities: |logits| activation::softmax(logits, 2) * (1.0 - 1e-3),
                ..RIGHT
            },
        ),
        (
            "probabilities kept from zero",
            Twin {
                probabilities: |logits| activation::softmax(logits, 2).clamp_min(1e-3),
                ..RIGHT
            },
        ),
        (
            "logits scaled",
            Twin {
                probabilities: |logits| activation::softmax(logits * 1.001, 2),
                ..RIGHT
            },
        ),
        (
            "particles beside each other",
            Twin {
                grouped: true,
                ..RIGHT
            },
        ),
    ];
    for (name, twin) in wrong {
        assert!(twin.outcome().is_err(), "{name}");
    }
}

#[test]
fn the_largest_uniform_draws_no_class_of_probability_zero() {
    // The cumulative probabilities of half of the variables are rounded to less than 1, which the uniform is not below.
    let (variables, classes) = (1000, 5);
    for (dtype, largest) in [
        (DType::F32, f64::from(1.0f32.next_down())),
        (DType::F64, 1.0f64.next_down()),
    ] {
        let mut logits = Matrix::symmetric([1, variables * (classes - 1)], 3.0, 5);
        let last = logits.elements.iter_mut().skip(classes - 2);
        last.step_by(classes - 1).for_each(|logit| *logit = -1000.0);
        let logits = logits.tensor::<Flex>(dtype);
        let uniforms = TensorData::new(vec![largest; variables], [1, variables]);
        let uniforms = Tensor::<Flex, 2>::from_data(uniforms, (&Default::default(), dtype));
        let values = read(sample_categorical(logits, uniforms, classes));
        for value in values.chunks(classes) {
            assert_eq!(value[classes - 1], 0.0, "{dtype:?}");
        }
    }
}

/// Rows of one variable have a way of their own, many rows at a time.
#[test]
fn a_variable_in_many_rows_is_drawn_as_many_variables_in_a_row() {
    const COUNT: usize = 40;
    for (classes, dtype) in [(2, DType::F32), (5, DType::F32), (5, DType::F64)] {
        let free = classes - 1;
        let logits = Matrix::symmetric([COUNT, free], 2.0, 3).tensor::<Flex>(dtype);
        let uniforms = Matrix::symmetric([3 * COUNT, 1], 0.5, 4).tensor::<Flex>(dtype) + 0.5;
        let rows = sample_categorical(logits.clone(), uniforms.clone(), classes);
        let wide = [
            logits.reshape([1, COUNT * free]),
            uniforms.reshape([3, COUNT]),
        ];
        let [logits, uniforms] = wide;
        let row = sample_categorical(logits, uniforms, classes);
        assert_eq!(read(rows.reshape([3, COUNT * classes])), read(row));
    }
}
