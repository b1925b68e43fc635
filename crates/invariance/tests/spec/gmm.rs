//! Exact Gibbs kernels for a mixture of normals with a normal-gamma prior, two clusters and four points
//! in one dimension.

use std::f64::consts::PI;

use helmholtz_invariance::{Geweke, InvarianceError, Report, Share};
use helmholtz_random::{Chance, Draws, Purpose, Stream};
use helmholtz_samplers::smc::Increment;
use helmholtz_samplers::{Cycle, Gibbs, Kernel};

use crate::SUITE;

const CLUSTERS: usize = 2;
const POINTS: usize = 4;
const ALPHA: f64 = 2.0;
const BETA: f64 = 2.0;
const NU: f64 = 4.0;

/// (μ_m, τ_m) of each cluster.
type Eta = [(f64, f64); CLUSTERS];
type Data = [f64; POINTS];

#[derive(Clone, Debug)]
struct State {
    eta: Eta,
    c: [usize; POINTS],
}

/// Normal-gamma parameters, with μ₀ = 0.
#[derive(Clone, Copy)]
struct NormalGamma {
    alpha: f64,
    beta: f64,
    mu: f64,
    nu: f64,
}

const PRIOR: NormalGamma = NormalGamma {
    alpha: ALPHA,
    beta: BETA,
    mu: 0.0,
    nu: NU,
};

impl NormalGamma {
    /// α is a multiple of one half: a gamma draw is half a χ² of 2α normals.
    fn draw(&self, rng: &mut Stream) -> (f64, f64) {
        let chi_square: f64 = (0..(2.0 * self.alpha).round() as usize)
            .map(|_| rng.normal().powi(2))
            .sum();
        let tau = chi_square / (2.0 * self.beta);
        (self.mu + rng.normal() / (self.nu * tau).sqrt(), tau)
    }

    fn log_density(&self, (mu, tau): (f64, f64)) -> f64 {
        let gamma = self.alpha * self.beta.ln() - ln_gamma(self.alpha)
            + (self.alpha - 1.0) * tau.ln()
            - self.beta * tau;
        gamma + log_normal(mu, self.mu, self.nu * tau)
    }
}

/// ln Γ at multiples of one half.
fn ln_gamma(x: f64) -> f64 {
    let (mut at, mut sum) = if x.fract() == 0.0 {
        (1.0, 0.0)
    } else {
        (0.5, 0.5 * PI.ln())
    };
    while at < x {
        sum += f64::ln(at);
        at += 1.0;
    }
    sum
}

fn log_normal(x: f64, mean: f64, precision: f64) -> f64 {
    0.5 * (precision / (2.0 * PI)).ln() - 0.5 * precision * (x - mean) * (x - mean)
}

/// p(μ_m, τ_m | x, c), normal-gamma by conjugacy (Bishop, 2006, §2.3.6). Without `shrinkage` the distance of the mean from the prior's is left
/// out of β.
fn posterior(x: &Data, c: &[usize; POINTS], m: usize, shrinkage: bool) -> NormalGamma {
    let own = || x.iter().zip(c).filter(|(_, c)| **c == m).map(|(x, _)| *x);
    let (n, s1) = (own().count() as f64, own().sum::<f64>());
    let squares: f64 = own().map(|x| x * x).sum();
    let (mut beta, nu) = (PRIOR.beta, PRIOR.nu + n);
    if n > 0.0 {
        beta += 0.5 * (squares - s1 * s1 / n);
        if shrinkage {
            beta += 0.5 * n * PRIOR.nu / nu * (s1 / n).powi(2);
        }
    }
    NormalGamma {
        alpha: PRIOR.alpha + 0.5 * n,
        beta,
        mu: s1 / nu,
        nu,
    }
}

/// ln p(x_n, c_n = m | η) + constant, for each m.
fn log_assignment(x: f64, eta: &Eta) -> [f64; CLUSTERS] {
    eta.map(|(mu, tau)| log_normal(x, mu, tau))
}

fn log_q_eta(x: &Data, c: &[usize; POINTS], eta: &Eta) -> f64 {
    (0..CLUSTERS)
        .map(|m| posterior(x, c, m, true).log_density(eta[m]))
        .sum()
}

fn log_q_c(x: &Data, eta: &Eta, c: &[usize; POINTS]) -> f64 {
    (x.iter().zip(c))
        .map(|(&x, &c)| {
            let l = log_assignment(x, eta);
            l[c] - helmholtz_samplers::log_sum_exp(l)
        })
        .sum()
}

