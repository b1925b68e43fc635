//! The certifier that crates outside use: it knows of a model's datum what the references know.

use burn::tensor::DType;
use helmholtz_estimators::{
    Coefficient, Description, Model, Outcome, Parts, Rloo, Target, Weighting,
};
use helmholtz_invariance::gradients::{Subject, certify};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;
use helmholtz_tests::certify::{DATUM, subject_of};
use helmholtz_tests::vectors::max_difference;
use helmholtz_tests::{Categories, Enumerable, Reference, Tape, Topped, build};

use crate::TOLERANCE;

fn agree<R>(reference: &R)
where
    R: Enumerable<Production<Tape>: Model<Tape> + Parts<Tape>>,
{
    let known = subject_of(reference);
    let model = build::<Tape, R>(reference, DType::F64);
    let found = Subject::enumerated(model, &DATUM);
    assert!(max_difference(&found.elbo, &known.elbo) < TOLERANCE);
    let difference = max_difference(&found.bound_of_two, &known.bound_of_two);
    assert!(difference < TOLERANCE, "{difference:e}");
    assert!(max_difference(&found.inclusive, &known.inclusive) < TOLERANCE);
    assert_eq!(found.phi, known.phi);
    // The states may be listed in another order.
    let law = |subject: &Subject<R::Production<Tape>>| {
        let bytes = subject.states.latents().bytes_per_row();
        let mut law: Vec<(Vec<u8>, f64)> = Vec::new();
        for (row, &p) in (0..).zip(&subject.posterior) {
            let mut state = vec![0; bytes];
            subject.states.load(&[row], &mut state).unwrap();
            law.push((state, p));
        }
        law.sort_by(|a, b| a.0.cmp(&b.0));
        law
    };
    for ((state, p), (other, exact)) in law(&found).into_iter().zip(law(&known)) {
        assert_eq!(state, other);
        assert!((p - exact).abs() < TOLERANCE, "{p}, {exact}");
    }
}

#[test]
fn enumeration_by_the_models_own_densities_is_that_of_the_references() {
    agree(&Reference::t1());
    agree(&Reference::t2());
    agree(&Categories::t3());
    agree(&Topped::t5());
}

/// RLOO with each particle's own value in its baseline, which for K = 2 halves the signal; claimed to be unbiased.
struct WithItsOwn;

impl Weighting for WithItsOwn {
    fn description(&self) -> Description {
        Description {
            target: Target::Elbo,
            ..Description::of_type::<Self>()
        }
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let outcome = Rloo.weigh(log_w, retained, chance, coefficients);
        coefficients.iter_mut().for_each(|c| c.phi /= 2.0);
        outcome
    }
}

#[test]
fn a_certificate_holds_for_an_estimator_and_not_for_its_twin() {
    let model = build::<Tape, _>(&Reference::t1(), DType::F64);
    let subject = Subject::enumerated(model, &DATUM).fewer();
    let right = certify(&Rloo, &subject);
    assert!(right.holds(), "{right:?}");
    let wrong = certify(&WithItsOwn, &subject);
    assert!(!wrong.holds(), "{wrong:?}");
}
