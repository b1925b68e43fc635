//! NVIL: local learning signals with learned baselines (Mnih & Gregor 2014).

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables};
use helmholtz_ops::{AutodiffBackend, Backend, Values, repeat_rows};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info};

use crate::logits::logit_gradient::{mean_loss, tracked};
use crate::objective::{Drawn, at_least, mean};
use crate::{
    Batch, Controls, ControlsConfig, Declaration, Description, Domain, Estimate, EstimateError,
    Estimator, Factored, Joint, Layered, Learned, Moments, Particles, Target,
};

/// g_φ = Σ_l s_l ∇ log q(h^l | h^{l−1}) with s_l = (L_l − C_l(h^{l−1}) − c_l) / max(1, √v_l), and g_θ = ∇ log p(x, h). Here
/// L_l = Σ_{j ≥ l−1} log p(h^j | h^{j+1}) − Σ_{j ≥ l} log q(h^j | h^{j−1}) is the local signal, with h⁰ = x (Mnih & Gregor 2014,
/// sections 2.3 and 2.4).
///
/// What L_l leaves out of f does not depend on h^l given h^{l−1}. C_l is a net trained on the square of L_l − C_l −
/// c_l. The numbers c and v are running averages of the batches **before**, so that with `normalise` off the estimate
/// is unbiased. The divisor does not depend on the draw either, but scales the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nvil {
    /// Whether the signal is divided by max(1, √v).
    pub normalise: bool,
}

impl Declaration for Nvil {
    fn description(&self) -> Description {
        Description {
            name: "nvil",
            label: "NVIL",
            idea: "local signals, learned baselines; normalised, which scales the gradient",
            target: Target::Elbo,
        }
    }

    fn domain(&self) -> Domain {
        Domain::All
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn controls(&self) -> ControlsConfig {
        Self::CONTROLS
    }

    /// Without the division by a running deviation, which scales the gradient.
    fn claimed(self) -> Self {
        Self { normalise: false }
    }
}

impl<B, M> Estimator<B, M> for Nvil
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B> + Factored<B>,
    M::InnerModule: Layered<B::InnerBackend> + Joint<B::InnerBackend>,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        _chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        let (controls, moments) = learned.both();
        self.estimate(model, controls, moments, batch.x, batch.particles, noise)
    }
}

impl Nvil {
    /// What it learns.
    pub const CONTROLS: ControlsConfig = ControlsConfig {
        baselines: true,
        ..ControlsConfig::AS_REBAR
    };

    /// One gradient estimate for a batch x `[batch, visible]`, averaged over K draws a datum. `moments`, one a layer, are
    /// moved on; the estimate's `controls` is the baselines' loss.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`].
    ///
    /// # Panics
    /// If `controls` are not made of [`CONTROLS`](Self::CONTROLS), or they or `moments` are of fewer layers than the model.
    pub fn estimate<B, M>(
        &self,
        model: &M,
        controls: &Controls<B>,
        moments: &mut [Moments],
        x: impl Into<Values<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: AutodiffModule<B> + Layered<B> + Factored<B>,
        M::InnerModule: Layered<B::InnerBackend> + Joint<B::InnerBackend>,
    {
        let x: Values<B> = x.into();
        at_least(1, particles, &x)?;
        let drawn = Drawn::new(model, &x, particles, noise);
        let (path, rows) = (tracked::<B>(&drawn.path), drawn.rows);
        let log_q = log_q_factors(model, &q_logits(model, drawn.logits, &path), &path);
        let log_p = model.log_factors(x.clone(), &path);
        let signals = local_signals(&log_p, &log_q);

        let mut loss = sum(log_p).sum();
        let mut controls_loss: Option<Tensor<B, 1>> = None;
        for (level, (signal, log_q)) in signals.iter().zip(log_q).enumerate() {
            let input = match level {
                0 => repeat_rows(controls.centred(x.numbers()), rows),
                _ => path.layers()[level - 1].numbers(),
            };
            let baseline = controls.baselines[level].forward(input);
            let moments = &mut moments[level];
            let centred = Tensor::from_inner(signal.clone()) - baseline;
            let residual = centred.sub_scalar(moments.mean);
            let mut coefficient = residual.clone().detach();
            if self.normalise {
                coefficient = coefficient.div_scalar(moments.scale());
            }
            loss = loss + (coefficient * log_q).sum();
            let squares = residual.clone().square().mean();
            controls_loss = Some(match controls_loss {
                Some(sum) => sum + squares,
                None => squares,
            });
            let uncentred: Vec<f64> = residual.into_data().iter::<f64>().collect();
            let signals: Vec<f64> = uncentred.iter().map(|s| s + moments.mean).collect();
            moments.update(&signals);
        }
        Ok(Estimate {
            loss: mean_loss(loss, rows),
            // L_1 is f.
            elbo: mean(signals[0].clone()),
            live_rows: rows,
            info: Info::default(),
            controls: controls_loss,
        })
    }
}

/// Logits of q(h^l | h^{l−1}) for each layer, on a path: those of the first as given, `[rows, logits]` above it.
pub(crate) fn q_logits<B: Backend, M: Layered<B>>(
    model: &M,
    first: Tensor<B, 2>,
    path: &Particles<B>,
) -> Vec<Tensor<B, 2>> {
    let below = &path.layers()[..path.layers().len() - 1];
    let above = below.iter().enumerate();
    let above = above.map(|(level, below)| model.logits_above(level + 1, below.clone()));
    [first].into_iter().chain(above).collect()
}

/// log q(h^l | h^{l−1}) for each layer: `[rows]` each.
pub(crate) fn log_q_factors<B: Backend, M: Layered<B>>(
    model: &M,
    logits: &[Tensor<B, 2>],
    path: &Particles<B>,
) -> Vec<Tensor<B, 1>> {
    let layers = model.layers().into_iter().zip(logits).zip(path.layers());
    layers
        .map(|((variables, logits), layer)| variables.log_prob(logits.clone(), layer.clone()))
        .collect()
}

/// The sum of the factors: `[rows]`.
pub(crate) fn sum<B: Backend>(factors: Vec<Tensor<B, 1>>) -> Tensor<B, 1> {
    let sum = factors.into_iter().reduce(|a, b| a + b);
    sum.expect("a model has a factor")
}

/// L_l of each layer, without gradient: `[rows]` each. L_1 is f.
pub(crate) fn local_signals<B: AutodiffBackend>(
    log_p: &[Tensor<B, 1>],
    log_q: &[Tensor<B, 1>],
) -> Vec<Tensor<B::InnerBackend, 1>> {
    let inner = |tensor: &Tensor<B, 1>| tensor.clone().inner();
    let mut signal = inner(&log_p[log_p.len() - 1]);
    let mut signals = Vec::with_capacity(log_q.len());
    for (log_p, log_q) in log_p[..log_q.len()].iter().zip(log_q).rev() {
        signal = signal + inner(log_p) - inner(log_q);
        signals.push(signal.clone());
    }
    signals.reverse();
    signals
}
