//! Kernels over log-weights.

use std::cmp::Ordering;

use helmholtz_invariance::families::{FiniteTarget, LatentModel, for_every, latent_models};
use helmholtz_invariance::{InvarianceError, Law, TOLERANCE, TransitionMatrix};
use helmholtz_samplers::{Barker, Cis, FrozenReferenceMis, IndexKernel, Mis, Mtmis};

/// The posterior and the proposal of a model, and ln p - ln q.
struct Problem {
    p: Law,
    q: Law,
    log_w: Vec<f64>,
}

impl Problem {
    fn of(model: &LatentModel) -> Result<Self, InvarianceError> {
        let states = model.states();
        Ok(Self {
            p: Law::of(&states, |h| model.log_joint(h))?,
            q: Law::of(&states, |h| model.log_q(h))?,
            log_w: states
                .iter()
                .map(|h| model.log_joint(h) - model.log_q(h))
                .collect(),
        })
    }

    /// Three states of which the first has a large weight.
    fn uneven() -> Self {
        let (p, q) = ([0.6f64, 0.3, 0.1], [0.1f64, 0.4, 0.5]);
        Self {
            p: Law::from_weights(&p).unwrap(),
            q: Law::from_weights(&q).unwrap(),
            log_w: p.iter().zip(q).map(|(p, q)| p.ln() - q.ln()).collect(),
        }
    }

    fn matrix(
        &self,
        kernel: &impl IndexKernel,
        k: usize,
    ) -> Result<TransitionMatrix, InvarianceError> {
        TransitionMatrix::of_index_kernel(kernel, &self.q, &self.log_w, k)
    }

    /// p / q, normalised.
    fn w(&self, x: usize) -> f64 {
        self.p.probabilities()[x] / self.q.probabilities()[x]
    }

    /// E_q[min(1, w(h) / w(x))].
    fn z(&self, x: usize) -> f64 {
        let accepted: f64 = (self.q.probabilities().iter().zip(&self.log_w))
            .map(|(q, l)| q * (l - self.log_w[x]).exp().min(1.0))
            .sum();
        accepted.min(1.0) // but for rounding
    }

    /// The law that n moves against a frozen reference leave invariant, π_n(h) ∝ p(h) Z(h) / (1 - (1 - Z(h))^n).
    fn frozen_law(&self, n: usize) -> Result<Law, InvarianceError> {
        let weights: Vec<f64> = (self.p.probabilities().iter().enumerate())
            .map(|(x, p)| p * self.z(x) / -(n as f64 * (-self.z(x)).ln_1p()).exp_m1())
            .collect();
        Law::from_weights(&weights)
    }
}

/// T1: three binary latents, four visibles.
fn for_every_model(check: impl Fn(&Problem) -> Result<(), InvarianceError>) {
    for_every(latent_models(3..=3), |model| check(&Problem::of(model)?));
}

#[test]
fn m1_the_kernels_are_invariant_and_reversible() {
    fn check(
        problem: &Problem,
        kernel: &impl IndexKernel,
        k: usize,
    ) -> Result<(), InvarianceError> {
        let matrix = problem.matrix(kernel, k)?;
        matrix.check_invariant(&problem.p, TOLERANCE)?;
        // MIS of several moves is a power of a reversible kernel.
        matrix.check_reversible(&problem.p, TOLERANCE)
    }
    for_every(latent_models(2..=2), |model| {
        let problem = Problem::of(model)?;
        for k in 1..=3 {
            check(&problem, &Mis, k)?;
            check(&problem, &Mtmis, k)?;
            check(&problem, &Cis, k)?;
        }
        Ok(())
    });
    for_every_model(|problem| {
        check(problem, &Mis, 2)?;
        check(problem, &Mtmis, 2)?;
        check(problem, &Cis, 2)
    });
}

