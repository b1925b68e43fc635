//! What each estimator is and claims, as data: help texts, tables and certificates are made from it.

use std::fmt;

use crate::{
    Ar, Arm, Arms, Ars, Arsm, Concrete, Control, Disarm, DisarmBound, DoubleCv, GumbelSoftmax,
    Half, Jsa, Method, Msc, MuProp, Nvil, OfBits, Rebar, ReinMax, Reinforce, Rloo, Rodeo, Rws,
    StraightThrough, Vimco, WakeSleep, Weighted,
};

/// What an estimate is unbiased for: θ are the parameters of p, φ those of q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// ∇ ELBO.
    Elbo,
    /// ∇ of the importance-weighted bound with K samples.
    Bound,
    /// ∇_θ log p(x) and −∇_φ KL(p(h | x) ‖ q(h | x)), for chains in stationarity.
    Inclusive,
    /// The same as K grows.
    InclusiveAsymptotically,
    /// ∇_θ log p(x) as K grows; φ learns from dreams too.
    LikelihoodsTheta,
    /// ∇_θ ELBO; φ learns from dreams.
    ElbosTheta,
    /// ∇ of an objective with relaxed latents.
    Relaxed,
    /// Nothing.
    Nothing,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elbo => "∇ ELBO",
            Self::Bound => "∇ of the K-sample bound",
            Self::Inclusive => "∇ log p and −∇ KL(p‖q), in stationarity",
            Self::InclusiveAsymptotically => "the same as `jsa`, as K grows",
            Self::LikelihoodsTheta => "θ: the same as `jsa`, as K grows",
            Self::ElbosTheta => "θ: ∇ ELBO",
            Self::Relaxed => "∇ of a relaxed objective",
            Self::Nothing => "nothing",
        })
    }
}

/// An estimator under its name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As `--method` takes it.
    pub name: &'static str,
    /// As tables print it.
    pub label: &'static str,
    /// What it does, in a line.
    pub idea: &'static str,
    /// What its estimate is unbiased for.
    pub target: Target,
    /// The estimator.
    pub method: Method,
}

impl Entry {
    /// The least number of particles, outside of a chain.
    pub fn least_particles(&self) -> usize {
        self.method.least_particles(false)
    }

    /// Evaluations of f a datum and layer as a formula in K, such as `2 K` or `K + 1`, in the second stage of a method that
    /// has one; for latents of C classes where that matters.
    pub fn evaluations(&self) -> String {
        let retained = self.method.keeps_chains();
        let count = |particles| self.method.evaluations(particles, 1, retained);
        if let Some(formula) = self.method.evaluations_of_classes() {
            return formula.into();
        }
        let (two, three) = (count(2), count(3));
        let slope = three - two;
        let each = match slope {
            0 => return two.to_string(),
            1 => "K".to_string(),
            _ => format!("{slope} K"),
        };
        match two - 2 * slope {
            0 => each,
            more => format!("{each} + {more}"),
        }
    }

    /// What it learns beside the model, or nothing.
    pub fn learns(&self) -> String {
        let controls = self.method.controls();
        let parts = [
            (controls.baselines, "baselines"),
            (controls.temperature.is_some(), "τ"),
            (controls.scales > 0, "η"),
            (controls.critics, "r"),
            (controls.coefficients > 0, "coefficients"),
            (controls.surrogates, "surrogates"),
        ];
        let named: Vec<_> = parts.iter().filter(|(has, _)| *has).map(|p| p.1).collect();
        named.join(", ")
    }

    /// The kinds of latents it is defined for.
    pub fn latents(&self) -> &'static str {
        match self.method {
            Method::OfBits(_) => "bits",
            _ => "bits, classes",
        }
    }
}

