//! MuProp: a first-order Taylor expansion at the mean field as control variate (Gu, Levine, Sutskever & Mnih 2016).

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables};
use helmholtz_ops::{AutodiffBackend, Values, repeat_rows};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info};

use crate::logits::logit_gradient::{mean_loss, tracked};
use crate::objective::{Drawn, at_least, constant, mean};
use crate::signals::nvil::{local_signals, log_q_factors, q_logits, sum};
use crate::{
    Batch, Controls, ControlsConfig, Declaration, Description, Domain, Estimate, EstimateError,
    Estimator, Factored, Joint, Layered, Learned, Particles, Target,
};

/// The mean field is μ^l = E\[h^l | h^{l−1} = μ^{l−1}\], μ⁰ = x. There the local signal is L̄_l, and its derivative
/// L̄'_l = ∂L̄_l/∂μ^l. On the sampled path m_l = E\[h^l | h^{l−1}\] is the conditional mean, and
///
/// s_l = L_l(h) − η₀ L̄_l − η₁ L̄'_lᵀ (h^l − μ^l) − C_l(h^{l−1}),
/// g_φ = Σ_l s_l ∇ log q(h^l | h^{l−1}) + (η₁ L̄'_l)ᵀ ∇ m_l
///
/// (Gu et al. 2016, equation 5, with the signal of each layer). Unbiased for every η and C that don't depend on h^l, since
/// E[(h^l − const) ∇ log q] = ∇ m_l. η and C are trained on the mean of Σ_l s_l².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MuProp;

impl Declaration for MuProp {
    fn description(&self) -> Description {
        Description {
            name: "muprop",
            label: "MuProp",
            idea: "Taylor expansion at the mean field as control variate",
            target: Target::Elbo,
        }
    }

    fn domain(&self) -> Domain {
        Domain::All
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        particles + layers
    }

    fn controls(&self) -> ControlsConfig {
        Self::CONTROLS
    }
}

impl<B, M> Estimator<B, M> for MuProp
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
        self.estimate(model, learned.trained(), batch.x, batch.particles, noise)
    }
}

impl MuProp {
    /// What it learns: C and (η₀, η₁) of each layer.
    pub const CONTROLS: ControlsConfig = ControlsConfig {
        baselines: true,
        scales: 2,
        ..ControlsConfig::AS_REBAR
    };

    /// One gradient estimate for a batch x `[batch, visible]`, averaged over K draws a datum.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`].
    ///
    /// # Panics
    /// If `controls` are not made of [`CONTROLS`](Self::CONTROLS), or are of fewer layers than the model.
    pub fn estimate<B, M>(
        &self,
        model: &M,
        controls: &Controls<B>,
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
        let logits = q_logits(model, drawn.logits.clone(), &path);
        let log_q = log_q_factors(model, &logits, &path);
        let log_p = model.log_factors(x.clone(), &path);
        let signals = local_signals(&log_p, &log_q);
        let frozen = model.clone().no_grad();
        let taylor = mean_field(&frozen, x.clone(), drawn.logits.detach());

        let variables = model.layers();
        let mut loss = sum(log_p).sum();
        let mut squares: Option<Tensor<B, 1>> = None;
        for (level, ((signal, log_q), point)) in signals.iter().zip(log_q).zip(taylor).enumerate() {
            let input = match level {
                0 => repeat_rows(controls.centred(x.numbers()), rows),
                _ => path.layers()[level - 1].numbers(),
            };
            let mean = variables[level].mean(logits[level].clone());
            let eta = controls.scale(level);
            let (eta_0, eta_1) = (eta.clone().narrow(0, 0, 1), eta.narrow(0, 1, 1));
            let slope = repeat_rows(point.slope, rows);
            let offset = path.layers()[level].numbers() - repeat_rows(point.mean, rows);
            let linear = (slope.clone() * offset).sum_dim(1).reshape([rows]);
            let value = repeat_rows(point.value.reshape([-1, 1]), rows).reshape([rows]);
            let expansion = value * eta_0 + linear * eta_1.clone();
            let signal = Tensor::from_inner(signal.clone())
                - expansion
                - controls.baselines[level].forward(input);
            loss = loss + (signal.clone().detach() * log_q).sum();
            let slope = slope * eta_1.detach().reshape([1, 1]);
            loss = loss + (slope * repeat_rows(mean, rows)).sum();
            let square = signal.square().mean();
            squares = Some(match squares {
                Some(sum) => sum + square,
                None => square,
            });
        }
        Ok(Estimate {
            loss: mean_loss(loss, rows),
            elbo: mean(signals[0].clone()),
            live_rows: rows,
            info: Info::default(),
            controls: squares,
        })
    }
}

/// The local signal of one layer around the mean field, as constants.
struct Point<B: AutodiffBackend> {
    /// μ^l `[batch, values]`.
    mean: Tensor<B, 2>,
    /// L̄_l `[batch]`.
    value: Tensor<B, 1>,
    /// L̄'_l `[batch, values]`.
    slope: Tensor<B, 2>,
}

/// The expansion of each layer's signal, under a model of constant parameters.
fn mean_field<B, M>(model: &M, x: impl Into<Values<B>>, logits: Tensor<B, 2>) -> Vec<Point<B>>
where
    B: AutodiffBackend,
    M: Layered<B> + Factored<B>,
{
    let x: Values<B> = x.into();
    let variables = model.layers();
    let mut below: Vec<Tensor<B, 2>> = Vec::new();
    let mut points = Vec::new();
    for level in 0..variables.len() {
        let logits_here = match level {
            0 => logits.clone(),
            _ => model.logits_above(level, below[level - 1].clone()),
        };
        let mean = variables[level].mean(logits_here).detach().require_grad();
        let mut layers = below.clone();
        layers.push(mean.clone());
        for variables in &variables[level + 1..] {
            let next = model.logits_above(layers.len(), layers[layers.len() - 1].clone());
            layers.push(variables.mean(next));
        }
        let layers = Particles::new(layers);
        let log_p = model.log_factors(x.clone(), &layers);
        let log_q = log_q_factors(model, &q_logits(model, logits.clone(), &layers), &layers);
        let terms = log_p[level..].iter().cloned();
        let terms = terms.chain(log_q[level..].iter().map(|q| q.clone().neg()));
        let value = sum(terms.collect());
        let gradients = value.clone().sum().backward();
        let slope = mean
            .grad(&gradients)
            .expect("the signal depends on the mean");
        let mean = constant(&mean);
        points.push(Point {
            mean: mean.clone(),
            value: value.detach(),
            slope: Tensor::from_inner(slope),
        });
        below.push(mean);
    }
    points
}
