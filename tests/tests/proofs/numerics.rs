//! Extremes, and the two precisions.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_distributions::Noise;
use helmholtz_estimators::{
    Chains, Coefficient, Jsa, Msc, Outcome, Rws, Vimco, Weighting, estimate,
};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{
    Batch, Enumerable, Reference, State, Tape, build, flat_gradient, store_of, weighted,
};

use crate::data;

const TEST: Purpose = Purpose::new("numerics");

/// The coefficients, and the rest of the outcome; `retained` if the first particle is the chain's state.
fn weighed(method: &dyn Weighting, log_w: &[f64], retained: bool) -> (Vec<Coefficient>, Outcome) {
    let mut coefficients = vec![Coefficient::default(); log_w.len()];
    let mut chance = Stream::new(1, TEST, [0, 0]);
    let outcome = method.weigh(log_w, retained, &mut chance, &mut coefficients);
    (coefficients, outcome)
}

/// The coefficients of a method that needs no chance.
fn coefficients(method: &dyn Weighting, log_w: &[f64]) -> Vec<Coefficient> {
    weighed(method, log_w, false).0
}

#[test]
fn vimco_s_coefficients_are_those_of_sixty_digits() {
    // ln Σ w − ln(Σ_{j≠k} w_j + geometric mean) − w̃_k, computed with 60 digits.
    let cases: [(&[f64], &[f64]); 5] = [
        (&[0.0, -300.0, -301.0], &[298.31973032935827, 0.0, 0.0]),
        (&[700.0, -700.0, 0.5], &[698.5, 0.0, 0.0]),
        (&[-1000.0; 4], &[-0.25; 4]),
        (
            &[5.0, 5.0, 5.0000001],
            &[
                -0.333_333_338_888_888_44,
                -0.333_333_338_888_888_44,
                -0.333_333_322_222_221_45,
            ],
        ),
        (
            &[-80.0, 80.0, 79.5],
            &[
                -0.395_261_100_225_571_5,
                0.351_617_652_978_252_1,
                0.096_536_315_381_961_25,
            ],
        ),
    ];
    for (log_w, expected) in cases {
        for (coefficient, expected) in coefficients(&Vimco::default(), log_w).iter().zip(expected) {
            let error = (coefficient.phi - expected).abs();
            assert!(
                error < 1e-12 * expected.abs().max(1.0),
                "{log_w:?}: {error}"
            );
        }
    }
}

#[test]
fn impossible_particles_get_no_weight_and_make_no_nan() {
    let methods: [&dyn Weighting; 5] =
        [&Rws::WAKE, &Vimco::default(), &Msc, &Jsa::MIS, &Jsa::MTMIS];
    for (method, bad) in methods.into_iter().flat_map(|method| {
        let bad = [f64::NEG_INFINITY, f64::NAN, f64::INFINITY];
        bad.map(|bad| (method, bad))
    }) {
        let name = method.description().name;
        for retained in [false, method.keeps_chains()] {
            let (given, outcome) = weighed(method, &[bad, -3.0, bad, -2.0], retained);
            assert_eq!((given[0].theta, given[2].theta), (0.0, 0.0));
            let total: f64 = given.iter().map(|c| c.theta).sum();
            assert!((total - 1.0).abs() < 1e-12, "{name}");
            assert!(given.iter().all(|c| c.phi.is_finite()), "{name}");
            assert_eq!(outcome.info.non_finite, 2, "{name}: it is seen");
        }
    }
}

#[test]
fn where_no_particle_is_possible_a_chain_stays_and_nothing_else_has_weight() {
    for bad in [f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
        for method in [&Rws::WAKE as &dyn Weighting, &Vimco::default()] {
            let name = method.description().name;
            let (given, outcome) = weighed(method, &[bad; 3], false);
            assert_eq!(given, [Coefficient::default(); 3], "{name}");
            assert_eq!(outcome.info.non_finite, 3, "{name}");
        }
        for method in [&Msc as &dyn Weighting, &Jsa::MIS, &Jsa::MTMIS] {
            let name = method.description().name;
            let (given, outcome) = weighed(method, &[bad; 3], true);
            let alphas: Vec<[f64; 2]> = given.iter().map(|c| [c.theta, c.phi]).collect();
            assert_eq!(alphas, [[1.0; 2], [0.0; 2], [0.0; 2]], "{name}");
            assert_eq!((outcome.state, outcome.info.non_finite), (0, 3));
        }
    }
}

#[test]
fn equal_and_dominating_weights_are_exact() {
    for (name, method) in weighted() {
        for log_w in [
            [-700.0; 3],
            [700.0; 3],
            [0.0, -300.0, 0.5],
            [-1e5, 1e5, 0.0],
        ] {
            let given = coefficients(method, &log_w);
            assert!(
                given
                    .iter()
                    .all(|c| c.theta.is_finite() && c.phi.is_finite()),
                "{name}"
            );
            let total: f64 = given.iter().map(|c| c.theta).sum();
            assert!((total - 1.0).abs() < 1e-12, "{name}");
        }
    }
}

