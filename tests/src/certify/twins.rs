//! Estimators that are wrong in one place, each beside the one that it is a twin of. Their certificates must fail.

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_estimators::{
    Coefficient, Control, Entry, Joint, Jsa, JsaKernel, Layered, LogitGradient, Method, Model, Msc, Nvil,
    Objective, Outcome, Rebar, Reinforce, Rloo, Vimco, Weighting, estimate, estimate_logits,
};
use helmholtz_ops::{Backend, Values};
use helmholtz_random::{Chance, Stream};
use helmholtz_samplers::{FrozenReferenceMis, IndexKernel, Info, log_sum_exp};
use helmholtz_sbn::Sbn;

use super::unconditional::Unconditional;
use super::{Subject, claimed, estimated, largest_t, mean_of};
use crate::Tape;
use crate::production::held;

/// A fault, and how far it is seen.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The estimator of the catalogue that it is a twin of.
    pub of: &'static str,
    /// What is wrong.
    pub fault: &'static str,
    /// The largest |mean − claimed| in standard errors.
    pub t: f64,
}

/// A weighted estimator with its coefficients changed after the fact, given the log-weights.
pub struct Changed<W>(pub W, pub fn(&[f64], &mut [Coefficient]));

impl<W: Weighting> Weighting for Changed<W> {
    fn proposals(&self, particles: usize, retained: bool) -> usize {
        self.0.proposals(particles, retained)
    }

    fn keeps_chains(&self) -> bool {
        self.0.keeps_chains()
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut impl Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let outcome = self.0.weigh(log_w, retained, chance, coefficients);
        (self.1)(log_w, coefficients);
        outcome
    }
}

/// VIMCO without the direct derivative of its bound.
pub const VIMCO_WITHOUT_DIRECT_TERM: Changed<Vimco> =
    Changed(Vimco { arithmetic: false }, |_, coefficients| {
        coefficients.iter_mut().for_each(|c| c.phi += c.theta)
    });

/// RLOO with each particle's own value in its baseline.
pub const RLOO_WITH_ITS_OWN: Changed<Rloo> = Changed(Rloo, |log_w, coefficients| {
    let count = log_w.len() as f64;
    let mean = log_w.iter().sum::<f64>() / count;
    for (c, l) in coefficients.iter_mut().zip(log_w) {
        c.phi = (l - mean) / count;
    }
});

/// REINFORCE with the first particle's signal on every score.
pub const REINFORCE_WITH_A_STALE_SIGNAL: Changed<Reinforce> =
    Changed(Reinforce { centred: false }, |log_w, coefficients| {
        let count = log_w.len() as f64;
        coefficients
            .iter_mut()
            .for_each(|c| c.phi = log_w[0] / count);
    });

/// ARM with the complement of b₂ for b₁.
pub struct ComplementedArm;