fn log_joint(x: &Data, eta: &Eta, c: &[usize; POINTS]) -> f64 {
    let prior: f64 = eta.iter().map(|e| PRIOR.log_density(*e)).sum();
    let data: f64 = (x.iter().zip(c))
        .map(|(&x, &c)| log_assignment(x, eta)[c] - (CLUSTERS as f64).ln())
        .sum();
    prior + data
}

fn draw_eta(x: &Data, c: &[usize; POINTS], shrinkage: bool, rng: &mut Stream) -> Eta {
    std::array::from_fn(|m| posterior(x, c, m, shrinkage).draw(rng))
}

fn draw_c(x: &Data, eta: &Eta, rng: &mut Stream) -> [usize; POINTS] {
    x.map(|x| rng.choose(&log_assignment(x, eta)).unwrap())
}

fn prior(rng: &mut Stream) -> State {
    State {
        eta: std::array::from_fn(|_| PRIOR.draw(rng)),
        c: std::array::from_fn(|_| rng.below(CLUSTERS as u32) as usize),
    }
}

fn data(state: &State, rng: &mut Stream) -> Data {
    state.c.map(|c| {
        let (mu, tau) = state.eta[c];
        mu + rng.normal() / tau.sqrt()
    })
}

#[test]
fn test_5_exact_kernels_have_incremental_weight_one() {
    let mut rng = Stream::new(5, Purpose::new("gmm"), [0, 0]);
    for _ in 0..200 {
        let State { eta, c } = prior(&mut rng);
        let x = data(&State { eta, c }, &mut rng);
        let (new_eta, new_c) = (draw_eta(&x, &c, true, &mut rng), draw_c(&x, &eta, &mut rng));
        let block_eta = Increment {
            log_target: log_joint(&x, &new_eta, &c),
            log_reverse: log_q_eta(&x, &c, &eta),
            log_previous: log_joint(&x, &eta, &c),
            log_forward: log_q_eta(&x, &c, &new_eta),
        };
        let block_c = Increment {
            log_target: log_joint(&x, &eta, &new_c),
            log_reverse: log_q_c(&x, &eta, &c),
            log_previous: log_joint(&x, &eta, &c),
            log_forward: log_q_c(&x, &eta, &new_c),
        };
        // η and then c, undone in the reverse order.
        let joint_c = draw_c(&x, &new_eta, &mut rng);
        let joint = Increment {
            log_target: log_joint(&x, &new_eta, &joint_c),
            log_reverse: log_q_c(&x, &new_eta, &c) + log_q_eta(&x, &c, &eta),
            log_previous: log_joint(&x, &eta, &c),
            log_forward: log_q_eta(&x, &c, &new_eta) + log_q_c(&x, &new_eta, &joint_c),
        };
        for increment in [block_eta, block_c, joint] {
            assert!(increment.log_weight().abs() < 1e-10);
        }
        // A reverse density at the new parameters where the old belong.
        let broken = Increment {
            log_reverse: log_q_c(&x, &new_eta, &c),
            ..block_c
        };
        assert!(broken.log_weight().abs() > 1e-6);
    }
}

fn geweke(shrinkage: bool, share: Share) -> Result<Report, InvarianceError> {
    Geweke::new(prior, data, |state: &State, x: &Data| {
        // Functions of the first cluster that have all moments, with and without the data.
        let (mu, tau) = state.eta[0];
        vec![
            mu * (NU * tau).sqrt(),
            tau.ln(),
            f64::from(u8::from(state.c[0] == state.c[1])),
            log_normal(x[0], 0.0, 1.0).max(-30.0),
            (x[0] - x[1]).tanh() * mu.tanh(),
        ]
    })
    .chains(4000)
    .length(10)
    .test(
        |state: &mut State, x: &Data, rng: &mut Stream| {
            let eta = Gibbs::new(|s: &mut State, rng: &mut Stream| {
                s.eta = draw_eta(x, &s.c, shrinkage, rng);
            });
            eta.step(state, rng);
            let c = Gibbs::new(|s: &mut State, rng: &mut Stream| s.c = draw_c(x, &s.eta, rng));
            Cycle::new(vec![c]).step(state, rng);
        },
        share,
    )
}

#[test]
fn test_6_gibbs_keeps_the_joint_law() {
    geweke(true, SUITE.share("gibbs").unwrap())
        .unwrap()
        .assert_passed();
}

#[test]
fn test_6_a_posterior_without_its_shrinkage_term_does_not() {
    geweke(false, SUITE.share("gibbs without shrinkage").unwrap())
        .unwrap()
        .assert_failed();
}
