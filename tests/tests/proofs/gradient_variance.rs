//! The variance of gradient estimates: on T1 it is known, by enumeration, and so is how far its estimate may be off.

use helmholtz_estimators::{
    Batch as Given, Chains, Jsa, Learned, Method, Moments, Nvil, Reinforce, Rloo, Signals,
    Weighted, Weighting, estimate,
};
use helmholtz_evaluation::{
    GradientVariance, Held, Replication, gradient_variance, method_variance,
};
use helmholtz_ops::Values;
use helmholtz_random::Stream;
use helmholtz_samplers::{ChainStore, MemoryStore};
use helmholtz_tests::expectation::exact;
use helmholtz_tests::vectors::add_scaled;
use helmholtz_tests::{Batch, Enumerable, Exact, Reference, Tape, VectorMoments, store_of};

use crate::data;
use crate::unbiased::with_own_sample_in_the_baseline;

/// P(|z| > 6.5) < 1e-10 for a standard normal z. A sample variance is skewed, which with these numbers of replicates makes
/// its tail at most a thousand times heavier; fewer than ten comparisons: below 1e-6 in all.
const LIMIT: f64 = 6.5;

/// P(|t| > 7.6) < 1e-9 for Student's t with 49 degrees of freedom: of a mean over 50 batches.
const STUDENT_LIMIT: f64 = 7.6;

const REPLICATES: usize = 2000;

const REINFORCE: Weighted = Weighted::Reinforce(Reinforce { centred: false });
const RLOO: Weighted = Weighted::Rloo(Rloo);
const JSA: Method = Method::Weighted(Weighted::Jsa(Jsa::MIS));

fn replication(replicates: usize) -> Replication {
    Replication {
        replicates,
        seed: 20_260_301,
    }
}

/// What the production path measures.
fn measure<S: ChainStore>(
    batch: &Batch,
    method: &Method,
    learned: &Learned<Tape>,
    particles: usize,
    chains: Option<Chains<'_, S>>,
    replication: &Replication,
) -> GradientVariance {
    let given = Given {
        x: Values::binary(batch.x()),
        chains,
        particles,
        epoch: 0,
        analytic_kl: false,
    };
    let go_on = &mut |_| true;
    let measured = method_variance(method, batch.model(), learned, given, replication, go_on);
    measured.unwrap().expect("two replicates or more")
}

/// Without chains, of a weighted method.
fn measure_weighted(
    batch: &Batch,
    method: Weighted,
    particles: usize,
    replication: &Replication,
) -> GradientVariance {
    let method = Method::Weighted(method);
    let learned = batch.learned(&method, 1);
    measure::<MemoryStore>(batch, &method, &learned, particles, None, replication)
}

/// The exact moments of an estimate's θ and φ, from the law of each datum's.
fn moments(model: &Reference, laws: &[Vec<(f64, Vec<f64>)>]) -> [VectorMoments; 2] {
    [model.theta(), model.phi()].map(|group| {
        let part = |law: &Vec<(f64, Vec<f64>)>| {
            let points = law.iter().map(|(p, g)| (*p, g[group.clone()].to_vec()));
            VectorMoments::of(&points.collect::<Vec<_>>())
        };
        VectorMoments::of_mean(&laws.iter().map(part).collect::<Vec<_>>())
    })
}

/// The law of a datum's estimate (1/K) Σ_k ∇ log p(x, h_k) + s_k ∇ log q(h_k | x), s the signals of the log-weights.
fn law(datum: &Exact, particles: usize, signals: fn(&[f64]) -> Vec<f64>) -> Vec<(f64, Vec<f64>)> {
    let tuples = datum.tuples(particles).into_iter();
    let gradient = |(probability, tuple): (f64, Vec<usize>)| {
        let log_w: Vec<f64> = tuple.iter().map(|&h| datum.log_w[h]).collect();
        let mut gradient = vec![0.0; datum.grad_q[0].len()];
        let share = 1.0 / particles as f64;
        for (&h, signal) in tuple.iter().zip(signals(&log_w)) {
            add_scaled(&mut gradient, share, &datum.grad_p[h]);
            add_scaled(&mut gradient, share * signal, &datum.grad_q[h]);
        }
        (probability, gradient)
    };
    tuples.map(gradient).collect()
}

fn leave_one_out(log_w: &[f64]) -> Vec<f64> {
    let others = |k: usize| log_w.iter().sum::<f64>() - log_w[k];
    let count = log_w.len() as f64 - 1.0;
    (0..log_w.len())
        .map(|k| log_w[k] - others(k) / count)
        .collect()
}

