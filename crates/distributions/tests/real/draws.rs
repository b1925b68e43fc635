//! How draws are laid out, and what they carry.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_distributions::{
    Beta, Gamma, Laplace, LogProb, MultivariateNormal, Normal, NormalGamma, SampleReal, Student,
};
use helmholtz_random::Draws;

use crate::numbers::{read, stream, tensor};

/// The k-th variate is k, or k / 100, whatever it is asked for.
struct Counter(f64);

impl Counter {
    fn next(&mut self) -> f64 {
        self.0 += 1.0;
        self.0
    }
}

impl Draws for Counter {
    fn uniform(&mut self) -> f64 {
        self.next() / 100.0
    }

    fn normal(&mut self) -> f64 {
        self.next()
    }

    fn gamma(&mut self, _: f64) -> f64 {
        self.next()
    }

    fn beta(&mut self, _: f64, _: f64) -> f64 {
        self.next() / 100.0
    }
}

#[test]
fn parameters_are_broadcast_and_variates_come_in_row_order() {
    let columns: Tensor<Flex, 3> = tensor(&[10.0, 20.0], [1, 1, 2]);
    let rows: Tensor<Flex, 3> = tensor(&[1.0, 0.5], [2, 1, 1]);
    let expected = |f: fn(f64, f64, f64) -> f64| -> Vec<f64> {
        let element = |i: usize| ([10.0, 20.0][i % 2], [1.0, 0.5][i / 6], (i + 1) as f64);
        (0..12)
            .map(|i| {
                let (column, row, k) = element(i);
                f(column, row, k)
            })
            .collect()
    };
    let shape = [2, 3, 2];

    let normal = Normal {
        mean: columns.clone(),
        deviation: rows.clone(),
    };
    let draws = normal.sample(shape, &mut Counter(0.0));
    assert_eq!(draws.dims(), shape);
    assert_eq!(
        read(draws),
        expected(|mean, deviation, k| mean + deviation * k)
    );

    let gamma = Gamma {
        shape: columns.clone(),
        rate: rows.clone(),
    };
    let draws = gamma.sample(shape, &mut Counter(0.0));
    assert_eq!(read(draws), expected(|_, rate, k| k / rate));

    let beta = Beta {
        a: columns.clone(),
        b: rows.clone(),
    };
    let draws = beta.sample(shape, &mut Counter(0.0));
    assert_eq!(read(draws), expected(|_, _, k| k / 100.0));

    let law = NormalGamma {
        mean: columns,
        nu: rows.clone(),
        alpha: rows.clone(),
        beta: rows,
    };
    let (mu, tau) = law.sample(shape, &mut Counter(0.0));
    assert_eq!(read(tau), expected(|_, rate, k| k / rate));
    let expected = expected(|mean, row, k| mean + (k + 12.0) / (row * (k / row)).sqrt());
    for (mu, expected) in read(mu).into_iter().zip(expected) {
        assert!(
            (mu - expected).abs() < 1e-13 * expected,
            "{mu}, not {expected}"
        );
    }
}

/// Laws that are symmetric would not show a wrong sign.
#[test]
fn laplace_student_and_normal_vectors_are_drawn_by_their_formulas() {
    let close = |found: Vec<f64>, expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-13, "{found}, not {expected}");
        }
    };
    let laplace = Laplace::<Flex, 1> {
        mean: tensor(&[10.0, 20.0], [2]),
        scale: tensor(&[1.0, 0.5], [2]),
    };
    // The uniforms are 0.01, 0.02, 0.03 and 0.04.
    let up = |a: f64, b: f64| (1.0 - b).ln() - (1.0 - a).ln();
    let expected = [10.0 + up(0.01, 0.02), 20.0 + 0.5 * up(0.03, 0.04)];
    close(read(laplace.sample([2], &mut Counter(0.0))), &expected);

    let student = Student::<Flex, 1> {
        freedom: tensor(&[3.0], [1]),
        location: tensor(&[10.0], [1]),
        scale: tensor(&[2.0], [1]),
    };
    // The normal variate is 1, and the gamma variate 2.
    let expected = 10.0 + 2.0 / (2.0f64 / 1.5).sqrt();
    close(read(student.sample([1], &mut Counter(0.0))), &[expected]);

    let mean: Tensor<Flex, 2> = tensor(&[10.0, 20.0], [1, 2]);
    let factor: Tensor<Flex, 3> = tensor(&[2.0, 0.0, -1.0, 3.0], [1, 2, 2]);
    let normal = MultivariateNormal { mean, factor };
    close(
        read(normal.sample([1, 2], &mut Counter(0.0))),
        &[12.0, 25.0],
    );
}

