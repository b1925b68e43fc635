//! REBAR and RELAX: unbiased whatever they have learned; and what they reduce to.

use helmholtz_estimators::{Control, Learned, Logits, Method, Rebar};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::statistics::{STUDENT_LIMIT_OF_MANY, largest_t};
use helmholtz_tests::uniforms::Lattice;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Batch, Enumerable, Exact, Reference, Tape};

use crate::data;

fn method(control: Control, tied: bool) -> Method {
    Method::Logits(Logits::Rebar(Rebar { control, tied }))
}

/// The largest t of the mean over copies of a datum, whose noise is a lattice: what falls on all copies is as likely as in
/// independent draws, and the estimates that are compared are independent. The variance is finite: f has few values, and c and its
/// derivative in z are bounded on finite logits.
///
/// A gradient of φ that is off by a twentieth has an expected t of 8 to 14 here, by control variate and model (of 3 for RELAX's free
/// form alone on T2), and an error within ±3 of it 997 times in 1000.
fn sampled(model: &Reference, method: &Method, change: impl Fn(&mut [f64])) -> f64 {
    const COPIES: usize = 100;
    let x = data(1);
    let batch = Batch::new(model, &vec![x[0].clone(); COPIES]);
    let learned = batch.learned(method, 1);
    let mut expected = Exact::new(model, &x[0]).bound_gradient(1);
    change(&mut expected[model.phi()]);
    largest_t(&expected, |stream| {
        batch.gradient(method, &learned, 1, &mut Lattice::new(COPIES, stream))
    })
}

/// The largest t of both models, with noise free and coupled.
fn largest(control: Control) -> f64 {
    let models = [Reference::t1(), Reference::t2()];
    let both = |model| [false, true].map(|tied| sampled(model, &method(control, tied), |_| ()));
    models.iter().flat_map(both).fold(0.0, f64::max)
}

#[test]
fn rebar_is_unbiased_for_the_elbo() {
    let t = largest(Control::Relaxed);
    assert!(t < STUDENT_LIMIT_OF_MANY, "{t}");
}

#[test]
fn relax_is_unbiased_for_the_elbo() {
    let t = largest(Control::RelaxedAndFree);
    assert!(t < STUDENT_LIMIT_OF_MANY, "{t}");
}

#[test]
fn relax_with_a_free_form_alone_is_unbiased_for_the_elbo() {
    let t = largest(Control::Free);
    assert!(t < STUDENT_LIMIT_OF_MANY, "{t}");
}

#[test]
fn a_gradient_that_is_off_by_a_twentieth_is_told_from_the_elbos() {
    // t is 14 on average, so that the twin passes with probability below 1e-10.
    let off = |phi: &mut [f64]| phi.iter_mut().for_each(|g| *g *= 1.05);
    let t = sampled(&Reference::t1(), &method(Control::Relaxed, true), off);
    assert!(t > STUDENT_LIMIT_OF_MANY, "{t}");
}

/// One estimate from named noise.
fn gradient(batch: &Batch, method: &Method, learned: &Learned<Tape>, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, Purpose::new("relax"), [0, 0]);
    batch.gradient(method, learned, 2, &mut stream)
}

fn with_scales(learned: Learned<Tape>, eta: f64) -> Learned<Tape> {
    Learned {
        controls: learned.controls.map(|controls| controls.with_scales(eta)),
        ..learned
    }
}

#[test]
fn without_its_control_variate_the_coupling_makes_no_difference() {
    // η = 0: (f(b) − 0)(b − σ(a)) either way, REINFORCE from the same bits. With one layer nothing is drawn after v.
    let batch = Batch::new(&Reference::t1(), &data(3));
    let learned = with_scales(batch.learned(&method(Control::Relaxed, true), 1), 0.0);
    for seed in 0..10 {
        let tied = gradient(&batch, &method(Control::Relaxed, true), &learned, seed);
        let free = gradient(&batch, &method(Control::Relaxed, false), &learned, seed);
        assert!(relative_error(&tied, &free) < 1e-12, "seed {seed}");
    }
}

#[test]
fn relax_without_a_free_part_is_rebar_at_every_draw() {
    for model in [Reference::t1(), Reference::t2()] {
        let batch = Batch::new(&model, &data(3));
        let relax = method(Control::RelaxedAndFree, false);
        let rebar = method(Control::Relaxed, false);
        let mut learned = batch.learned(&relax, 1);
        learned.controls = learned.controls.map(|controls| controls.without_critics());
        for seed in 0..10 {
            let a = gradient(&batch, &relax, &learned, seed);
            let b = gradient(&batch, &rebar, &batch.learned(&rebar, 1), seed);
            assert!(relative_error(&a, &b) < 1e-12, "seed {seed}");
        }
    }
}
