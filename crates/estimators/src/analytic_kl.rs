//! f = log p(x | h) − KL(q(h | x) ‖ p(h)) in place of log p(x, h) − log q(h | x): the divergence, and its gradient, in closed
//! form.
//!
//! Both have the same mean over h ~ q, the ELBO, so that an unbiased estimator stays unbiased. The released codes of ARM (Yin & Zhou
//! 2019) for categorical variables and for straight-through Gumbel-softmax, and of Ou & Song (2020) for the latter, train so.

use burn::tensor::Tensor;
use helmholtz_distributions::Variables;
use helmholtz_ops::{Backend, Values};

use crate::{EstimateError, Factored, Layered, Particles};

/// KL(q(h | x) ‖ p(h)) of a model of one stochastic layer, nats, with its gradient: `[batch]`, of data x `[batch, visible]` and
/// the logits of q `[batch, logits]`.
///
/// Both laws are of one exponential family, so that log q(h) − log p(h) is affine in h. Hence KL = log q(m) − log p(m) at
/// m = E_q\[h\].
///
/// # Errors
/// [`EstimateError::SeveralLayers`]: the divergence of several layers is no sum over variables.
pub fn kl_to_prior<B, M>(
    model: &M,
    x: impl Into<Values<B>>,
    logits: Tensor<B, 2>,
) -> Result<Tensor<B, 1>, EstimateError>
where
    B: Backend,
    M: Layered<B> + Factored<B>,
{
    let x: Values<B> = x.into();
    let [variables] = model.layers()[..] else {
        let layers = model.layers().len();
        return Err(EstimateError::SeveralLayers { layers });
    };
    let means = variables.mean(logits.clone());
    let prior = model
        .prior_logits(x, &Particles::new(vec![means.clone()]))
        .remove(0);
    let of_p = variables.log_prob(prior, means.clone());
    Ok(variables.log_prob(logits, means) - of_p)
}
