//! ln Γ, ψ and ψ' against a table of reference values, and their derivatives against central differences.

use std::f64::consts::PI;

use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_ops::{Backend, digamma, log_gamma, trigamma};

use crate::data::read;
use crate::differences::{Function, check_gradient, gradient, hessian_times, value};

/// Rows of x and the three functions there.
fn table() -> Vec<[f64; 4]> {
    let rows = include_str!("special.txt").lines().skip(1);
    let numbers = |row: &str| -> Vec<f64> { row.split(' ').map(|n| n.parse().unwrap()).collect() };
    rows.map(|row| numbers(row).try_into().unwrap()).collect()
}

fn tensor(x: &[f64], dtype: DType) -> Tensor<Flex, 1> {
    let data = TensorData::new(x.to_vec(), [x.len()]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

#[derive(Clone, Copy)]
struct Functions {
    log_gamma: fn(Tensor<Flex, 1>) -> Tensor<Flex, 1>,
    digamma: fn(Tensor<Flex, 1>) -> Tensor<Flex, 1>,
    trigamma: fn(Tensor<Flex, 1>) -> Tensor<Flex, 1>,
}

const OURS: Functions = Functions {
    log_gamma,
    digamma,
    trigamma,
};

/// Holds the functions to the table, to 1e-6 of max(|f|, ½) in f32 and 4e-15 of it in f64; for trigamma, which has no zeros, of
/// |f|.
fn check(functions: Functions, dtype: DType) -> Result<(), String> {
    let relative = match dtype {
        DType::F64 => 4e-15,
        _ => 1e-6,
    };
    let rows = table();
    let x: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    let columns = [
        ("log-gamma", functions.log_gamma, 0.5),
        ("digamma", functions.digamma, 0.5),
        ("trigamma", functions.trigamma, 0.0),
    ];
    for (column, (name, function, floor)) in columns.into_iter().enumerate() {
        let found = read(function(tensor(&x, dtype)));
        assert_eq!(found.len(), rows.len());
        for (found, row) in found.into_iter().zip(&rows) {
            let expected = row[column + 1];
            let error = (found - expected).abs();
            if error.is_nan() || error > relative * expected.abs().max(floor) {
                return Err(format!("{name} of {}: {found}, not {expected}", row[0]));
            }
        }
    }
    Ok(())
}

#[test]
fn the_functions_are_those_of_the_table() {
    assert_eq!(table().len(), 72);
    for dtype in [DType::F32, DType::F64] {
        check(OURS, dtype).unwrap();
    }
}

#[test]
fn functions_that_are_nearly_right_are_not() {
    let wrong = [
        // Stirling's series without the recurrence.
        Functions {
            log_gamma: |x| (x.clone() - 0.5) * x.clone().log() - x + 0.5 * (2.0 * PI).ln(),
            ..OURS
        },
        // ψ(x + 1).
        Functions {
            digamma: |x| digamma(x + 1.0),
            ..OURS
        },
        // Off in the sixth digit.
        Functions {
            trigamma: |x| trigamma(x.clone()) * (1.0 + 2e-6),
            ..OURS
        },
    ];
    for functions in wrong {
        for dtype in [DType::F32, DType::F64] {
            assert!(check(functions, dtype).is_err());
        }
    }
}

#[test]
fn at_zero_they_have_their_limits_and_below_they_are_not_numbers() {
    for dtype in [DType::F32, DType::F64] {
        let at = |x: f64| {
            let x = tensor(&[x], dtype);
            [log_gamma(x.clone()), digamma(x.clone()), trigamma(x)].map(|y| read(y)[0])
        };
        assert_eq!(
            at(0.0),
            [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY],
            "{dtype:?}"
        );
        for x in [-1e-3, -0.5, -1.5, -3.0, -7.5, -1e3] {
            assert!(at(x).iter().all(|y| y.is_nan()), "{dtype:?}, {x}");
        }
        // ln Γ(x) → −ln x at 0, x ln x − x at infinity.
        assert!((at(1e-30)[0] / (30.0 * 10f64.ln()) - 1.0).abs() < 1e-6);
        assert!((at(1e30)[0] / (1e30 * (30.0 * 10f64.ln() - 1.0)) - 1.0).abs() < 1e-6);
        assert!((at(1e30)[1] / (30.0 * 10f64.ln()) - 1.0).abs() < 1e-6);
        assert!((at(1e15)[2] / 1e-15 - 1.0).abs() < 1e-6);
    }
}

#[test]
fn any_shape_is_taken_element_by_element() {
    let x = tensor(&[0.5, 1.5, 2.5, 3.5, 4.5, 5.5], DType::F64).reshape([3, 1, 2]);
    let y = log_gamma(x.clone().swap_dims(0, 2));
    assert_eq!(y.dims(), [2, 1, 3]);
    assert_eq!(read(y.swap_dims(0, 2)), read(log_gamma(x)));
}

/// Σ f(x)² + f(x), away from 0.
#[derive(Clone, Copy)]
enum SumOf {
    LogGamma,
    Digamma,
    Trigamma,
}

impl Function for SumOf {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, 4]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let x = arguments[0].clone();
        let y = match self {
            Self::LogGamma => log_gamma(x),
            Self::Digamma => digamma(x),
            Self::Trigamma => trigamma(x),
        };
        (y.clone() * y.clone() + y).sum()
    }

    fn point(&self) -> Vec<f64> {
        vec![0.6, 1.0, 1.4616, 2.0, 3.3, 4.0, 9.1, 120.0]
    }
}

#[test]
fn they_are_derivatives_of_one_another_also_twice() {
    for function in [SumOf::LogGamma, SumOf::Digamma, SumOf::Trigamma] {
        let point = function.point();
        let first = gradient(&function, &point);
        check_gradient(|at| value(&function, at), &first, &point).unwrap();
        let direction = [0.3, -1.0, 0.7, 1.0, -0.2, 0.5, 0.9, -0.4];
        let along = |at: &[f64]| -> f64 {
            let gradient = gradient(&function, at);
            gradient.iter().zip(&direction).map(|(g, d)| g * d).sum()
        };
        let second = hessian_times(&function, &point, &direction);
        check_gradient(along, &second, &point).unwrap();
        // A derivative that is off in the sixth digit is seen.
        let off: Vec<f64> = first.iter().map(|g| g * (1.0 + 2e-6)).collect();
        assert!(check_gradient(|at| value(&function, at), &off, &point).is_err());
    }
}
