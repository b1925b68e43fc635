//! Chains over many steps, and single runs of them traced by hand.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{
    Chains, EstimateError, Jsa, Propose, Weighting, estimate, refresh, scatter,
};
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_samplers::{ChainStore, FrozenReferenceMis, Latents, Layer, MemoryStore};
use helmholtz_tests::expectation::exact;
use helmholtz_tests::statistics::{BATCHES, NORMAL_LIMIT, STUDENT_LIMIT, batch_means};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{
    Batch, Enumerable, Exact, Inner, Reference, State, Topped, build, read_state, store_of,
};

use crate::burn_target::Yes;
use crate::{TOLERANCE, data};

const TEST: Purpose = Purpose::new("chains");

/// An index with these probabilities.
fn draw(probabilities: &[f64], stream: &mut Stream) -> usize {
    let log: Vec<f64> = probabilities.iter().map(|p| p.ln()).collect();
    stream.choose(&log).expect("a distribution")
}

#[test]
fn coefficients_and_stored_states_are_those_of_the_chain_traced_by_hand() {
    for (model, seed) in [(Reference::t1(), 1), (Reference::t2(), 2)] {
        let (x, rows, particles) = (data(3), [4, 0, 1], 5);
        let (batch, exact, states) = (Batch::new(&model, &x), exact(&model, &x), model.states());
        let mut stream = Stream::new(seed, TEST, [0, 0]);
        for repeat in 0..20 {
            let before: Vec<usize> = (0..6).map(|_| stream.below(8) as usize).collect();
            let tuples: Vec<Vec<usize>> = exact
                .iter()
                .map(|datum| {
                    (0..particles)
                        .map(|_| draw(&datum.q, &mut stream))
                        .collect()
                })
                .collect();
            // The chain states gathered one by one, with the production's own coins.
            let mut coins = Stream::new(seed, TEST, [1, repeat]);
            let mut gathered = vec![0.0; model.parameters.len()];
            let mut after = before.clone();
            for ((datum, tuple), &row) in exact.iter().zip(&tuples).zip(&rows) {
                for &proposal in tuple {
                    let current = after[row as usize];
                    if coins.accept(datum.log_w[proposal] - datum.log_w[current]) {
                        after[row as usize] = proposal;
                    }
                    let share = 1.0 / (particles * x.len()) as f64;
                    add_scaled(
                        &mut gathered,
                        share,
                        &datum.gradient_at(after[row as usize]),
                    );
                }
            }
            let start: Vec<&State> = before.iter().map(|&h| &states[h]).collect();
            let mut store = store_of(&model, &start);
            let proposed: Vec<Vec<&State>> = tuples
                .iter()
                .map(|tuple| tuple.iter().map(|&h| &states[h]).collect())
                .collect();
            let chains = Chains::<dyn ChainStore> {
                store: &mut store,
                rows: &rows,
            };
            let mut coins = Stream::new(seed, TEST, [1, repeat]);
            let noise = batch.proposing(&proposed);
            let step = batch.step(&Jsa::MIS, Some(chains), particles, noise, &mut coins);
            assert!(relative_error(&step.gradient, &gathered) < TOLERANCE);
            let stored: Vec<usize> = (0..6).map(|row| read_state(&store, row)).collect();
            assert_eq!(stored, after, "final states, and rows outside the batch");
        }
    }
}

/// z-values of the chain average of the gradient against the exact one, at fixed parameters: 40 chains of one datum,
/// `BATCHES` stretches of 30 steps after 30 to forget the start.
fn chain_average(model: &Reference, method: &impl Weighting, particles: usize) -> Vec<f64> {
    let rows: Vec<u32> = (0..40).collect();
    let x = vec![data(1)[0].clone(); rows.len()];
    let (batch, datum, states) = (
        Batch::new(model, &x),
        Exact::new(model, &x[0]),
        model.states(),
    );
    let mut stream = Stream::new(6, TEST, [0, 0]);
    let mut propose = |count: usize| -> Vec<&State> {
        (0..count)
            .map(|_| &states[draw(&datum.q, &mut stream)])
            .collect()
    };
    let mut store = store_of(model, &propose(rows.len()));
    let mut coins = Stream::new(6, TEST, [1, 0]);
    let mut series = Vec::new();
    for _ in 0..30 * (BATCHES + 1) {
        let tuples: Vec<Vec<&State>> = rows.iter().map(|_| propose(particles)).collect();
        let chains = Chains::<dyn ChainStore> {
            store: &mut store,
            rows: &rows,
        };
        let noise = batch.proposing(&tuples);
        series.push(
            batch
                .step(method, Some(chains), particles, noise, &mut coins)
                .gradient,
        );
    }
    let (mean, error) = batch_means(&series[30..]);
    let expected = datum.inclusive_gradient();
    let z = mean.iter().zip(&expected).zip(&error);
    z.filter(|((_, expected), _)| **expected != 0.0)
        .map(|((mean, expected), error)| (mean - expected) / error)
        .collect()
}

