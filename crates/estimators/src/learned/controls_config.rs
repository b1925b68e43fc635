//! Which learned parts an estimator has.

/// Which learned parts an estimator has, and how they are trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlsConfig {
    /// A baseline net C_ψ for each stochastic layer, on that layer's input.
    pub baselines: bool,
    /// Numbers η for each stochastic layer, between 0 and 2, all starting at 1.
    pub scales: usize,
    /// Unconstrained numbers for each stochastic layer, all starting at 0.
    pub coefficients: usize,
    /// A temperature τ.
    pub temperature: Option<Temperature>,
    /// A free-form control variate r_ψ for each stochastic layer, on the data and that layer's noisy logits.
    pub critics: bool,
    /// RODEO's two surrogates of f for each stochastic layer, one net.
    pub surrogates: bool,
    /// The learning rate of their Adam, in units of the model's.
    pub learning_rate: f64,
    /// β₂ of their Adam.
    pub beta_2: f64,
}

/// A learned temperature, by its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Temperature {
    /// ln τ is trained.
    Logarithm(f64),
    /// τ is trained, and kept at 0.05 or above.
    Itself(f64),
}

impl ControlsConfig {
    /// Nothing yet, trained as the model is: its learning rate, β₂ = 0.999.
    pub const AS_THE_MODEL: Self = Self {
        baselines: false,
        scales: 0,
        coefficients: 0,
        temperature: None,
        critics: false,
        surrogates: false,
        learning_rate: 1.0,
        beta_2: 0.999,
    };

    /// Nothing yet, trained as REBAR's are: at ten times the model's learning rate, β₂ = 0.99999 (Tucker et al. 2017).
    pub const AS_REBAR: Self = Self {
        learning_rate: 10.0,
        beta_2: 0.99999,
        ..Self::AS_THE_MODEL
    };

    /// Whether there is nothing to learn.
    pub fn is_empty(&self) -> bool {
        let nets = self.baselines || self.critics || self.surrogates;
        !nets && self.scales == 0 && self.coefficients == 0 && self.temperature.is_none()
    }
}
