//! How many columns and rows there are, tangents of the mean, and relaxations by their formulas.

use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_distributions::{
    Bernoulli, Bits, Categorical, Classes, Mixed, Relaxable, Sample, Variables, draw,
};
use helmholtz_random::{Purpose, Stream};

use crate::{BITS, CLASSES, LOGITS_OF_BITS, LOGITS_OF_CLASSES, matrix, numbers, rows};

fn stream() -> Stream {
    Stream::new(1, Purpose::new("shapes"), [0, 0])
}

/// Logits, values, uniforms, and columns of noise.
fn columns(variables: impl Relaxable) -> [usize; 4] {
    [
        variables.logits(),
        variables.values(),
        variables.uniforms(),
        variables.noisy(),
    ]
}

#[test]
fn a_mixed_layer_has_the_columns_of_its_kind() {
    assert_eq!(columns(BITS), [3, 3, 3, 3]);
    assert_eq!(columns(Mixed::Bits(BITS)), [3, 3, 3, 3]);
    assert_eq!(columns(CLASSES), [6, 8, 2, 8]);
    assert_eq!(columns(Mixed::Classes(CLASSES)), [6, 8, 2, 8]);
}

#[test]
fn several_draws_of_several_rows_are_their_product() {
    let bits = Bernoulli::new(rows::<Flex>(&LOGITS_OF_BITS, 2));
    assert_eq!(bits.sample(5, &mut stream()).dims(), [10, 3]);
    let classes = Categorical::new(rows::<Flex>(&LOGITS_OF_CLASSES, 2), 4);
    assert_eq!(classes.classes(), 4);
    assert_eq!(classes.sample(5, &mut stream()).dims(), [10, 8]);
    let drawn = draw(&BITS, rows::<Flex>(&LOGITS_OF_BITS, 2), 5, &mut stream());
    assert_eq!(drawn.numbers().dims(), [10, 3]);
}

/// The derivative of the mean along the logits, by central differences.
pub fn tangent_is_the_derivative(variables: impl Variables, logits: &[f64]) {
    let mean = |scale: f64| {
        let logits: Vec<f64> = logits.iter().map(|a| scale * a).collect();
        variables.mean(rows::<Flex>(&logits, 1))
    };
    let found = numbers(variables.tangent(rows::<Flex>(logits, 1), mean(1.0)));
    let [above, below] = [1.0 + 1e-5, 1.0 - 1e-5].map(|scale| numbers(mean(scale)));
    assert_eq!(found.len(), variables.values());
    for ((found, above), below) in found.into_iter().zip(above).zip(below) {
        let expected = (above - below) / 2e-5;
        assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
    }
}

#[test]
fn the_tangent_is_the_derivative_of_the_mean_along_the_logits() {
    tangent_is_the_derivative(BITS, &LOGITS_OF_BITS);
    tangent_is_the_derivative(CLASSES, &LOGITS_OF_CLASSES);
    tangent_is_the_derivative(Mixed::Bits(BITS), &LOGITS_OF_BITS);
    tangent_is_the_derivative(Mixed::Classes(CLASSES), &LOGITS_OF_CLASSES);
}

fn assert_near(found: Tensor<Flex, 2>, expected: &[f64]) {
    for (found, expected) in numbers(found).into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }
}

/// Logistic noise of uniforms, clipped at both ends; z; and its sigmoid at a temperature.
#[test]
fn bits_are_relaxed_by_their_formulas() {
    let u = [0.0, 0.2, 1.0];
    let clipped = [1e-7, 0.2, 1.0 - 1e-7];
    let logistic = clipped.map(|u: f64| u.ln() - (1.0 - u).ln());
    let noise = BITS.noise(matrix::<Flex>(&u, 3));
    let far = numbers(noise.clone());
    // 1 - 1e-7 has nine digits below one.
    assert!(
        far.iter().zip(logistic).all(|(a, b)| (a - b).abs() < 1e-8),
        "{far:?}"
    );
    let z = BITS.perturb(rows::<Flex>(&LOGITS_OF_BITS, 1), noise);
    let expected: Vec<f64> = LOGITS_OF_BITS
        .iter()
        .zip(&far)
        .map(|(a, l)| a + l)
        .collect();
    assert_near(z.clone(), &expected);
    let relaxed = BITS.relax(z, matrix(&[4.0], 1));
    let sigmoid = |z: &f64| 1.0 / (1.0 + (-z / 4.0).exp());
    assert_near(relaxed, &expected.iter().map(sigmoid).collect::<Vec<_>>());
    // Exponential noise of classes, at both ends.
    let one = Classes {
        variables: 1,
        classes: 2,
    };
    let noise = numbers(one.noise(matrix::<Flex>(&[0.0, 1.0], 2)));
    assert!((noise[0] + 1e-7f64.ln()).abs() < 1e-8 && (0.9e-7..1.1e-7).contains(&noise[1]));
    let _: Bits = Mixed::Bits(BITS).try_into().expect("bits");
}
