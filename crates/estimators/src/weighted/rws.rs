//! Reweighted wake-sleep, and wake-sleep as its K = 1.

use helmholtz_random::Chance;
use helmholtz_samplers::{Info, log_sum_exp};

use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// Σ_k w̃_k ∇ log p(x, h_k) for p, with w̃ = softmax(ℓ) held constant (Bornschein & Bengio 2015). For q it is the wake
/// update Σ_k w̃_k ∇ log q(h_k | x), the sleep update ∇ log q(h̃ | x̃) with (x̃, h̃) ~ p, or their sum.
///
/// Biased for finite K. As K grows, consistent for ∇ log p(x), and the wake update for −∇KL(p(h | x) ‖ q(h | x)); the sleep update
/// is unbiased for the mean of that over x̃ ~ p. A particle whose ℓ is not finite has weight zero and is counted in
/// [`Outcome::info`]; without a finite ℓ all weights are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rws {
    pub(crate) wake: bool,
    pub(crate) sleep: bool,
}

impl Rws {
    /// q learns from the weighted particles (the JSA paper's baseline).
    pub const WAKE: Self = Self {
        wake: true,
        sleep: false,
    };
    /// q learns from dreams; with K = 1 this is wake-sleep (Hinton, Dayan, Frey & Neal 1995).
    pub const SLEEP: Self = Self {
        wake: false,
        sleep: true,
    };
    /// q learns from both.
    pub const WAKE_SLEEP: Self = Self {
        wake: true,
        sleep: true,
    };
}

impl Weighting for Rws {
    fn description(&self) -> Description {
        match (self.wake, self.sleep) {
            (true, false) => Description {
                name: "rws",
                label: "RWS",
                idea: "reweighted wake-sleep, wake phase for both nets",
                target: Target::InclusiveAsymptotically,
            },
            (false, _) => Description {
                name: "rws-sleep",
                label: "RWS (sleep)",
                idea: "reweighted wake-sleep, sleep phase for q",
                target: Target::Nothing,
            },
            (true, true) => Description {
                name: "rws-wake-sleep",
                label: "RWS (wake+sleep)",
                idea: "reweighted wake-sleep, wake and sleep phase for q",
                target: Target::LikelihoodsTheta,
            },
        }
    }

    fn sleeps(&self) -> bool {
        self.sleep
    }

    fn awake(self) -> Self {
        Self {
            sleep: false,
            ..self
        }
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        for (coefficient, weight) in coefficients.iter_mut().zip(softmax(log_w)) {
            *coefficient = Coefficient {
                theta: weight,
                phi: if self.wake { weight } else { 0.0 },
            };
        }
        Outcome {
            state: 0,
            info: non_finite(log_w),
        }
    }
}

/// w̃_k = exp(ℓ_k − logsumexp ℓ) over the finite ℓ. The others have weight zero, as in the kernels of `helmholtz-samplers`: -inf is
/// an impossible particle, NaN and +inf are mistakes. Without a finite ℓ all weights are zero.
pub(crate) fn softmax(log_w: &[f64]) -> impl Iterator<Item = f64> {
    let total = log_sum_exp(log_w.iter().copied().filter(|l| l.is_finite()));
    log_w.iter().map(move |l| match l.is_finite() {
        true => (l - total).exp(),
        false => 0.0,
    })
}

/// The count of log-weights that are not finite, as diagnostics.
pub(crate) fn non_finite(log_w: &[f64]) -> Info {
    Info {
        non_finite: log_w.iter().filter(|l| !l.is_finite()).count() as u64,
        ..Info::default()
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    #[test]
    fn weights_are_the_normalised_ones_and_only_wake_moves_q() {
        let log_w = [80.0, 80.0 + 3f64.ln(), -300.0];
        let mut coefficients = [Coefficient::default(); 3];
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        for (variant, wakes) in [
            (Rws::WAKE, true),
            (Rws::SLEEP, false),
            (Rws::WAKE_SLEEP, true),
        ] {
            variant.weigh(&log_w, false, &mut chance, &mut coefficients);
            for (coefficient, weight) in coefficients.iter().zip([0.25, 0.75, 0.0]) {
                assert!((coefficient.theta - weight).abs() < 1e-13);
                assert_eq!(coefficient.phi, if wakes { coefficient.theta } else { 0.0 });
            }
        }
    }
}
