//! The numbers of a run, and its table.

use super::classes::Climb;
use super::t1::GradientVariance;
use super::variance::{Variance, mean_and_variance, peak_logit};
use super::{Estimator, Settings, ascent, ascent::Ascent, law, sigmoid, table};
use crate::blocks::{NONE, provenance};
use crate::records::{Reader, read};
use helmholtz_report::{Block, Cell, Document, Kind, Table};
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};

/// Numbers that a run found, beside the points of its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// Ends of the ascents.
    pub ascents: Vec<Ends>,
    /// Variances for one bit.
    pub variances: Vec<Variance>,
    /// Ascents with classes.
    pub classes: Vec<Climb>,
    /// Variances on T1.
    pub t1: Vec<GradientVariance>,
}

/// End of all replicates of an ascent.
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
    /// Sample sd of σ(a), over the replicates.
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
    /// Provenance of the numbers.
    pub provenance: Provenance,
}

impl Ends {
    /// Summarises these runs, where the exact ascent ends at `exact`.
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

/// Reader of the runs of the toy experiment.
pub const READER: Reader = Reader::of_documents(|kept| {
    let settings: Settings = read(kept.config)?;
    Some(read::<Outcome>(kept.result?)?.document(&settings))
});

impl Outcome {
    /// The numbers as a document.
    pub fn document(&self, settings: &Settings) -> Document {
        let mut blocks = ascents(settings, &self.numbers.ascents).to_vec();
        blocks.extend(variances(settings, &self.numbers.variances));
        blocks.extend(classes(settings, &self.numbers.classes));
        blocks.extend(t1(settings, &self.numbers.t1));
        blocks.push(provenance(&self.provenance));
        Document::of_blocks(&settings.title, blocks)
    }
}

fn ascents(settings: &Settings, ends: &[Ends]) -> [Block; 2] {
    let a = &settings.ascent;
    let text = format!(
        "Maximise E f, f(z) = (z − p₀)², z ~ Bernoulli(σ(a)): gradient ascent from a = {} with step {}, {} iterations, \
         {} independent runs. The objective is linear in σ(a); the optimum is σ = 1 for p₀ < ½ and σ = 0 for p₀ > ½.",
        a.start, a.step, a.iterations, a.replicates
    );
    let heads = [
        "p₀",
        "Exact: last σ(a)",
        "Estimator",
        "K",
        "Last σ(a), mean ± sd",
        "On the optimum's side of ½",
        "First gradient",
        "Sd of its estimate",
    ];
    let mut table = Table::new("ascents", "", heads);
    for e in ends {
        table.push([
            Cell::count(e.target),
            Cell::fixed(e.exact, 4),
            e.estimator.label().into(),
            Cell::count(e.samples),
            Cell::measured(e.mean, e.sd, 4),
            Cell::number(Kind::Ours, format!("{:.1} %", 100.0 * e.right), e.right),
            Cell::fixed(e.first_gradient, 6),
            Cell::fixed(e.first_sd, 6),
        ]);
    }
    [Block::Text(text), Block::Table(table)]
}

fn variances(settings: &Settings, variances: &[Variance]) -> [Block; 3] {
    let v = &settings.variance;
    let f = table(v.target);
    let text = format!(
        "Variance of one estimate against a, in units of Δ² = (f(1) − f(0))² = {:.3e} (p₀ = {}); sampled from {} estimates, and \
         in closed form where that is known:",
        (f[1] - f[0]).powi(2),
        v.target,
        v.replicates,
    );
    let heads = v.estimators.iter().flat_map(|estimator| {
        ["sampled", "law"].map(|what| format!("{}, {what}", estimator.label()))
    });
    let heads = ["a", "σ(a)"].map(String::from).into_iter().chain(heads);
    let mut table = Table::new("one-bit", "", heads);
    let first = |x: &&Variance| Some(&x.estimator) == v.estimators.first() && x.logit >= 0.0;
    for row in variances.iter().filter(first) {
        let of_row = variances.iter().filter(|x| x.logit == row.logit);
        let cells = of_row.flat_map(|x| {
            let law = x.law.map_or(NONE.into(), |law| Cell::scientific(law, 3));
            [Cell::scientific(x.sampled, 3), law]
        });
        let at = [
            Cell::fixed(row.logit, 4),
            Cell::fixed(sigmoid(row.logit), 6),
        ];
        table.push(at.into_iter().chain(cells));
    }
    let peak = format!(
        "ARM's variance is largest at |a| = {:.4}, where its two values of f agree with a probability that is to that of \
         differing as the golden ratio: {:.7} Δ², below Δ²/25. Negative a: variance.csv.",
        peak_logit(),
        law::arm_supremum(),
    );
    [Block::Text(text), Block::Table(table), Block::Text(peak)]
}

fn classes(settings: &Settings, climbs: &[Climb]) -> [Block; 2] {
    let all = &settings.classes;
    let text = format!(
        "One variable of {0} classes, f(c) = ½ + (c + 1)/(30 · {0}), c from 0: gradient ascent on its free logits from {1} with step \
         {2}, {3} iterations, one run of each, K = 1; variance of one estimate, summed over the logits, from {4} estimates at the \
         same logits, and the median of the measurements (every {5} iterations).",
        all.classes, all.start, all.step, all.iterations, all.replicates, all.measure_every
    );
    let heads = [
        "Estimator",
        "Last E f",
        "Last P(best class)",
        "Variance at the start",
        "Median along the run",
    ];
    let mut table = Table::new("classes", "", heads);
    for climb in climbs {
        let (first, last) = (climb.points[0], climb.points[climb.points.len() - 1]);
        let mut all: Vec<f64> = climb.points.iter().map(|point| point.variance).collect();
        all.sort_by(f64::total_cmp);
        let median = all[all.len() / 2];
        let variance = |value: f64| match climb.estimator {
            None => NONE.into(),
            Some(_) => Cell::scientific(value, 3),
        };
        let label = climb.estimator.map_or("exact gradient", Estimator::label);
        table.push([
            label.into(),
            Cell::fixed(last.value, 5),
            Cell::fixed(last.best, 4),
            variance(first.variance),
            variance(median),
        ]);
    }
    [Block::Text(text), Block::Table(table)]
}

fn t1(settings: &Settings, variances: &[GradientVariance]) -> [Block; 2] {
    let t1 = &settings.t1;
    let text = format!(
        "Gradient of the inference net of T1 (4 visible bits, 3 latents, linear, parameters N(0, 1.5²), one datum) with {} \
         values of f an estimate: variance summed over the parameters, ± its standard error, from {} estimates. The order is \
         reported, it is no theorem. REINFORCE gains here without a baseline: the unlikely states, whose scores are large, \
         happen to have an f near zero.",
        t1.values, t1.replicates
    );
    let mut table = Table::new("t1", "", ["Estimator", "K", "Variance"]);
    for row in variances {
        let phi = &row.phi;
        table.push([
            row.estimator.label().into(),
            Cell::count(row.samples),
            Cell::measured(phi.variance, phi.standard_error, 3),
        ]);
    }
    [Block::Text(text), Block::Table(table)]
}