#[test]
fn draws_keep_their_dtype_and_stay_off_the_edges() {
    for dtype in [DType::F32, DType::F64] {
        let number = |x: f64| tensor::<Flex, 1>(&[x], [1]).cast(dtype);
        // Shapes under which nearly all variates are below the least number of either dtype.
        let gamma = Gamma {
            shape: number(1e-4),
            rate: number(1e3),
        };
        let tau = gamma.sample([1000], &mut stream(11));
        assert_eq!(tau.dtype(), dtype);
        assert!(read(tau.clone()).iter().all(|&tau| tau >= 0.999e-10));
        assert!(read(gamma.log_prob(tau)).iter().all(|x| x.is_finite()));
        let beta = Beta {
            a: number(1e-4),
            b: number(1e-4),
        };
        let x = beta.sample([1000], &mut stream(12));
        assert_eq!(x.dtype(), dtype);
        let low = read(x.clone()).iter().filter(|&&x| x < 1.001e-6).count();
        let high = read(x.clone()).iter().filter(|&&x| x > 0.9999989).count();
        assert!(low > 0 && high > 0 && low + high > 900, "{low}, {high}");
        assert!(read(beta.log_prob(x)).iter().all(|x| x.is_finite()));
    }
}

#[test]
fn huge_shapes_are_drawn_and_scored_in_f32() {
    let number = |x: f32| Tensor::<Flex, 1>::from_floats([x], &Default::default());
    let gamma = Gamma {
        shape: number(1e6),
        rate: number(1e-3),
    };
    let tau = gamma.sample([1000], &mut stream(13));
    // Seven standard deviations, and so below.
    assert!(
        read(tau.clone())
            .iter()
            .all(|tau| (tau / 1e9 - 1.0).abs() < 7e-3)
    );
    assert!(read(gamma.log_prob(tau)).iter().all(|x| x.is_finite()));
    let beta = Beta {
        a: number(3e4),
        b: number(1e4),
    };
    let x = beta.sample([1000], &mut stream(17));
    let deviation = (0.75f64 * 0.25 / 4e4).sqrt();
    assert!(
        read(x.clone())
            .iter()
            .all(|x| (x - 0.75).abs() < 7.0 * deviation)
    );
    assert!(read(beta.log_prob(x)).iter().all(|x| x.is_finite()));
}

#[test]
fn impossible_parameters_give_nan() {
    let numbers: Tensor<Flex, 1> = tensor(&[-1.0, 0.0, f64::NAN], [3]);
    let gamma = Gamma {
        shape: numbers.clone(),
        rate: numbers.ones_like(),
    };
    let draws = gamma.sample([3], &mut stream(14));
    assert!(read(draws).iter().all(|x| x.is_nan()));
    let beta = Beta {
        a: numbers.ones_like(),
        b: numbers,
    };
    assert!(
        read(beta.sample([3], &mut stream(15)))
            .iter()
            .all(|x| x.is_nan())
    );
}

#[test]
fn draws_carry_no_gradient() {
    type Twice = Autodiff<Autodiff<Flex>>;
    let inner = tensor::<Autodiff<Flex>, 1>(&[2.0, 3.0], [2]).require_grad();
    let parameter = Tensor::<Twice, 1>::from_inner(inner.clone()).require_grad();
    let law = NormalGamma {
        mean: parameter.clone(),
        nu: parameter.clone(),
        alpha: parameter.clone(),
        beta: parameter.clone(),
    };
    let (mu, tau) = law.sample([2], &mut stream(16));
    let gradients = (mu * tau + parameter.clone()).sum().backward();
    assert_eq!(read(parameter.grad(&gradients).unwrap()), [1.0, 1.0]);
    let (mu, tau) = law.sample([2], &mut stream(16));
    let gradients = (mu.inner() * tau.inner() + inner.clone()).sum().backward();
    assert_eq!(read(inner.grad(&gradients).unwrap()), [1.0, 1.0]);
}
