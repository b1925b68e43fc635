//! Four posteriors of posteriordb with their gradients by hand, on unconstrained coordinates; the means and standard
//! deviations of its reference draws.
//!
//! Source: posteriordb (Magnusson, Torgander, Bürkner, Zhang, Carpenter and Vehtari, 2024), commit 28f8d3d, its Stan
//! programs and 10,000 reference draws each. The schools' data are those of Rubin (1981); the other data are read from a
//! folder, where the JSON files of `posterior_database/data/data` lie unpacked.

use std::path::{Path, PathBuf};

use helmholtz_samplers::GradientTarget;

/// A parameter's name, and its mean and standard deviation in the reference draws.
pub type Reference = (&'static str, f64, f64);

/// A posterior on ℝⁿ and what it is about.
pub trait Posterior: GradientTarget + Sync {
    /// Its name in posteriordb.
    fn name(&self) -> &'static str;

    /// Unconstrained coordinates n.
    fn dimension(&self) -> usize;

    /// The parameters at a position, in the order of the references.
    fn parameters(&self, x: &[f64], parameters: &mut Vec<f64>);

    /// What the reference draws say.
    fn reference(&self) -> &'static [Reference];
}

/// All posteriors whose data are at hand, and the names of those whose data are not.
pub fn posteriors() -> (Vec<Box<dyn Posterior>>, Vec<&'static str>) {
    let mut found: Vec<Box<dyn Posterior>> = vec![Box::new(EightSchools)];
    let mut missing = Vec::new();
    let folder =
        std::env::var_os("HELMHOLTZ_DATA").map(|data| Path::new(&data).join("posteriordb"));
    let file = |name: &str| -> Option<serde_json::Value> {
        let path: PathBuf = folder.as_ref()?.join(format!("{name}.json"));
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    };
    let numbers = |data: &serde_json::Value, name: &str| -> Vec<f64> {
        let values = data[name].as_array().expect("an array of this name");
        values
            .iter()
            .map(|v| v.as_f64().expect("numbers"))
            .collect()
    };
    match file("hmm_example") {
        Some(data) => found.push(Box::new(Hmm(numbers(&data, "y")))),
        None => missing.push("hmm_example"),
    }
    match file("low_dim_gauss_mix") {
        Some(data) => found.push(Box::new(GaussianMixture(numbers(&data, "y")))),
        None => missing.push("low_dim_gauss_mix"),
    }
    match file("kidiq") {
        Some(data) => {
            let columns = ["mom_hs", "mom_iq", "kid_score"].map(|name| numbers(&data, name));
            let rows = 0..columns[0].len();
            found.push(Box::new(Regression(
                rows.map(|i| [columns[0][i], columns[1][i], columns[2][i]])
                    .collect(),
            )));
        }
        None => missing.push("kidiq"),
    }
    (found, missing)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// ln (e^a + e^b), and the share of a.
fn log_sum(a: f64, b: f64) -> (f64, f64) {
    let largest = a.max(b);
    (
        largest + ((a - largest).exp() + (b - largest).exp()).ln(),
        logistic(a - b),
    )
}

/// θ' ~ N(0, 1)^8, μ ~ N(0, 5²), τ ~ Cauchy⁺(5), y_j ~ N(μ + τ θ'_j, σ_j²); x = (θ', μ, ln τ).
struct EightSchools;

const SCHOOLS: [(f64, f64); 8] = [
    (28.0, 15.0),
    (8.0, 10.0),
    (-3.0, 16.0),
    (7.0, 11.0),
    (-1.0, 9.0),
    (1.0, 11.0),
    (18.0, 10.0),
    (12.0, 18.0),
];

impl GradientTarget for EightSchools {
    fn log_density_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (mu, tau) = (x[8], x[9].exp());
        let square = (tau / 5.0).powi(2);
        let mut log_p = -0.5 * (mu / 5.0).powi(2) - square.ln_1p() + x[9];
        gradient[8] -= mu / 25.0;
        gradient[9] += 1.0 - 2.0 * square / (1.0 + square);
        for (j, (y, sigma)) in SCHOOLS.iter().enumerate() {
            let rest = (y - mu - tau * x[j]) / sigma;
            log_p -= 0.5 * (x[j] * x[j] + rest * rest);
            gradient[j] += rest * tau / sigma - x[j];
            gradient[8] += rest / sigma;
            gradient[9] += rest * tau * x[j] / sigma;
        }
        log_p
    }
}

impl Posterior for EightSchools {
    fn name(&self) -> &'static str {
        "eight_schools-eight_schools_noncentered"
    }

    fn dimension(&self) -> usize {
        10
    }

    fn parameters(&self, x: &[f64], parameters: &mut Vec<f64>) {
        let (mu, tau) = (x[8], x[9].exp());
        parameters.extend(x[..8].iter().map(|theta| mu + tau * theta));
        parameters.extend([mu, tau]);
    }

    fn reference(&self) -> &'static [Reference] {
        &[
            ("theta[1]", 6.1505, 5.61586),
            ("theta[2]", 4.93958, 4.64558),
            ("theta[3]", 3.90591, 5.28071),
            ("theta[4]", 4.79602, 4.77094),
            ("theta[5]", 3.61444, 4.61472),
            ("theta[6]", 4.05115, 4.79625),
            ("theta[7]", 6.31717, 5.00286),
            ("theta[8]", 4.884, 5.31769),
            ("mu", 4.41052, 3.3093),
            ("tau", 3.60206, 3.19848),
        ]
    }
}

