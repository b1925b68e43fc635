//! The normal likelihood: estimators on it, against enumeration with its own densities.

use burn::tensor::DType;
use helmholtz_estimators::{Method, Parts, Pathwise, Rloo, StraightThrough, Target, Weighted};
use helmholtz_invariance::gradients::{Subject, certify, certify_claim, claim};
use helmholtz_sbn::GaussianVaeConfig;
use helmholtz_tests::Tape;

#[test]
fn the_leave_one_out_estimator_is_unbiased_on_grey_data_and_straight_through_is_not() {
    let config = GaussianVaeConfig {
        visible: 4,
        latent: 3,
        hidden: vec![3],
        slope: 0.3,
    };
    let model = config
        .init::<Tape>(3, DType::F64, &Default::default())
        .unwrap();
    assert!(model.learned_prior().is_empty());
    let subject = Subject::enumerated(model, &[0.1, 0.8, 0.35, 0.6]).fewer();
    let found = certify(&Method::Weighted(Weighted::Rloo(Rloo)), &subject);
    assert!(found.holds(), "{found:?}");
    let twin = Method::Pathwise(Pathwise::StraightThrough(StraightThrough));
    let claimed = claim(Target::Elbo, &subject);
    let found = certify_claim(&twin, &subject.learned(&twin), claimed, &subject);
    assert!(!found.holds(), "{found:?}");
}
