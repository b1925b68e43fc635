//! log p(t, h | c) and log q(h | c, t), for the net of table 3 and for other sizes.

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_conditional_sbn::ConditionalSbnConfig;
use helmholtz_distributions::Variables;
use helmholtz_estimators::{Factored, Joint, Layered, Particles, Propose};

use crate::written_out::{WrittenOut, log_prob};
use crate::{bits, built, data, numbers, small, tensor};

/// The largest errors of both log-densities, of two data with three particles each.
fn errors(config: &ConditionalSbnConfig, dtype: DType) -> (f64, f64) {
    let model = built(config, dtype);
    let written_out = WrittenOut::new(config, &model);
    let x = data(2, config);
    // Row n is particle n / 2 of datum n mod 2.
    let h = bits(6, config.latent, 1);
    let particles = Particles::new(vec![tensor(&h, dtype)]);
    let x_tensor = || tensor::<Flex>(&x, dtype);
    let log_p = numbers(model.log_joint(x_tensor(), &particles));
    let log_q = numbers(model.log_q(&model.encode(x_tensor()), &particles));
    // The factors, one at a time, are the whole.
    let observed = model.log_likelihood(x_tensor(), &particles);
    let prior = model.prior_logits(x_tensor(), &particles).remove(0);
    assert_eq!(prior.dims(), [2, config.latent], "a row a datum");
    let prior = model.layers()[0].log_prob(prior, particles.layers()[0].clone());
    let factors = numbers(observed + prior);
    let error = |found: Vec<f64>, expected: &dyn Fn(usize) -> f64| {
        let rows = found.into_iter().enumerate();
        rows.map(|(n, found)| (found - expected(n)).abs())
            .fold(0.0, f64::max)
    };
    let log_p_of = |n: usize| written_out.log_p(&x[n % 2], &h[n]);
    (
        error(log_p, &log_p_of).max(error(factors, &log_p_of)),
        error(log_q, &|n| written_out.log_q(&x[n % 2], &h[n])),
    )
}

#[test]
fn the_net_of_table_3_scores_as_written_out_by_hand() {
    let config = ConditionalSbnConfig::table_3();
    let (p, q) = errors(&config, DType::F64);
    assert!(p < 1e-10 && q < 1e-10, "{p}, {q}");
    // Sums over 392 bits, each rounded to f32.
    let (p, q) = errors(&config, DType::F32);
    assert!(p < 1e-3 && q < 1e-3, "{p}, {q}");
}

#[test]
fn any_size_scores_as_written_out_by_hand() {
    for (context, target, latent, hidden) in [
        (1, 1, 1, vec![1]),
        (3, 2, 4, vec![5]),
        (2, 7, 3, vec![3, 9, 4]),
    ] {
        let config = ConditionalSbnConfig {
            context,
            target,
            latent,
            hidden,
        };
        let (p, q) = errors(&config, DType::F64);
        assert!(p < 1e-12 && q < 1e-12, "{config:?}: {p}, {q}");
    }
}

/// The context is the first part of a datum, and no target is scored by itself.
#[test]
fn the_density_depends_on_the_context_and_sums_to_one_over_targets() {
    let config = small();
    let model = built(&config, DType::F64);
    let x = data(1, &config).remove(0);
    let targets = crate::likelihood::all_bits(config.target);
    let whole: Vec<Vec<f64>> = targets
        .iter()
        .map(|t| [&x[..config.context], t].concat())
        .collect();
    let h = bits(1, config.latent, 1);
    let particles = Particles::new(vec![tensor(&vec![h[0].clone(); whole.len()], DType::F64)]);
    let log_p = numbers(model.log_joint(tensor(&whole, DType::F64), &particles));
    let total: f64 = log_p.iter().map(|l| l.exp()).sum();
    let prior = log_prob(&WrittenOut::new(&config, &model).expected(&x), &h[0]);
    assert!(
        (total - prior.exp()).abs() < 1e-12,
        "Σ_t p(t, h | c) = p(h | c)"
    );
    let mut other = whole[0].clone();
    other[0] = 1.0 - other[0];
    let one = Particles::new(vec![tensor(&h, DType::F64)]);
    let elsewhere = numbers(model.log_joint(tensor(&[other], DType::F64), &one));
    assert!((elsewhere[0] - log_p[0]).abs() > 1e-3);
}