/// Two hidden states with θ_j = p(first | j), y_t ~ N(μ_k, 1), μ_1 ~ N(3, 1), μ_2 ~ N(10, 1), 0 < μ_1 < μ_2;
/// x = (logit θ_1, logit θ_2, ln μ_1, ln(μ_2 - μ_1)).
struct Hmm(Vec<f64>);

impl Hmm {
    fn means(x: &[f64]) -> [f64; 2] {
        [x[2].exp(), x[2].exp() + x[3].exp()]
    }
}

impl GradientTarget for Hmm {
    fn log_density_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let theta = [logistic(x[0]), logistic(x[1])];
        let log_theta = theta.map(|first| [first.ln(), (-first).ln_1p()]);
        let mu = Self::means(x);
        let emission = |y: f64| mu.map(|m| -0.5 * (y - m).powi(2));
        // ln p(y_1, ..., y_t, z_t = k), from equal weights of one for both first states.
        let mut forward = vec![emission(self.0[0])];
        for &y in &self.0[1..] {
            let before = forward[forward.len() - 1];
            let seen = emission(y);
            let from =
                |k: usize| log_sum(before[0] + log_theta[0][k], before[1] + log_theta[1][k]).0;
            forward.push([seen[0] + from(0), seen[1] + from(1)]);
        }
        let last = forward[forward.len() - 1];
        let (evidence, first) = log_sum(last[0], last[1]);
        // Backwards: the posterior of z_t, and of the pairs (z_{t-1}, z_t).
        let mut posterior = [first, 1.0 - first];
        let mut of_mu = [3.0 - mu[0], 10.0 - mu[1]];
        for t in (0..self.0.len()).rev() {
            for k in 0..2 {
                of_mu[k] += posterior[k] * (self.0[t] - mu[k]);
            }
            if t == 0 {
                break;
            }
            let mut before = [0.0; 2];
            for k in 0..2 {
                let to = |j: usize| forward[t - 1][j] + log_theta[j][k];
                let share = log_sum(to(0), to(1)).1;
                for (j, share) in [share, 1.0 - share].into_iter().enumerate() {
                    let pair = posterior[k] * share;
                    before[j] += pair;
                    gradient[j] += pair * (if k == 0 { 1.0 } else { 0.0 } - theta[j]);
                }
            }
            posterior = before;
        }
        for j in 0..2 {
            gradient[j] += 1.0 - 2.0 * theta[j];
        }
        gradient[2] += 1.0 + (of_mu[0] + of_mu[1]) * x[2].exp();
        gradient[3] += 1.0 + of_mu[1] * x[3].exp();
        let jacobian = log_theta.iter().flatten().sum::<f64>() + x[2] + x[3];
        evidence + jacobian - 0.5 * ((mu[0] - 3.0).powi(2) + (mu[1] - 10.0).powi(2))
    }
}

impl Posterior for Hmm {
    fn name(&self) -> &'static str {
        "hmm_example-hmm_example"
    }

    fn dimension(&self) -> usize {
        4
    }

    fn parameters(&self, x: &[f64], parameters: &mut Vec<f64>) {
        parameters.extend([logistic(x[0]), logistic(x[1])]);
        parameters.extend(Self::means(x));
    }

    fn reference(&self) -> &'static [Reference] {
        &[
            ("theta1[1]", 0.666645, 0.101231),
            ("theta2[1]", 0.0731326, 0.0284425),
            ("mu[1]", 3.02152, 0.224453),
            ("mu[2]", 8.82728, 0.110578),
        ]
    }
}