#[test]
fn m2_k_moves_are_the_kth_power_and_so_is_every_visit_on_the_way() {
    for_every(latent_models(2..=2), |model| {
        let problem = Problem::of(model)?;
        let once = problem.matrix(&Mis, 1)?;
        for moves in 0..=3 {
            let after = TransitionMatrix::of_index_kernel_after(
                &Mis,
                &problem.q,
                &problem.log_w,
                3,
                moves,
            )?;
            assert!(after.max_difference(&once.repeated(moves as u32))? < TOLERANCE);
        }
        Ok(())
    });
}

#[test]
fn m3_the_spectrum_is_lius() {
    for_every_model(|problem| {
        let (p, q) = (problem.p.probabilities(), problem.q.probabilities());
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|&a, &b| problem.w(b).total_cmp(&problem.w(a)));
        let mut expected: Vec<f64> = (0..order.len() - 1)
            .map(|i| {
                let w = problem.w(order[i]);
                order[i..].iter().map(|&j| q[j] - p[j] / w).sum()
            })
            .chain([1.0])
            .collect();
        expected.sort_by(|a, b| b.total_cmp(a));
        let matrix = problem.matrix(&Mis, 1)?;
        for (found, expected) in matrix.eigenvalues(&problem.p)?.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
        }
        let gap = 1.0 / problem.w(order[0]);
        assert!((matrix.spectral_gap(&problem.p)? - gap).abs() < 1e-11);
        Ok(())
    });
}

#[test]
fn m4_mtmis_moves_at_least_as_much_as_cis() {
    let strictly = std::cell::Cell::new(0);
    for_every(latent_models(2..=2), |model| {
        let problem = Problem::of(model)?;
        for k in 1..=3 {
            let (mtmis, cis) = (problem.matrix(&Mtmis, k)?, problem.matrix(&Cis, k)?);
            let order = mtmis.peskun_cmp(&cis)?;
            assert!(
                matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                "{order:?}"
            );
            strictly.set(strictly.get() + u32::from(order == Some(Ordering::Greater)));
        }
        Ok(())
    });
    assert!(strictly.get() > 100, "mostly more");
}

#[test]
fn m5_the_frozen_reference_keeps_its_own_law_and_not_the_target() {
    for_every(latent_models(2..=2), |model| {
        let problem = Problem::of(model)?;
        for n in 2..=3 {
            let matrix = problem.matrix(&FrozenReferenceMis, n)?;
            let own = problem.frozen_law(n)?;
            matrix.check_invariant(&own, TOLERANCE)?;
            matrix.check_reversible(&own, TOLERANCE)?;
        }
        Ok(())
    });
    let problem = Problem::uneven();
    for n in 2..=3 {
        let matrix = problem.matrix(&FrozenReferenceMis, n).unwrap();
        assert!(matches!(
            matrix.check_invariant(&problem.p, TOLERANCE),
            Err(InvarianceError::NotInvariant { .. })
        ));
        let own = problem.frozen_law(n).unwrap();
        assert!(own.total_variation(&problem.p).unwrap() > 0.01);
        assert!(
            own.probabilities()[0] < problem.p.probabilities()[0],
            "states of high weight are too rare"
        );
    }
}

#[test]
fn r6_and_r7_one_trial_is_mis_and_one_proposal_is_barker() {
    for_every_model(|problem| {
        let same = |a: TransitionMatrix, b: TransitionMatrix| {
            assert!(a.max_difference(&b).unwrap() < TOLERANCE);
        };
        same(problem.matrix(&Mtmis, 1)?, problem.matrix(&Mis, 1)?);
        same(problem.matrix(&Cis, 1)?, problem.matrix(&Barker, 1)?);
        Ok(())
    });
}

#[test]
fn every_kernel_here_comes_everywhere_and_settles() {
    let problem = Problem::uneven();
    for k in 1..=2 {
        for matrix in [
            problem.matrix(&Mis, k).unwrap(),
            problem.matrix(&Mtmis, k).unwrap(),
            problem.matrix(&Cis, k).unwrap(),
            problem.matrix(&Barker, k).unwrap(),
        ] {
            matrix.check_irreducible(&problem.p).unwrap();
            matrix.check_aperiodic(&problem.p).unwrap();
            assert!(matrix.spectral_gap(&problem.p).unwrap() > 0.08);
        }
    }
}
