//! DisARM on the decisions of a tree of classes.

use helmholtz_estimators::{Disarm, DisarmTree, Method, OfBits};
use helmholtz_invariance::gradients::certify;
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Batch, Categories, Reference};

use crate::data;

#[test]
fn for_bits_it_is_disarm_at_every_draw() {
    let batch = Batch::new(&Reference::t1(), &data(3));
    let disarm = Method::OfBits(OfBits::Disarm(Disarm));
    let learned = batch.learned(&disarm, 1);
    for balanced in [false, true] {
        let tree = Method::DisarmTree(DisarmTree { balanced });
        for seed in 0..20 {
            let stream = || Stream::new(seed, Purpose::new("tree"), [0, 0]);
            let disarm = batch.gradient(&disarm, &learned, 2, &mut stream());
            let tree = batch.gradient(&tree, &learned, 2, &mut stream());
            assert!(relative_error(&tree, &disarm) < 1e-12, "seed {seed}");
        }
    }
}

#[test]
fn it_is_unbiased_for_classes_and_its_variance_is_below_that_of_ar() {
    let subject = subject_of(&Categories::t3());
    let ar = certify(&Method::Ar(helmholtz_estimators::Ar), &subject);
    for balanced in [false, true] {
        let found = certify(&Method::DisarmTree(DisarmTree { balanced }), &subject);
        assert!(found.holds(), "{found:?}");
        assert!(found.variance < ar.variance, "{found:?}");
    }
}
