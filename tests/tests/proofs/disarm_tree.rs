//! DisARM for classes: on the decisions of a tree, and by importance weights.

use helmholtz_estimators::{Ar, Disarm, DisarmIw, DisarmTree, Logits, Method};
use helmholtz_invariance::gradients::certify;
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Batch, Categories, Reference};

use crate::data;

const FORMS: [Method; 3] = [
    Method::Logits(Logits::DisarmTree(DisarmTree { balanced: false })),
    Method::Logits(Logits::DisarmTree(DisarmTree { balanced: true })),
    Method::Logits(Logits::DisarmIw(DisarmIw)),
];

/// The largest relative distance to DisARM of twenty draws.
fn from_disarm(form: &Method, reference: &Reference) -> f64 {
    let batch = Batch::new(reference, &data(3));
    let disarm = Method::Logits(Logits::Disarm(Disarm));
    let learned = batch.learned(&disarm, 1);
    let error = |seed| {
        let stream = || Stream::new(seed, Purpose::new("tree"), [0, 0]);
        let disarm = batch.gradient(&disarm, &learned, 2, &mut stream());
        let own = batch.gradient(form, &learned, 2, &mut stream());
        relative_error(&own, &disarm)
    };
    (0..20).map(error).fold(0.0, f64::max)
}

#[test]
fn for_bits_it_is_disarm_at_every_draw() {
    for form in &FORMS[..2] {
        let error = from_disarm(form, &Reference::t1());
        assert!(error < 1e-12, "{error:e}");
    }
    // By weights the less likely value comes first, so that which of a pair is which changes with the logit's sign: no matter to one bit.
    let error = from_disarm(&FORMS[2], &Reference::random(4, &[1], 6));
    assert!(error < 1e-12, "{error:e}");
}

#[test]
fn it_is_unbiased_for_classes_and_its_variance_is_below_that_of_ar() {
    let subject = subject_of(&Categories::t3());
    let ar = certify(&Method::Logits(Logits::Ar(Ar)), &subject);
    for form in FORMS {
        let found = certify(&form, &subject);
        assert!(found.holds(), "{found:?}");
        assert!(found.variance < ar.variance, "{found:?}");
    }
}
