//! Conditional SMC, with ancestor and with backward sampling, leaves the law of paths invariant: exactly, by enumeration.

use std::cell::RefCell;
use std::collections::HashMap;

use helmholtz_random::{Chance, Enumerator, Purpose, Stream, enumerate};
use helmholtz_samplers::resampling::*;
use helmholtz_samplers::smc::{ConditionalSmc, PathModel, ScoredPathModel};
use helmholtz_samplers::{Info, Kernel, SamplerError};

use crate::law::{Law, Shape, Uniforms, law, law_of_sorted, law_of_steps};
use crate::toy::{TOLERANCE, choose};

/// Moves and weights at random, of a few states. The weights depend on both ends of a move.
pub struct Model {
    states: usize,
    /// m_0, and m_t(x_t | x_{t-1}) at t - 1.
    first: Vec<f64>,
    moves: Vec<Vec<Vec<f64>>>,
    /// G_t(x_{t-1}, x_t); of x_0 in row 0.
    pub weights: Vec<Vec<Vec<f64>>>,
    /// Twin: whether moves are scored.
    scored: bool,
}

impl Model {
    /// With `zero`, one move at each time has weight zero.
    fn new(states: usize, times: usize, zero: bool) -> Self {
        Self::numbered(0, states, times, zero)
    }

    /// Another model for each `number`.
    pub fn numbered(number: u64, states: usize, times: usize, zero: bool) -> Self {
        let mut stream = Stream::new(
            41 + number,
            Purpose::new("test"),
            [states as u64, times as u64],
        );
        let mut row = |normalise: bool| -> Vec<f64> {
            let row: Vec<f64> = (0..states)
                .map(|_| 0.1 + 3.0 * stream.uniform_f64())
                .collect();
            let total: f64 = if normalise { row.iter().sum() } else { 1.0 };
            row.iter().map(|p| p / total).collect()
        };
        let first = row(true);
        let mut matrix = |normalise: bool| (0..states).map(|_| row(normalise)).collect();
        let moves = (1..times).map(|_| matrix(true)).collect();
        let mut weights: Vec<Vec<Vec<f64>>> = (0..times).map(|_| matrix(false)).collect();
        if zero {
            weights.iter_mut().skip(1).for_each(|w| w[0][1] = 0.0);
        }
        Self {
            states,
            first,
            moves,
            weights,
            scored: true,
        }
    }

    pub fn paths(&self) -> Vec<Vec<usize>> {
        let mut paths = vec![Vec::new()];
        for _ in 0..self.weights.len() {
            paths = (paths.iter())
                .flat_map(|path: &Vec<usize>| {
                    (0..self.states).map(move |x| [path.as_slice(), &[x]].concat())
                })
                .collect();
        }
        paths
    }

    /// γ(x).
    pub fn probability(&self, path: &[usize]) -> f64 {
        let first = self.first[path[0]] * self.weights[0][0][path[0]];
        let steps = path.windows(2).enumerate().map(|(t, pair)| {
            self.moves[t][pair[0]][pair[1]] * self.weights[t + 1][pair[0]][pair[1]]
        });
        first * steps.product::<f64>()
    }
}

impl<C: Chance> PathModel<usize, C> for Model {
    fn times(&self) -> usize {
        self.weights.len()
    }

    fn propose(&self, t: usize, previous: Option<&usize>, chance: &mut C) -> usize {
        match previous {
            Some(&x) => choose(&self.moves[t - 1][x], chance),
            None => choose(&self.first, chance),
        }
    }

    fn log_weight(&self, t: usize, previous: Option<&usize>, state: &usize) -> f64 {
        self.weights[t][previous.copied().unwrap_or(0)][*state].ln()
    }
}

impl<C: Chance> ScoredPathModel<usize, C> for Model {
    fn log_move(&self, t: usize, previous: &usize, state: &usize) -> f64 {
        match self.scored {
            true => self.moves[t - 1][*previous][*state].ln(),
            false => 0.0,
        }
    }
}

