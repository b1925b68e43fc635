//! The certifier that crates outside use: it knows of a model's datum what the references know.

use burn::tensor::DType;
use helmholtz_estimators::{
    Coefficient, CoupledChains, Description, Jsa, Model, Outcome, Parts, Reinforce, Rloo, Target,
    Vimco, Weighting,
};
use helmholtz_invariance::gradients::{Subject, certify};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;
use helmholtz_tests::certify::twins::Changed;
use helmholtz_tests::certify::{DATUM, mistaken, subject_of};
use helmholtz_tests::vectors::max_difference;
use helmholtz_tests::{
    Categories, Enumerable, Exact, Reference, Tape, Topped, VectorMoments, build,
};

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
    let other = Reference::random(4, &[3], 9);
    let mistaken = certify(&Rloo, &mistaken(&Reference::t1(), &other).fewer());
    assert!(!mistaken.holds(), "{mistaken:?}");
}

/// Each is measured against what it climbs: means of right ones are off by 0.01 to 0.03, which is noise; the ELBO's gradient is
/// 0.10 from that of the bound of two, and the inclusive one 0.69 from the ELBO's.
#[test]
fn a_bias_is_relative_to_what_the_estimator_climbs() {
    let subject = subject_of(&Reference::t1()).fewer();
    // JSA that claims nothing.
    let unclaimed = Changed(Jsa::MIS, |_, _| ());
    for bias in [
        certify(&Rloo, &subject).bias,
        certify(&Vimco { arithmetic: false }, &subject).bias,
        certify(&Jsa::MIS, &subject).bias,
        certify(&CoupledChains, &subject).bias,
        certify(&unclaimed, &subject).bias,
    ] {
        assert!(bias < 0.07, "{bias}");
    }
    let halved = certify(&WithItsOwn, &subject).bias;
    assert!((halved - 0.5).abs() < 0.05, "{halved}");
}

/// Of the mean of two samples of f ∇ log q, by enumeration. A sum of variances of 100 batches is known to a twentieth.
#[test]
fn a_variance_is_that_of_one_estimate_of_one_datum() {
    let reference = Reference::t1();
    let exact = Exact::new(&reference, &DATUM);
    let of_state = |h: usize| {
        let score = exact.grad_q[h][reference.phi()].iter();
        (exact.q[h], score.map(|g| exact.log_w[h] * g).collect())
    };
    let points: Vec<(f64, Vec<f64>)> = (0..exact.q.len()).map(of_state).collect();
    let one = VectorMoments::of(&points).variance();
    let reinforce = Reinforce { centred: false };
    for subject in [subject_of(&reference), subject_of(&reference).fewer()] {
        let ratio = certify(&reinforce, &subject).variance / (one / 2.0);
        assert!((0.75..1.3).contains(&ratio), "{ratio}");
    }
}
