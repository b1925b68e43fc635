//! Gumbel-Rao: the mean of straight-through Gumbel-softmax, and less variance.

use helmholtz_estimators::{
    GumbelRao, GumbelSoftmax, Learned, Method, Model, Pathwise, estimate_pathwise,
};
use helmholtz_invariance::gradients::{Subject, estimated, mean_of};
use helmholtz_tests::certify::{Unconditional, subject_of};
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;
use helmholtz_tests::{Categories, Reference, Tape};

pub type Found = (Vec<f64>, Vec<f64>);

/// The largest difference of two means in standard errors; coordinates that never vary must agree to rounding.
pub fn apart(one: &Found, other: &Found) -> f64 {
    let each = one.0.iter().zip(&one.1).zip(other.0.iter().zip(&other.1));
    let t = each.map(|((mean, error), (other, other_error))| {
        (mean - other).abs() / error.hypot(*other_error).max(1e-9 * mean.abs().max(1e-3))
    });
    t.fold(0.0, f64::max)
}

fn hard(temperature: f64) -> Method {
    Method::Pathwise(Pathwise::GumbelSoftmax(GumbelSoftmax {
        temperature,
        hard: true,
    }))
}

pub fn of<M: Model<Tape>>(method: Method, subject: &Subject<M>) -> Found {
    let learned: Learned<Tape> = subject.learned(&method);
    estimated(&method, &learned, subject).0
}

/// Σ Var over φ.
pub fn variance<M>(found: &Found, subject: &Subject<M>) -> f64 {
    subject.phi.clone().map(|i| found.1[i].powi(2)).sum()
}

fn check<M: Model<Tape>>(subject: &Subject<M>, temperature: f64) {
    let rao = |draws| Method::Pathwise(Pathwise::GumbelRao(GumbelRao { temperature, draws }));
    let straight = of(hard(temperature), subject);
    let (one, ten) = (of(rao(1), subject), of(rao(10), subject));
    for found in [&one, &ten] {
        let t = apart(found, &straight);
        assert!(t < STUDENT_LIMIT_OF_MANY, "{t}");
    }
    let [straight, one, ten] = [straight, one, ten].map(|found| variance(&found, subject));
    // 100 batches tell a variance to within a factor of 1.8 (both ways at a level below 1e-4).
    assert!(
        one < 1.8 * straight && straight < 1.8 * one,
        "{one}, {straight}"
    );
    assert!(ten < straight, "{ten}, {straight}");
}

#[test]
fn gumbel_rao_has_the_mean_of_straight_through_gumbel_softmax_and_less_variance() {
    for temperature in [0.5, 1.0] {
        check(&subject_of(&Reference::t1()).fewer(), temperature);
        check(&subject_of(&Categories::t3()).fewer(), temperature);
    }
}

/// The twin: its noise does not know the value.
#[test]
fn without_the_condition_the_mean_is_another() {
    let subject = subject_of(&Reference::t1()).fewer();
    let rao = GumbelRao::DEFAULT;
    let wrong = mean_of(|stream| {
        subject
            .gradient(|model, x| estimate_pathwise(&rao, &Unconditional::new(model), x, 2, stream))
    });
    let straight = of(hard(rao.temperature), &subject);
    let t = apart(&wrong, &straight);
    assert!(t > STUDENT_LIMIT_OF_MANY, "{t}");
}