/// max |πP - π| over all paths.
fn error(model: &Model, kernel: &dyn Kernel<Vec<usize>, Enumerator, Info = Info>) -> f64 {
    let paths = model.paths();
    let weights: Vec<f64> = paths.iter().map(|path| model.probability(path)).collect();
    let total: f64 = weights.iter().sum();
    let mut after: HashMap<Vec<usize>, f64> = HashMap::new();
    for (path, weight) in paths.iter().zip(&weights).filter(|(_, w)| **w > 0.0) {
        let ends = enumerate(|chance: &mut Enumerator| {
            let mut path = path.clone();
            let info = kernel.step(&mut path, chance);
            assert_eq!((info.moves, info.non_finite), (1, 0));
            path
        });
        for (p, end) in ends {
            *after.entry(end).or_default() += p * weight / total;
        }
    }
    let errors = paths
        .iter()
        .zip(&weights)
        .map(|(path, weight)| (after.get(path).copied().unwrap_or(0.0) - weight / total).abs());
    errors.fold(0.0, f64::max)
}

pub const POLICIES: [Policy; 3] = [Policy::Always, Policy::Never, Policy::EssBelow(0.85)];

/// The worst error of the three forms.
fn errors<R>(model: &Model, scheme: &R, policy: &Policy, particles: usize) -> [f64; 3]
where
    R: ConditionalResampler<Enumerator> + Resampler<Enumerator>,
{
    let plain = || ConditionalSmc::new(model, scheme, policy.clone(), particles).expect("a kernel");
    [
        error(model, &plain()),
        error(model, &plain().with_ancestor_sampling()),
        error(model, &plain().with_backward_sampling()),
    ]
}

#[track_caller]
fn assert_invariant<R>(scheme: &R, particles: usize, times: usize)
where
    R: ConditionalResampler<Enumerator> + Resampler<Enumerator>,
{
    for zero in [false, true] {
        let model = Model::new(2, times, zero);
        for policy in POLICIES {
            let errors = errors(&model, scheme, &policy, particles);
            assert!(
                errors.iter().all(|error| *error < TOLERANCE),
                "{policy:?}, {zero}: {errors:?}"
            );
        }
    }
}

#[test]
fn all_three_forms_are_invariant_under_every_policy_with_independent_draws() {
    assert_invariant(&MultinomialByChoice, 2, 3);
    assert_invariant(&MultinomialByChoice, 3, 2);
}

#[test]
fn they_are_with_the_srinivasan_process() {
    assert_invariant(&Ssp, 2, 3);
    assert_invariant(&Ssp, 3, 2);
}

/// A pinned slot and its ancestor, and the bits of the log-weights.
type Asked = (Option<(usize, u32)>, Vec<u64>);

/// A scheme of the crate that asks for uniforms, conditional and not, as one choice by its exact law.
struct ByLaw {
    plain: fn(&[f64], usize) -> Law,
    given: fn(usize, u32, &[f64], usize) -> Law,
    known: RefCell<HashMap<Asked, Law>>,
}

fn given_by_steps(
    scheme: &impl ConditionalResampler<Uniforms>,
    slot: usize,
    ancestor: u32,
    log_weights: &[f64],
    slots: usize,
) -> Law {
    law(Shape::Steps, &|uniforms| {
        let mut ancestors = vec![0; slots];
        scheme
            .resample_given(slot, ancestor, log_weights, uniforms, &mut ancestors)
            .expect("weights");
        ancestors
    })
}

impl ByLaw {
    fn new(plain: fn(&[f64], usize) -> Law, given: fn(usize, u32, &[f64], usize) -> Law) -> Self {
        Self {
            plain,
            given,
            known: RefCell::default(),
        }
    }

    fn draw(
        &self,
        pinned: Option<(usize, u32)>,
        log_weights: &[f64],
        chance: &mut Enumerator,
        ancestors: &mut [u32],
    ) {
        let key = (pinned, log_weights.iter().map(|l| l.to_bits()).collect());
        let mut known = self.known.borrow_mut();
        let law = known.entry(key).or_insert_with(|| match pinned {
            None => (self.plain)(log_weights, ancestors.len()),
            Some((slot, ancestor)) => (self.given)(slot, ancestor, log_weights, ancestors.len()),
        });
        let log_p: Vec<f64> = law.values().map(|p| p.ln()).collect();
        let chosen = chance.choose(&log_p).expect("a law");
        ancestors.copy_from_slice(law.keys().nth(chosen).expect("chosen among them"));
    }
}

impl Resampler<Enumerator> for ByLaw {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut Enumerator,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        self.draw(None, log_weights, chance, ancestors);
        Ok(())
    }
}

