//! Straight-through Gumbel-softmax with a temperature each for values and gradients: what it reduces to, and the law of its values.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_distributions::Bits;
use helmholtz_estimators::{Decoupled, GumbelSoftmax, Method, Pathwise, Reparameterise};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Batch, Categories, Enumerable, Reference, Tape};

use crate::{TOLERANCE, WRONG, data};

fn gradient<R>(batch: &Batch<R>, method: Method, seed: u64) -> Vec<f64>
where
    R: Enumerable<Production<Tape>: helmholtz_estimators::Model<Tape>>,
{
    let mut stream = Stream::new(seed, Purpose::new("two-temp"), [0, 0]);
    batch.gradient(&method, &batch.learned(&method, 1), 2, &mut stream)
}

fn check<R>(reference: &R)
where
    R: Enumerable<Production<Tape>: helmholtz_estimators::Model<Tape>>,
{
    let batch = Batch::new(reference, &data(3));
    let (mut same, mut other) = (0.0f64, 0.0f64);
    for seed in 0..10 {
        for backward in [0.4, 1.0, 1.7] {
            let plain = Method::Pathwise(Pathwise::GumbelSoftmax(GumbelSoftmax {
                temperature: backward,
                hard: true,
            }));
            let decoupled =
                |forward| Method::Pathwise(Pathwise::Decoupled(Decoupled { forward, backward }));
            let plain = gradient(&batch, plain, seed);
            let error =
                |forward| relative_error(&gradient(&batch, decoupled(forward), seed), &plain);
            same = same.max(error(1.0));
            other = other.max(error(0.3));
        }
    }
    assert!(same < TOLERANCE, "{same:e}");
    assert!(other > WRONG, "{other:e}");
}

#[test]
fn with_values_drawn_from_q_it_is_straight_through_gumbel_softmax_at_every_draw() {
    check(&Reference::t1());
    check(&Categories::t3());
}

#[test]
fn its_values_have_the_law_of_the_logits_over_the_forward_temperature() {
    let place = (&Default::default(), DType::F64);
    let column = |v: f64| Tensor::<Tape, 2>::from_data(TensorData::new(vec![v], [1, 1]), place);
    for forward in [0.25, 1.0, 3.0] {
        for logit in [-1.3, 0.2, 0.7] {
            let decoupled = Decoupled {
                forward,
                backward: 0.6,
            };
            // A one where logit / τ + ln u − ln(1 − u) > 0.
            let zero = 1.0 / (1.0 + (logit / forward).exp());
            for (u, bit) in [(zero - 1e-6, 0.0), (zero + 1e-6, 1.0)] {
                let value = decoupled
                    .sample(Bits(1), column(logit), column(u))
                    .into_data();
                assert_eq!(value.iter::<f64>().next(), Some(bit), "{forward}, {logit}");
            }
        }
    }
}
