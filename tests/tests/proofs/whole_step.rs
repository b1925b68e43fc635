//! One whole training step in stage II, from uniforms to the gradient and the states written back: uniforms enumerated by
//! their breakpoints, decisions by the enumerator, the batch in an order that is not the store's.

use std::collections::BTreeMap;

use helmholtz_estimators::{Jsa, JsaKernel, Weighting};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, IndexKernel, Info, MemoryStore, Mis};
use helmholtz_tests::expectation::{StepLaw, exact, law_of_step};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Categories, Enumerable, Exact, Faulty, Reference, store_of};

use crate::{TOLERANCE, WRONG, data};

/// A store of more data than the batch, whose rows it takes out of order.
struct Setting<R = Reference> {
    model: R,
    x: Vec<Vec<f64>>,
    rows: Vec<u32>,
    /// The state of every row of the store.
    before: Vec<usize>,
    particles: usize,
}

impl Setting<Reference> {
    fn several() -> [Self; 4] {
        let setting = |model, rows: &[u32], before: &[usize], particles| Self {
            model,
            x: data(rows.len()),
            rows: rows.to_vec(),
            before: before.to_vec(),
            particles,
        };
        [
            setting(Reference::t1(), &[3, 0, 2], &[6, 1, 3, 4, 7], 1),
            setting(Reference::t1(), &[2, 0], &[5, 2, 0], 2),
            setting(Reference::t2(), &[2, 1], &[3, 9, 14], 1),
            setting(Reference::t2(), &[1], &[0, 6], 2),
        ]
    }
}

impl Setting<Categories> {
    /// Of T3. Each chain of the batch starts where its weight is least, so that it moves often; not both in one state.
    fn classes() -> Self {
        let (model, x) = (Categories::t3(), data(2));
        let [first, second] = [0, 1].map(|b| {
            let log_w = Exact::new(&model, &x[b]).log_w;
            let mut states: Vec<usize> = (0..log_w.len()).collect();
            states.sort_by(|&a, &b| log_w[a].total_cmp(&log_w[b]));
            states
        });
        let another = second.iter().find(|&&h| h != first[0]);
        Self {
            before: vec![*another.expect("several states"), 2, first[0]],
            rows: vec![2, 0],
            particles: 1,
            model,
            x,
        }
    }
}

impl<R: Enumerable> Setting<R> {
    fn store(&self) -> MemoryStore {
        let states = self.model.states();
        let before: Vec<_> = self.before.iter().map(|&h| &states[h]).collect();
        store_of(&self.model, &before)
    }

