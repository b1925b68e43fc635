//! The schedule of a warm-up, and the diagonal mass that it finds.

/// When the steps of a warm-up collect positions for the mass, and when a mass is made of them.
///
/// Windows as in Stan (Stan Development Team, Reference Manual, "HMC algorithm parameters"): first the step size alone,
/// for 75 steps; then windows of 25, 50, 100, ... steps, each with a mass from the one before, the last as long as there
/// is room; then the step size alone again, for 15 % of the steps and at least 50, which are all that Stan gives it. A warm-up of fewer than 150 steps has shares of 15 %, 75 % and
/// 10 %, with one window; one of fewer than 20 finds no mass.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// The first step of a window.
    start: usize,
    /// One past the last step of each window.
    ends: Vec<usize>,
}

impl Windows {
    pub fn new(steps: usize) -> Self {
        let (start, last, first) = match steps {
            0..20 => (0, 0, 0),
            20..150 => {
                let (start, last) = (15 * steps / 100, steps - steps / 10);
                (start, last, last - start)
            }
            _ => (75, steps - (15 * steps / 100).max(50), 25),
        };
        let (mut ends, mut end, mut length) = (Vec::new(), start, first);
        while end < last {
            end += length;
            length *= 2;
            // The next window would not fit, so this one takes its steps.
            if end + length > last {
                end = last;
            }
            ends.push(end);
        }
        Self { start, ends }
    }

    /// Whether the position after step `t`, from 0, counts.
    pub fn collects(&self, t: usize) -> bool {
        t >= self.start && self.ends.last().is_some_and(|&end| t < end)
    }

    /// The end of the window in which step `t` is, or of the first one after it.
    pub fn next_end(&self, t: usize) -> Option<usize> {
        self.ends.iter().copied().find(|&end| end > t)
    }

    /// Whether step `t` is the last of a window.
    pub fn ends_at(&self, t: usize) -> bool {
        self.ends.contains(&(t + 1))
    }
}

/// Means and variances of coordinates, one position after another (Welford, 1962).
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    count: f64,
    means: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    pub fn new(coordinates: usize) -> Self {
        Self {
            count: 0.0,
            means: vec![0.0; coordinates],
            squares: vec![0.0; coordinates],
        }
    }

    pub fn push(&mut self, position: &[f64]) {
        self.count += 1.0;
        for ((mean, squares), x) in (self.means.iter_mut().zip(&mut self.squares)).zip(position) {
            let before = x - *mean;
            *mean += before / self.count;
            *squares += before * (x - *mean);
        }
    }

    /// 1 / variance, of n positions with the variance drawn towards 10⁻³ by the weight of five: (n s² + 5 · 10⁻³) / (n + 5),
    /// as in Stan.
    pub fn mass(&self) -> Vec<f64> {
        let n = self.count;
        let variance = |squares: &f64| (n * squares / (n - 1.0).max(1.0) + 5e-3) / (n + 5.0);
        self.squares.iter().map(|s| 1.0 / variance(s)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_double_and_the_last_one_takes_what_is_left() {
        assert_eq!(Windows::new(1000).ends, [100, 150, 250, 450, 850]);
        assert_eq!(Windows::new(150).ends, [100]);
        assert_eq!(Windows::new(300).ends, [100, 150, 250]);
        assert_eq!(Windows::new(100).ends, [90]);
        assert_eq!(Windows::new(19).ends, [0; 0]);
        for steps in 0..2000 {
            let windows = Windows::new(steps);
            assert!(windows.ends.is_sorted_by(|a, b| a < b));
            assert!(windows.ends.last().is_none_or(|&end| end <= steps));
            let collected = (0..steps).filter(|&t| windows.collects(t)).count();
            let span = windows.ends.last().map_or(0, |end| end - windows.start);
            assert_eq!(collected, span);
        }
    }

    #[test]
    fn the_mass_is_the_inverse_of_the_drawn_in_variance() {
        let mut moments = Moments::new(2);
        for x in [[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]] {
            moments.push(&x);
        }
        let expected = [(3.0 * 7.0 + 5e-3) / 8.0, 5e-3 / 8.0];
        for (mass, variance) in moments.mass().into_iter().zip(expected) {
            assert!((mass * variance - 1.0).abs() < 1e-14);
        }
    }
}
