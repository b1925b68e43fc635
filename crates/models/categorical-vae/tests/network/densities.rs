//! log p(x, h) and log q(h | x), for the net of table 2 and for other sizes.

use burn::module::list_param_ids;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_categorical_vae::CategoricalVaeConfig;
use helmholtz_distributions::Variables;
use helmholtz_estimators::{Factored, Joint, Layered, Particles, Parts, Propose};

use crate::written_out::WrittenOut;
use crate::{built, data, one_hot, parameters, small, stream, tensor};

fn numbers(tensor: Tensor<Flex, 1>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

/// The largest errors of both log-densities, of two data with three particles each.
fn errors(config: &CategoricalVaeConfig, dtype: DType) -> (f64, f64) {
    let model = built(config, dtype);
    let written_out = WrittenOut::new(config, &model);
    let x = data(2, config);
    let mut stream = stream(1);
    let mut state = || -> Vec<usize> {
        let class = |_| stream.below(config.classes) as usize;
        (0..config.variables).map(class).collect()
    };
    // Row n is particle n / 2 of datum n mod 2.
    let h: Vec<Vec<usize>> = (0..6).map(|_| state()).collect();
    let values: Vec<Vec<f64>> = h.iter().map(|h| one_hot(h, config)).collect();
    let particles = Particles::new(vec![tensor(&values, dtype)]);
    let x_tensor = || tensor::<Flex>(&x, dtype);
    let log_p = numbers(model.log_joint(x_tensor(), &particles));
    let log_q = numbers(model.log_q(&model.encode(x_tensor()), &particles));
    let error = |found: Vec<f64>, expected: &dyn Fn(usize) -> f64| {
        let rows = found.into_iter().enumerate();
        rows.map(|(n, found)| (found - expected(n)).abs())
            .fold(0.0, f64::max)
    };
    // The factors, one at a time, are the whole.
    let observed = model.log_likelihood(x_tensor(), &particles);
    let logits = model.prior_logits(x_tensor(), &particles).remove(0);
    let prior = model.layers()[0].log_prob(logits, particles.layers()[0].clone());
    let factors = numbers(observed + prior);
    (
        error(log_p, &|n| written_out.log_p(&x[n % 2], &h[n]))
            .max(error(factors, &|n| written_out.log_p(&x[n % 2], &h[n]))),
        error(log_q, &|n| written_out.log_q(&x[n % 2], &h[n])),
    )
}

#[test]
fn the_net_of_table_2_scores_as_written_out_by_hand() {
    for free_logits in [false, true] {
        let config = CategoricalVaeConfig {
            free_logits,
            ..CategoricalVaeConfig::table_2()
        };
        let (p, q) = errors(&config, DType::F64);
        assert!(p < 1e-9 && q < 1e-9, "{p}, {q}");
        // Sums over 784 bits, each rounded to f32.
        let (p, q) = errors(&config, DType::F32);
        assert!(p < 2e-3 && q < 1e-3, "{p}, {q}");
    }
}

#[test]
fn any_size_scores_as_written_out_by_hand() {
    // With the rectifier itself, too.
    for (variables, classes, hidden, slope) in [
        (1, 2, vec![], 0.2),
        (2, 3, vec![4], 0.0),
        (5, 7, vec![3, 9, 4], 0.2),
    ] {
        for free_logits in [false, true] {
            let config = CategoricalVaeConfig {
                variables,
                classes,
                hidden: hidden.clone(),
                slope,
                ..small(free_logits)
            };
            let (p, q) = errors(&config, DType::F64);
            assert!(p < 1e-12 && q < 1e-12, "{config:?}: {p}, {q}");
        }
    }
}

#[test]
fn the_prior_of_table_2_is_minus_20_ln_10() {
    let config = CategoricalVaeConfig::table_2();
    let model = built(&config, DType::F64);
    let h = Particles::new(vec![tensor(&[one_hot(&[3; 20], &config)], DType::F64)]);
    let x = data(1, &config);
    let log_p = numbers(model.log_joint(tensor(&x, DType::F64), &h));
    let observed = numbers(model.log_likelihood(tensor(&x, DType::F64), &h));
    assert!((log_p[0] - observed[0] + 46.0517).abs() < 1e-4);
}

#[test]
fn a_learned_prior_starts_at_the_fixed_one_and_is_of_p() {
    for free_logits in [false, true] {
        let fixed = small(free_logits);
        let learned = CategoricalVaeConfig {
            learned_prior: true,
            ..fixed.clone()
        };
        let h = Particles::new(vec![tensor(&[one_hot(&[3, 0, 1], &fixed)], DType::F64)]);
        let x = || tensor(&data(1, &fixed), DType::F64);
        let of = |config: &CategoricalVaeConfig| {
            let model = built(config, DType::F64);
            numbers(model.log_joint(x(), &h))[0]
        };
        assert!((of(&fixed) - of(&learned)).abs() < 1e-12);
        // Three layers up and three down, of weights and biases; the prior is drawn last.
        for (config, own) in [(&fixed, 0), (&learned, 1)] {
            let model = built(config, DType::F64);
            let (p, q) = (model.generative(), model.inference());
            assert_eq!(list_param_ids::<_, Flex>(&model), [&q[..], &p].concat());
            assert_eq!((q.len(), p.len()), (6, 6 + own));
            assert_eq!(Parts::<Flex>::learned_prior(&model), p[6..]);
        }
        let logits = parameters(&built(&learned, DType::F64)).pop().unwrap();
        assert_eq!((logits.shape, logits.values), (vec![1, 9], vec![0.0; 9]));
    }
}
