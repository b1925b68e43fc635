//! The figures of a run.

use super::ascent::{Ascent, exact};
use super::classes::{Climb, Point};
use super::variance::{Variance, peak_logit};
use super::{Estimator, Settings, law, sigmoid, table};
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};

/// Points of a curve in closed form.
const CURVE: u32 = 201;

/// σ(a) against the iteration, one run of each estimator with the first K: a panel for each p₀.
pub fn trajectories(settings: &Settings, ascents: &[Ascent]) -> Figure {
    let (all, samples) = (&settings.ascent, settings.ascent.samples[0]);
    let panel = |&target: &f64| {
        let path = exact(all, target).into_iter().zip(0..);
        let plotted = path.filter(|(_, t)| t % all.plot_every == 0 || *t == all.iterations);
        let truth = plotted.map(|(sigma, t)| [t as f64, sigma]).collect();
        let truth = Series::line("exact gradient", 0, truth);
        let runs = ascents
            .iter()
            .filter(|a| a.target == target && a.samples == samples)
            .zip(1..)
            .map(|(a, style)| Series::line(a.estimator.label(), style, a.sigma.clone()));
        let (x, y) = (Axis::linear("iteration"), Axis::linear("σ(a) = P(z = 1)"));
        let series = std::iter::once(truth).chain(runs).collect();
        Panel::new(format!("p0 = {target}"), x, y, series)
    };
    Figure {
        title: format!("Gradient ascent on E (z − p0)², one run of each, K = {samples}"),
        columns: 2,
        panels: all.targets.iter().map(panel).collect(),
    }
}

/// Estimates along their own trajectories with the last K, beside what they estimate: a row for each p₀, a panel for each
/// estimator.
pub fn gradients(settings: &Settings, ascents: &[Ascent]) -> Figure {
    let all = &settings.ascent;
    let samples = *all.samples.last().expect("there is a K");
    let of_target = |&target: &f64| {
        let own = move |a: &&Ascent| a.target == target && a.samples == samples;
        ascents.iter().filter(own).zip(1..).map(|(a, style)| {
            let (label, estimates) = (a.estimator.label(), a.estimates.clone());
            let (x, y) = (Axis::linear("iteration"), Axis::linear("gradient in a"));
            let series = vec![
                Series::new(label, Mark::Points, style, estimates),
                Series::line("exact, at the same a", 0, a.gradients.clone()),
            ];
            Panel::new(format!("{label}, p0 = {}", a.target), x, y, series)
        })
    };
    Figure {
        title: format!("Gradient estimates along their own ascent, K = {samples}"),
        columns: all.estimators.len(),
        panels: all.targets.iter().flat_map(of_target).collect(),
    }
}

/// Variances against the logit: sampled, and the laws where there are any. ARM and its kin with ARM's maximum, and all of them
/// on a logarithmic axis.
pub fn variances(settings: &Settings, variances: &[Variance]) -> Figure {
    let all = &settings.variance;
    let unit = (table(all.target)[1] - table(all.target)[0]).powi(2);
    let title = "Variance of one estimate in units of (f(1) − f(0))²";
    let panel =
        |title: &str, y: Axis, series| Panel::new(title, Axis::linear("logit a"), y, series);
    let own = |(estimator, style): (Estimator, usize)| {
        let label = estimator.label();
        let law = estimator.law().map(|law| {
            let scaled = |a| law(sigmoid(a), table(all.target)) / unit;
            let points = curve(f64::from(all.largest_logit), scaled);
            Series::line(format!("{label}, law"), style, points)
        });
        let sampled = variances.iter().filter(|v| v.estimator == estimator);
        let sampled = sampled.map(|v| [v.logit, v.sampled]).collect();
        let sampled = Series::new(format!("{label}, sampled"), Mark::Points, style, sampled);
        law.into_iter().chain([sampled])
    };
    let styled = || all.estimators.iter().copied().zip(1..);
    let no_scores = styled().filter(|(e, _)| *e != Estimator::Reinforce);
    let mut kin: Vec<Series> = no_scores.flat_map(own).collect();
    if all.estimators.contains(&Estimator::Arm) {
        let peaks = [-peak_logit(), peak_logit()].map(|a| [a, law::arm_supremum()]);
        let label = "ARM's maximum (golden ratio)";
        kin.push(Series::new(label, Mark::Points, 0, peaks.to_vec()));
        let bound = curve(f64::from(all.largest_logit), |_| 1.0 / 25.0);
        kin.push(Series::line("1/25", 0, bound));
    }
    Figure {
        title: format!("{title}, p0 = {}", all.target),
        columns: 2,
        panels: vec![
            panel("without REINFORCE", Axis::linear("variance"), kin),
            panel(
                "all",
                Axis::log("variance"),
                styled().flat_map(own).collect(),
            ),
        ],
    }
}

/// E f and the variance of one estimate along the ascents with classes, each estimator on its own.
pub fn classes(settings: &Settings, climbs: &[Climb]) -> Figure {
    let panel = |title: &str, y: Axis, of: &dyn Fn(&Point) -> f64| {
        let series = climbs.iter().zip(0..).map(|(climb, style)| {
            let label = climb.estimator.map_or("exact gradient", Estimator::label);
            let at = |point: &Point| [point.iteration as f64, of(point)];
            Series::line(label, style, climb.points.iter().map(at).collect())
        });
        Panel::new(title, Axis::linear("iteration"), y, series.collect())
    };
    let mut variance = panel("one estimate", Axis::log("variance, summed"), &|p| {
        p.variance
    });
    variance.series.remove(0); // what is exact does not vary
    Figure {
        title: format!("One variable of {} classes", settings.classes.classes),
        columns: 2,
        panels: vec![panel("ascent", Axis::linear("E f"), &|p| p.value), variance],
    }
}

/// A function of the logit, from minus `largest` to it.
fn curve(largest: f64, of: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
    let at = |i| largest * (2.0 * f64::from(i) / f64::from(CURVE - 1) - 1.0);
    (0..CURVE).map(|i| [at(i), of(at(i))]).collect()
}