    fn law(&self, method: &impl Weighting, store: &(impl ChainStore + Clone + 'static)) -> StepLaw {
        let chains = (store, self.rows.as_slice());
        law_of_step(&self.model, &self.x, chains, method, self.particles, true)
    }

    /// What the step should do: each datum's chain moves by itself from its own row's state, and the gradient is the mean
    /// over data of the mean over visited states. `visits` gives the laws of the states visited from a state.
    fn expected(&self, visits: impl Fn(&Exact, usize) -> Vec<Vec<f64>>) -> StepLaw {
        let mut contents = BTreeMap::from([(self.before.clone(), 1.0)]);
        let mut gradient = vec![0.0; self.model.parameters().len()];
        for (datum, &row) in exact(&self.model, &self.x).iter().zip(&self.rows) {
            let row = row as usize;
            let laws = visits(datum, self.before[row]);
            let share = 1.0 / (laws.len() * self.x.len()) as f64;
            for law in &laws {
                add_scaled(&mut gradient, share, &datum.gradient_under(law));
            }
            let mut after = BTreeMap::new();
            for (content, probability) in contents {
                for (end, p) in laws[laws.len() - 1].iter().enumerate() {
                    let mut content = content.clone();
                    content[row] = end;
                    *after.entry(content).or_default() += probability * p;
                }
            }
            contents = after;
        }
        StepLaw { contents, gradient }
    }

    fn expected_of_mis(&self) -> StepLaw {
        self.expected(|datum, start| {
            let mis = datum.mis();
            let mut law = mis[start].clone();
            let mut laws = vec![law.clone()];
            for _ in 1..self.particles {
                law = (0..law.len())
                    .map(|y| law.iter().zip(&mis).map(|(p, row)| p * row[y]).sum())
                    .collect();
                laws.push(law.clone());
            }
            laws
        })
    }
}

/// The larger of the errors in the law of the store's content and in the expected gradient.
fn error(law: &StepLaw, expected: &StepLaw) -> f64 {
    let keys = law.contents.keys().chain(expected.contents.keys());
    let probability = |law: &StepLaw, key| law.contents.get(key).copied().unwrap_or(0.0);
    let differences = keys.map(|key| (probability(law, key) - probability(expected, key)).abs());
    differences
        .fold(0.0, f64::max)
        .max(relative_error(&law.gradient, &expected.gradient))
}

fn mis_is_exact(setting: &Setting<impl Enumerable>) {
    let law = setting.law(&Jsa::MIS, &setting.store());
    let error = error(&law, &setting.expected_of_mis());
    assert!(error < 1e-12, "{error}");
    let outside = (0..setting.before.len()).filter(|&row| !setting.rows.contains(&(row as u32)));
    for row in outside {
        let untouched = |content: &Vec<usize>| content[row] == setting.before[row];
        assert!(law.contents.keys().all(untouched), "row {row}");
    }
}

#[test]
fn a_step_of_jsa_mis_has_the_exact_law_and_mean() {
    Setting::several().iter().for_each(mis_is_exact);
    mis_is_exact(&Setting::classes());
}

fn mtmis_is_exact(setting: &Setting<impl Enumerable>) {
    let law = setting.law(&Jsa::MTMIS, &setting.store());
    let expected =
        setting.expected(|datum, start| vec![datum.mtmis(setting.particles)[start].clone()]);
    let error = error(&law, &expected);
    assert!(error < 1e-12, "{error}");
}

#[test]
fn a_step_of_jsa_mtmis_has_the_exact_law_and_mean() {
    Setting::several().iter().for_each(mtmis_is_exact);
    mtmis_is_exact(&Setting::classes());
}

fn another_order_is_noticed(setting: &Setting<impl Enumerable>) {
    for (loads, stores) in [(true, false), (false, true), (true, true)] {
        let faulty = Faulty {
            inner: setting.store(),
            loads,
            stores,
        };
        let error = error(&setting.law(&Jsa::MIS, &faulty), &setting.expected_of_mis());
        assert!(error > WRONG, "loads {loads}, stores {stores}: {error}");
    }
}

#[test]
fn states_read_or_written_in_another_order_than_the_batch_are_noticed() {
    let [three_data, _, two_layers, _] = Setting::several();
    another_order_is_noticed(&three_data);
    another_order_is_noticed(&two_layers);
    another_order_is_noticed(&Setting::classes());
}

/// MIS with a log-weight of the current state that is not up to date: it was cached before the parameters moved.
struct Stale;

impl JsaKernel for Stale {}

impl IndexKernel for Stale {
    fn run(
        &self,
        log_w_current: f64,
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        Mis.run(log_w_current + 0.1, log_w_proposals, chance, visits)
    }
}

/// MIS that reports the chain's last state but one as its last.
struct WritesTheWrongParticle;

impl Weighting for WritesTheWrongParticle {
    fn keeps_chains(&self) -> bool {
        true
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [helmholtz_estimators::Coefficient],
    ) -> helmholtz_estimators::Outcome {
        let mut outcome = Jsa::MIS.weigh(log_w, retained, chance, coefficients);
        if outcome.state != 0 {
            outcome.state = 1 + outcome.state % (log_w.len() - 1);
        }
        outcome
    }
}

#[test]
fn stale_log_weights_and_a_wrong_particle_written_back_are_noticed() {
    let [three_data, _, two_layers, two_moves] = Setting::several();
    for setting in [three_data, two_layers, two_moves] {
        let stale = Jsa {
            kernel: Stale,
            stage1_extra: false,
        };
        let expected = setting.expected_of_mis();
        let found = error(&setting.law(&stale, &setting.store()), &expected);
        assert!(found > WRONG, "stale: {found}");
        if setting.particles > 1 {
            let law = setting.law(&WritesTheWrongParticle, &setting.store());
            let found = error(&law, &expected);
            assert!(found > WRONG, "wrong particle: {found}");
            let gradient = relative_error(&law.gradient, &expected.gradient);
            assert!(gradient < TOLERANCE, "the gradient alone does not show it");
        }
    }
}
