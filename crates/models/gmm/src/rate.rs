//! The rate of the posterior of the precisions.

use serde::{Deserialize, Serialize};

/// The rate of the precisions after S₁ data of mean x̄, with ν' = ν + S₁.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// β + ½ Σ (x_n − x̄)² + ½ S₁ν/ν' (x̄ − μ₀)²: Bayes' rule.
    #[default]
    Conjugate,
    /// With (x̄ − ν)² in place of (x̄ − μ₀)², a defect of the released code that biases all that is built on it alike: to explain
    /// published figures with.
    Released,
}
