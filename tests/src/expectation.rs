//! Expectations of the production path over everything random in it.

use std::collections::BTreeMap;

use helmholtz_estimators::{Chains, Weighting};
use helmholtz_random::enumerate;
use helmholtz_samplers::ChainStore;

use crate::vectors::add_scaled;
use crate::{Batch, Enumerable, Exact, State, read_state};

/// Calls `visit` with every choice of `proposals` states for each datum, and its probability under q.
pub fn each_proposal(data: &[Exact], proposals: usize, mut visit: impl FnMut(f64, &[Vec<&State>])) {
    let tuples: Vec<_> = data.iter().map(|datum| datum.tuples(proposals)).collect();
    let mut at = vec![0; data.len()];
    loop {
        let chosen = at.iter().zip(&tuples).zip(data);
        let (probabilities, states): (Vec<f64>, Vec<Vec<&State>>) = chosen
            .map(|((&i, tuples), datum)| {
                let (probability, tuple) = &tuples[i];
                (
                    *probability,
                    tuple.iter().map(|&h| &datum.states[h]).collect(),
                )
            })
            .unzip();
        visit(probabilities.iter().product(), &states);
        let Some(next) = (0..at.len()).find(|&b| at[b] + 1 < tuples[b].len()) else {
            return;
        };
        at[..next].fill(0);
        at[next] += 1;
    }
}

/// Every datum, enumerated.
pub fn exact(model: &impl Enumerable, x: &[Vec<f64>]) -> Vec<Exact> {
    x.iter().map(|x| Exact::new(model, x)).collect()
}

/// The expectation of the gradient that the production path gives without chains, over proposals and chance.
pub fn expected_gradient(
    model: &impl Enumerable,
    x: &[Vec<f64>],
    method: &impl Weighting,
    particles: usize,
) -> Vec<f64> {
    let batch = Batch::new(model, x);
    let mut gradient = vec![0.0; model.parameters().len()];
    let proposals = method.proposals(particles, false);
    each_proposal(&exact(model, x), proposals, |probability, tuples| {
        let branches = enumerate(|chance| {
            let noise = batch.proposing(tuples);
            batch.step(method, None, particles, noise, chance).gradient
        });
        for (branch, estimate) in branches {
            add_scaled(&mut gradient, probability * branch, &estimate);
        }
    });
    gradient
}

/// What a step with chains does, over proposals and chance.
#[derive(Clone, Debug)]
pub struct StepLaw {
    /// The probability of each content of the store afterwards, as the indices of all rows' states.
    pub contents: BTreeMap<Vec<usize>, f64>,
    /// The expected gradient; zero if it was not asked for.
    pub gradient: Vec<f64>,
}

/// One production step on the data `x`, which are the rows `rows` of the store.
pub fn law_of_step(
    model: &impl Enumerable,
    x: &[Vec<f64>],
    chains: (&(impl ChainStore + Clone + 'static), &[u32]),
    method: &impl Weighting,
    particles: usize,
    with_gradient: bool,
) -> StepLaw {
    let batch = Batch::new(model, x);
    let (store, rows) = chains;
    let mut law = StepLaw {
        contents: BTreeMap::new(),
        gradient: vec![0.0; model.parameters().len()],
    };
    let proposals = method.proposals(particles, true);
    each_proposal(&exact(model, x), proposals, |probability, tuples| {
        let branches = enumerate(|chance| {
            let mut store = store.clone();
            let noise = batch.proposing(tuples);
            let gradient = {
                let chains = Chains::<dyn ChainStore> {
                    store: &mut store,
                    rows,
                };
                if with_gradient {
                    let step = batch.step(method, Some(chains), particles, noise, chance);
                    Some(step.gradient)
                } else {
                    batch.advance(method, chains, particles, noise, chance);
                    None
                }
            };
            let contents: Vec<usize> = (0..store.len() as u32)
                .map(|row| read_state(&store, row))
                .collect();
            (contents, gradient)
        });
        for (branch, (contents, gradient)) in branches {
            *law.contents.entry(contents).or_default() += probability * branch;
            if let Some(gradient) = gradient {
                add_scaled(&mut law.gradient, probability * branch, &gradient);
            }
        }
    });
    law
}