/// How many standard deviations the measured variances of θ and φ are off.
fn z(measured: &GradientVariance, exact: &[VectorMoments; 2]) -> [f64; 2] {
    let groups = [measured.theta, measured.phi].into_iter().zip(exact);
    let z = groups.map(|(measured, exact)| {
        let deviation = exact.deviation_of_sample_variance(REPLICATES);
        (measured.variance - exact.variance()) / deviation
    });
    z.collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn the_variance_of_reinforce_and_rloo_is_the_enumerated_one_and_so_is_its_error() {
    let (model, x) = (Reference::t1(), data(3));
    let batch = Batch::new(&model, &x);
    for (method, signals, particles) in [
        (
            REINFORCE,
            (|log_w| log_w.to_vec()) as fn(&[f64]) -> Vec<f64>,
            2,
        ),
        (RLOO, leave_one_out, 3),
    ] {
        let laws = exact(&model, &x);
        let laws: Vec<_> = laws.iter().map(|x| law(x, particles, signals)).collect();
        let exact = moments(&model, &laws);
        let measured = measure_weighted(&batch, method, particles, &replication(REPLICATES));
        let z = z(&measured, &exact);
        assert!(z.iter().all(|z| z.abs() < LIMIT), "{method:?}: {z:?}");
        // χ² with 49 degrees of freedom stays between 11 and 130 but for 1e-8: √(χ² / 49) between 0.47 and 1.63.
        for (measured, exact) in [measured.theta, measured.phi].iter().zip(&exact) {
            let ratio = measured.standard_error / exact.deviation_of_sample_variance(REPLICATES);
            assert!((0.47..1.63).contains(&ratio), "{method:?}: {ratio}");
        }
        // A twin that gives θ's for φ's would be seen.
        assert!((exact[0].variance() / exact[1].variance()).ln().abs() > 0.5);
    }
}

#[test]
fn two_replicates_are_unbiased_and_without_the_one_taken_off_they_would_not_be() {
    let (model, x) = (Reference::t1(), data(3));
    let batch = Batch::new(&model, &x);
    let laws: Vec<_> = exact(&model, &x)
        .iter()
        .map(|x| law(x, 2, leave_one_out))
        .collect();
    let exact = &moments(&model, &laws)[1];
    let runs = REPLICATES / 2;
    let run = |seed| {
        let two = Replication {
            replicates: 2,
            seed,
        };
        measure_weighted(&batch, RLOO, 2, &two).phi.variance
    };
    let mean = (0..runs as u64).map(run).sum::<f64>() / runs as f64;
    let deviation = exact.deviation_of_sample_variance(2) / (runs as f64).sqrt();
    let z = |variance: f64| (variance - exact.variance()) / deviation;
    assert!(z(mean).abs() < LIMIT, "{}", z(mean));
    // Divided by R: (R − 1)/R of it.
    assert!(z(0.5 * mean).abs() > LIMIT, "{}", z(0.5 * mean));
}

/// ln V of θ and φ of any weighted estimator whose loss is multiplied by `factor`.
fn ln_of_scaled(batch: &Batch, method: &impl Weighting, factor: f64) -> [f64; 2] {
    let loss = |noise: &mut Stream, chance: &mut Stream| {
        let none = None::<Chains<'_, MemoryStore>>;
        let estimate = estimate(method, batch.model(), batch.x(), none, 3, noise, chance)?;
        Ok::<_, helmholtz_estimators::EstimateError>(estimate.loss.mul_scalar(factor))
    };
    let measured = gradient_variance(batch.model(), &replication(20), loss, &mut |_| true);
    let measured = measured.unwrap().unwrap();
    [measured.theta.ln().0, measured.phi.ln().0]
}

#[test]
fn known_scales_shift_the_logarithm_by_known_numbers() {
    let (model, x) = (Reference::t1(), data(3));
    let batch = Batch::new(&model, &x);
    let [theta, phi] = ln_of_scaled(&batch, &Rloo, 1.0);
    // The released code of JSA has ℓ − mean ℓ where leave-one-out has K/(K−1) of it, K = 3; θ is as it was.
    let without = ln_of_scaled(&batch, &with_own_sample_in_the_baseline(), 1.0);
    assert!((without[1] - phi - 2.0 * (2.0f64 / 3.0).ln()).abs() < 1e-12);
    assert!((without[0] - theta).abs() < 1e-12);
    // A sum over the batch in place of its mean.
    let sum = ln_of_scaled(&batch, &Rloo, x.len() as f64);
    for (sum, mean) in sum.into_iter().zip([theta, phi]) {
        assert!((sum - mean - (x.len() as f64).powi(2).ln()).abs() < 1e-12);
    }
}

/// Where each datum's chain starts.
const START: [usize; 2] = [5, 2];

/// One move from the chain's state, K = 1: the gradient is that of the state in which it ends.
fn jsa(store: Option<&mut MemoryStore>) -> GradientVariance {
    let (model, x) = (Reference::t1(), data(2));
    let batch = Batch::new(&model, &x);
    let learned = batch.learned(&JSA, 1);
    let states = model.states();
    let held = store_of(&model, &START.map(|state| &states[state]));
    let (rows, replication) = ([0, 1], replication(REPLICATES));
    match store {
        Some(moving) => {
            *moving = held;
            let chains = Chains {
                store: moving,
                rows: &rows,
            };
            measure(&batch, &JSA, &learned, 1, Some(chains), &replication)
        }
        None => {
            let chains = Chains {
                store: &mut Held(&held),
                rows: &rows,
            };
            let measured = measure(&batch, &JSA, &learned, 1, Some(chains), &replication);
            let untouched = store_of(&model, &START.map(|state| &states[state]));
            assert_eq!(held, untouched);
            measured
        }
    }
}

/// The exact moments with each datum's last state from these laws.
fn jsa_moments(law_of: impl Fn(usize, &Exact) -> Vec<f64>) -> [VectorMoments; 2] {
    let model = Reference::t1();
    let laws = exact(&model, &data(2)).into_iter().enumerate();
    let laws = laws.map(|(index, datum)| {
        let ends = law_of(index, &datum).into_iter().enumerate();
        ends.map(|(state, probability)| (probability, datum.gradient_at(state)))
            .collect()
    });
    moments(&model, &laws.collect::<Vec<_>>())
}

/// Given the states in the store.
fn conditional() -> [VectorMoments; 2] {
    jsa_moments(|index, datum| datum.mis()[START[index]].clone())
}

#[test]
fn held_chains_give_the_variance_conditional_on_their_states() {
    let z = z(&jsa(None), &conditional());
    assert!(z.iter().all(|z| z.abs() < LIMIT), "{z:?}");
}

#[test]
fn chains_that_move_on_give_the_marginal_variance_and_not_the_conditional_one() {
    let mut moved = store_of(&Reference::t1(), &[]);
    let measured = jsa(Some(&mut moved));
    let marginal = jsa_moments(|_, datum| datum.posterior());
    for (measured, exact) in [measured.theta, measured.phi].iter().zip(&marginal) {
        // Correlated replicates: the error is that of batch means, 50 of them.
        let t = (measured.variance - exact.variance()) / measured.standard_error;
        assert!(t.abs() < STUDENT_LIMIT, "{t}");
    }
    let z = z(&measured, &conditional());
    assert!(z.iter().any(|z| z.abs() > 2.0 * LIMIT), "{z:?}");
}

#[test]
fn what_is_learned_is_held_fixed_and_a_running_average_that_moves_is_seen() {
    const NVIL: Method = Method::Signals(Signals::Nvil(Nvil { normalise: true }));
    let (model, x) = (Reference::t1(), data(1));
    let batch = Batch::new(&model, &x);
    let averages = Moments {
        mean: 9.0,
        variance: 4.0,
    };
    let learned = Learned {
        moments: vec![averages],
        ..batch.learned(&NVIL, 3)
    };
    let datum = Exact::new(&model, &x[0]);
    let law = datum.q.iter().zip(&datum.states).map(|(&q, state)| {
        let mut noise = batch.proposing(&[vec![state]]);
        (q, batch.gradient(&NVIL, &learned, 1, &mut noise))
    });
    let exact = moments(&model, &[law.collect()]);
    let replication = replication(REPLICATES);
    let measured = measure::<MemoryStore>(&batch, &NVIL, &learned, 1, None, &replication);
    let held = z(&measured, &exact);
    assert!(held.iter().all(|z| z.abs() < LIMIT), "{held:?}");

    let mut moving = learned;
    let loss = |noise: &mut Stream, chance: &mut Stream| {
        let given = Given::<Tape, MemoryStore> {
            x: Values::binary(batch.x()),
            chains: None,
            particles: 1,
            epoch: 0,
            analytic_kl: false,
        };
        let estimate = NVIL.estimate(batch.model(), &mut moving, given, noise, chance)?;
        estimate.controls.expect("baselines").backward();
        Ok::<_, helmholtz_estimators::EstimateError>(estimate.loss)
    };
    let measured = gradient_variance(batch.model(), &replication, loss, &mut |_| true);
    let moved = z(&measured.unwrap().unwrap(), &exact);
    assert!(moved[1].abs() > 2.0 * LIMIT, "{moved:?}");
}
