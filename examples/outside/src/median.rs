//! An estimator of one's own.
use helmholtz::estimators::{Coefficient, Description, Outcome, Target, Weighting};
use helmholtz::random::Chance;

/// s_k = (ℓ_k − median of the others) / K on ∇ log q, 1/K on ∇ log p: unbiased, unless its own ℓ_k is among the others.
#[derive(Clone)]
pub struct Median {
    pub with_own: bool,
}

impl Weighting for Median {
    fn description(&self) -> Description {
        Description {
            name: "median",
            label: "Median",
            idea: "the median of the other particles' signals as baseline",
            target: Target::Elbo,
        }
    }

    fn least_particles(&self, _retained: bool) -> usize {
        3
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let theta = 1.0 / log_w.len() as f64;
        for (k, coefficient) in coefficients.iter_mut().enumerate() {
            let others = (0..log_w.len()).filter(|&j| j != k || self.with_own);
            let mut others: Vec<f64> = others.map(|j| log_w[j]).collect();
            others.sort_by(f64::total_cmp);
            let phi = theta * (log_w[k] - others[others.len() / 2]);
            *coefficient = Coefficient { theta, phi };
        }
        Outcome::default()
    }
}