fn largest(z: &[f64]) -> f64 {
    z.iter().fold(0.0, |max, z| z.abs().max(max))
}

#[test]
fn the_average_along_the_chain_is_the_gradient_of_the_likelihood_and_of_the_inclusive_divergence() {
    // At most 34 comparisons of the suite's: one a parameter.
    let z = chain_average(&Reference::t1(), &Jsa::MIS, 2);
    assert!(largest(&z) < STUDENT_LIMIT, "{z:?}");
}

#[test]
fn the_average_along_the_frozen_reference_chain_is_not() {
    let frozen = Jsa {
        kernel: FrozenReferenceMis,
        stage1_extra: false,
    };
    let z = chain_average(&Reference::t1(), &frozen, 4);
    assert!(largest(&z) > 2.0 * STUDENT_LIMIT, "{z:?}");
}

#[test]
fn chains_that_do_not_fit_are_refused_by_name_and_nothing_is_written() {
    let reference = Reference::t1();
    let model = build::<Inner, _>(&reference, DType::F64);
    let states = reference.states();
    let latents = |layers: &[usize]| Latents::new(layers).unwrap();
    let started = store_of(&reference, &[&states[5], &states[2]]);
    let cases = [
        (
            started.clone(),
            vec![0, 1, 0],
            1,
            "3 data, but the batch has 2",
        ),
        (started.clone(), vec![0, 2], 1, "row 2 is beyond the store"),
        (
            started.clone(),
            vec![0, 1],
            0,
            "at least 1 particles, not 0",
        ),
        (
            MemoryStore::new(&latents(&[3]), 2).unwrap(),
            vec![1, 0],
            1,
            "row 1 has no state yet",
        ),
        (
            MemoryStore::new(&latents(&[2, 1]), 2).unwrap(),
            vec![0, 1],
            1,
            "2 + 1 bits",
        ),
    ];
    for (store, rows, particles, says) in cases {
        let mut after = store.clone();
        let chains = Some(Chains {
            store: &mut after,
            rows: &rows,
        });
        let x = TensorData::new(data(2).concat(), [2, 4]);
        let x = Tensor::<Inner, 2>::from_data(x, (&Default::default(), DType::F64));
        let (mut noise, mut coins) = (Stream::new(1, TEST, [0, 0]), Stream::new(1, TEST, [0, 1]));
        let refused = estimate(
            &Jsa::MIS,
            &model,
            x,
            chains,
            particles,
            &mut noise,
            &mut coins,
        );
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(after, store);
    }
}

#[test]
fn the_first_stage_needs_a_particle_to_start_in_and_one_to_move_to() {
    assert_eq!(Jsa::MIS.least_particles(false), 2);
    assert_eq!(Jsa::MIS.least_particles(true), 1);
    let extra = Jsa {
        stage1_extra: true,
        ..Jsa::MIS
    };
    assert_eq!(extra.least_particles(false), 1);
}

