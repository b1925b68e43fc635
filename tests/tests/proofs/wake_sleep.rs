//! Reweighted wake-sleep: biased, but by exactly what its formula says, and less with more particles.

use helmholtz_estimators::{Coefficient, Reinforce, Rws, Weighting};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::expectation::{each_proposal, exact, expected_gradient};
use helmholtz_tests::vectors::{add_scaled, max_difference, relative_error, weighted_sum};
use helmholtz_tests::{
    Batch, Categories, Conditional, Enumerable, Exact, Reference, State, Topped,
};

use crate::{TOLERANCE, WRONG, batch_mean, data};

/// E Σ_k w̃_k (∇ log p(x, h_k) + ∇ log q(h_k | x)), w̃ = w / Σ w, directly over tuples.
fn wake_gradient(exact: &Exact, particles: usize) -> Vec<f64> {
    let mut law = vec![0.0; exact.states.len()];
    for (probability, tuple) in exact.tuples(particles) {
        let w: Vec<f64> = tuple.iter().map(|&h| exact.log_w[h].exp()).collect();
        for (&h, w_k) in tuple.iter().zip(&w) {
            law[h] += probability * w_k / w.iter().sum::<f64>();
        }
    }
    exact.gradient_under(&law)
}

#[test]
fn the_expectation_is_the_enumerated_one() {
    for (model, batch, particles) in [
        (Reference::t1(), 1, 2),
        (Reference::t1(), 1, 3),
        (Reference::t1(), 2, 2),
        (Reference::t2(), 1, 2),
    ] {
        let x = data(batch);
        let expected = batch_mean(&model, &x, |exact| wake_gradient(exact, particles));
        let gradient = expected_gradient(&model, &x, &Rws::WAKE, particles);
        assert!(relative_error(&gradient, &expected) < TOLERANCE);
        let unweighted = expected_gradient(&model, &x, &Reinforce::default(), particles);
        assert!(relative_error(&unweighted, &expected) > WRONG);
    }
    let x = data(1);
    let error = |found: Vec<f64>, expected: Vec<f64>| relative_error(&found, &expected);
    let t3 = Categories::t3();
    let expected = batch_mean(&t3, &x, |exact| wake_gradient(exact, 2));
    assert!(error(expected_gradient(&t3, &x, &Rws::WAKE, 2), expected) < TOLERANCE);
    let t4 = Conditional::t4();
    let expected = batch_mean(&t4, &x, |exact| wake_gradient(exact, 2));
    assert!(error(expected_gradient(&t4, &x, &Rws::WAKE, 2), expected) < TOLERANCE);
    let t5 = Topped::t5();
    let expected = batch_mean(&t5, &x, |exact| wake_gradient(exact, 2));
    assert!(error(expected_gradient(&t5, &x, &Rws::WAKE, 2), expected) < TOLERANCE);
}

#[test]
fn with_one_particle_q_does_not_move_and_p_ascends_the_elbo() {
    for model in [Reference::t1(), Reference::t2()] {
        let x = data(1);
        let gradient = expected_gradient(&model, &x, &Rws::WAKE, 1);
        let elbo = batch_mean(&model, &x, |exact| exact.bound_gradient(1));
        let (phi, theta) = (model.phi(), model.theta());
        assert!(max_difference(&gradient[phi.clone()], &vec![0.0; phi.len()]) < 1e-13);
        assert!(relative_error(&gradient[theta.clone()], &elbo[theta]) < TOLERANCE);
    }
}

/// Every split of `total` into `parts` counts, with the logarithm of its multinomial coefficient.
fn splits(total: usize, parts: usize) -> Vec<(f64, Vec<usize>)> {
    let log_factorial = |n: usize| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
    if parts == 1 {
        return vec![(0.0, vec![total])];
    }
    let first = |n: usize| {
        let choose = log_factorial(total) - log_factorial(n) - log_factorial(total - n);
        let rest = splits(total - n, parts - 1).into_iter();
        rest.map(move |(log_count, mut counts)| {
            counts.push(n);
            (choose + log_count, counts)
        })
    };
    (0..=total).flat_map(first).collect()
}