/// The same uniform for ever.
struct Always(f32);

impl Noise for Always {
    fn fill(&mut self, out: &mut [f32]) {
        out.fill(self.0);
    }
}

/// One step on two data, with chains where the method keeps them; everything it gives must be finite.
fn assert_finite(
    reference: &Reference,
    dtype: DType,
    method: &dyn Weighting,
    noise: &mut impl Noise,
) {
    let name = method.description().name;
    let (model, states) = (build::<Tape, _>(reference, dtype), reference.states());
    let mut store = store_of(reference, &[&states[5], &states[2]]);
    let chains = method.keeps_chains().then_some(Chains::<dyn ChainStore> {
        store: &mut store,
        rows: &[0, 1],
    });
    let x = TensorData::new(data(2).concat(), [2, 4]);
    let x = Tensor::<Tape, 2>::from_data(x, (&Default::default(), dtype));
    let mut coins = Stream::new(1, TEST, [0, 1]);
    let step = estimate(method, &model, x, chains, 3, noise, &mut coins).unwrap();
    assert!(step.elbo.is_finite(), "{name}");
    assert_eq!(step.info.non_finite, 0, "{name}");
    let gradient = flat_gradient(&step.loss, &model);
    assert!(gradient.iter().all(|g| g.is_finite()), "{name}");
    let loss = step.loss.into_data();
    assert!(loss.iter::<f64>().all(f64::is_finite), "{name}");
}

#[test]
fn logits_of_eighty_stay_finite_through_a_whole_step() {
    // Weights and biases of ±80, so logits of that size and multiples: q all but excludes what p all but requires.
    for reference in [Reference::t1(), Reference::t2()] {
        let sign = |i: usize| if i.is_multiple_of(2) { 80.0 } else { -80.0 };
        let size = reference.parameters.len();
        let extreme = reference.with_parameters((0..size).map(sign).collect());
        for dtype in [DType::F32, DType::F64] {
            for (_, method) in weighted() {
                assert_finite(&extreme, dtype, method, &mut Always(0.0));
                assert_finite(&extreme, dtype, method, &mut Always(1.0 - 2f32.powi(-24)));
                let mut stream = Stream::new(1, TEST, [0, 0]);
                assert_finite(&extreme, dtype, method, &mut stream);
            }
        }
    }
}

#[test]
fn both_precisions_give_the_same_gradients() {
    for model in [Reference::t1(), Reference::t2()] {
        let (x, states) = (data(2), model.states());
        let tuples: Vec<Vec<&State>> = vec![
            [1, 6, 4, 0, 2, 5].map(|at| &states[at]).to_vec(),
            [7, 2, 3, 6, 1, 0].map(|at| &states[at]).to_vec(),
        ];
        let dreams = [
            (data(3)[2].clone(), &states[5]),
            (data(1)[0].clone(), &states[2]),
        ];
        for (name, method) in weighted() {
            let gradient = |dtype| {
                let batch = Batch::with_dtype(&model, &x, dtype);
                let mut store = store_of(&model, &[&states[3], &states[0]]);
                let chains = method.keeps_chains().then_some(Chains::<dyn ChainStore> {
                    store: &mut store,
                    rows: &[1, 0],
                });
                let proposed = method.proposals(3, chains.is_some());
                let tuples: Vec<_> = tuples.iter().map(|t| t[..proposed].to_vec()).collect();
                let mut noise = batch.proposing(&tuples);
                if method.sleeps() {
                    noise = noise.then_dreams(&model, &dreams);
                }
                let mut coins = Stream::new(1, TEST, [2, 0]);
                batch.step(method, chains, 3, noise, &mut coins).gradient
            };
            let error = relative_error(&gradient(DType::F32), &gradient(DType::F64));
            assert!(error < 1e-4, "{name}: {error}");
            assert!(error > 0.0, "{name}: the two differ in precision");
        }
    }
}

#[test]
fn arithmetic_vimco_puts_the_mean_of_the_other_weights_in_place_of_one() {
    // The signal is then ln Σ w − ln (Σ_{j≠k} w_j · K / (K − 1)).
    let w = [0.3f64, 2.0, 0.7, 1.1];
    let total: f64 = w.iter().sum();
    let found = coefficients(&Vimco { arithmetic: true }, &w.map(f64::ln));
    for (w, found) in w.iter().zip(found) {
        let signal = total.ln() - ((total - w) * 4.0 / 3.0).ln();
        assert!((found.theta - w / total).abs() < 1e-14);
        assert!((found.phi - (signal - w / total)).abs() < 1e-14);
    }
}
