//! A new estimator in one file, and the workspace's proof of it.
//!
//! `cargo run --release -p helmholtz-tests --example new_estimator`
//!
//! The idea: REINFORCE whose baseline for a particle is the **median** of the other particles' signals. It is unbiased, since
//! the baseline of a particle does not depend on it. A first attempt forgot to leave the particle out.
//!
//! As it stands `train`, `Trainer` and `method_variance` take it. To make it one of the workspace's own: move the `impl` to a file
//! of `crates/estimators/src/weighted` with a `description`, and add a line to the list of `weighted.rs`. Help, README, the
//! certificate table and `cargo xtask reproduce table1 --method NAME` follow.

use helmholtz_estimators::{Coefficient, Outcome, Rloo, Weighting, estimate};
use helmholtz_invariance::gradients::{Subject, largest_t, mean_of};
use helmholtz_random::Chance;
use helmholtz_tests::Reference;
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;

/// s_k = (ℓ_k − median of the others) / K on ∇ log q, 1/K on ∇ log p.
struct MedianBaseline {
    leaves_own_out: bool,
}

impl Weighting for MedianBaseline {
    fn least_particles(&self, _retained: bool) -> usize {
        2
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let share = 1.0 / log_w.len() as f64;
        for (k, coefficient) in coefficients.iter_mut().enumerate() {
            let others = (0..log_w.len()).filter(|&j| j != k || !self.leaves_own_out);
            let mut others: Vec<f64> = others.map(|j| log_w[j]).collect();
            others.sort_by(f64::total_cmp);
            let median = others[others.len() / 2];
            *coefficient = Coefficient {
                theta: share,
                phi: share * (log_w[k] - median),
            };
        }
        Outcome::default()
    }
}

fn main() {
    let subject = subject_of(&Reference::t1());
    let right = MedianBaseline {
        leaves_own_out: true,
    };
    let wrong = MedianBaseline {
        leaves_own_out: false,
    };
    report(&subject, "leave-one-out mean (RLOO)", &Rloo);
    assert!(report(&subject, "median of the others", &right));
    assert!(!report(
        &subject,
        "median of all, its own among them",
        &wrong
    ));
}

/// Whether the mean of 200,000 estimates with K = 5 is the gradient of the ELBO.
fn report<M>(subject: &Subject<M>, name: &str, estimator: &impl Weighting) -> bool
where
    M: helmholtz_estimators::Model<helmholtz_tests::Tape>,
{
    let found = mean_of(|stream| {
        subject.with_chains(false, stream, |chains, noise, chance| {
            subject.gradient(|model, x| estimate(estimator, model, x, chains, 5, noise, chance))
        })
    });
    let t = largest_t(&found, &subject.elbo, 0..subject.elbo.len());
    let variance: f64 = subject.phi.clone().map(|i| found.1[i] * found.1[i]).sum();
    let unbiased = t < STUDENT_LIMIT_OF_MANY;
    let verdict = if unbiased { "unbiased" } else { "BIASED" };
    let variance = variance * 100.0 * subject.copies() as f64;
    println!("{name:36} {verdict:9} largest |t| {t:6.1}   variance of φ's gradient {variance:8.2}");
    unbiased
}