/// How often chains that are started are in each state, in standard errors of a uniform law: the furthest.
fn from_uniform(start: impl Fn(&mut Chains<'_, MemoryStore>, &mut Stream)) -> f64 {
    const CHAINS: u32 = 12_000;
    let model = Topped::t5();
    let states = model.states();
    let mut store = MemoryStore::new(&model.latents(), CHAINS as usize).unwrap();
    let rows: Vec<u32> = (0..CHAINS).collect();
    let mut chains = Chains {
        store: &mut store,
        rows: &rows,
    };
    start(&mut chains, &mut Stream::new(8, TEST, [2, 0]));
    let mut counts = vec![0.0f64; states.len()];
    rows.iter()
        .for_each(|&row| counts[read_state(&store, row)] += 1.0);
    let p = 1.0 / states.len() as f64;
    let n = f64::from(CHAINS);
    let far = counts
        .iter()
        .map(|count| (count - n * p).abs() / (n * p * (1.0 - p)).sqrt());
    far.fold(0.0, f64::max)
}

/// The twin starts them at draws from q.
#[test]
fn chains_that_are_scattered_start_anywhere() {
    let scattered = from_uniform(|chains, stream| scatter(chains, stream).unwrap());
    assert!(scattered < NORMAL_LIMIT, "{scattered}");
    let drawn = from_uniform(|chains, stream| {
        let model = build::<Inner, _>(&Topped::t5(), DType::F64);
        let x = data(1).concat().repeat(chains.rows.len());
        let shape = [chains.rows.len(), 4];
        let options = (&Default::default(), DType::F64);
        let x = Tensor::from_data(TensorData::new(x, shape), options);
        refresh(&model, x, chains, stream).unwrap();
    });
    assert!(drawn > 2.0 * NORMAL_LIMIT, "{drawn}");
}

/// Layers of more bits than a word has, and classes of several variables.
#[test]
fn states_of_any_width_are_started_and_kept() {
    let layers = [
        Layer::Bernoulli(70),
        Layer::Categorical {
            variables: 3,
            classes: 5,
        },
    ];
    let latents = Latents::mixed(&layers).unwrap();
    let mut store = MemoryStore::new(&latents, 4).unwrap();
    let rows = [1, 3];
    let mut chains = Chains {
        store: &mut store,
        rows: &rows,
    };
    scatter(&mut chains, &mut Stream::new(9, TEST, [0, 0])).unwrap();
    assert_eq!(
        [0, 1, 2, 3].map(|row| store.is_initialised(row)),
        [false, true, false, true]
    );

    let wide = Reference::random(4, &[40], 3);
    let model = build::<Inner, _>(&wide, DType::F64);
    let mut store = MemoryStore::new(&wide.latents(), 2).unwrap();
    let x = TensorData::new(data(2).concat(), [2, 4]);
    let x = Tensor::<Inner, 2>::from_data(x, (&Default::default(), DType::F64));
    let mut noise = Stream::new(9, TEST, [1, 0]);
    let mut chains = Chains {
        store: &mut store,
        rows: &[0, 1],
    };
    refresh(&model, x.clone(), &mut chains, &mut noise).unwrap();
    // As many words of bits, which another model has.
    let mut others = MemoryStore::new(&Latents::new(&[41]).unwrap(), 2).unwrap();
    let mut other = Chains {
        store: &mut others,
        rows: &[0, 1],
    };
    let refused = refresh(
        &model,
        x.clone(),
        &mut other,
        &mut Stream::new(9, TEST, [2, 0]),
    );
    assert!(matches!(refused, Err(EstimateError::OtherLatents { .. })));
    let read = |store: &MemoryStore| {
        let mut packed = vec![0; 2 * wide.latents().bytes_per_row()];
        store.load(&[0, 1], &mut packed).unwrap();
        packed
    };
    // A chain whose every proposal is taken ends in the last of them, whatever its width.
    let mut proposals = Stream::new(9, TEST, [1, 1]);
    let proposed = model
        .propose(&model.encode(x.clone()), None, 1, &mut proposals)
        .particles;
    let expected: Vec<f64> = proposed.layers()[0].numbers().into_data().iter().collect();
    let chains = Chains::<dyn ChainStore> {
        store: &mut store,
        rows: &[0, 1],
    };
    let mut proposals = Stream::new(9, TEST, [1, 1]);
    estimate(
        &Jsa::MIS,
        &model,
        x,
        Some(chains),
        1,
        &mut proposals,
        &mut Yes(Stream::new(9, TEST, [1, 2])),
    )
    .unwrap();
    let bits: Vec<f64> = read(&store)
        .chunks_exact(5)
        .flat_map(|row| (0..40).map(|at| f64::from(row[at / 8] >> (at % 8) & 1)))
        .collect();
    assert_eq!(bits, expected);
}
