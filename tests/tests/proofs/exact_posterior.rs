//! Where q is the exact posterior there is nothing to correct, and every method must know it.

use helmholtz_estimators::{Coefficient, Jsa, Reinforce, Rloo, Rws, Vimco, Weighting};
use helmholtz_random::{Purpose, Stream, enumerate};
use helmholtz_samplers::{ChainStore, Info};
use helmholtz_tests::expectation::{each_proposal, exact, expected_gradient};
use helmholtz_tests::vectors::max_difference;
use helmholtz_tests::{Batch, Enumerable, Exact, Reference, store_of};

use crate::data;

#[test]
fn every_proposal_is_accepted() {
    let model = Reference::with_exact_posterior();
    let (x, states) = (data(1), model.states());
    let batch = Batch::new(&model, &x);
    let mut total = Info::default();
    for start in &states {
        each_proposal(&exact(&model, &x), 2, |_, tuples| {
            let branches = enumerate(|chance| {
                let mut store = store_of(&model, &[start]);
                let chains = helmholtz_estimators::Chains::<dyn ChainStore> {
                    store: &mut store,
                    rows: &[0],
                };
                let noise = batch.proposing(tuples);
                batch.advance(&Jsa::MIS, chains, 2, noise, chance)
            });
            // Equal log-weights differ by rounding, so a rejection may have a probability of 1e-15.
            for (_, info) in branches
                .into_iter()
                .filter(|(probability, _)| *probability > 1e-12)
            {
                total += info;
            }
        });
    }
    assert_eq!(total.acceptance_rate(), Some(1.0));
    assert!((total.mean_ess().unwrap() - 2.0).abs() < 1e-12);
    assert!(total.mean_cache_gap().unwrap().abs() < 1e-12);
}

#[test]
fn q_is_at_rest_on_average_and_p_ascends_the_likelihood() {
    let model = Reference::with_exact_posterior();
    let x = data(2);
    let expected = crate::batch_mean(&model, &x, Exact::inclusive_gradient);
    let at_rest = vec![0.0; model.phi().len()];
    let check = |method: &dyn Fn() -> Vec<f64>| {
        let gradient = method();
        assert!(max_difference(&gradient[model.phi()], &at_rest) < 1e-12);
        assert!(max_difference(&gradient[model.theta()], &expected[model.theta()]) < 1e-12);
    };
    check(&|| expected_gradient(&model, &x, &Jsa::MIS, 2));
    check(&|| expected_gradient(&model, &x, &Rws::WAKE, 2));
    check(&|| expected_gradient(&model, &x, &Vimco::default(), 2));
    check(&|| expected_gradient(&model, &x, &Rloo, 2));
    check(&|| expected_gradient(&model, &x, &Reinforce::default(), 1));
}

#[test]
fn importance_weights_are_uniform() {
    let model = Reference::with_exact_posterior();
    let exact = Exact::new(&model, &data(1)[0]);
    let mut chance = Stream::new(1, Purpose::new("unused"), [0, 0]);
    let mut coefficients = [Coefficient::default(); 8];
    Rws::WAKE.weigh(&exact.log_w, false, &mut chance, &mut coefficients);
    assert!(coefficients.iter().all(|c| (c.theta - 0.125).abs() < 1e-14));
    // The signal of VIMCO vanishes and the direct term is all that is left.
    Vimco::default().weigh(&exact.log_w, false, &mut chance, &mut coefficients);
    assert!(coefficients.iter().all(|c| (c.phi + 0.125).abs() < 1e-13));
    Rloo.weigh(&exact.log_w, false, &mut chance, &mut coefficients);
    assert!(coefficients.iter().all(|c| c.phi.abs() < 1e-14));
}
