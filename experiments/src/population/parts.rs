//! A batch in parts.

use std::error::Error;
use std::ops::Range;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use helmholtz_apg::{Streams, gradients_in_parts};
use helmholtz_ops::AutodiffBackend;

use super::populations::mean;

/// The instances of a step in at most so many parts, as even as can be.
///
/// The number of parts is fixed: a part has random streams of its own, and the gradients are added in the order of the parts. The
/// result does not depend on threads.
pub fn parts(step: u64, batch: u64, most: u64) -> Vec<Range<u64>> {
    let (first, count) = (step * batch, most.min(batch));
    let bound = |part: u64| first + part * batch / count;
    (0..count)
        .map(|part| bound(part)..bound(part + 1))
        .collect()
}

/// Step whose gradients are computed, and the threads that compute them.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Names the run.
    pub seed: u64,
    /// The step.
    pub number: u64,
    /// Threads at once.
    pub threads: usize,
}

/// Result of a part: its gradient, and log Ẑ of its instances.
pub type Part = Result<(GradientsParams, Vec<f64>), Box<dyn Error + Send + Sync>>;

/// The gradient of the mean over all instances, and the mean of −log Ẑ: what an objective gives.
///
/// # Errors
/// Weights or losses that are none.
pub fn gradients<B, M>(
    model: &M,
    step: Step,
    parts: &[Range<u64>],
    of: impl Fn(&M, Range<u64>, &mut Streams) -> Part + Sync,
) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    let count = |range: &Range<u64>| (range.end - range.start) as f64;
    let all: f64 = parts.iter().map(count).sum();
    let shares: Vec<f64> = parts.iter().map(|range| count(range) / all).collect();
    let (gradients, evidence) = gradients_in_parts(model, &shares, step.threads, |model, part| {
        let mut streams = Streams::new(step.seed, step.number).part(part);
        of(model, parts[part].clone(), &mut streams)
    })?;
    Ok((gradients, -mean(&evidence.concat())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_instances_once_and_even() {
        assert_eq!(parts(2, 20, 4), [40..45, 45..50, 50..55, 55..60]);
        assert_eq!(parts(1, 5, 4), [5..6, 6..7, 7..8, 8..10]);
        assert_eq!(parts(3, 2, 4), [6..7, 7..8]);
    }
}
