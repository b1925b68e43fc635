//! REBAR and RELAX: unbiased whatever they have learned; and what they reduce to.

use helmholtz_estimators::{Control, Learned, Method, Rebar};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::statistics::{STUDENT_LIMIT_OF_MANY, largest_t};
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Batch, Exact, Reference, Tape};

use crate::data;

const CONTROLS: [Control; 3] = [Control::Relaxed, Control::RelaxedAndFree, Control::Free];

fn method(control: Control, tied: bool) -> Method {
    Method::Rebar(Rebar { control, tied })
}

/// An estimate is a mean over many copies of a datum. Its variance is finite: f has few values, c and its derivative in z are
/// bounded on finite logits, and 1/u in ∂z̃/∂a is multiplied by what falls with u.
fn sampled(model: &Reference, method: &Method, change: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    const COPIES: usize = 400;
    let x = data(1);
    let batch = Batch::new(model, &vec![x[0].clone(); COPIES]);
    let learned = batch.learned(method, 1);
    let expected = change(&Exact::new(model, &x[0]).bound_gradient(1));
    largest_t(&expected, |stream| {
        batch.gradient(method, &learned, 1, stream)
    })
}

#[test]
fn rebar_and_relax_are_unbiased_for_the_elbo() {
    for model in [Reference::t1(), Reference::t2()] {
        for control in CONTROLS {
            for tied in [false, true] {
                let t = sampled(&model, &method(control, tied), <[f64]>::to_vec);
                assert!(t < STUDENT_LIMIT_OF_MANY, "{control:?}, tied {tied}: {t}");
            }
        }
    }
}

#[test]
fn a_gradient_that_is_off_by_a_twentieth_is_told_from_the_elbos() {
    let off = |gradient: &[f64]| gradient.iter().map(|g| 1.05 * g).collect();
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
    // η = 0: (f(b) − 0)(b − σ(a)) either way, REINFORCE from the same bits.
    for model in [Reference::t1(), Reference::t2()] {
        let batch = Batch::new(&model, &data(3));
        let learned = with_scales(batch.learned(&method(Control::Relaxed, true), 1), 0.0);
        if model.layers().len() > 1 {
            continue; // the layers above take their noise in another order
        }
        for seed in 0..10 {
            let tied = gradient(&batch, &method(Control::Relaxed, true), &learned, seed);
            let free = gradient(&batch, &method(Control::Relaxed, false), &learned, seed);
            // K = 2 particles in one draw of uniforms, and v drawn after them.
            assert!(relative_error(&tied, &free) < 1e-12, "seed {seed}");
        }
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
