//! Estimators that are wrong in one place, each beside the one that it is a twin of. Their certificates must fail.

use burn::tensor::Tensor;
use helmholtz_categorical_vae::CategoricalVae;
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_estimators::{
    Ar, Arms, Ars, Arsm, Batch, Coefficient, Control, Controls, Declaration, Disarm, DisarmIw,
    DisarmTree, DoubleCv, Entry, Estimator, Joint, Jsa, JsaKernel, Layered, Learned, LeaveOneOut,
    LogitGradient, Logits, Method, Model, Msc, Nvil, Objective, Outcome, Ovis, OvisMonteCarlo,
    Particles, Rebar, Reinforce, ReinforceBound, Rloo, Rodeo, Siblings, Signals, Target, Unordered,
    VarGrad, Variate, Vimco, WakeSleep, Weighting, estimate, estimate_leave_one_out,
    estimate_logits,
};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_random::{Chance, Stream};
use helmholtz_samplers::{FrozenReferenceMis, IndexKernel, Info, log_sum_exp};
use helmholtz_sbn::Sbn;

use helmholtz_invariance::gradients::{Subject, claim, estimated, held, largest_t, mean_of};

use super::unconditional::Unconditional;
use crate::{Inner, Tape};

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
        chance: &mut dyn Chance,
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

/// VarGrad with the population variance, which divides by K.
pub const VARGRAD_OF_THE_POPULATION: Changed<VarGrad> = Changed(VarGrad, |log_w, coefficients| {
    let count = log_w.len() as f64;
    coefficients
        .iter_mut()
        .for_each(|c| c.phi *= (count - 1.0) / count);
});

/// OVIS by Monte Carlo with the particle's own draw among the further ones.
pub const OVIS_WITH_ITS_OWN: Changed<OvisMonteCarlo> =
    Changed(OvisMonteCarlo, |log_w, coefficients| {
        let further = (log_w.len() / 2) as f64;
        coefficients
            .iter_mut()
            .for_each(|c| c.phi *= further / (further + 1.0));
    });

/// A step of conditional importance sampling from q: coupled chains without the correction.
pub struct OneStep;

impl Weighting for OneStep {
    fn proposals(&self, particles: usize, _retained: bool) -> usize {
        particles + 1
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        coefficients.fill(Coefficient::default());
        if let Some(chosen) = chance.choose(log_w) {
            coefficients[chosen] = Coefficient {
                theta: 1.0,
                phi: 1.0,
            };
        }
        Outcome::default()
    }
}

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

/// VIMCO with the arithmetic mean, without the direct derivative of its bound.
pub const ARITHMETIC_VIMCO_WITHOUT_DIRECT_TERM: Changed<Vimco> =
    Changed(Vimco { arithmetic: true }, |_, coefficients| {
        coefficients.iter_mut().for_each(|c| c.phi += c.theta)
    });

/// The score function of the bound without the direct derivative of the bound.
pub const REINFORCE_OF_THE_BOUND_WITHOUT_DIRECT_TERM: Changed<ReinforceBound> =
    Changed(ReinforceBound, |_, coefficients| {
        coefficients.iter_mut().for_each(|c| c.phi += c.theta)
    });

/// Wake-sleep whose wake phase weighs its particle by its log-weight.
pub const WEIGHED_WAKE_SLEEP: Changed<WakeSleep> =
    Changed(WakeSleep::BOTH, |log_w, coefficients| {
        let pairs = coefficients.iter_mut().zip(log_w);
        pairs.for_each(|(c, l)| c.theta *= -l);
    });

/// DisARM without σ(|a|): G = ½ (f(b₁) − f(b₂)) (b₁ − b₂).
pub struct Undecorrelated;

impl LogitGradient<Bits> for Undecorrelated {
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
        let draw = |u| bits.sample(objective.logits(below), u);
        let pair = [draw(u.clone().neg() + 1.0), draw(u)];
        let [first, second] = pair.clone().map(|layer| {
            let layers = [below, &[layer]].concat();
            objective.value(&objective.complete(layers, rows, noise))
        });
        let difference = (first - second).reshape([rows, 1]);
        let [first, second] = pair.map(|layer| layer.numbers());
        (first - second) * difference * 0.5
    }
}

