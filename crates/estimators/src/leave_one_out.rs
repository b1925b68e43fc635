//! REINFORCE with leave-one-out baselines, and control variates that are made of the other particles.

mod double_cv;
mod rodeo;

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_ops::{AutodiffBackend, Backend, Values, cat, repeat_rows};
use helmholtz_samplers::Info;

use crate::family::*;
use crate::logits::logit_gradient::{fold, mean_loss, plus, surrogate, tracked};
use crate::objective::{Drawn, at_least, constant, mean};
use crate::{Controls, Estimate, EstimateError, Joint, Layered, Particles};

pub use double_cv::DoubleCv;
pub use rodeo::Rodeo;

family! {
    /// An estimator with control variates made of the other particles, chosen at run time.
    Variates {
        DoubleCv(DoubleCv): bits, [DoubleCv];
        Rodeo(Rodeo): bits, [Rodeo];
    }
}

/// One layer of the K paths of each datum, rows particle-major.
pub struct Siblings<B: Backend> {
    /// K.
    pub particles: usize,
    /// Bits h `[rows, bits]`.
    pub bits: Tensor<B, 2>,
    /// μ = σ(a), the mean of the bits given the layer below on the same path `[rows, bits]`.
    pub means: Tensor<B, 2>,
    /// f of the whole path `[rows, 1]`.
    pub values: Tensor<B, 2>,
    /// ∂f/∂h, f as a function of real numbers h, the other layers held `[rows, bits]`.
    pub slopes: Tensor<B, 2>,
}

impl<B: Backend> Siblings<B> {
    /// Of each row, the mean of the K − 1 rows of the same datum's other particles: `[rows, columns]` both.
    pub fn others(&self, rows: Tensor<B, 2>) -> Tensor<B, 2> {
        let count = rows.dims()[0];
        let total = repeat_rows(fold(rows.clone(), count / self.particles), count);
        (total - rows).mul_scalar(1.0 / (self.particles - 1) as f64)
    }

    /// Of each row, the row of the same datum's particle `by` places on, cyclically: `[rows, columns]` both.
    pub fn shifted(&self, rows: Tensor<B, 2>, by: usize) -> Tensor<B, 2> {
        let count = rows.dims()[0];
        let first = by * (count / self.particles);
        let head = rows.clone().narrow(0, 0, first);
        cat(vec![rows.narrow(0, first, count - first), head], 0)
    }
}

/// What one layer adds to the leave-one-out estimator.
pub struct Variate<B: Backend> {
    /// c `[rows, 1]`, added to f where it is another particle's baseline. Its mean given the other particles and the layers below
    /// must be zero.
    pub baseline: Tensor<B, 2>,
    /// Added to f where it is the particle's own signal `[rows, 1]`.
    pub signal: Tensor<B, 2>,
    /// Added to the gradient in the logits `[rows, bits]`. Given the other particles and the layers below, its mean must be minus
    /// that of signal · (h − μ).
    pub gradient: Tensor<B, 2>,
}

/// Control variates for the leave-one-out estimator.
pub trait LeaveOneOut {
    /// The variate of a layer (from 0, nearest the data), with a gradient in what is learned.
    fn variate<B: AutodiffBackend>(
        &self,
        controls: &Controls<B>,
        level: usize,
        siblings: &Siblings<B>,
    ) -> Variate<B>;
}