impl ConditionalResampler<Enumerator> for ByLaw {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        chance: &mut Enumerator,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        self.draw(Some((slot, ancestor)), log_weights, chance, ancestors);
        Ok(())
    }
}

#[test]
fn they_are_with_systematic_and_stratified_resampling() {
    let systematic = ByLaw::new(
        |l, n| law_of_steps(&Systematic, l, n),
        |slot, a, l, n| given_by_steps(&Systematic, slot, a, l, n),
    );
    let stratified = ByLaw::new(
        |l, n| law_of_steps(&Stratified, l, n),
        |slot, a, l, n| given_by_steps(&Stratified, slot, a, l, n),
    );
    for scheme in [systematic, stratified] {
        assert_invariant(&scheme, 2, 3);
        assert_invariant(&scheme, 3, 2);
    }
}

#[test]
fn they_are_with_residual_resampling() {
    struct Coins;
    impl Resampler<Enumerator> for Coins {
        fn resample(
            &self,
            log_weights: &[f64],
            _: &mut Enumerator,
            ancestors: &mut [u32],
        ) -> Result<(), SamplerError> {
            // An unconditional filter is run from an impossible path only, of which there is none here.
            Residual.resample(log_weights, &mut Uniforms::zeros(), ancestors)
        }
    }
    impl ConditionalResampler<Enumerator> for Coins {
        fn resample_given(
            &self,
            slot: usize,
            ancestor: u32,
            log_weights: &[f64],
            chance: &mut Enumerator,
            ancestors: &mut [u32],
        ) -> Result<(), SamplerError> {
            Residual.resample_given(slot, ancestor, log_weights, chance, ancestors)
        }
    }
    assert_invariant(&Coins, 2, 3);
    assert_invariant(&Coins, 3, 2);
}

/// Twin: all slots drawn, and the retained one overwritten, which is right for independent draws only.
#[test]
fn overwriting_the_retained_slot_is_not_conditioning() {
    let overwritten = ByLaw::new(
        |l, n| law_of_sorted(&Multinomial, l, n),
        |slot, ancestor, l, n| {
            let mut overwritten = Law::new();
            for (mut ancestors, p) in law_of_steps(&Systematic, l, n) {
                ancestors[slot] = ancestor;
                *overwritten.entry(ancestors).or_default() += p;
            }
            overwritten
        },
    );
    // With two particles the other one is drawn by its marginal law, which is as good.
    let model = Model::new(2, 2, false);
    let worst = errors(&model, &overwritten, &Policy::Always, 3);
    assert!(worst.iter().all(|error| *error > 1e-4), "{worst:?}");
}

/// Twin: ancestor and backward sampling by the weights of the filter, without the density of the moves.
#[test]
fn new_pasts_without_the_density_of_the_move_are_wrong() {
    let model = Model {
        scored: false,
        ..Model::new(2, 3, false)
    };
    let [plain, ancestor, backward] = errors(&model, &MultinomialByChoice, &Policy::Always, 2);
    assert!(plain < TOLERANCE, "{plain}");
    assert!(ancestor > 1e-3 && backward > 1e-3, "{ancestor} {backward}");
}

/// P(z) where two are drawn from `law`, and one of them is chosen in proportion to its weight.
fn one_of_two(law: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut chosen = vec![0.0; law.len()];
    for (a, p) in law.iter().enumerate() {
        for (b, q) in law.iter().enumerate() {
            let share = p * q / (weights[a] + weights[b]);
            chosen[a] += share * weights[a];
            chosen[b] += share * weights[b];
        }
    }
    chosen
}

