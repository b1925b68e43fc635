//! How wrong the unadjusted discrete Langevin sampler is, and what its warm-up finds.

use helmholtz_invariance::{Law, TransitionMatrix, families::FiniteTarget};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{
    DifferenceTarget, DiscreteLangevin, FirstOrder, Info, Kernel, LocallyBalanced,
};

use crate::field::Field;

/// The total variation distance between the target and the law that the unadjusted sampler converges to.
fn bias(field: &Field, step_size: f64) -> f64 {
    let states = field.states();
    let target = Law::of(&states, |state| field.log_density(state)).unwrap();
    let kernel = DiscreteLangevin::new(field.exact(), step_size)
        .unwrap()
        .unadjusted();
    let mut matrix = TransitionMatrix::of(&kernel, &states).unwrap();
    for _ in 0..40 {
        matrix = matrix.then(&matrix).unwrap();
    }
    let distance = matrix.row(0).iter().zip(target.probabilities());
    0.5 * distance.map(|(a, b)| (a - b).abs()).sum::<f64>()
}

/// Two changes at once have probability of order exp(-1/α), one has exp(-1/(2α)): the error falls as their ratio.
#[test]
fn the_bias_of_dula_is_large_for_large_steps_and_falls_as_one_change_beats_two() {
    let field = Field {
        sites: 3,
        values: 2,
        log_p: vec![0.0, -1.0, -0.5, 1.0, 0.3, -2.0, 0.8, 1.5],
    };
    let biases = [10.0, 1.0, 0.2, 0.1, 0.05].map(|alpha| bias(&field, alpha));
    println!("total variation at α = 10, 1, 0.2, 0.1, 0.05: {biases:?}");
    assert!(biases[0] > 0.1, "{biases:?}");
    assert!(biases.is_sorted_by(|a, b| a > b), "{biases:?}");
    // From α = 0.1 to 0.05 the ratio falls by exp(-5).
    let ratio = (biases[4] / biases[3]).ln();
    assert!((ratio + 5.0).abs() < 0.2, "{ratio}");
}

/// ln p = 0.4 Σ s_i s_{i+1} on a ring of 40 spins s = 2 x - 1, and its gradient in x.
fn ring(x: &[f64], gradient: &mut [f64]) -> f64 {
    let n = x.len();
    let spin = |i: usize| 2.0 * x[i % n] - 1.0;
    (0..n).for_each(|i| gradient[i] += 0.8 * (spin(i + 1) + spin(i + n - 1)));
    (0..n).map(|i| 0.4 * spin(i) * spin(i + 1)).sum()
}

/// The share accepted after a warm-up of 500 steps has a standard deviation of up to 0.05 over seeds, and is up to 0.03 low,
/// as the acceptance is no linear function of what is averaged. So the mean of 16 is within 0.09 but for 4.8 of its own
/// standard deviations: a false alarm in a million.
#[test]
fn the_warm_up_finds_the_acceptance_that_is_asked_for() {
    for target in [0.4, 0.574, 0.8] {
        let share = |seed: u64| {
            let mut stream = Stream::new(12, Purpose::new("langevin"), [seed, 0]);
            let mut x = vec![false; 40];
            let kernel = DiscreteLangevin::new(FirstOrder::new(ring, 2), 0.2)
                .unwrap()
                .warm_up(target, 500, &mut x, &mut stream)
                .unwrap();
            let info: Info = (0..2000).map(|_| kernel.step(&mut x, &mut stream)).sum();
            info.acceptance_rate().unwrap()
        };
        let mean = (0..16).map(share).sum::<f64>() / 16.0;
        assert!((mean - target).abs() < 0.09, "{mean} for {target}");
    }
}

/// The energy of a ring is linear in each site, so its first-order differences are exact.
#[test]
fn first_order_differences_of_bits_and_classes() {
    let state = [true, false, false, true, true];
    let mut found = [0.0; 10];
    let first = FirstOrder::new(ring, 2);
    let log_p = first.log_density_and_differences(&state, &mut found);
    for i in 0..state.len() {
        let mut changed = state;
        changed[i] = !changed[i];
        let expected = first.log_density(&changed) - log_p;
        assert!((found[2 * i + usize::from(changed[i])] - expected).abs() < 1e-14);
    }
    // Three sites with three values, and a weight for each pair of neighbours: linear in each site's numbers.
    let weight = |a: usize, b: usize| ((3 * a + 5 * b) % 7) as f64 / 7.0;
    let potts = move |x: &[f64], gradient: &mut [f64]| {
        let mut sum = 0.0;
        for (i, j) in [(0, 1), (1, 2)] {
            for (a, b) in (0..9).map(|k| (k / 3, k % 3)) {
                sum += weight(a, b) * x[3 * i + a] * x[3 * j + b];
                gradient[3 * i + a] += weight(a, b) * x[3 * j + b];
                gradient[3 * j + b] += weight(a, b) * x[3 * i + a];
            }
        }
        sum
    };
    let (first, state) = (FirstOrder::new(potts, 3), [2usize, 0, 1]);
    let mut found = [0.0; 9];
    let log_p = first.log_density_and_differences(&state, &mut found);
    for (i, v) in (0..9).map(|k| (k / 3, k % 3)) {
        let mut changed = state;
        changed[i] = v;
        let expected = first.log_density(&changed) - log_p;
        assert!((found[3 * i + v] - expected).abs() < 1e-14);
    }
    let mut x = vec![0usize; 3];
    let kernel = LocallyBalanced::gibbs_with_gradients(first);
    kernel.step(&mut x, &mut Stream::new(1, Purpose::new("test"), [0, 0]));
}
