//! Gradient ascent on the logit of one bit.

use super::{AscentSettings, Estimator, OneBit, sigmoid, table};
use crate::error::HarnessError;
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

const NOISE: Purpose = Purpose::new("toy");

/// Runs of one problem by one estimator: points are (iteration, value), of the first replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ascent {
    /// p₀.
    pub target: f64,
    /// Who estimates.
    pub estimator: Estimator,
    /// K.
    pub samples: usize,
    /// σ(a).
    pub sigma: Vec<[f64; 2]>,
    /// The estimates of ∂ E f / ∂a.
    pub estimates: Vec<[f64; 2]>,
    /// Gradients that they estimate.
    pub gradients: Vec<[f64; 2]>,
    /// The first estimate of each replicate, all of them at the start.
    pub first: Vec<f64>,
    /// The last σ(a) of each replicate.
    pub last: Vec<f64>,
}

/// ∂ E f / ∂a = (1 − 2p₀) σ(1 − σ).
pub fn gradient(target: f64, a: f64) -> f64 {
    let sigma = sigmoid(a);
    (1.0 - 2.0 * target) * sigma * (1.0 - sigma)
}

/// σ(a) along the ascent of the exact gradient, at each iteration.
///
/// From a = 0 with step η, 2a + 2 sinh a ≈ (1 − 2p₀) η t.
pub fn exact(settings: &AscentSettings, target: f64) -> Vec<f64> {
    let next = |a: &f64| Some(a + settings.step * gradient(target, *a));
    let logits = std::iter::successors(Some(settings.start), next);
    logits.take(settings.iterations + 1).map(sigmoid).collect()
}

/// The runs of all problems by one estimator, K = `samples`; `index` names their random stream.
///
/// # Errors
/// If `go_on` says no.
pub fn ascend<B: AutodiffBackend>(
    settings: &AscentSettings,
    (estimator, samples): (Estimator, usize),
    (seed, index): (u64, u64),
    device: &B::Device,
    go_on: &dyn Fn() -> Result<(), HarnessError>,
) -> Result<Vec<Ascent>, HarnessError> {
    let replicates = settings.replicates;
    let of_copy = |target: &f64| vec![table(*target); replicates];
    let tables: Vec<_> = settings.targets.iter().flat_map(of_copy).collect();
    let mut logits = vec![settings.start; tables.len()];
    let mut ascents: Vec<Ascent> = settings
        .targets
        .iter()
        .map(|&target| Ascent {
            target,
            estimator,
            samples,
            sigma: vec![],
            estimates: vec![],
            gradients: vec![],
            first: vec![],
            last: vec![],
        })
        .collect();
    for iteration in 0..settings.iterations {
        go_on()?;
        let model = OneBit::<B>::new(&logits, &tables, device);
        let mut noise = Stream::new(seed, NOISE, [index, iteration as u64]);
        let estimates = estimator.estimate(&model, samples, &mut noise)?;
        for (ascent, own) in ascents.iter_mut().zip(0..) {
            let copies = own * replicates..(own + 1) * replicates;
            if iteration == 0 {
                ascent.first = estimates[copies.clone()].to_vec();
            }
            if iteration % settings.plot_every == 0 {
                let (at, a) = (iteration as f64, logits[copies.start]);
                ascent.sigma.push([at, sigmoid(a)]);
                ascent.estimates.push([at, estimates[copies.start]]);
                ascent.gradients.push([at, gradient(ascent.target, a)]);
            }
        }
        for (a, estimate) in logits.iter_mut().zip(estimates) {
            *a += settings.step * estimate;
        }
    }
    for (ascent, ends) in ascents.iter_mut().zip(logits.chunks(replicates)) {
        ascent.last = ends.iter().map(|&a| sigmoid(a)).collect();
        let at = settings.iterations as f64;
        ascent.sigma.push([at, ascent.last[0]]);
    }
    Ok(ascents)
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use super::*;
    use crate::kinds::arm_toy::settings::tests::arm_toy;
    use burn::backend::Autodiff;
    use burn_flex::Flex;

    #[test]
    fn the_exact_ascent_obeys_its_law_and_mirrors() {
        let settings = arm_toy().ascent;
        let end = |target: f64| *exact(&settings, target).last().unwrap();
        for (target, sigma) in [(0.49, 0.9706), (0.499, 0.7171)] {
            assert!((end(target) - sigma).abs() < 5e-5);
            assert!((end(target) + end(1.0 - target) - 1.0).abs() < 1e-9);
            let a = (end(target) / (1.0 - end(target))).ln();
            let (left, right) = (2.0 * a + 2.0 * a.sinh(), (1.0 - 2.0 * target) * 2000.0);
            assert!((left / right - 1.0).abs() < 2e-3, "{left} {right}");
        }
        let longer = AscentSettings {
            iterations: 10_000,
            ..settings
        };
        let end = *exact(&longer, 0.49).last().unwrap();
        assert!((end - 0.9948).abs() < 5e-5, "{end}");
    }

    /// ARM's recursion for every copy in plain numbers: (f(b₁) − f(b₂))(u − ½), b₁ = 1[1 − u < σ], b₂ = 1[u < σ].
    fn by_hand(settings: &AscentSettings, seed: u64, index: u64) -> Vec<f64> {
        let copies = settings.targets.len() * settings.replicates;
        let mut logits = vec![settings.start; copies];
        for iteration in 0..settings.iterations {
            let mut stream = Stream::new(seed, NOISE, [index, iteration as u64]);
            // The path, which the gradient in the logit does not depend on.
            stream.fill_uniform_f32(&mut vec![0.0; copies]);
            for (copy, a) in logits.iter_mut().enumerate() {
                let (u, sigma) = (f64::from(stream.uniform_f32()), sigmoid(*a));
                let f = table(settings.targets[copy / settings.replicates]);
                let value = |one: bool| f[usize::from(one)];
                *a += settings.step * (value(1.0 - u < sigma) - value(u < sigma)) * (u - 0.5);
            }
        }
        logits.iter().map(|&a| sigmoid(a)).collect()
    }

    #[test]
    fn a_run_is_the_recursion_written_out_by_hand() {
        let settings = AscentSettings {
            iterations: 60,
            replicates: 7,
            step: 50.0,
            ..arm_toy().ascent
        };
        let run = |seed, index| {
            let arm = (Estimator::Arm, 1);
            let go_on = || Ok(());
            ascend::<Autodiff<Flex>>(&settings, arm, (seed, index), &Default::default(), &go_on)
        };
        let ascents = run(3, 5).unwrap();
        let ends: Vec<f64> = ascents.iter().flat_map(|a| a.last.clone()).collect();
        let error = |seed, index| {
            let pairs = ends.iter().zip(by_hand(&settings, seed, index));
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(error(3, 5) < 1e-9, "{}", error(3, 5));
        assert!(error(3, 6) > 1e-3, "another stream gives other runs");
        assert_eq!(ascents[2].sigma.len(), 60 / settings.plot_every + 1);
        assert_eq!(ascents[2].first.len(), 7);
        assert_eq!(ascents[2].sigma[0], [0.0, 0.5]);
        assert_eq!(ascents[2].gradients[0][1], gradient(0.501, 0.0));
    }

    #[test]
    fn a_stop_is_heeded() {
        let stopped = || Err(HarnessError::Interrupted { epoch: 0 });
        let settings = arm_toy().ascent;
        let arm = (Estimator::Arm, 1);
        let run = ascend::<Autodiff<Flex>>(&settings, arm, (1, 0), &Default::default(), &stopped);
        assert!(matches!(run, Err(HarnessError::Interrupted { .. })));
    }
}