/// Of two times and two particles, by the formula: without resampling they are two paths, with it two children, independent
/// given their parents.
#[test]
fn a_path_to_start_from_has_the_law_of_the_filter() {
    let model = Model::new(2, 2, false);
    let paths = model.paths();
    let moves = |path: &Vec<usize>| model.moves[0][path[0]][path[1]];
    let last = |path: &Vec<usize>| model.weights[1][path[0]][path[1]];
    let (first, then): (_, Vec<f64>) = (&model.weights[0][0], paths.iter().map(last).collect());

    let proposed = paths.iter().map(|path| model.first[path[0]] * moves(path));
    let weights: Vec<f64> = paths.iter().map(|p| first[p[0]] * last(p)).collect();
    let never = one_of_two(&proposed.collect::<Vec<f64>>(), &weights);

    let mut always = vec![0.0; paths.len()];
    for [a, b] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let share = |x: usize| {
            let copies = f64::from(u8::from(x == a) + u8::from(x == b));
            copies * first[x] / (first[a] + first[b])
        };
        let child: Vec<f64> = paths.iter().map(|p| share(p[0]) * moves(p)).collect();
        for (sum, p) in always.iter_mut().zip(one_of_two(&child, &then)) {
            *sum += model.first[a] * model.first[b] * p;
        }
    }

    for (policy, expected) in [(Policy::Never, never), (Policy::Always, always)] {
        let kernel =
            ConditionalSmc::new(&model, MultinomialByChoice, policy.clone(), 2).expect("a kernel");
        let mut found = vec![0.0; paths.len()];
        for (p, path) in enumerate(|chance: &mut Enumerator| kernel.start(chance)) {
            let path = path.expect("possible paths");
            found[2 * path[0] + path[1]] += p;
        }
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < TOLERANCE, "{policy:?}");
        }
    }
}

/// Of two states, of which one is impossible and cannot be left.
struct Cliff;

impl<C: Chance> PathModel<usize, C> for Cliff {
    fn times(&self) -> usize {
        3
    }

    fn propose(&self, _: usize, previous: Option<&usize>, chance: &mut C) -> usize {
        assert_ne!(previous, Some(&1));
        choose(&[0.5, 0.5], chance)
    }

    fn log_weight(&self, _: usize, _: Option<&usize>, state: &usize) -> f64 {
        [0.0, f64::NEG_INFINITY][*state]
    }
}

#[test]
fn an_impossible_particle_is_not_moved() {
    let kernel = ConditionalSmc::new(Cliff, MultinomialByChoice, Policy::Never, 2);
    let kernel = kernel.expect("a kernel");
    for (_, path) in enumerate(|chance: &mut Enumerator| kernel.start(chance)) {
        match path {
            Ok(path) => assert_eq!(path, [0; 3]),
            Err(error) => assert!(matches!(error, SamplerError::AllWeightsZero { .. })),
        }
    }
}

#[test]
fn a_weight_that_is_none_is_named() {
    for weight in [f64::NAN, f64::INFINITY] {
        let model = Model {
            weights: vec![vec![vec![weight; 2]; 2]; 3],
            ..Model::new(2, 3, false)
        };
        let kernel = ConditionalSmc::new(&model, Ssp, Policy::Never, 2).expect("a kernel");
        let error = kernel.start(&mut Stream::new(3, Purpose::new("test"), [0, 0]));
        assert!(matches!(
            error,
            Err(SamplerError::LogWeight { index: 0, .. })
        ));
    }
}

#[test]
fn an_impossible_path_is_left_and_an_impossible_model_is_counted() {
    let model = Model::new(2, 3, true);
    // The filter dies out if all of its 40 particles make the one move of weight zero: with probability below 1e-5.
    let kernel = ConditionalSmc::new(&model, Ssp, Policy::Always, 40).expect("a kernel");
    let mut stream = Stream::new(3, Purpose::new("test"), [0, 0]);
    for mut path in [vec![0, 1, 0], vec![1, 1], vec![]] {
        let info = kernel.step(&mut path, &mut stream);
        assert_eq!((info.accepted, info.non_finite), (1, 1));
        assert!(model.probability(&path) > 0.0);
    }
    let nowhere = Model {
        weights: vec![vec![vec![0.0; 2]; 2]; 3],
        ..Model::new(2, 3, false)
    };
    let kernel = ConditionalSmc::new(&nowhere, Ssp, Policy::Always, 2).expect("a kernel");
    let (mut path, info) = (vec![0, 0, 0], |info: Info| (info.accepted, info.non_finite));
    assert_eq!(info(kernel.step(&mut path, &mut stream)), (0, 2));
    assert_eq!(path, [0, 0, 0]);
    assert!(matches!(
        kernel.start(&mut stream),
        Err(SamplerError::AllWeightsZero { .. })
    ));
    for particles in [0, 1] {
        assert!(ConditionalSmc::new(&model, Ssp, Policy::Always, particles).is_err());
    }
    assert!(ConditionalSmc::new(&model, Ssp, Policy::EssBelow(2.0), 2).is_err());
}
