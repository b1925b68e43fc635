//! The density of (μ, τ) with the assignments summed out, for gradient-based samplers.

use std::f64::consts::PI;

use crate::GmmConfig;

impl GmmConfig {
    /// ln p(x, μ, ln τ) with c summed out, up to a constant of the prior, in nats:
    ///
    /// > Σ_n ln Σ_m (1/M) Π_d N(x_nd; μ_md, 1/τ_md) + Σ_md (ln Gamma(τ; α, β) + ln τ + ln N(μ; μ₀, 1/(ν τ))),
    ///
    /// ln τ being the Jacobian of the coordinate. Data x are rows of D; the position is ln τ of each cluster and dimension,
    /// then μ. Adds the derivatives in the position to `gradient`.
    ///
    /// # Panics
    /// If position and gradient are not of length 2 M D, or the data no rows of D.
    pub fn log_marginal(&self, data: &[f64], position: &[f64], gradient: &mut [f64]) -> f64 {
        let (m, d) = (self.clusters, self.dimensions);
        assert_eq!(position.len(), 2 * m * d, "ln τ and μ of each cluster");
        assert_eq!(
            gradient.len(),
            2 * m * d,
            "a derivative for each coordinate"
        );
        assert!(data.len().is_multiple_of(d), "rows of {d} coordinates");
        let (log_tau, mu) = position.split_at(m * d);
        let (in_log_tau, in_mu) = gradient.split_at_mut(m * d);
        let tau: Vec<f64> = log_tau.iter().map(|s| s.exp()).collect();
        let mut log_p = 0.0;
        for i in 0..m * d {
            let away = mu[i] - self.mean;
            let energy = 0.5 * self.nu * tau[i] * away * away;
            log_p += (self.alpha + 0.5) * log_tau[i] - self.beta * tau[i] - energy;
            in_log_tau[i] += self.alpha + 0.5 - self.beta * tau[i] - energy;
            in_mu[i] -= self.nu * tau[i] * away;
        }
        let constant = -(m as f64).ln() - 0.5 * d as f64 * (2.0 * PI).ln();
        let mut terms = vec![0.0; m];
        for x in data.chunks_exact(d) {
            for (cluster, term) in terms.iter_mut().enumerate() {
                let log_normal = |k: usize| {
                    let i = cluster * d + k;
                    0.5 * (log_tau[i] - tau[i] * (x[k] - mu[i]).powi(2))
                };
                *term = (0..d).map(log_normal).sum();
            }
            let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
            log_p += constant + largest + total.ln();
            for (cluster, term) in terms.iter().enumerate() {
                let share = (term - largest).exp() / total;
                for (i, x) in (cluster * d..).zip(x) {
                    let away = x - mu[i];
                    in_log_tau[i] += share * 0.5 * (1.0 - tau[i] * away * away);
                    in_mu[i] += share * tau[i] * away;
                }
            }
        }
        log_p
    }
}
