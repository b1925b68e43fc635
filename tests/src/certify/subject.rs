//! What estimators are certified on: the reference models, with what the references know of a datum.

use burn::tensor::DType;
use helmholtz_count_vae::{CountVae, CountVaeConfig};
use helmholtz_estimators::Model;
use helmholtz_invariance::gradients::{Facts, Subject};

use crate::{Enumerable, Exact, Tape, build, store_of};

/// The datum of every certificate.
pub const DATUM: [f64; 4] = [1.0, 0.0, 1.0, 1.0];

/// The production model of a reference with one datum, all that is known of it from the reference's own densities and gradients.
pub fn subject_of<R>(reference: &R) -> Subject<R::Production<Tape>>
where
    R: Enumerable<Production<Tape>: Model<Tape>>,
{
    let exact = Exact::new(reference, &DATUM);
    let states = exact.states.iter().collect::<Vec<_>>();
    let facts = Facts {
        posterior: exact.posterior(),
        states: store_of(reference, &states),
        elbo: exact.bound_gradient(1),
        bound_of_two: exact.bound_gradient(2),
        inclusive: exact.inclusive_gradient(),
        phi: reference.phi(),
    };
    Subject::new(build::<Tape, R>(reference, DType::F64), &DATUM, facts)
}

/// The same, estimated by the production model of another reference: what is known of the first is wrong for it.
pub fn mistaken<R>(reference: &R, other: &R) -> Subject<R::Production<Tape>>
where
    R: Enumerable<Production<Tape>: Model<Tape>>,
{
    subject_of(reference).mistaken_for(build::<Tape, R>(other, DType::F64))
}

/// T4: a model of two binomial counts of two trials, all that is known of it from its own densities.
pub fn of_counts() -> Subject<CountVae<Tape>> {
    let config = CountVaeConfig {
        visible: DATUM.len(),
        variables: 2,
        trials: Some(2),
        hidden: vec![3],
        slope: 0.3,
        learned_prior: true,
    };
    let model = config.init(3, DType::F64, &Default::default());
    Subject::of_binomial(model.expect("a model"), &DATUM, 2)
}
