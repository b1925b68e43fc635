//! Ranks as a picture.

use std::fmt::Write;

use crate::statistical::Comparison;

/// The ranks of one test function, as [`Calibration`](crate::Calibration) compared them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// A rank a replicate, each from 0 to `draws`.
    pub ranks: Vec<usize>,
    /// L, the draws among which a rank was found.
    pub draws: usize,
}

impl Ranks {
    /// Counts in as many bins as the histogram's comparison looks at, and the number of ranks in each bin.
    pub(super) fn bins(&self) -> (Vec<u64>, Vec<usize>) {
        let states = self.draws + 1;
        let bins = states.min(20);
        let bin = |rank: usize| rank * bins / states;
        let (mut counts, mut sizes) = (vec![0u64; bins], vec![0; bins]);
        self.ranks.iter().for_each(|&rank| counts[bin(rank)] += 1);
        (0..states).for_each(|rank| sizes[bin(rank)] += 1);
        (counts, sizes)
    }

    /// F_n(r) - F(r) for r = 0, ..., L.
    fn differences(&self) -> Vec<f64> {
        let states = self.draws + 1;
        let mut counts = vec![0usize; states];
        self.ranks.iter().for_each(|&rank| counts[rank] += 1);
        let mut below = 0;
        (counts.iter().zip(1..))
            .map(|(count, r)| {
                below += count;
                below as f64 / self.ranks.len() as f64 - f64::from(r) / states as f64
            })
            .collect()
    }
}

/// Width and height of a panel, and what is left free around it.
const PANEL: [f64; 2] = [300.0, 160.0];
const MARGIN: f64 = 40.0;

/// A picture of a row a function: the histogram of its ranks, and the difference of their distribution function from the
/// uniform one. The bands are the thresholds of the comparisons, so they hold for all bins, and all ranks, at once: what
/// leaves one has failed.
pub(super) fn svg(name: &str, ranks: &[Ranks], comparisons: &[Comparison]) -> String {
    let height = MARGIN + ranks.len() as f64 * (PANEL[1] + MARGIN);
    let width = 3.0 * MARGIN + 2.0 * PANEL[0];
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n<text x=\"{MARGIN}\" y=\"16\">{}</text>\n",
        escaped(name)
    );
    for (i, (ranks, pair)) in ranks.iter().zip(comparisons.chunks(2)).enumerate() {
        let top = MARGIN + i as f64 * (PANEL[1] + MARGIN);
        let [law, histogram] = pair else { continue };
        bars(&mut out, ranks, histogram, [MARGIN, top]);
        curve(&mut out, ranks, law, [2.0 * MARGIN + PANEL[0], top]);
    }
    out + "</svg>\n"
}

fn bars(out: &mut String, ranks: &Ranks, comparison: &Comparison, [left, top]: [f64; 2]) {
    let (counts, sizes) = ranks.bins();
    let mean = |size: usize| ranks.ranks.len() as f64 * size as f64 / (ranks.draws + 1) as f64;
    let largest = counts.iter().map(|&c| c as f64).fold(0.0, f64::max);
    let band = sizes
        .iter()
        .map(|&s| mean(s) + comparison.threshold)
        .fold(0.0, f64::max);
    let y = |count: f64| top + PANEL[1] * (1.0 - count.max(0.0) / (1.05 * largest.max(band)));
    let width = PANEL[0] / counts.len() as f64;
    title(out, comparison, [left, top]);
    for (b, (&count, size)) in counts.iter().zip(sizes).enumerate() {
        let x = left + b as f64 * width;
        let [low, high] = [-1.0, 1.0].map(|sign| y(mean(size) + sign * comparison.threshold));
        rectangle(out, [x, high], [width, low - high], "#dddddd");
        let colour = fill((count as f64 - mean(size)).abs() < comparison.threshold);
        let at = y(count as f64);
        rectangle(
            out,
            [x + 0.15 * width, at],
            [0.7 * width, y(0.0) - at],
            colour,
        );
    }
}

fn curve(out: &mut String, ranks: &Ranks, comparison: &Comparison, [left, top]: [f64; 2]) {
    let differences = ranks.differences();
    let largest = differences
        .iter()
        .map(|d| d.abs())
        .fold(comparison.threshold, f64::max);
    let y = |d: f64| top + PANEL[1] * (0.5 - 0.5 * d / (1.05 * largest));
    title(out, comparison, [left, top]);
    let (high, low) = (y(comparison.threshold), y(-comparison.threshold));
    rectangle(out, [left, high], [PANEL[0], low - high], "#dddddd");
    let mut points = format!("{left:.1},{:.1}", y(0.0));
    for (r, d) in differences.iter().enumerate() {
        let step = PANEL[0] / differences.len() as f64;
        for x in [r, r + 1] {
            let _ = write!(points, " {:.1},{:.1}", left + x as f64 * step, y(*d));
        }
    }
    let colour = fill(comparison.passed());
    let _ = writeln!(
        out,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
    );
}

fn title(out: &mut String, comparison: &Comparison, [x, top]: [f64; 2]) {
    let verdict = if comparison.passed() { "" } else { ": FAILED" };
    let y = top - 6.0;
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\">{}{verdict}</text>",
        escaped(&comparison.name)
    );
}

fn rectangle(out: &mut String, [x, y]: [f64; 2], [width, height]: [f64; 2], fill: &str) {
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>",
        height.max(0.0)
    );
}

fn fill(passed: bool) -> &'static str {
    if passed { "#4477aa" } else { "#cc3311" }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use helmholtz_random::Draws;

    use super::*;
    use crate::{Calibration, Suite};

    #[test]
    fn differences_are_those_of_distribution_functions() {
        let ranks = Ranks {
            ranks: vec![0, 0, 2, 3],
            draws: 3,
        };
        assert_eq!(ranks.differences(), [0.25, 0.0, 0.0, 0.0]);
        assert_eq!(ranks.bins(), (vec![2, 0, 1, 1], vec![1; 4]));
    }

    #[test]
    fn what_has_failed_is_red_and_what_has_not_is_blue() {
        let test = Calibration::new(
            |rng| rng.normal(),
            |theta: &f64, rng| theta + rng.normal(),
            |theta, _| vec![*theta],
        );
        let picture = |sd: f64, name: &str| {
            let share = Suite::new(5, 1).share(name).unwrap();
            let report = test.test_sampler(|x, rng| x / 2.0 + sd * rng.normal(), share);
            report.unwrap().to_svg().expect("ranks were compared")
        };
        let right = picture(0.5f64.sqrt(), "right & good");
        assert!(right.contains("#4477aa") && !right.contains("#cc3311"));
        assert!(right.contains("right &amp; good") && !right.contains("FAILED"));
        // A band of a shape for each bin and one for the curve, 20 bars, and the ground.
        assert_eq!(right.matches("<rect").count(), 20 + 1 + 20 + 1);
        let narrow = picture(0.3, "narrow");
        assert!(narrow.contains("#cc3311") && narrow.contains(": FAILED"));
    }
}