/// The density is not bounded: it grows where one σ falls to zero at a datum, and a chain that starts near there stays. The
/// reference is of the other mode, and so are the starts of the tests.
///
/// y ~ θ N(μ_1, σ_1²) + (1 - θ) N(μ_2, σ_2²), μ_1 < μ_2, priors N(0, 2²) on μ and σ > 0, Beta(5, 5) on θ;
/// x = (μ_1, ln(μ_2 - μ_1), ln σ, logit θ).
struct GaussianMixture(Vec<f64>);

impl GradientTarget for GaussianMixture {
    fn log_density_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let gap = x[1].exp();
        let mu = [x[0], x[0] + gap];
        let sigma = [x[2].exp(), x[3].exp()];
        let theta = logistic(x[4]);
        let log_weight = [theta.ln(), (-theta).ln_1p()];
        let mut of_mu = mu.map(|m| -m / 4.0);
        let mut of_log_sigma = sigma.map(|s| 1.0 - s * s / 4.0);
        let prior = |v: [f64; 2]| -0.125 * (v[0] * v[0] + v[1] * v[1]);
        let mut log_p = prior(mu) + prior(sigma) + x[1] + x[2] + x[3];
        log_p += 5.0 * (log_weight[0] + log_weight[1]);
        let mut of_logit = 5.0 - 10.0 * theta;
        for y in &self.0 {
            let z = [(y - mu[0]) / sigma[0], (y - mu[1]) / sigma[1]];
            let of = |k: usize| log_weight[k] - sigma[k].ln() - 0.5 * z[k] * z[k];
            let (sum, share) = log_sum(of(0), of(1));
            log_p += sum;
            for (k, share) in [share, 1.0 - share].into_iter().enumerate() {
                of_mu[k] += share * z[k] / sigma[k];
                of_log_sigma[k] += share * (z[k] * z[k] - 1.0);
            }
            of_logit += share - theta;
        }
        gradient[0] += of_mu[0] + of_mu[1];
        gradient[1] += 1.0 + of_mu[1] * gap;
        gradient[2] += of_log_sigma[0];
        gradient[3] += of_log_sigma[1];
        gradient[4] += of_logit;
        log_p
    }
}

impl Posterior for GaussianMixture {
    fn name(&self) -> &'static str {
        "low_dim_gauss_mix-low_dim_gauss_mix"
    }

    fn dimension(&self) -> usize {
        5
    }

    fn parameters(&self, x: &[f64], parameters: &mut Vec<f64>) {
        parameters.extend([x[0], x[0] + x[1].exp()]);
        parameters.extend([x[2].exp(), x[3].exp(), logistic(x[4])]);
    }

    fn reference(&self) -> &'static [Reference] {
        &[
            ("mu[1]", -2.73351, 0.042045),
            ("mu[2]", 2.86983, 0.0546033),
            ("sigma[1]", 1.02807, 0.0314375),
            ("sigma[2]", 1.02382, 0.040484),
            ("theta", 0.621549, 0.015481),
        ]
    }
}

/// y ~ N(β_1 + β_2 u + β_3 v, σ²), flat priors of β, σ ~ Cauchy⁺(2.5); rows (u, v, y), x = (β, ln σ).
struct Regression(Vec<[f64; 3]>);

impl GradientTarget for Regression {
    fn log_density_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (sigma, square) = (x[3].exp(), (x[3].exp() / 2.5).powi(2));
        let mut log_p = x[3] - square.ln_1p();
        gradient[3] += 1.0 - 2.0 * square / (1.0 + square);
        for [u, v, y] in &self.0 {
            let rest = (y - x[0] - x[1] * u - x[2] * v) / sigma;
            log_p -= x[3] + 0.5 * rest * rest;
            for (g, factor) in gradient.iter_mut().zip([1.0, *u, *v]) {
                *g += rest * factor / sigma;
            }
            gradient[3] += rest * rest - 1.0;
        }
        log_p
    }
}

impl Posterior for Regression {
    fn name(&self) -> &'static str {
        "kidiq-kidscore_momhsiq"
    }

    fn dimension(&self) -> usize {
        4
    }

    fn parameters(&self, x: &[f64], parameters: &mut Vec<f64>) {
        parameters.extend_from_slice(&x[..3]);
        parameters.push(x[3].exp());
    }

    fn reference(&self) -> &'static [Reference] {
        &[
            ("beta[1]", 25.7941, 5.86062),
            ("beta[2]", 5.98743, 2.21602),
            ("beta[3]", 0.562994, 0.0604656),
            ("sigma", 18.1392, 0.618526),
        ]
    }
}
