//! The variance of an evidence estimate, from the run that made it.

use super::{Ancestry, Population};
use crate::SamplerError;

/// An estimate of the relative variance of Ẑ, Var Ẑ / Z², from one run with its genealogy:
///
/// > V = 1 - (N / (N - 1))^{n+1} (1 - Σ_e (Σ_{i : E_i = e} W_i)²),
///
/// n the number of resamplings and E_i the particle of generation 0 that i descends from. It is also the variance of
/// ln Ẑ, to first order in 1/N: √V is the error bar. (Lee and Whiteley, 2018, "Variance estimation in the particle
/// filter", eq. 6 and Theorem 1; Chan and Lai, 2013.)
///
/// With multinomial resampling at every step E\[Ẑ² V\] = Var Ẑ exactly. With a policy, and with the less noisy schemes, it
/// is an estimate that tends to be too large. It may be negative, and it is 1 once all particles have one ancestor in
/// generation 0: then take more particles, or fewer steps.
///
/// ```
/// use helmholtz_samplers::random::{Draws, Purpose, Stream};
/// use helmholtz_samplers::resampling::{Multinomial, Policy};
/// use helmholtz_samplers::smc::{Ancestry, Population, Smc, relative_variance};
///
/// let mut stream = Stream::new(1, Purpose::new("smc"), [0, 0]);
/// let mut population = Population::draw(1000, &mut stream, |draws| (draws.normal(), 0.0))?;
/// let (smc, mut ancestry) = (Smc::new(Multinomial, Policy::Always)?, Ancestry::new(1000));
/// for _ in 0..5 {
///     let info = smc.step(&mut population, &mut stream, |x, draws| {
///         *x = 0.5 * *x + draws.normal();
///         -0.5 * *x * *x
///     })?;
///     ancestry.push(info.ancestors)?;
/// }
/// let error = relative_variance(&population, &ancestry)?.max(0.0).sqrt(); // of ln Ẑ
/// assert!(error > 0.01 && error < 0.2);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
///
/// # Errors
/// [`SamplerError::Length`] if the genealogy is of another number of particles, [`SamplerError::Parameter`] for one
/// particle, whose variance nothing tells.
pub fn relative_variance<S>(
    population: &Population<S>,
    ancestry: &Ancestry,
) -> Result<f64, SamplerError> {
    let (log_weights, roots) = (population.log_weights(), ancestry.roots());
    let n = crate::arguments::at_least_two("the number of particles", log_weights.len())?;
    if roots.len() != n {
        return Err(SamplerError::Length {
            what: "the particles of a genealogy",
            found: roots.len(),
            expected: n,
        });
    }
    let mut families = vec![0.0; n];
    for (&root, log_w) in roots.iter().zip(log_weights) {
        families[root as usize] += log_w.exp();
    }
    let together: f64 = families.iter().map(|w| w * w).sum();
    let ratio = n as f64 / (n - 1) as f64;
    let generations = ancestry.resamplings() as i32 + 1;
    Ok(1.0 - ratio.powi(generations) * (1.0 - together))
}
