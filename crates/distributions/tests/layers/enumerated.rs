//! By enumeration, and by differentiation.

use burn::backend::Autodiff;
use burn_flex::Flex;
use helmholtz_distributions::{Bits, Classes, Variables};

use crate::{BITS, CLASSES, LOGITS_OF_BITS, LOGITS_OF_CLASSES, matrix, numbers, rows, uniforms};

type Ad = Autodiff<Flex>;

pub fn score_is_the_derivative(variables: impl Variables, logits: &[f64]) {
    const ROWS: usize = 5;
    let values = uniforms::<Ad>([ROWS, variables.values()], 1);
    let logits = rows::<Ad>(logits, ROWS).require_grad();
    let log_prob = variables.log_prob(logits.clone(), values.clone());
    let gradient = logits.grad(&log_prob.sum().backward()).unwrap();
    let score = numbers(variables.score(logits.clone(), values));
    assert_eq!(logits.dims()[1], variables.logits());
    for (score, derivative) in score.into_iter().zip(numbers(gradient)) {
        assert!((score - derivative).abs() < 1e-14);
    }
}

#[test]
fn the_score_is_the_derivative_of_the_log_probability() {
    score_is_the_derivative(BITS, &LOGITS_OF_BITS);
    score_is_the_derivative(CLASSES, &LOGITS_OF_CLASSES);
}

/// One variable of three classes, and its three values.
const THREE: Classes = Classes {
    variables: 1,
    classes: 3,
};
const VALUES: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// T5: for logits (0, 0.5, −0.8) and f = (1, −2, 0.7), ∇ E f = (0.529382, −0.723738, 0.194356), of which the first belongs to
/// the pinned logit.
#[test]
fn the_score_function_gradient_of_three_classes_has_its_known_value() {
    let f = [1.0, -2.0, 0.7];
    let logits = rows::<Flex>(&[0.5, -0.8], 3);
    let values = matrix::<Flex>(&VALUES, 3);
    let log_prob = numbers(THREE.log_prob(logits.clone(), values.clone()));
    let score = numbers(THREE.score(logits, values));
    let gradient = [0, 1].map(|i| {
        let terms = (0..3).map(|n| log_prob[n].exp() * f[n] * score[2 * n + i]);
        terms.sum::<f64>()
    });
    assert!((gradient[0] - -0.723738).abs() < 1e-6, "{gradient:?}");
    assert!((gradient[1] - 0.194356).abs() < 1e-6, "{gradient:?}");
    assert!((gradient[0] + gradient[1] + 0.529382).abs() < 1e-6);

    // The same by differentiating the mean.
    let logits = matrix::<Ad>(&[0.5, -0.8], 2).require_grad();
    let expected = (THREE.mean(logits.clone()) * matrix(&f, 3)).sum();
    let derivative = numbers(logits.grad(&expected.backward()).unwrap());
    for (g, d) in gradient.into_iter().zip(derivative) {
        assert!((g - d).abs() < 1e-14);
    }
}

#[test]
fn two_classes_are_a_bit() {
    let two = Classes {
        variables: 3,
        classes: 2,
    };
    let bits = uniforms::<Flex>([4, 3], 2);
    let pairs: Vec<f64> = numbers(bits.clone())
        .into_iter()
        .flat_map(|b| [1.0 - b, b])
        .collect();
    let (pairs, logits) = (matrix::<Flex>(&pairs, 6), rows::<Flex>(&LOGITS_OF_BITS, 4));
    let close = |a: Vec<f64>, b: Vec<f64>| {
        assert_eq!(a.len(), b.len());
        assert!(
            a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14),
            "{a:?} {b:?}"
        );
    };
    let as_bits = Bits(3);
    close(
        numbers(two.log_prob(logits.clone(), pairs.clone())),
        numbers(as_bits.log_prob(logits.clone(), bits.clone())),
    );
    close(
        numbers(two.score(logits.clone(), pairs)),
        numbers(as_bits.score(logits.clone(), bits)),
    );
    let ones = numbers(two.mean(logits.clone()))
        .into_iter()
        .skip(1)
        .step_by(2);
    close(ones.collect(), numbers(as_bits.mean(logits)));
}

#[test]
fn the_columns_are_those_of_the_tensors() {
    let columns = [CLASSES.logits(), CLASSES.values(), CLASSES.uniforms()];
    assert_eq!(columns, [6, 8, 2]);
    assert_eq!([BITS.logits(), BITS.values(), BITS.uniforms()], [3; 3]);
    let drawn = CLASSES.sample(rows::<Flex>(&LOGITS_OF_CLASSES, 1), uniforms([5, 2], 3));
    assert_eq!(drawn.dims(), [5, 8]);
}
