//! The other direction: correct kernels pass over many random targets, exactly or with a stated rate.

use helmholtz_invariance::families::{FiniteTarget, for_every, latent_models};
use helmholtz_invariance::{
    Law, OneStep, Suite, TOLERANCE, TransitionMatrix, assert_invariant, step_fn,
};
use helmholtz_random::{Chance, Draws, Enumerator, Stream};
use helmholtz_samplers::{
    Barker, Cis, Cycle, FiniteGibbs, Hmc, Independence, MetropolisHastings, Mis, Mixture, Mtmis,
    Proposal, RandomWalk, Repeat,
};

static SUITE: Suite = Suite::new(17, 3);

#[test]
fn metropolis_and_independence_kernels_on_random_finite_targets() {
    assert_invariant!(|problem| {
        let n = problem.len();
        step_fn(move |x: &mut usize, chance: &mut Enumerator| {
            let step = if chance.accept(0.5f64.ln()) { 1 } else { n - 1 };
            let (to, log_p) = ((*x + step) % n, problem.log_p());
            if log_p[to].is_finite()
                && (!log_p[*x].is_finite() || chance.accept(log_p[to] - log_p[*x]))
            {
                *x = to;
            }
        })
    });
    assert_invariant!(|problem| Independence::new(problem, problem, Mis, 3).unwrap());
    assert_invariant!(|problem| Independence::new(problem, problem, Mtmis, 3).unwrap());
    assert_invariant!(|problem| Independence::new(problem, problem, Cis, 3).unwrap());
    assert_invariant!(|problem| Independence::new(problem, problem, Barker, 3).unwrap());
}

/// Flips one bit, chosen with unequal probabilities that depend on the state: all ones prefer the first.
struct Flip;

impl Flip {
    fn log_weights(h: &[bool]) -> Vec<f64> {
        (0..h.len())
            .map(|j| {
                if h.iter().all(|b| *b) && j > 0 {
                    -1.0
                } else {
                    0.0
                }
            })
            .collect()
    }
}

impl<C: Chance> Proposal<Vec<bool>, C> for Flip {
    fn propose(&self, from: &Vec<bool>, chance: &mut C) -> Vec<bool> {
        let mut to = from.clone();
        let j = chance.choose(&Self::log_weights(from)).unwrap_or(0);
        to[j] = !to[j];
        to
    }

    fn log_density(&self, from: &Vec<bool>, to: &Vec<bool>) -> f64 {
        let weights = Self::log_weights(from);
        let differs = from.iter().zip(to).position(|(a, b)| a != b);
        let total = helmholtz_samplers::log_sum_exp(weights.iter().copied());
        differs.map_or(f64::NEG_INFINITY, |j| weights[j] - total)
    }
}

#[test]
fn kernels_and_their_combinations_on_random_latent_models() {
    assert_invariant!(latent_models(1..=4), |m| MetropolisHastings::new(m, Flip));
    assert_invariant!(latent_models(1..=3), |m| Repeat::new(
        MetropolisHastings::new(m, Flip),
        2
    ));
    assert_invariant!(latent_models(1..=4), |m| {
        let site = |j| FiniteGibbs::new(m, j, vec![false, true]);
        Cycle::new((0..m.latents()).map(site).collect())
    });
    assert_invariant!(latent_models(1..=4), |m| {
        let site = |j| FiniteGibbs::new(m, j, vec![false, true]);
        Mixture::uniform((0..m.latents()).map(site).collect()).unwrap()
    });
}

#[test]
fn a_systematic_sweep_is_invariant_without_being_reversible_and_has_a_gap() {
    for_every(latent_models(3..=3), |model| {
        let site = |j| FiniteGibbs::new(model, j, vec![false, true]);
        let sweep = Cycle::new((0..3).map(site).collect());
        let states = model.states();
        let matrix = TransitionMatrix::of(&sweep, &states)?;
        let law = Law::of(&states, |h| model.log_joint(h))?;
        matrix.check_invariant(&law, TOLERANCE)?;
        matrix.check_irreducible(&law)?;
        matrix.check_aperiodic(&law)?;
        assert!(matrix.spectral_gap(&law)? > 1e-6);
        Ok(())
    });
}

/// A normal with random mean and standard deviation in two coordinates: one step of random-walk Metropolis and of HMC,
/// on ten of them each.
#[test]
fn kernels_on_real_states_over_random_normals() {
    let shares = SUITE.share("random walk").unwrap().split(10);
    let hmc_shares = SUITE.share("hmc").unwrap().split(10);
    for (i, (share, hmc_share)) in shares.into_iter().zip(hmc_shares).enumerate() {
        let mut rng = Stream::new(1, helmholtz_random::Purpose::new("normals"), [i as u64, 0]);
        let mean = [rng.normal(), 3.0 * rng.normal()];
        let sd = [rng.normal().exp(), rng.normal().exp()];
        let one_step = OneStep::new(
            move |rng: &mut Stream| {
                vec![
                    mean[0] + sd[0] * rng.normal(),
                    mean[1] + sd[1] * rng.normal(),
                ]
            },
            |x: &Vec<f64>| vec![x[0], x[1], x[0] * x[1]],
        );
        let z = move |x: &[f64], d: usize| (x[d] - mean[d]) / sd[d];
        let log_p = move |x: &Vec<f64>| -0.5 * (z(x, 0).powi(2) + z(x, 1).powi(2));
        let walk = RandomWalk::with_scales(&sd).unwrap();
        one_step
            .marginals(&MetropolisHastings::new(log_p, walk), share)
            .unwrap()
            .assert_passed();
        let field = move |x: &[f64], gradient: &mut [f64]| {
            (0..2).for_each(|d| gradient[d] -= z(x, d) / sd[d]);
            -0.5 * (z(x, 0).powi(2) + z(x, 1).powi(2))
        };
        let hmc = Hmc::new(field, 0.7, 4).unwrap();
        let hmc = hmc.with_mass(sd.map(|s| 1.0 / (s * s)).to_vec()).unwrap();
        one_step.marginals(&hmc, hmc_share).unwrap().assert_passed();
    }
}

#[test]
fn the_joint_law_of_a_gibbs_sweep() {
    let kernel = step_fn(|x: &mut [f64; 2], rng: &mut Stream| {
        x[0] = 0.6 * x[1] + 0.8 * rng.normal();
        x[1] = 0.6 * x[0] + 0.8 * rng.normal();
    });
    let draw = |rng: &mut Stream| {
        let x = rng.normal();
        [x, 0.6 * x + 0.8 * rng.normal()]
    };
    let report = OneStep::new(draw, |x| x.to_vec())
        .samples(1000)
        .joint(&kernel, SUITE.share("gibbs").unwrap())
        .unwrap();
    report.assert_passed();
}
