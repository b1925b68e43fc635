//! Dual averaging of a step size.

/// Finds the step size at which a kernel's acceptance probability is `target` on average, in a given number of trials.
///
/// The first half of the trials finds where it is. With the error h_t = target - acceptance of trial t,
/// `ln ε_{t+1} = μ - √t / (γ (t + t₀)) Σ_{i≤t} h_i`, which forgets where it started, and the answer is an average that is
/// moved towards each new ln ε by the share `t^-κ` of its distance, and so settles. (Nesterov, 2009; Hoffman and Gelman,
/// 2014, §3.2, with their γ = 0.05, t₀ = 10, κ = 0.75 and μ = ln(10 ε_1).)
///
/// Its trials are far apart: by a factor of two after fifty. Acceptance falls faster above their mean than it rises below,
/// so that the acceptance of the mean is up to a tenth above the mean acceptance. The second half is therefore the
/// recursion ln ε_{s+1} = ln ε_s - c s^-κ' h_s with steps that soon are small (Robbins and Monro, 1951), from that answer,
/// and the final answer is the mean of its ln ε (Polyak and Juditsky, 1992) with weight s.
#[derive(Clone, Debug)]
pub(crate) struct DualAveraging {
    target: f64,
    mu: f64,
    t: f64,
    /// The weighted mean of the errors.
    mean_error: f64,
    log_step: f64,
    log_average: f64,
    /// Trials of the first half.
    coarse: f64,
}

const GAMMA: f64 = 0.05;
const T0: f64 = 10.0;
const KAPPA: f64 = 0.75;
/// c and κ', and a number of steps that s is ahead: the first fine step is four tenths of the error.
const GAIN: f64 = 2.0;
const FINE_KAPPA: f64 = 0.7;
const AHEAD: f64 = 10.0;

impl DualAveraging {
    /// From `first_step`, for so many trials; further ones go on as the last do.
    pub fn new(first_step: f64, target: f64, trials: usize) -> Self {
        Self {
            target,
            mu: (10.0 * first_step).ln(),
            t: 0.0,
            mean_error: 0.0,
            log_step: first_step.ln(),
            log_average: first_step.ln(),
            coarse: trials.div_ceil(2) as f64,
        }
    }

    /// The step size to try next.
    pub fn trial(&self) -> f64 {
        self.log_step.exp()
    }

    /// The step size found so far.
    pub fn average(&self) -> f64 {
        self.log_average.exp()
    }

    /// Hears the acceptance probability that the last trial had.
    pub fn update(&mut self, acceptance: f64) {
        self.t += 1.0;
        if self.t > self.coarse {
            return self.refine(acceptance);
        }
        let share = 1.0 / (self.t + T0);
        self.mean_error += share * (self.target - acceptance - self.mean_error);
        self.log_step = self.mu - self.t.sqrt() / GAMMA * self.mean_error;
        // At t = 1 the share is one, and the start is forgotten.
        self.log_average += self.t.powf(-KAPPA) * (self.log_step - self.log_average);
        if self.t == self.coarse {
            self.log_step = self.log_average;
        }
    }

    fn refine(&mut self, acceptance: f64) {
        let s = self.t - self.coarse;
        // Of weights 1, ..., s the last has the share 2 / (s + 1), so that the other half's answer is forgotten.
        self.log_average += 2.0 / (s + 1.0) * (self.log_step - self.log_average);
        let gain = GAIN * (s + AHEAD).powf(-FINE_KAPPA);
        self.log_step -= gain * (self.target - acceptance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where it settles if the acceptance is `curve`(step size).
    fn settled(first_step: f64, curve: impl Fn(f64) -> f64) -> f64 {
        let mut averaging = DualAveraging::new(first_step, 0.8, 2000);
        for _ in 0..2000 {
            averaging.update(curve(averaging.trial()));
        }
        averaging.average()
    }

    #[test]
    fn it_finds_the_step_of_the_wanted_acceptance_from_far_below_and_above() {
        // 0.8 = exp(-ε / 3) at ε = 3 ln 1.25.
        let wanted = 3.0 * 1.25f64.ln();
        for first_step in [1e-6, 1e-2, 1.0, 1e3] {
            let found = settled(first_step, |step| (-step / 3.0).exp());
            assert!(
                (found / wanted).ln().abs() < 0.05,
                "{found} from {first_step}"
            );
        }
    }

    /// The mean acceptance of the steps found in 150 trials, each heard as accepted or not, if it is exp(-ε²): over 400
    /// repetitions, with a standard error below 0.005. Twin: dual averaging to the end.
    #[test]
    fn the_acceptance_of_the_answer_is_the_one_asked_for() {
        use helmholtz_random::{Purpose, Stream};
        let reached = |target: f64, trials: usize| {
            let repetitions = (0..400).map(|r| {
                let mut stream = Stream::new(1, Purpose::new("test"), [r, 0]);
                let mut averaging = DualAveraging::new(0.1, target, trials);
                for _ in 0..150 {
                    let acceptance = (-averaging.trial().powi(2)).exp();
                    averaging.update(f64::from(stream.uniform_f64() < acceptance));
                }
                (-averaging.average().powi(2)).exp()
            });
            repetitions.sum::<f64>() / 400.0
        };
        for target in [0.6, 0.7, 0.8, 0.9] {
            let (found, twin) = (reached(target, 150), reached(target, usize::MAX));
            println!("{target}: {found:.3}, by dual averaging alone {twin:.3}");
            assert!((found - target).abs() < 0.03, "{target}: {found}");
            assert!((twin - target).abs() > 0.03, "{target}: {twin}");
        }
    }

    #[test]
    fn with_the_error_of_the_wrong_sign_it_runs_away() {
        let found = settled(1.0, |step| 1.6 - (-step / 3.0).exp());
        assert!(!(1e-3..1e3).contains(&found));
    }

    /// H̄ and ln ε of the recursion as printed, by hand for two updates.
    #[test]
    fn the_recursion_is_the_published_one() {
        let mut averaging = DualAveraging::new(0.5, 0.8, 100);
        averaging.update(0.3);
        let h1 = 0.5 / 11.0;
        let log_1 = 5f64.ln() - h1 / 0.05;
        assert!((averaging.trial().ln() - log_1).abs() < 1e-14);
        assert!((averaging.average().ln() - log_1).abs() < 1e-14);
        averaging.update(1.0);
        let h2 = (1.0 - 1.0 / 12.0) * h1 - 0.2 / 12.0;
        let log_2 = 5f64.ln() - 2f64.sqrt() / 0.05 * h2;
        assert!((averaging.trial().ln() - log_2).abs() < 1e-14);
        let weight = 2f64.powf(-0.75);
        let average = weight * log_2 + (1.0 - weight) * log_1;
        assert!((averaging.average().ln() - average).abs() < 1e-14);
    }
}