/// The catalogue as a Markdown table.
pub fn markdown() -> String {
    let mut table = String::from(
        "| `--method` | idea | unbiased for | latents | least K | evaluations of f | learns beside the model |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for entry in Method::CATALOGUE {
        let row = [
            format!("`{}`", entry.name),
            entry.idea.into(),
            entry.target.to_string(),
            entry.latents().into(),
            entry.least_particles().to_string(),
            entry.evaluations(),
            entry.learns(),
        ];
        table.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    table
}

impl Method {
    /// Every estimator, in the order of tables.
    pub const CATALOGUE: [Entry; 37] = [
        Entry {
            name: "jsa",
            label: "JSA",
            idea: "chain states, moved by Metropolis independence sampling",
            target: Target::Inclusive,
            method: Self::Weighted(Weighted::Jsa(Jsa::MIS)),
        },
        Entry {
            name: "jsa-mtmis",
            label: "JSA (MTMIS)",
            idea: "chain states, moved by one multiple-trial step",
            target: Target::Inclusive,
            method: Self::Weighted(Weighted::JsaMtmis(Jsa::MTMIS)),
        },
        Entry {
            name: "jsa-frozen-reference",
            label: "JSA (frozen reference)",
            idea: "ablation: the accept test of released code, which is not invariant",
            target: Target::Nothing,
            method: Self::Weighted(Weighted::JsaFrozenReference(Jsa::FROZEN_REFERENCE)),
        },
        Entry {
            name: "msc",
            label: "MSC",
            idea: "conditional importance sampling moves the chain",
            target: Target::Inclusive,
            method: Self::Weighted(Weighted::Msc(Msc)),
        },
        Entry {
            name: "ws",
            label: "WS",
            idea: "wake-sleep, one particle",
            target: Target::ElbosTheta,
            method: Self::Weighted(Weighted::WakeSleep(WakeSleep::BOTH)),
        },
        Entry {
            name: "rws",
            label: "RWS",
            idea: "reweighted wake-sleep, wake phase for both nets",
            target: Target::InclusiveAsymptotically,
            method: Self::Weighted(Weighted::Rws(Rws::WAKE)),
        },
        Entry {
            name: "rws-sleep",
            label: "RWS (sleep)",
            idea: "reweighted wake-sleep, sleep phase for q",
            target: Target::Nothing,
            method: Self::Weighted(Weighted::Rws(Rws::SLEEP)),
        },
        Entry {
            name: "rws-wake-sleep",
            label: "RWS (wake+sleep)",
            idea: "reweighted wake-sleep, wake and sleep phase for q",
            target: Target::LikelihoodsTheta,
            method: Self::Weighted(Weighted::Rws(Rws::WAKE_SLEEP)),
        },
        Entry {
            name: "reinforce",
            label: "REINFORCE",
            idea: "score function without a baseline",
            target: Target::Elbo,
            method: Self::Weighted(Weighted::Reinforce(Reinforce { centred: false })),
        },
        Entry {
            name: "reinforce-centred",
            label: "REINFORCE (centred)",
            idea: "score function less the mean of the mini-batch (slightly biased)",
            target: Target::Nothing,
            method: Self::Weighted(Weighted::Reinforce(Reinforce { centred: true })),
        },
        Entry {
            name: "nvil",
            label: "NVIL",
            idea: "local signals, learned baselines; normalised, which scales the gradient",
            target: Target::Elbo,
            method: Self::Nvil(Nvil { normalise: true }),
        },
        Entry {
            name: "rloo",
            label: "RLOO",
            idea: "leave-one-out baselines: what JSA's paper and code call VIMCO",
            target: Target::Elbo,
            method: Self::Weighted(Weighted::Rloo(Rloo)),
        },
        Entry {
            name: "vimco",
            label: "VIMCO",
            idea: "local baselines on the K-sample bound",
            target: Target::Bound,
            method: Self::Weighted(Weighted::Vimco(Vimco { arithmetic: false })),
        },
        Entry {
            name: "vimco-arithmetic",
            label: "VIMCO (arithmetic)",
            idea: "VIMCO with the arithmetic mean of the other weights",
            target: Target::Bound,
            method: Self::Weighted(Weighted::Vimco(Vimco { arithmetic: true })),
        },
        Entry {
            name: "muprop",
            label: "MuProp",
            idea: "Taylor expansion at the mean field as control variate",
            target: Target::Elbo,
            method: Self::MuProp(MuProp),
        },
        Entry {
            name: "arm",
            label: "ARM",
            idea: "the antithetic pair",
            target: Target::Elbo,
            method: Self::OfBits(OfBits::Arm(Arm)),
        },
        Entry {
            name: "disarm",
            label: "DisARM",
            idea: "ARM given the two latents that it compares",
            target: Target::Elbo,
            method: Self::OfBits(OfBits::Disarm(Disarm)),
        },
        Entry {
            name: "arms",
            label: "ARMS",
            idea: "K antithetic samples, Dirichlet copula",
            target: Target::Elbo,
            method: Self::OfBits(OfBits::Arms(Arms)),
        },
        Entry {
            name: "disarm-bound",
            label: "DisARM (bound)",
            idea: "DisARM on the K-sample bound, from K antithetic pairs",
            target: Target::Bound,
            method: Self::OfBits(OfBits::DisarmBound(DisarmBound)),
        },
        Entry {
            name: "double-cv",
            label: "Double CV",
            idea: "leave-one-out baselines, with Taylor terms made of the other particles",
            target: Target::Elbo,
            method: Self::OfBits(OfBits::DoubleCv(DoubleCv)),
        },
        Entry {
            name: "rodeo",
            label: "RODEO",
            idea: "leave-one-out baselines, with discrete Stein operators of learned surrogates",
            target: Target::Elbo,
            method: Self::OfBits(OfBits::Rodeo(Rodeo)),
        },
        Entry {
            name: "ar",
            label: "AR",
            idea: "exponential races: augment and REINFORCE",
            target: Target::Elbo,
            method: Self::Ar(Ar),
        },
        Entry {
            name: "ars",
            label: "ARS",
            idea: "races compared with one class swapped for each other",
            target: Target::Elbo,
            method: Self::Ars(Ars { reference: 0 }),
        },
        Entry {
            name: "arsm",
            label: "ARSM",
            idea: "races compared with every pair of classes swapped",
            target: Target::Elbo,
            method: Self::Arsm(Arsm),
        },
        Entry {
            name: "rebar",
            label: "REBAR",
            idea: "relaxed f as control variate",
            target: Target::Elbo,
            method: Self::Rebar(Rebar {
                control: Control::Relaxed,
                tied: false,
            }),
        },
        Entry {
            name: "rebar-tied",
            label: "REBAR (tied noise)",
            idea: "REBAR with the conditional noise coupled",
            target: Target::Elbo,
            method: Self::Rebar(Rebar {
                control: Control::Relaxed,
                tied: true,
            }),
        },
        Entry {
            name: "relax",
            label: "RELAX",
            idea: "REBAR plus a free-form control variate",
            target: Target::Elbo,
            method: Self::Rebar(Rebar {
                control: Control::RelaxedAndFree,
                tied: false,
            }),
        },
        Entry {
            name: "relax-tied",
            label: "RELAX (tied noise)",
            idea: "RELAX with the conditional noise coupled",
            target: Target::Elbo,
            method: Self::Rebar(Rebar {
                control: Control::RelaxedAndFree,
                tied: true,
            }),
        },
        Entry {
            name: "relax-all",
            label: "RELAX (all)",
            idea: "a free-form control variate alone",
            target: Target::Elbo,
            method: Self::Rebar(Rebar {
                control: Control::Free,
                tied: false,
            }),
        },
        Entry {
            name: "gumbel-softmax",
            label: "Gumbel-softmax",
            idea: "relaxed latents at temperature 2/3, the discrete densities at them",
            target: Target::Relaxed,
            method: Self::GumbelSoftmax(GumbelSoftmax {
                temperature: 2.0 / 3.0,
                hard: false,
            }),
        },
        Entry {
            name: "st-gumbel-softmax",
            label: "ST Gumbel-softmax",
            idea: "hard latents with the gradient of relaxed ones at temperature 1",
            target: Target::Nothing,
            method: Self::GumbelSoftmax(GumbelSoftmax {
                temperature: 1.0,
                hard: true,
            }),
        },
        Entry {
            name: "st-gumbel-softmax-learned",
            label: "ST Gumbel-softmax (learned)",
            idea: "ST Gumbel-softmax, its temperature trained on the loss",
            target: Target::Nothing,
            method: Self::LearnedGumbelSoftmax,
        },
        Entry {
            name: "concrete",
            label: "Concrete",
            idea: "relaxed bits with densities of their own, in p and in q",
            target: Target::Relaxed,
            method: Self::OfBits(OfBits::Concrete(Concrete::DEFAULT)),
        },
        Entry {
            name: "straight-through",
            label: "ST",
            idea: "hard latents with the gradient of their mean",
            target: Target::Nothing,
            method: Self::StraightThrough(StraightThrough),
        },
        Entry {
            name: "slope-annealed",
            label: "ST (annealed slope)",
            idea: "straight-through with a slope that grows with the epochs",
            target: Target::Nothing,
            method: Self::OfBits(OfBits::SlopeAnnealed),
        },
        Entry {
            name: "half",
            label: "1/2",
            idea: "straight-through, exact for quadratic f",
            target: Target::Nothing,
            method: Self::OfBits(OfBits::Half(Half)),
        },
        Entry {
            name: "reinmax",
            label: "ReinMax",
            idea: "straight-through of second order; `half` for bits",
            target: Target::Nothing,
            method: Self::ReinMax(ReinMax),
        },
    ];
}