impl LogitGradient<Bits> for ComplementedArm {
    fn layer<B: Backend, M: Layered<B, Variables = Bits> + Joint<B>>(
        &self,
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        _particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2> {
        let bits = objective.layers()[below.len()];
        let u = objective.uniforms(rows, bits.uniforms(), noise);
        let second = bits.sample(objective.logits(below), u.clone()).numbers();
        let mut value = |layer: Tensor<B, 2>| {
            let layers = [below, &[layer.into()]].concat();
            objective.value(&objective.complete(layers, rows, noise))
        };
        let difference = value(second.clone().neg() + 1.0) - value(second);
        (u - 0.5) * difference.reshape([rows, 1])
    }
}

/// Multiple-trial Metropolis with the chosen trial left out of the denominator and nothing in its place.
#[derive(Clone, Copy, Debug)]
pub struct WithoutCurrent;

impl JsaKernel for WithoutCurrent {}

impl IndexKernel for WithoutCurrent {
    fn run(
        &self,
        _log_w_current: f64,
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let chosen = chance.choose(log_w_proposals);
        let accepted = chosen.filter(|&j| {
            let others = log_w_proposals.iter().enumerate().filter(|&(i, _)| i != j);
            let all = log_sum_exp(log_w_proposals.iter().copied());
            chance.accept(all - log_sum_exp(others.map(|(_, &l)| l)))
        });
        visits.clear();
        visits.push(accepted.map_or(0, |j| j as u32 + 1));
        Info::default()
    }
}

/// Conditional importance sampling without the state that it conditions on.
pub const MSC_WITHOUT_THE_STATE: Changed<Msc> = Changed(Msc, |_, coefficients| {
    let others: f64 = coefficients[1..].iter().map(|c| c.phi).sum();
    let share = |c: f64| c / others;
    for c in &mut coefficients[1..] {
        (c.theta, c.phi) = (share(c.theta), share(c.phi));
    }
    (coefficients[0].theta, coefficients[0].phi) = (0.0, 0.0);
});

/// The twin that every claim has: f without log p(h^L), held against the gradient with it. `flat` is the subject mistaken for
/// one with an even prior. Held in φ, where something is claimed of it: in θ the prior's own gradient gives it away.
pub fn without_prior<M: Model<Tape>>(entry: &Entry, flat: &Subject<M>) -> Option<Twin> {
    let (exact, among) = claimed(entry.target, flat)?;
    let phi = flat.phi.clone();
    let among = if among.contains(&phi.start) {
        phi
    } else {
        among
    };
    let t = largest_t(&estimated(entry, flat).0, exact, among);
    let (of, fault) = (entry.name, "f without log p(h)");
    Some(Twin { of, fault, t })
}

/// All others, on a model of bits.
pub fn all(subject: &Subject<Sbn<Tape>>) -> Vec<Twin> {
    let frozen = Jsa {
        kernel: FrozenReferenceMis,
        stage1_extra: false,
    };
    let trials = Jsa {
        kernel: WithoutCurrent,
        stage1_extra: false,
    };
    let rebar = Rebar {
        control: Control::Relaxed,
        tied: true,
    };
    let controls = held(&subject.learned(&Method::Rebar(rebar))).controls;
    let nvil = Method::Nvil(Nvil { normalise: true });
    let mut learned = subject.learned(&nvil);
    for moments in &mut learned.moments {
        moments.variance = 4.0;
    }
    let (elbo, bound) = (&subject.elbo, &subject.bound_of_two);
    let (vimco, rloo) = (VIMCO_WITHOUT_DIRECT_TERM, RLOO_WITH_ITS_OWN);
    let reinforce = REINFORCE_WITH_A_STALE_SIGNAL;
    vec![
        weighted(subject, "vimco", "without its direct term", &vimco, bound),
        weighted(
            subject,
            "rloo",
            "its own sample in the baseline",
            &rloo,
            elbo,
        ),
        weighted(
            subject,
            "reinforce",
            "the first particle's signal on every score",
            &reinforce,
            elbo,
        ),
        weighted(
            subject,
            "jsa",
            "the accept test against the first state's weight",
            &frozen,
            &subject.inclusive,
        ),
        weighted(
            subject,
            "jsa-mtmis",
            "the chosen trial's place in the denominator left empty",
            &trials,
            &subject.inclusive,
        ),
        weighted(
            subject,
            "msc",
            "without the chain's state among the particles",
            &MSC_WITHOUT_THE_STATE,
            &subject.inclusive,
        ),
        twin(
            subject,
            "rebar-tied",
            "without the conditional draw",
            elbo,
            |stream| {
                subject.gradient(|model, x| {
                    let controls = controls.as_ref().expect("what REBAR learns");
                    rebar.estimate(&Unconditional::new(model), controls, x, 2, stream)
                })
            },
        ),
        twin(
            subject,
            "arm",
            "the complement of one latent for the other",
            elbo,
            |stream| {
                subject.gradient(|model, x| estimate_logits(&ComplementedArm, model, x, 2, stream))
            },
        ),
        twin(subject, "nvil", "normalisation left on", elbo, |stream| {
            subject.estimate(&nvil, &learned, 2, stream)
        }),
    ]
}

fn weighted<M: Model<Tape>>(
    subject: &Subject<M>,
    of: &'static str,
    fault: &'static str,
    wrong: &impl Weighting,
    exact: &[f64],
) -> Twin {
    // Several moves: a frozen reference is no fault in the first.
    let (kept, particles) = match wrong.keeps_chains() {
        true => (true, 4),
        false => (false, 2),
    };
    twin(subject, of, fault, exact, |stream| {
        subject.with_chains(kept, stream, |chains, noise, chance| {
            subject.gradient(|model, x| estimate(wrong, model, x, chains, particles, noise, chance))
        })
    })
}

fn twin<M: Model<Tape>>(
    subject: &Subject<M>,
    of: &'static str,
    fault: &'static str,
    exact: &[f64],
    wrong: impl FnMut(&mut Stream) -> Vec<f64>,
) -> Twin {
    let t = largest_t(&mean_of(wrong), exact, 0..subject.elbo.len());
    Twin { of, fault, t }
}
