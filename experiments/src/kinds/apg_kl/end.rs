//! Where a run of the figure ended.

use super::Division;
use crate::kinds::apg_gmm;
use crate::population::finished;
use crate::records::Kept;

/// Gradient steps, seed, and the last KL(p‖q) of (μ, τ) given c, summed over clusters, of a finished run of such a figure.
pub fn end(kept: &Kept<'_>) -> Option<(Division, (u64, u64, f64))> {
    let (settings, outcome) = finished::<apg_gmm::Settings>(kept)?;
    let training = &settings.training;
    let division = Division {
        sweeps: training.sweeps,
        particles: training.particles,
    };
    if settings.name != division.name("apg-kl") {
        return None;
    }
    let [_, last] = &outcome.checks;
    let kl = last.get("kl")?.as_f64()? * settings.model.clusters as f64;
    Some((division, (outcome.steps, outcome.provenance.seed, kl)))
}
