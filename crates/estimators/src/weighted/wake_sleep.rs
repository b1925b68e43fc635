//! Wake-sleep.

use helmholtz_random::Chance;

use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// Wake: ∇ log p(x, h), h ~ q. Sleep: ∇ log q(h̃ | x̃), (x̃, h̃) ~ p (Hinton, Dayan, Frey & Neal 1995). One particle, whatever K.
///
/// θ's part is unbiased for ∇ELBO; φ's descends KL(p ‖ q) on dreams, which is no gradient of the same function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeSleep {
    /// Whether each estimate has its sleep phase; without it φ learns nothing.
    pub(crate) sleep: bool,
}

impl WakeSleep {
    /// Wake and sleep.
    pub const BOTH: Self = Self { sleep: true };
}

impl Weighting for WakeSleep {
    fn description(&self) -> Description {
        Description {
            name: "ws",
            label: "WS",
            idea: "wake-sleep, one particle",
            target: Target::ElbosTheta,
        }
    }

    fn proposals(&self, _particles: usize, _retained: bool) -> usize {
        1
    }

    fn sleeps(&self) -> bool {
        self.sleep
    }

    fn awake(self) -> Self {
        Self { sleep: false }
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        coefficients.fill(Coefficient {
            theta: 1.0 / log_w.len() as f64,
            phi: 0.0,
        });
        Outcome::default()
    }
}
