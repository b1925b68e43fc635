//! Hamiltonian Monte Carlo. The repaired twins are the library's.

use helmholtz_invariance::{InvarianceError, OneStep, Report, Share, step_fn};
use helmholtz_random::{Chance, Draws, Purpose, Stream};
use helmholtz_samplers::{Hmc, Kernel};

use super::{Check, Specimen};

pub fn specimens() -> Vec<Specimen> {
    let specimen = |defect, check| Specimen {
        defect,
        found_by: "one step, Kolmogorov-Smirnov",
        check: Check::Sampled(check),
    };
    vec![
        specimen("HMC: every momentum from the same key", same_momentum),
        specimen("HMC: wrong sign in the closing half step", wrong_half_step),
        specimen("HMC: accepted by potential energy alone", no_kinetic),
        specimen(
            "HMC: momentum drawn with the inverse of the mass",
            inverse_mass,
        ),
        specimen(
            "HMC: jittered length that looks at the state",
            length_by_state,
        ),
    ]
}

/// The test of a kernel that should keep a standard normal.
fn test(
    kernel: &impl Kernel<Vec<f64>, Stream>,
    samples: usize,
    share: Share,
) -> Result<Report, InvarianceError> {
    OneStep::new(|rng| vec![rng.normal()], Vec::clone)
        .samples(samples)
        .marginals(kernel, share)
}

/// The library's kernel with `steps` leapfrog steps of `step_size` on a standard normal.
fn right(step_size: f64, steps: usize) -> Hmc<impl Fn(&[f64], &mut [f64]) -> f64> {
    let normal = |x: &[f64], gradient: &mut [f64]| {
        gradient[0] -= x[0];
        -0.5 * x[0] * x[0]
    };
    Hmc::new(normal, step_size, steps).expect("a kernel")
}

/// What is wrong in Hamiltonian Monte Carlo.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    SameMomentum,
    HalfStep,
    NoKinetic,
    InverseMass,
}

/// Three leapfrog steps of 0.8 on a standard normal, of a particle with this mass.
fn wrong(version: Wrong, mass: f64) -> impl Kernel<Vec<f64>, Stream> {
    let step = 0.8 * mass.sqrt();
    step_fn(move |x: &mut Vec<f64>, rng: &mut Stream| {
        let normal = if version == Wrong::SameMomentum {
            Stream::new(1, Purpose::new("momentum"), [0, 0]).normal()
        } else {
            rng.normal()
        };
        let start = match version {
            Wrong::InverseMass => normal / mass.sqrt(),
            _ => normal * mass.sqrt(),
        };
        let (mut q, mut r) = (x[0], start);
        for _ in 0..3 {
            r -= 0.5 * step * q;
            q += step * r / mass;
            let closing = if version == Wrong::HalfStep {
                -0.5
            } else {
                0.5
            };
            r -= closing * step * q;
        }
        let kinetic = match version {
            Wrong::NoKinetic => 0.0,
            _ => 0.5 * (start * start - r * r) / mass,
        };
        if rng.accept(0.5 * (x[0] * x[0] - q * q) + kinetic) {
            x[0] = q;
        }
    })
}

fn unit_mass(
    repaired: bool,
    version: Wrong,
    samples: usize,
    share: Share,
) -> Result<Report, InvarianceError> {
    match repaired {
        true => test(&right(0.8, 3), samples, share),
        false => test(&wrong(version, 1.0), samples, share),
    }
}

fn same_momentum(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    unit_mass(repaired, Wrong::SameMomentum, samples, share)
}

fn wrong_half_step(
    repaired: bool,
    samples: usize,
    share: Share,
) -> Result<Report, InvarianceError> {
    unit_mass(repaired, Wrong::HalfStep, samples, share)
}

fn no_kinetic(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    unit_mass(repaired, Wrong::NoKinetic, samples, share)
}

/// Momenta of variance 1 / m, with an energy that has r² / m: the momentum of one mass and the energy of another.
fn inverse_mass(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    let mass: f64 = 4.0;
    match repaired {
        true => {
            let right = right(0.8 * mass.sqrt(), 3).with_mass(vec![mass]);
            test(&right.expect("a mass"), samples, share)
        }
        false => test(&wrong(Wrong::InverseMass, mass), samples, share),
    }
}

/// Jitter about a mean length that is longer in the tails than in the middle, instead of about the same for all states.
fn length_by_state(
    repaired: bool,
    samples: usize,
    share: Share,
) -> Result<Report, InvarianceError> {
    let [short, long] = [2, 7].map(|mean| right(0.2, mean).jittered());
    let kernel = step_fn(|x: &mut Vec<f64>, rng: &mut Stream| {
        match repaired || x[0].abs() < 1.0 {
            true => short.step(x, rng),
            false => long.step(x, rng),
        };
    });
    test(&kernel, samples, share)
}