/// One gradient estimate for a batch x `[batch, visible]` from K ≥ 2 paths h_k ~ q a datum: for each layer
///
/// (1/K) Σ_k [ (f_k + s_k − mean_{j≠k}(f_j + c_j)) (h_k^l − μ_k^l) + v_k^l ]ᵀ ∇ a_l(h_k^{l−1})
///
/// with f as in [`Objective`](crate::Objective), c = Σ_l c^l the baselines, s = Σ_l s^l the signals and v^l the gradients of the
/// layers' [`Variate`]s; and g_θ = (1/K) Σ_k ∇ log p(x, h_k).
///
/// Unbiased for ∇ELBO, with any number of layers. Given the other particles, h_k^l − μ_k^l has mean zero whatever
/// stands below. So the baselines of the others, whose own c have mean zero, drop out, and so do the signals of other
/// layers. That of the same layer is undone by v. What is learned descends the squares of the gradient in the logits. Of the first layer,
/// whose logits all particles of a datum share, of their mean over k; of the others, of each path.
///
/// # Errors
/// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`].
///
/// # Panics
/// If `controls` are not what the estimator learns, or are of fewer layers than the model.
pub fn estimate_leave_one_out<B, M, L>(
    estimator: &L,
    model: &M,
    controls: &Controls<B>,
    x: impl Into<Values<B>>,
    particles: usize,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
    L: LeaveOneOut,
{
    let x: Values<B> = x.into();
    at_least(2, particles, &x)?;
    let drawn = Drawn::new(model, &x, particles, noise);
    let (path, rows) = (&drawn.path, drawn.rows);
    let layers = siblings(model, &drawn, &x, particles);
    let variates: Vec<Variate<B>> = layers
        .iter()
        .enumerate()
        .map(|(level, siblings)| estimator.variate(controls, level, siblings))
        .collect();

    let values = layers[0].values.clone();
    let (mut own, mut baseline) = (values.clone(), values.clone());
    for variate in &variates {
        own = own + variate.signal.clone();
        baseline = baseline + variate.baseline.clone();
    }
    let signal = own - layers[0].others(baseline);

    let batch = rows / particles;
    let mut gradients = Vec::with_capacity(layers.len());
    let mut variance: Option<Tensor<B, 1>> = None;
    for (level, (siblings, variate)) in layers.iter().zip(variates).enumerate() {
        let score = siblings.bits.clone() - siblings.means.clone();
        let gradient = signal.clone() * score + variate.gradient;
        let shared = match level {
            0 => fold(gradient.clone(), batch),
            _ => gradient.clone(),
        };
        variance = Some(plus(variance, shared.square().sum()));
        gradients.push(gradient.inner());
    }
    let surrogate = surrogate(model, drawn.logits.clone(), path, gradients);
    let log_p = model.log_joint(x, &tracked(path));
    let scale = 1.0 / (particles * rows) as f64;
    Ok(Estimate {
        loss: mean_loss(surrogate + log_p.sum(), rows),
        elbo: mean(values.reshape([rows]).inner()),
        live_rows: rows,
        info: Info::default(),
        controls: variance.map(|variance| variance.mul_scalar(scale)),
    })
}

/// The layers of the paths as constants, with f and its derivative in each.
fn siblings<B, M>(
    model: &M,
    drawn: &Drawn<B, M>,
    x: &Values<B>,
    particles: usize,
) -> Vec<Siblings<B>>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
{
    let frozen = model.clone().no_grad();
    let layers = drawn.path.layers().iter();
    let layers = layers.map(|layer| Tensor::<B, 2>::from_inner(layer.numbers()).require_grad());
    let layers: Vec<Tensor<B, 2>> = layers.collect();
    let path = Particles::new(layers.clone());
    let logits = drawn.logits.clone().detach();
    let value = frozen.log_joint(x.clone(), &path) - frozen.log_q(&logits, &path);
    let gradients = value.clone().sum().backward();
    let values = value.detach().reshape([drawn.rows, 1]);

    let levels = layers.iter().zip(drawn.objective.layers());
    let siblings = levels.enumerate().map(|(level, (bits, variables))| {
        let slopes = bits.grad(&gradients).expect("f depends on every layer");
        let logits = drawn.objective.logits(&drawn.path.layers()[..level]);
        let means = repeat_rows(variables.mean(logits), drawn.rows);
        Siblings {
            particles,
            bits: constant(bits),
            means: Tensor::from_inner(means),
            values: values.clone(),
            slopes: Tensor::from_inner(slopes),
        }
    });
    siblings.collect()
}
