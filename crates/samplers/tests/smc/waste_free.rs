//! Waste-free SMC and the variance from one run, exactly.

use helmholtz_random::{Enumerator, enumerate};
use helmholtz_samplers::resampling::*;
use helmholtz_samplers::smc::*;
use helmholtz_samplers::{Kernel, SamplerError};

use crate::tempered::{Flip, PROBLEM};
use crate::toy::*;

/// Four particles in two chains along the ladder; with `twin`, the chains keep the target of its end at every step.
fn run(
    ladder: &[f64],
    twin: bool,
    chance: &mut Enumerator,
) -> Result<Population<usize>, SamplerError> {
    let path = PROBLEM.path();
    let smc = Smc::new(MultinomialByChoice, Policy::Always)?;
    let mut sampler = Tempered::start(4, &path, smc, chance, |c| choose(&PROBLEM.base, c))?;
    for &beta in ladder {
        let kernel = Flip {
            log_density: |x: &usize| path.log_density(if twin { 1.0 } else { beta }, x),
            states: 3,
        };
        let info = sampler.step_waste_free(beta, &kernel, 2, chance)?;
        assert_eq!(info.moves.len(), 2, "one move a chain of two states");
        let ancestors = info.ancestors.expect("always");
        assert!(ancestors[0] == ancestors[1] && ancestors[2] == ancestors[3]);
    }
    Ok(sampler.population().clone())
}

/// A sum over so many branches is rounded by more than the others.
const TOLERANCE_OF_MANY: f64 = 1e-11;

#[test]
fn the_evidence_of_waste_free_smc_is_unbiased() {
    for ladder in [&[1.0][..], &[0.4, 1.0]] {
        let (mut z, mut second) = (0.0, 0.0);
        for (p, population) in enumerate(|chance| run(ladder, false, chance)) {
            let population = population.expect("weights");
            let weight = p * population.log_evidence().exp();
            z += weight;
            second += weight * population.mean(|&x| (x * x) as f64);
        }
        let expected = PROBLEM.target[1] + 4.0 * PROBLEM.target[2];
        let errors = [
            relative_error(z, PROBLEM.z()),
            relative_error(second, expected),
        ];
        assert!(
            errors.iter().all(|error| *error < TOLERANCE_OF_MANY),
            "{ladder:?}: {errors:?}"
        );
    }
}

/// Twin: chains that keep another target than that of their temperature.
#[test]
fn chains_of_another_target_bias_the_evidence() {
    let mean = expectation(|chance| weighted(run(&[0.4, 1.0], true, chance), |_| 1.0));
    assert!(relative_error(mean, PROBLEM.z()) > 1e-3);
}

#[test]
fn chains_must_divide_the_particles() {
    let path = PROBLEM.path();
    let smc = Smc::new(MultinomialByChoice, Policy::Always).expect("a policy");
    let still = Flip {
        log_density: |_: &usize| 0.0,
        states: 3,
    };
    let mut chance =
        helmholtz_random::Stream::new(1, helmholtz_random::Purpose::new("test"), [0, 0]);
    let mut sampler = Tempered::start(4, &path, smc, &mut chance, |_| 1).expect("a start");
    for chains in [0, 3, 5] {
        let refused = sampler.step_waste_free(1.0, &still, chains, &mut chance);
        assert!(matches!(refused, Err(SamplerError::Parameter { .. })));
    }
    assert_eq!(sampler.beta(), 0.0, "nothing has moved");
}

/// Leaves every state as it is.
struct Still;

impl<C: ?Sized> Kernel<usize, C> for Still {
    type Info = ();

    fn step(&self, _: &mut usize, _: &mut C) {}
}

/// Of six particles that do not move, each is its ancestor.
#[test]
fn a_waste_free_step_tells_ancestors_and_its_evidence() {
    let path = TemperedPath::new(|_: &usize| 0.0, |&x: &usize| x as f64);
    let smc = Smc::new(Systematic, Policy::Always).expect("a policy");
    let mut chance =
        helmholtz_random::Stream::new(2, helmholtz_random::Purpose::new("test"), [0, 0]);
    let mut numbers = 0..6;
    let start = Tempered::start(6, &path, smc, &mut chance, |_| {
        numbers.next().expect("six particles")
    });
    let mut sampler = start.expect("a start");
    let mut log_evidence = 0.0;
    for beta in [0.1, 0.3] {
        let before = sampler.population().states().to_vec();
        let info = sampler
            .step_waste_free(beta, &Still, 3, &mut chance)
            .expect("weights");
        let ancestors = info.ancestors.expect("always").into_iter();
        let states: Vec<usize> = ancestors.map(|a| before[a as usize]).collect();
        assert_eq!(sampler.population().states(), states);
        assert!(states[0] < states[5], "not all of one");
        log_evidence += info.log_increment;
    }
    assert!((log_evidence - sampler.population().log_evidence()).abs() < TOLERANCE);
}

/// E[Ẑ² V] and E[Ẑ²] - Z² of three generations of a toy with this many particles.
fn variances(
    toy: &Toy,
    particles: usize,
    steps: usize,
    estimate: fn(&Population<usize>, &Ancestry) -> f64,
) -> (f64, f64) {
    let run = |chance: &mut Enumerator| -> (f64, f64) {
        let smc = Smc::new(MultinomialByChoice, Policy::Always).expect("a policy");
        let mut population =
            Population::draw(particles, chance, |c| toy.draw_start(c)).expect("a start");
        let mut ancestry = Ancestry::new(particles);
        for t in 1..=steps {
            let info = smc
                .step(&mut population, chance, |x, c| {
                    toy.extend(t, x, c).log_weight()
                })
                .expect("weights");
            ancestry.push(info.ancestors).expect("a generation");
        }
        let z2 = (2.0 * population.log_evidence()).exp();
        (z2, z2 * estimate(&population, &ancestry))
    };
    let second = expectation(|chance| run(chance).0);
    let estimated = expectation(|chance| run(chance).1);
    (second - toy.z(steps).powi(2), estimated)
}

#[test]
fn the_variance_of_the_evidence_is_estimated_without_bias_from_one_run() {
    for (particles, steps) in [(2, 0), (4, 0), (2, 1), (3, 1), (2, 2)] {
        let toy = Toy::new(2, steps, false);
        let (exact, estimated) = variances(&toy, particles, steps, |population, ancestry| {
            relative_variance(population, ancestry).expect("an estimate")
        });
        let error = (estimated - exact).abs() / toy.z(steps).powi(2);
        assert!(
            error < TOLERANCE,
            "{particles}, {steps}: {exact} {estimated}"
        );
    }
}

/// Twin: the spread of the weights of the last generation, as if its particles were independent.
#[test]
fn the_spread_of_the_last_weights_is_not_the_variance() {
    let toy = Toy::new(2, 2, false);
    let (exact, estimated) = variances(&toy, 2, 2, |population, _| {
        relative_variance(population, &Ancestry::new(2)).expect("an estimate")
    });
    assert!(
        relative_error(estimated, exact) > 0.05,
        "{exact} {estimated}"
    );
}

#[test]
fn a_genealogy_of_another_population_is_refused() {
    let population = Population::new(vec![0, 1], vec![0.0, 0.0]).expect("weights");
    assert!(relative_variance(&population, &Ancestry::new(3)).is_err());
    let one = Population::new(vec![0], vec![0.0]).expect("weights");
    assert!(relative_variance(&one, &Ancestry::new(1)).is_err());
}
