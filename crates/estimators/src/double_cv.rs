//! Double control variates (Titsias & Shi 2022).

use helmholtz_ops::AutodiffBackend;

use crate::{Controls, ControlsConfig, LeaveOneOut, Siblings, Variate};

/// REINFORCE with leave-one-out baselines, f_k + c_k in place of f_k throughout, c_k = α ḡ_kᵀ (h_k − μ) the linear term of f's Taylor
/// expansion with the mean slope ḡ_k = mean_{j≠k} ∂f/∂h_j of the other particles:
///
/// (1/K) Σ_k (f_k + c_k − mean_{j≠k}(f_j + c_j)) (h_k − μ) − α ḡ_k ∘ μ (1 − μ)
///
/// in the logits (Titsias & Shi 2022).
///
/// c has mean zero; as a signal it adds E[α ḡᵀ(h − μ) (h − μ)] = α ḡ ∘ μ (1 − μ), which the last term takes away: unbiased for
/// ∇ELBO at every α. α, one a layer, starts at 0, where this is [`Rloo`](crate::Rloo), and is trained on the squared gradient. K ≥ 2
/// values of f and their derivatives. With several layers each has its c, as [`estimate_leave_one_out`] says; the paper's
/// experiments draw the layers above again for each.
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