/// An estimator whose uniforms, where they are not those of the path, are squares: of races, π is not uniform on the simplex.
pub struct Skewed<G>(pub G);

/// Squares of uniforms.
struct Squared<'a, N>(&'a mut N);

impl<N: Noise> Noise for Squared<'_, N> {
    fn fill(&mut self, out: &mut [f32]) {
        self.0.fill(out);
        out.iter_mut().for_each(|u| *u *= *u);
    }
}

impl<V: Variables, G: LogitGradient<V>> LogitGradient<V> for Skewed<G> {
    fn layer<B: Backend, M: Layered<B, Variables = V> + Joint<B>>(
        &self,
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2> {
        let mut noise = Squared(noise);
        self.0.layer(objective, below, rows, particles, &mut noise)
    }
}

/// MuProp of one layer whose linear term has no mean given back: (f(h) − f(μ) − f'(μ)ᵀ(h − μ)) (h − μ), the slope by differences.
pub struct WithoutTheMean;

impl LogitGradient<Bits> for WithoutTheMean {
    fn layer<B: Backend, M: Layered<B, Variables = Bits> + Joint<B>>(
        &self,
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        _particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2> {
        const STEP: f64 = 1e-4;
        let bits = objective.layers()[below.len()];
        let logits = objective.logits(below);
        let u = objective.uniforms(rows, bits.uniforms(), noise);
        let drawn = bits.sample(logits.clone(), u);
        let batch = logits.dims()[0];
        let repeat = |tensor: Tensor<B, 2>| tensor.repeat_dim(0, rows / batch);
        let mean = bits.mean(logits);
        let value = |layer: Values<B>, rows: usize| {
            let layers = [below, &[layer]].concat();
            objective.value(&Particles::new(layers)).reshape([rows, 1])
        };
        let offset = drawn.clone().numbers() - repeat(mean.clone());
        let mut signal = value(drawn, rows) - repeat(value(mean.clone().into(), batch));
        for bit in 0..bits.0 {
            let moved = |by: f64| {
                let column = mean.clone().narrow(1, bit, 1) + by;
                let layer = mean.clone().slice_assign([0..batch, bit..bit + 1], column);
                value(layer.into(), batch)
            };
            let slope = (moved(STEP) - moved(-STEP)).div_scalar(2.0 * STEP);
            signal = signal - repeat(slope) * offset.clone().narrow(1, bit, 1);
        }
        signal * offset
    }
}

/// Uniforms of the middle half of the interval.
struct Middle<'a>(&'a mut Stream);

impl Noise for Middle<'_> {
    fn fill(&mut self, out: &mut [f32]) {
        self.0.fill(out);
        out.iter_mut().for_each(|u| *u = 0.25 + *u / 2.0);
    }
}

/// A control variate in the particle's own signal, whose mean with the score nothing takes away.
pub struct Uncorrected<L>(pub L);

