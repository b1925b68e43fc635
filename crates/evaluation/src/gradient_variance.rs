//! The variance of gradient estimates.

use std::time::Instant;

use burn::tensor::Tensor;
use helmholtz_estimators::{Batch, Chains, EstimateError, Estimator, Learned, Parts};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::ChainStore;
use serde::{Deserialize, Serialize};

use crate::flat::Flat;
use crate::spread::Spread;

const NOISE: Purpose = Purpose::new("variance");

/// How often an estimate is made again, and what names its draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replication {
    /// R, at least 2.
    pub replicates: usize,
    /// Names the streams, with the number of the replicate: the first R of more are the same.
    pub seed: u64,
}

/// The variance of an estimate of the gradient in one group of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variance {
    /// Numbers in the group.
    pub parameters: usize,
    /// V = Σ_i 1/(R−1) Σ_r (g_ri − ḡ_i)², the sample variance of each parameter i over R replicates, summed.
    pub variance: f64,
    /// The standard error of V, by batch means over at most 50 equal stretches of replicates, a remainder left out.
    pub standard_error: f64,
    /// √max(0, ‖ḡ‖² − V/R): the norm of the mean gradient, less what the noise left in ḡ adds.
    pub mean_norm: f64,
}

impl Variance {
    fn of(spread: &Spread) -> Self {
        Self {
            parameters: spread.components(),
            variance: spread.variance(),
            standard_error: spread.standard_error(),
            mean_norm: spread.mean_norm(),
        }
    }

    /// ln V and its standard error, that of V over V.
    pub fn ln(&self) -> (f64, f64) {
        (self.variance.ln(), self.standard_error / self.variance)
    }
}

/// The variance of an estimate of the whole gradient, and what an estimate costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientVariance {
    /// Of the generative parameters.
    pub theta: Variance,
    /// Of the inference model's.
    pub phi: Variance,
    /// R, less than asked for if it was stopped.
    pub replicates: usize,
    /// Seconds of one estimate with its backward pass: the median over replicates.
    pub seconds: f64,
}

impl GradientVariance {
    /// The trace of the estimate's covariance, V_θ + V_φ.
    pub fn total(&self) -> f64 {
        self.theta.variance + self.phi.variance
    }

    /// V_θ + V_φ times what one estimate costs. The mean of n estimates has an nth of the variance at n times the
    /// cost. So of two estimators of one gradient the one with the smaller product gives the same precision cheaper.
    pub fn merit(&self, cost: f64) -> f64 {
        self.total() * cost
    }
}

/// The variance of the gradient of a loss that is drawn anew for each replicate, the parameters of `model` staying as they
/// are. `loss` draws from the two streams that it is given, noise and chance, named by (seed, replicate).
///
/// Each gradient is taken to f64 and then forgotten: memory is that of a gradient, whatever R. Parameters that are neither
/// generative nor the inference model's are left out. `progress` hears how many replicates are done; once it answers false
/// those are all. `None` if they are fewer than two.
///
/// # Errors
/// What `loss` reports.
pub fn gradient_variance<B, M, E>(
    model: &M,
    replication: &Replication,
    mut loss: impl FnMut(&mut Stream, &mut Stream) -> Result<Tensor<B, 1>, E>,
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<GradientVariance>, E>
where
    B: AutodiffBackend,
    M: Parts<B>,
{
    let (generative, inference) = (model.generative(), model.inference());
    let (mut theta, mut phi) = (Spread::default(), Spread::default());
    let mut seconds = Vec::with_capacity(replication.replicates);
    for replicate in 0..replication.replicates as u64 {
        let stream = |part| Stream::new(replication.seed, NOISE, [replicate, part]);
        let start = Instant::now();
        let loss = loss(&mut stream(0), &mut stream(1))?;
        let device = loss.device();
        let gradients = loss.backward();
        // What a failed device computed is not timed right, and reading it below says so.
        let _ = B::sync(&device);
        seconds.push(start.elapsed().as_secs_f64());
        theta.push(&Flat::of(model, &generative, &gradients));
        phi.push(&Flat::of(model, &inference, &gradients));
        if !progress(seconds.len()) {
            break;
        }
    }
    if seconds.len() < 2 {
        return Ok(None);
    }
    seconds.sort_by(f64::total_cmp);
    Ok(Some(GradientVariance {
        theta: Variance::of(&theta),
        phi: Variance::of(&phi),
        replicates: seconds.len(),
        seconds: seconds[seconds.len() / 2],
    }))
}

/// [`gradient_variance`] of an estimator on one mini-batch. What it learns beside the model stays as it is, running averages
/// too; its gradient is taken and thrown away, so that an estimate costs what it costs in training.
///
/// A chain store moves on from replicate to replicate. With [`Held`](crate::Held) around it every replicate starts
/// from the same states, and the variance is the one given these. Without, the states are the chain's own, and the
/// variance is the marginal one. It is too small by a factor 1 − (τ−1)/(R−1) where the gradients have the
/// autocorrelation time τ.
///
/// # Errors
/// What the method reports.
pub fn method_variance<B, M, S>(
    method: &impl Estimator<B, M>,
    model: &M,
    learned: &Learned<B>,
    batch: Batch<'_, B, S>,
    replication: &Replication,
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<GradientVariance>, EstimateError>
where
    B: AutodiffBackend,
    M: Parts<B>,
    S: ChainStore + ?Sized,
{
    let Batch {
        x,
        mut chains,
        particles,
        epoch,
        analytic_kl,
    } = batch;
    let loss = |noise: &mut Stream, chance: &mut Stream| {
        let chains = chains.as_mut().map(|chains| Chains {
            store: &mut *chains.store,
            rows: chains.rows,
        });
        let batch = Batch {
            x: x.clone(),
            chains,
            particles,
            epoch,
            analytic_kl,
        };
        let estimate = method.estimate(model, &mut learned.clone(), batch, noise, chance)?;
        if let Some(controls) = estimate.controls {
            // As in training; it also frees their tape.
            controls.backward();
        }
        Ok(estimate.loss)
    };
    gradient_variance(model, replication, loss, progress)
}