#[test]
fn its_bias_falls_as_one_over_the_number_of_particles() {
    // Four latent states: the particles of a tuple matter by how many are in each state only, so K = 64 can be enumerated.
    // Parameters a third as wide as T1's, or the weights vary too much for 64 particles to be many.
    let model = Reference::random(4, &[2], 4);
    let model = model.with_parameters(model.parameters.iter().map(|p| p / 3.0).collect());
    let exact = Exact::new(&model, &data(1)[0]);
    let limit = exact.inclusive_gradient();
    let mut chance = Stream::new(1, Purpose::new("unused"), [0, 0]);
    let mut bias = |particles: usize| -> Vec<f64> {
        let mut law = vec![0.0; 4];
        for (log_count, counts) in splits(particles, 4) {
            let tuple: Vec<usize> = (0..4).flat_map(|h| vec![h; counts[h]]).collect();
            let log_w: Vec<f64> = tuple.iter().map(|&h| exact.log_w[h]).collect();
            let mut coefficients = vec![Coefficient::default(); particles];
            Rws::WAKE.weigh(&log_w, false, &mut chance, &mut coefficients);
            let log_q: f64 = tuple.iter().map(|&h| exact.q[h].ln()).sum();
            for (&h, coefficient) in tuple.iter().zip(&coefficients) {
                law[h] += (log_count + log_q).exp() * coefficient.phi;
            }
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let mut bias = exact.gradient_under(&law);
        add_scaled(&mut bias, -1.0, &limit);
        bias
    };
    let zero = vec![0.0; limit.len()];
    let biases = [4, 8, 16, 32, 64].map(|k| (k as f64, bias(k)));
    let points = biases
        .each_ref()
        .map(|(k, bias)| (k.ln(), max_difference(bias, &zero).ln()));
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / 5.0;
    let (centre_k, centre_bias) = (mean(|p| p.0), mean(|p| p.1));
    let covariance = points
        .iter()
        .map(|p| (p.0 - centre_k) * (p.1 - centre_bias));
    let variance = points.iter().map(|p| (p.0 - centre_k).powi(2));
    let slope = covariance.sum::<f64>() / variance.sum::<f64>();
    assert!((slope + 1.0).abs() < 0.2, "slope {slope}");
    // To first order K · bias = −E_q[w² (g − E_post g)], w = p(h | x) / q(h | x).
    let posterior = exact.posterior();
    let mut first_order = vec![0.0; limit.len()];
    for (h, (p, q)) in posterior.iter().zip(&exact.q).enumerate() {
        add_scaled(&mut first_order, -p * p / q, &exact.gradient_at(h));
        add_scaled(&mut first_order, p * p / q, &limit);
    }
    let (k, last) = &biases[4];
    let scaled: Vec<f64> = last.iter().map(|b| k * b).collect();
    let error = relative_error(&scaled, &first_order);
    assert!(
        error < 0.1,
        "K · bias is off its limit by {error} at K = 64"
    );
}

/// Every (x, h) that can be dreamt in the place of a datum, with its probability under p.
fn dreams<'a>(
    model: &impl Enumerable,
    datum: &[f64],
    states: &'a [State],
) -> Vec<(f64, (Vec<f64>, &'a State))> {
    let of = |x: &Vec<f64>| {
        let exact = Exact::new(model, x);
        let x = x.clone();
        let pairs = states.iter().zip(exact.log_p);
        pairs
            .map(move |(h, log_p)| (log_p.exp(), (x.clone(), h)))
            .collect::<Vec<_>>()
    };
    model.dreamt_beside(datum).iter().flat_map(of).collect()
}

/// E_p ∇ log q(h | x), in the place of a datum.
fn sleep_gradient(model: &impl Enumerable, datum: &[f64]) -> Vec<f64> {
    let states = model.states();
    let terms: Vec<(f64, Vec<f64>)> = dreams(model, datum, &states)
        .into_iter()
        .map(|(probability, (x, h))| (probability, model.log_q(&x, h).1))
        .collect();
    let pairs = terms.iter().map(|(p, gradient)| (*p, gradient.as_slice()));
    weighted_sum(model.parameters().len(), pairs)
}

#[test]
fn sleep_and_wake_sleep_are_the_enumerated_expectations() {
    // Two data make two dreams. A step is a sum over its dreams, so they are enumerated one beside the other: dream i
    // first in one step, second in another.
    let model = Reference::t1();
    let x = data(2);
    let (batch, states) = (Batch::new(&model, &x), model.states());
    let dreams = dreams(&model, &x[0], &states);
    let asleep = sleep_gradient(&model, &x[0]);
    for (method, wakes) in [(Rws::SLEEP, false), (Rws::WAKE_SLEEP, true)] {
        let mut chance = Stream::new(1, Purpose::new("unused"), [0, 0]);
        let mut step = |tuples: &[Vec<&State>], first: usize, second: usize| {
            let pair = [dreams[first].1.clone(), dreams[second].1.clone()];
            let noise = batch.proposing(tuples).then_dreams(&model, &pair);
            batch.step(&method, None, 2, noise, &mut chance).gradient
        };
        // Over dreams, with proposals held.
        let held: Vec<Vec<&State>> =
            vec![vec![&states[1], &states[6]], vec![&states[3], &states[0]]];
        let still = step(&held, 0, 0);
        let mut over_dreams = vec![0.0; still.len()];
        for (i, (probability, _)) in dreams.iter().enumerate() {
            for gradient in [step(&held, i, 0), step(&held, 0, i)] {
                add_scaled(&mut over_dreams, *probability, &gradient);
            }
        }
        // Over proposals, with dreams held.
        let mut over_proposals = vec![0.0; still.len()];
        each_proposal(&exact(&model, &x[..1]), 2, |probability, tuple| {
            let tuples = [tuple[0].clone(), held[1].clone()];
            add_scaled(&mut over_proposals, probability, &step(&tuples, 0, 0));
        });
        each_proposal(&exact(&model, &x[1..]), 2, |probability, tuple| {
            let tuples = [held[0].clone(), tuple[0].clone()];
            add_scaled(&mut over_proposals, probability, &step(&tuples, 0, 0));
        });
        // A sum f(a) + g(b) + … has the mean Σ (means over one argument) − (their number − 1) times the held value.
        let mut gradient = over_dreams;
        add_scaled(&mut gradient, 1.0, &over_proposals);
        add_scaled(&mut gradient, -3.0, &still);

        let mut expected = batch_mean(&model, &x, |exact| wake_gradient(exact, 2));
        if !wakes {
            expected[model.phi()].fill(0.0);
        }
        add_scaled(&mut expected, 1.0, &asleep);
        assert!(relative_error(&gradient, &expected) < TOLERANCE);
    }
}

#[test]
fn dreams_of_a_batch_of_one_are_the_enumerated_expectation_jointly() {
    // Two latent layers; one of classes; a context that is kept.
    dreams_are_enumerated(&Reference::random(2, &[1, 2], 5));
    dreams_are_enumerated(&Categories::random(2, 2, 3, &[2], 5));
    dreams_are_enumerated(&Categories::random(2, 1, 3, &[2], 5).with_learned_prior());
    dreams_are_enumerated(&Conditional::random(1, 1, 2, &[2], 5));
}

/// Every dream beside every proposal.
fn dreams_are_enumerated<R: Enumerable>(model: &R) {
    let x = vec![vec![1.0, 0.0]];
    let (batch, states) = (Batch::new(model, &x), model.states());
    let mut gradient = vec![0.0; model.parameters().len()];
    let mut chance = Stream::new(1, Purpose::new("unused"), [0, 0]);
    for (of_dream, dream) in dreams(model, &x[0], &states) {
        each_proposal(&exact(model, &x), 1, |of_tuple, tuples| {
            let noise = batch.proposing(tuples);
            let noise = noise.then_dreams(model, std::slice::from_ref(&dream));
            let step = batch.step(&Rws::SLEEP, None, 1, noise, &mut chance);
            add_scaled(&mut gradient, of_dream * of_tuple, &step.gradient);
        });
    }
    let mut expected = batch_mean(model, &x, |exact| exact.bound_gradient(1));
    expected[model.phi()].fill(0.0);
    add_scaled(&mut expected, 1.0, &sleep_gradient(model, &x[0]));
    assert!(relative_error(&gradient, &expected) < TOLERANCE);
}
