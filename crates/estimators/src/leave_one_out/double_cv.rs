//! Double control variates (Titsias & Shi 2022).

use burn::module::AutodiffModule;
use helmholtz_distributions::{Bits, Noise};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Controls, ControlsConfig, Declaration, Description, Domain, Estimate, EstimateError,
    Estimator, Joint, Layered, Learned, LeaveOneOut, Siblings, Target, Variate,
    estimate_leave_one_out,
};

/// REINFORCE with leave-one-out baselines, f_k + c_k in place of f_k throughout. Here c_k = α ḡ_kᵀ (h_k − μ) is the linear term
/// of f's Taylor expansion with the mean slope ḡ_k = mean_{j≠k} ∂f/∂h_j of the other particles. The estimate is
///
/// (1/K) Σ_k \[(f_k + c_k − mean_{j≠k}(f_j + c_j)) (h_k − μ) − α ḡ_k ∘ μ (1 − μ)\]
///
/// in the logits (Titsias & Shi 2022).
///
/// c has mean zero. As a signal it adds E[α ḡᵀ(h − μ) (h − μ)] = α ḡ ∘ μ (1 − μ), which the last term takes away:
/// unbiased for ∇ELBO at every α. The coefficient α, one a layer, starts at 0, where this is [`Rloo`](crate::Rloo),
/// and is trained on the squared gradient. K ≥ 2 values of f and their derivatives. With several layers each has its
/// c, as [`estimate_leave_one_out`] says; the paper's experiments draw the layers above again for each.
///
/// [`estimate_leave_one_out`]: crate::estimate_leave_one_out
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoubleCv;

impl DoubleCv {
    /// What it learns: α of each layer.
    pub const CONTROLS: ControlsConfig = ControlsConfig {
        coefficients: 1,
        ..ControlsConfig::AS_THE_MODEL
    };
}

impl Declaration for DoubleCv {
    fn description(&self) -> Description {
        Description {
            name: "double-cv",
            label: "Double CV",
            idea: "leave-one-out baselines, with Taylor terms made of the other particles",
            target: Target::Elbo,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn least_particles(&self, _retained: bool) -> usize {
        2
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn controls(&self) -> ControlsConfig {
        Self::CONTROLS
    }
}

impl<B, M> Estimator<B, M> for DoubleCv
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
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
        let Batch { x, particles, .. } = batch;
        estimate_leave_one_out(self, model, learned.trained(), x, particles, noise)
    }
}

impl LeaveOneOut for DoubleCv {
    fn variate<B: AutodiffBackend>(
        &self,
        controls: &Controls<B>,
        level: usize,
        siblings: &Siblings<B>,
    ) -> Variate<B> {
        let [alpha] = controls.coefficients(level);
        let slope = siblings.others(siblings.slopes.clone()) * alpha;
        let means = siblings.means.clone();
        let linear = (slope.clone() * (siblings.bits.clone() - means.clone())).sum_dim(1);
        let variances = means.clone() * (means.neg() + 1.0);
        Variate {
            baseline: linear.clone(),
            signal: linear,
            gradient: (slope * variances).neg(),
        }
    }
}
