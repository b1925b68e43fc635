//! The evidence of small Ising models by tempered SMC, beside exact enumeration:
//! `cargo run --release -p helmholtz-samplers --example ising_evidence`
//!
//! π̃(s) = exp(J Σ s_i s_j) over neighbours on an L x L grid with free boundary, s_i = ±1, and Z its sum over 2^(L²)
//! states. The path starts at the uniform distribution; a heat-bath sweep keeps each γ_β invariant. It needs coins only.

use helmholtz_samplers::random::{Chance, Purpose, Stream};
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_samplers::smc::{Smc, Tempered, TemperedPath};
use helmholtz_samplers::{Kernel, SamplerError, log_sum_exp};

/// Near the critical coupling of the infinite grid, ln(1 + √2) / 2.
const COUPLING: f64 = 0.44;

/// A grid of side `side`; the spins of a state are its bits, row by row.
#[derive(Clone, Copy)]
pub struct Ising {
    /// L, at most 5.
    pub side: u32,
    /// J (nats a pair).
    pub coupling: f64,
}

impl Ising {
    /// L².
    pub fn spins(self) -> u32 {
        self.side * self.side
    }

    fn spin(state: u32, site: u32) -> f64 {
        f64::from(state >> site & 1) * 2.0 - 1.0
    }

    /// Σ of the spins next to a site.
    fn field(self, state: u32, site: u32) -> f64 {
        let (row, column) = (site / self.side, site % self.side);
        let mut sum = 0.0;
        if row > 0 {
            sum += Self::spin(state, site - self.side);
        }
        if row + 1 < self.side {
            sum += Self::spin(state, site + self.side);
        }
        if column > 0 {
            sum += Self::spin(state, site - 1);
        }
        if column + 1 < self.side {
            sum += Self::spin(state, site + 1);
        }
        sum
    }

    /// log π̃(s) = J Σ s_i s_j; each pair is met from both ends.
    pub fn log_weight(self, state: u32) -> f64 {
        let pairs: f64 = (0..self.spins())
            .map(|site| Self::spin(state, site) * self.field(state, site))
            .sum();
        self.coupling * pairs / 2.0
    }

    /// log Z, by summing over all states.
    pub fn log_z(self) -> f64 {
        log_sum_exp((0..1u32 << self.spins()).map(|state| self.log_weight(state)))
    }
}

/// Draws each spin in turn from its law given the others, under π̃^β.
pub struct HeatBath {
    /// The model.
    pub ising: Ising,
    /// The inverse temperature on its path.
    pub beta: f64,
}

impl<C: Chance + ?Sized> Kernel<u32, C> for HeatBath {
    type Info = ();

    fn step(&self, state: &mut u32, chance: &mut C) {
        for site in 0..self.ising.spins() {
            // P(up) = 1 / (1 + exp(-2 β J field)).
            let log_odds = 2.0 * self.beta * self.ising.coupling * self.ising.field(*state, site);
            let up = chance.accept(-(-log_odds).exp().ln_1p());
            *state = *state & !(1 << site) | u32::from(up) << site;
        }
    }
}

/// log Ẑ from `particles` particles: on the given ladder of inverse temperatures, or on one found on the way. Also the
/// number of steps taken.
pub fn estimate(
    ising: Ising,
    particles: usize,
    ladder: Option<&[f64]>,
    stream: &mut Stream,
) -> Result<(f64, usize), SamplerError> {
    let states = 1u32 << ising.spins();
    let log_uniform = -f64::from(states).ln();
    let path = TemperedPath::new(move |_: &u32| log_uniform, move |&s| ising.log_weight(s));
    let smc = Smc::new(Systematic, Policy::EssBelow(0.5))?;
    let mut sampler = Tempered::start(particles, &path, smc, stream, |s| s.below(states))?;
    let mut steps = 0;
    while sampler.beta() < 1.0 {
        let beta = match ladder {
            Some(ladder) => ladder[steps],
            None => sampler.next_beta(0.9)?,
        };
        sampler.step(beta, &HeatBath { ising, beta }, stream)?;
        steps += 1;
    }
    Ok((sampler.population().log_evidence(), steps))
}

fn main() -> Result<(), SamplerError> {
    println!("Ising, coupling {COUPLING}, 1000 particles");
    println!("grid   exact log Z   fixed ladder (steps)   adaptive (steps)");
    let ladder: Vec<f64> = (1..=8).map(|i| f64::from(i) / 8.0).collect();
    for side in 2..=4 {
        let ising = Ising {
            side,
            coupling: COUPLING,
        };
        let run = |ladder, which| {
            let mut stream = Stream::new(1, Purpose::new("ising"), [u64::from(side), which]);
            estimate(ising, 1000, ladder, &mut stream)
        };
        let (fixed, steps) = run(Some(&ladder), 0)?;
        let (adaptive, own_steps) = run(None, 1)?;
        println!(
            "{side} x {side}  {:>11.5}   {fixed:>12.5} ({steps})       {adaptive:>9.5} ({own_steps})",
            ising.log_z()
        );
    }
    Ok(())
}