impl<L: LeaveOneOut> LeaveOneOut for Uncorrected<L> {
    fn variate<B: AutodiffBackend>(
        &self,
        controls: &Controls<B>,
        level: usize,
        siblings: &Siblings<B>,
    ) -> Variate<B> {
        let Variate {
            baseline, gradient, ..
        } = self.0.variate(controls, level, siblings);
        Variate {
            signal: baseline.clone(),
            gradient: gradient.zeros_like(),
            baseline,
        }
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

/// The fault of the twin that every claim has.
pub const WITHOUT_PRIOR: &str = "f without log p(h)";

/// The twin that every claim has: f without log p(h^L), held against the gradient with it. `flat` is the subject mistaken for
/// one with an even prior. Held in φ, where something is claimed of it: in θ the prior's own gradient gives it away.
pub fn without_prior<M: Model<Tape>>(entry: &Entry, flat: &Subject<M>) -> Option<Twin> {
    let (exact, among) = claim(entry.target, flat)?;
    let phi = flat.phi.clone();
    let among = if among.contains(&phi.start) {
        phi
    } else {
        among
    };
    let method = entry.method.claimed();
    let (found, _) = estimated(&method, &flat.learned(&method), flat);
    let t = largest_t(&found, exact, among);
    let (of, fault) = (entry.name, WITHOUT_PRIOR);
    Some(Twin { of, fault, t })
}

/// All others, on a model of bits, and on one of classes.
pub fn all(subject: &Subject<Sbn<Tape>>, of_classes: &Subject<CategoricalVae<Tape>>) -> Vec<Twin> {
    let rebar = Rebar {
        control: Control::Relaxed,
        tied: true,
    };
    let controls = held(&subject.learned(&Method::Logits(Logits::Rebar(rebar)))).controls;
    let nvil = Method::Signals(Signals::Nvil(Nvil { normalise: true }));
    let mut learned = subject.learned(&nvil);
    for moments in &mut learned.moments {
        moments.variance = 4.0;
    }
    let elbo = &subject.elbo;
    vec![
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
        of_wake_sleep(subject),
    ]
    .into_iter()
    .chain(of_weights(subject))
    .chain(of_logits(subject))
    .chain(since_2020(subject))
    .chain(of_trees(of_classes))
    .chain(relaxed(subject))
    .collect()
}

/// The weighted family's.
fn of_weights(subject: &Subject<Sbn<Tape>>) -> Vec<Twin> {
    let frozen = Jsa {
        kernel: FrozenReferenceMis,
        stage1_extra: false,
    };
    let trials = Jsa {
        kernel: WithoutCurrent,
        stage1_extra: false,
    };
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
            "vargrad",
            "the variance of the population",
            &VARGRAD_OF_THE_POPULATION,
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
        weighted(
            subject,
            "reinforce-bound",
            "without its direct term",
            &REINFORCE_OF_THE_BOUND_WITHOUT_DIRECT_TERM,
            bound,
        ),
        weighted(
            subject,
            "vimco-arithmetic",
            "without its direct term",
            &ARITHMETIC_VIMCO_WITHOUT_DIRECT_TERM,
            bound,
        ),
    ]
}

/// Those of gradients in logits, and of leave-one-out baselines.
fn of_logits(subject: &Subject<Sbn<Tape>>) -> Vec<Twin> {
    let (elbo, bound) = (&subject.elbo, &subject.bound_of_two);
    vec![
        logits(
            subject,
            "disarm",
            "without the probability that its latents differ",
            &Undecorrelated,
            elbo,
        ),
        logits(subject, "arms", "squares of uniforms", &Skewed(Arms), elbo),
        logits(
            subject,
            "disarm-bound",
            "each pair's own difference",
            &Disarm,
            bound,
        ),
        logits(
            subject,
            "muprop",
            "its linear term's mean not given back",
            &WithoutTheMean,
            elbo,
        ),
        of_sets(subject),
        logits(subject, "ar", "squares of uniforms", &Skewed(Ar), elbo),
        logits(
            subject,
            "ars",
            "squares of uniforms",
            &Skewed(Ars { reference: 0 }),
            elbo,
        ),
        logits(subject, "arsm", "squares of uniforms", &Skewed(Arsm), elbo),
        others(subject, "double-cv", &Uncorrected(DoubleCv), DoubleCv),
        others(subject, "rodeo", &Uncorrected(Rodeo), Rodeo),
    ]
}

/// Of distinct latents, whose draws without replacement are not those of q.
fn of_sets(subject: &Subject<Sbn<Tape>>) -> Twin {
    let learned = subject.learned(&Unordered);
    let (of, fault) = ("unordered-set", "uniforms of the middle half");
    twin(subject, of, fault, &subject.elbo, |stream| {
        subject.with_chains(false, stream, |chains, noise, chance| {
            subject.gradient(|model, x| {
                let batch = Batch {
                    x: x.into(),
                    chains,
                    particles: 2,
                    epoch: 0,
                    analytic_kl: false,
                };
                let mut learned = learned.clone();
                Unordered.estimate(model, &mut learned, batch, &mut Middle(noise), chance)
            })
        })
    })
}

/// Those of DisARM for classes.
fn of_trees(subject: &Subject<CategoricalVae<Tape>>) -> [Twin; 3] {
    let (fault, elbo) = ("squares of uniforms, on T3", &subject.elbo);
    let tree = |balanced| Skewed(DisarmTree { balanced });
    [
        logits(subject, "disarm-sb", fault, &tree(false), elbo),
        logits(subject, "disarm-tree", fault, &tree(true), elbo),
        logits(subject, "disarm-iw", fault, &Skewed(DisarmIw), elbo),
    ]
}

/// The twins of estimators that came after 2019.
fn since_2020(subject: &Subject<Sbn<Tape>>) -> Vec<Twin> {
    let bound = &subject.bound_of_two;
    vec![
        weighted(
            subject,
            "ovis",
            "its own weight in its control variate",
            &Ovis { many: true },
            bound,
        ),
        weighted(
            subject,
            "ovis-mc",
            "its own draw among the further ones",
            &OVIS_WITH_ITS_OWN,
            bound,
        ),
        weighted(
            subject,
            "coupled-chains",
            "a step from q without the correction",
            &OneStep,
            &subject.inclusive,
        ),
        logits(
            subject,
            "arms-bound",
            "each particle's own difference",
            &Arms,
            bound,
        ),
    ]
}

/// Wake-sleep's, in θ: what φ learns from dreams claims nothing.
fn of_wake_sleep<M: Model<Tape>>(subject: &Subject<M>) -> Twin {
    let wrong = &WEIGHED_WAKE_SLEEP;
    let found = mean_of(|stream| {
        subject.with_chains(false, stream, |chains, noise, chance| {
            subject.gradient(|model, x| estimate(wrong, model, x, chains, 1, noise, chance))
        })
    });
    let (exact, theta) = claim(Target::ElbosTheta, subject).expect("a claim of θ");
    Twin {
        of: "ws",
        fault: "its particle weighed",
        t: largest_t(&found, exact, theta),
    }
}

/// The control variates that relax f, their conditional draw without its derivative.
fn relaxed(subject: &Subject<Sbn<Tape>>) -> Vec<Twin> {
    let forms = [
        ("rebar", Control::Relaxed, false),
        ("relax", Control::RelaxedAndFree, false),
        ("relax-tied", Control::RelaxedAndFree, true),
        ("relax-all", Control::Free, false),
    ];
    let form = |(of, control, tied)| {
        let rebar = Rebar { control, tied };
        let learned = held(&subject.learned(&rebar));
        let fault = "the conditional draw's derivative left out";
        twin(subject, of, fault, &subject.elbo, |stream| {
            subject.gradient(|model, x| {
                let model = Unconditional::constant(model);
                rebar.estimate(&model, learned.trained(), x, 2, stream)
            })
        })
    };
    forms.into_iter().map(form).collect()
}

fn logits<V, M>(
    subject: &Subject<M>,
    of: &'static str,
    fault: &'static str,
    wrong: &impl LogitGradient<V>,
    exact: &[f64],
) -> Twin
where
    V: Variables,
    M: Model<Tape> + Layered<Tape, Variables = V>,
    M::InnerModule: Layered<Inner, Variables = V> + Joint<Inner>,
{
    twin(subject, of, fault, exact, |stream| {
        subject.gradient(|model, x| estimate_logits(wrong, model, x, 2, stream))
    })
}

/// Of an estimator made of the other particles, with what it learns.
fn others(
    subject: &Subject<Sbn<Tape>>,
    of: &'static str,
    wrong: &impl LeaveOneOut,
    right: impl Declaration,
) -> Twin {
    let learned = subject.learned(&right);
    // Ten times as strong as in the certificate: the surrogates at hand are small, and an estimator may have any coefficients.
    let strong = |controls: Controls<Tape>| controls.with_coefficients(8.0);
    let learned = held(&Learned {
        controls: learned.controls.map(strong),
        ..learned
    });
    let fault = "its control variate in the signal, uncorrected";
    twin(subject, of, fault, &subject.elbo, |stream| {
        subject.gradient(|model, x| {
            estimate_leave_one_out(wrong, model, learned.trained(), x, 2, stream)
        })
    })
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
