//! RODEO: control variates from discrete Stein operators (Shi, Zhou, Hwang, Titsias & Mackey 2022).

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise};
use helmholtz_ops::{AutodiffBackend, cat};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Controls, ControlsConfig, Declaration, Description, Domain, Estimate, EstimateError,
    Estimator, Joint, Layered, Learned, LeaveOneOut, Siblings, Target, Variate,
    estimate_leave_one_out,
};

/// REINFORCE with leave-one-out baselines and two control variates of mean zero:
///
/// (1/K) Σ_k \[(f_k − mean_{j≠k}(f_j + α (A H_j)(h_j))) (h_k − μ) + β (A (H̃_k ∇ log q))(h_k)\]
///
/// in the logits (Shi et al. 2022). A is the Gibbs operator, which for bits is Barker's too: the mean over bits i of what
/// redrawing bit i from q changes,
///
/// (A g)(h) = (1/D) Σ_i |h_i − μ_i| (g(h with bit i flipped) − g(h)),
///
/// with E_q\[A g\] = 0 for every g, since q is invariant under the redrawing. The function g may be made of other particles. H_k and H̃_k
/// are the two outputs of a net of 100 leaky-rectified units on f_j and the linear surrogate
/// ∂f/∂h_jᵀ(h − h_j), averaged over j ≠ k. No other value of f is needed at the flipped bits.
///
/// Unbiased for ∇ELBO whatever is learned. The net and the α and β of each layer, which start at 0, where this is
/// [`Rloo`](crate::Rloo), are trained on the squared gradient. K ≥ 2 values of f and their derivatives, and K (K − 1) (D + 1) of the
/// small net. As a function of the linear surrogate that net is a linear spline ([`helmholtz_ops::linear_splines`]). Each of its values
/// then costs a search among 100 knots.
///
/// With several layers A redraws the bits of a layer given the one below, and the surrogate of a layer holds the others. The
/// paper's experiments draw the layers above again instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rodeo;

impl Rodeo {
    /// What it learns: α and β of each layer, and the nets.
    pub const CONTROLS: ControlsConfig = ControlsConfig {
        coefficients: 2,
        surrogates: true,
        ..ControlsConfig::AS_THE_MODEL
    };
}

impl Declaration for Rodeo {
    fn description(&self) -> Description {
        Description {
            name: "rodeo",
            label: "RODEO",
            idea: "leave-one-out baselines, with discrete Stein operators of learned surrogates",
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

impl<B, M> Estimator<B, M> for Rodeo
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

impl LeaveOneOut for Rodeo {
    fn variate<B: AutodiffBackend>(
        &self,
        controls: &Controls<B>,
        level: usize,
        siblings: &Siblings<B>,
    ) -> Variate<B> {
        let [alpha, beta] = controls.coefficients(level);
        let (bits, means) = (siblings.bits.clone(), siblings.means.clone());
        let [scalar, vector] = surrogates(controls, level, siblings);
        let score = bits.clone() - means;
        // The probability of the other value of a bit.
        let turns = score.clone().abs();
        let step = bits.mul_scalar(-2.0).add_scalar(1.0);
        let share = 1.0 / score.dims()[1] as f64;

        let scalar = turns.clone() * (scalar.turned - scalar.here);
        let difference = turns.clone() * (vector.turned.clone() - vector.here);
        // (h with bit i turned) − μ is h − μ and the step of bit i.
        let vector = score * difference.sum_dim(1) + turns * vector.turned * step;
        Variate {
            baseline: scalar.sum_dim(1).mul_scalar(share) * alpha,
            signal: siblings.values.zeros_like(),
            gradient: vector.mul_scalar(share) * beta,
        }
    }
}

/// A surrogate of f made of the other particles.
struct Surrogate<B: AutodiffBackend> {
    /// At h `[rows, 1]`.
    here: Tensor<B, 2>,
    /// At h with each of its bits turned `[rows, bits]`.
    turned: Tensor<B, 2>,
}

/// H and H̃ of a layer, at h and with each of its bits turned.
fn surrogates<B: AutodiffBackend>(
    controls: &Controls<B>,
    level: usize,
    siblings: &Siblings<B>,
) -> [Surrogate<B>; 2] {
    let bits = siblings.bits.clone();
    let [rows, count] = bits.dims();
    let (others, batch) = (siblings.particles - 1, rows / siblings.particles);
    let step = bits.clone().mul_scalar(-2.0).add_scalar(1.0);
    let linear = (1..=others).map(|by| {
        let of_other = |tensor: &Tensor<B, 2>| siblings.shifted(tensor.clone(), by);
        let slopes = of_other(&siblings.slopes);
        let here = (slopes.clone() * (bits.clone() - of_other(&siblings.bits))).sum_dim(1);
        cat(vec![here.clone(), here + slopes * step.clone()], 1)
    });
    let linear = cat(linear.collect(), 0);
    let other = |by| (0..rows).map(move |row| (row + by * batch) % rows);
    let others_of_rows: Vec<usize> = (1..=others).flat_map(other).collect();
    let net = &controls.surrogates[level];
    let sum = net.along_first(linear, &others_of_rows, rows, siblings.values.clone());
    let mean = sum.mul_scalar(1.0 / others as f64);
    [0, 1].map(|output| {
        let own = mean.clone().narrow(0, output, 1).reshape([rows, count + 1]);
        Surrogate {
            here: own.clone().narrow(1, 0, 1),
            turned: own.narrow(1, 1, count),
        }
    })
}
