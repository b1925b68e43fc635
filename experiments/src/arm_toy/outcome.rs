//! The numbers of a run, and its table.

use super::classes::Climb;
use super::t1::GradientVariance;
use super::variance::{Variance, mean_and_variance, peak_logit};
use super::{Estimator, Settings, ascent, ascent::Ascent, law, sigmoid, table};
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};

/// What a run found, beside the points of its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// Where the ascents ended.
    pub ascents: Vec<Ends>,
    /// Variances for one bit.
    pub variances: Vec<Variance>,
    /// Ascents with classes.
    pub classes: Vec<Climb>,
    /// Variances on T1.
    pub t1: Vec<GradientVariance>,
}

/// Where all replicates of an ascent ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ends {
    /// p₀.
    pub target: f64,
    /// Who estimated.
    pub estimator: Estimator,
    /// K.
    pub samples: usize,
    /// σ(a) at the end of the exact ascent.
    pub exact: f64,
    /// Mean and sample sd of σ(a).
    pub mean: f64,
    /// Of σ(a), over the replicates.
    pub sd: f64,
    /// The share of replicates on the optimum's side of ½.
    pub right: f64,
    /// The sample sd of the first estimate.
    pub first_sd: f64,
    /// The gradient there.
    pub first_gradient: f64,
}

/// A run's result, as its folder keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The numbers.
    pub numbers: Numbers,
    /// Where they come from.
    pub provenance: Provenance,
}

impl Ends {
    /// Of these runs, where the exact ascent ends at `exact`.
    pub fn new(ascent: &Ascent, exact: f64, start: f64) -> Self {
        let (mean, variance) = mean_and_variance(&ascent.last);
        let (_, first_variance) = mean_and_variance(&ascent.first);
        let right = |sigma: &&f64| (**sigma > 0.5) == (ascent.target < 0.5);
        Self {
            target: ascent.target,
            estimator: ascent.estimator,
            samples: ascent.samples,
            exact,
            mean,
            sd: variance.sqrt(),
            right: ascent.last.iter().filter(right).count() as f64 / ascent.last.len() as f64,
            first_sd: first_variance.sqrt(),
            first_gradient: ascent::gradient(ascent.target, start),
        }
    }
}

impl Outcome {
    /// The table in Markdown.
    pub fn markdown(&self, settings: &Settings) -> String {
        [
            format!("# {}\n", settings.title),
            ascents(settings, &self.numbers.ascents),
            variances(settings, &self.numbers.variances),
            classes(settings, &self.numbers.classes),
            t1(settings, &self.numbers.t1),
            self.provenance.markdown(),
        ]
        .join("\n")
    }
}

fn ascents(settings: &Settings, ends: &[Ends]) -> String {
    let a = &settings.ascent;
    let mut out = format!(
        "Maximise E f, f(z) = (z − p₀)², z ~ Bernoulli(σ(a)): gradient ascent from a = {} with step {}, {} iterations, \
         {} independent runs. The objective is linear in σ(a); the optimum is σ = 1 for p₀ < ½ and σ = 0 for p₀ > ½.\n\n",
        a.start, a.step, a.iterations, a.replicates
    );
    out += "| p₀ | exact: last σ(a) | estimator | K | last σ(a), mean ± sd | on the optimum's side of ½ | first gradient | sd of its estimate |\n";
    out += "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for e in ends {
        out += &format!(
            "| {} | {:.4} | {} | {} | {:.4} ± {:.4} | {:.1} % | {:.6} | {:.6} |\n",
            e.target,
            e.exact,
            e.estimator.label(),
            e.samples,
            e.mean,
            e.sd,
            100.0 * e.right,
            e.first_gradient,
            e.first_sd,
        );
    }
    out
}

fn variances(settings: &Settings, variances: &[Variance]) -> String {
    let v = &settings.variance;
    let f = table(v.target);
    let mut out = format!(
        "Variance of one estimate against a, in units of Δ² = (f(1) − f(0))² = {:.3e} (p₀ = {}); sampled from {} estimates, and \
         in closed form where that is known:\n\n| a | σ(a) |",
        (f[1] - f[0]).powi(2),
        v.target,
        v.replicates,
    );
    for estimator in &v.estimators {
        out += &format!(" {0}, sampled | {0}, law |", estimator.label());
    }
    out += &format!("\n|{}\n", " --- |".repeat(2 + 2 * v.estimators.len()));
    let first = |x: &&Variance| Some(&x.estimator) == v.estimators.first() && x.logit >= 0.0;
    for row in variances.iter().filter(first) {
        out += &format!("| {:.4} | {:.6} |", row.logit, sigmoid(row.logit));
        for x in variances.iter().filter(|x| x.logit == row.logit) {
            let law = x.law.map_or("—".into(), |law| format!("{law:.3e}"));
            out += &format!(" {:.3e} | {law} |", x.sampled);
        }
        out += "\n";
    }
    out + &format!(
        "\nARM's variance is largest at |a| = {:.4}, where its two values of f agree with a probability that is to that of \
         differing as the golden ratio: {:.7} Δ², below Δ²/25. Negative a: `variance.csv`.\n",
        peak_logit(),
        law::arm_supremum(),
    )
}

fn classes(settings: &Settings, climbs: &[Climb]) -> String {
    let all = &settings.classes;
    let mut out = format!(
        "One variable of {0} classes, f(c) = ½ + (c + 1)/(30 · {0}), c from 0: gradient ascent on its free logits from {1} with step \
         {2}, {3} iterations, one run of each, K = 1; variance of one estimate, summed over the logits, from {4} estimates at the \
         same logits, and the median of the measurements (every {5} iterations).\n\n",
        all.classes, all.start, all.step, all.iterations, all.replicates, all.measure_every
    );
    out += "| estimator | last E f | last P(best class) | variance at the start | median along the run |\n";
    out += "| --- | --- | --- | --- | --- |\n";
    for climb in climbs {
        let (first, last) = (climb.points[0], climb.points[climb.points.len() - 1]);
        let mut all: Vec<f64> = climb.points.iter().map(|point| point.variance).collect();
        all.sort_by(f64::total_cmp);
        let median = all[all.len() / 2];
        let variances = match climb.estimator {
            None => "— | —".into(),
            Some(_) => format!("{:.3e} | {median:.3e}", first.variance),
        };
        let label = climb.estimator.map_or("exact gradient", Estimator::label);
        out += &format!(
            "| {label} | {:.5} | {:.4} | {variances} |\n",
            last.value, last.best
        );
    }
    out
}

fn t1(settings: &Settings, variances: &[GradientVariance]) -> String {
    let t1 = &settings.t1;
    let mut out = format!(
        "Gradient of the inference net of T1 (4 visible bits, 3 latents, linear, parameters N(0, 1.5²), one datum) with {} \
         values of f an estimate: variance summed over the parameters, ± its standard error, from {} estimates. The order is \
         reported, it is no theorem. REINFORCE gains here without a baseline: the unlikely states, whose scores are large, \
         happen to have an f near zero.\n\n",
        t1.values, t1.replicates
    );
    out += "| estimator | K | variance |\n| --- | --- | --- |\n";
    for row in variances {
        out += &format!(
            "| {} | {} | {:.3} ± {:.3} |\n",
            row.estimator.label(),
            row.samples,
            row.phi.variance,
            row.phi.standard_error,
        );
    }
    out
}
