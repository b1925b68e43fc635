//! AR, ARS, ARSM and ReinMax on categorical variables: their means, and what they reduce to.

use burn::tensor::{DType, Tensor};
use helmholtz_distributions::{Classes, Variables};
use helmholtz_estimators::{
    Ar, Arm, Ars, Arsm, Layered, LogitGradient, Logits, Method, ReinMax, StraightThrough,
    estimate_logits, estimate_pathwise,
};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::statistics::{STUDENT_LIMIT_OF_MANY, largest_t};
use helmholtz_tests::uniforms::{Listed, each_choice};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Batch, Choice, Reference, Tape, flat_gradient};

use crate::{TOLERANCE, WRONG, data};

const NOTHING: [f64; 36] = [0.0; 36];

/// Two variables of three classes, and f with a term in both.
struct Pair {
    logits: [f64; 4],
    linear: [f64; 6],
    quadratic: [f64; 36],
}

fn pair() -> Pair {
    let mut quadratic = NOTHING;
    for (place, entry) in quadratic.iter_mut().enumerate() {
        *entry = ((place * 7 % 11) as f64 - 5.0) / 5.0;
    }
    Pair {
        logits: [0.5, -0.8, -0.3, 1.1],
        linear: [1.0, -2.0, 0.7, 0.2, 0.9, -1.4],
        quadratic,
    }
}

impl Pair {
    fn model(&self) -> Choice<Tape> {
        Choice::new(3, &self.logits, &self.linear, &self.quadratic)
    }

    fn probabilities(&self, variable: usize) -> [f64; 3] {
        let logits = [
            0.0,
            self.logits[2 * variable],
            self.logits[2 * variable + 1],
        ];
        let total: f64 = logits.iter().map(|a| a.exp()).sum();
        logits.map(|a| a.exp() / total)
    }

    fn f(&self, z: &[f64; 6]) -> f64 {
        let linear: f64 = z.iter().zip(self.linear).map(|(z, c)| z * c).sum();
        let pairs = (0..36).map(|i| self.quadratic[i] * z[i / 6] * z[i % 6]);
        linear + pairs.sum::<f64>()
    }

    /// ∂/∂φ E f, by the nine states.
    fn exact(&self) -> Vec<f64> {
        let p = [self.probabilities(0), self.probabilities(1)];
        let mut gradient = vec![0.0; 4];
        for state in 0..9 {
            let classes = [state % 3, state / 3];
            let mut z = [0.0; 6];
            z[classes[0]] = 1.0;
            z[3 + classes[1]] = 1.0;
            let probability = p[0][classes[0]] * p[1][classes[1]];
            for v in 0..2 {
                for c in 1..3 {
                    let score = f64::from(u8::from(classes[v] == c)) - p[v][c];
                    gradient[2 * v + c - 1] += probability * self.f(&z) * score;
                }
            }
        }
        gradient
    }
}

/// The estimate of the gradient in the logits, a mean over so many rows.
fn by_swaps(
    estimator: &impl LogitGradient<Classes>,
    model: &Choice<Tape>,
    rows: usize,
    stream: &mut Stream,
) -> Vec<f64> {
    let x = Tensor::zeros([rows, 1], (&Default::default(), DType::F64));
    let estimate = estimate_logits(estimator, model, x, 1, stream).unwrap();
    let gradient = flat_gradient(&estimate.loss, model);
    let logits = model.layers()[0].logits();
    gradient[..logits].iter().map(|g| -g).collect()
}

#[test]
fn ar_ars_and_arsm_are_unbiased() {
    let pair = pair();
    let (model, exact) = (pair.model(), pair.exact());
    let t = [
        largest_t(&exact, |s| by_swaps(&Ar, &model, 400, s)),
        largest_t(&exact, |s| by_swaps(&Ars { reference: 1 }, &model, 400, s)),
        largest_t(&exact, |s| by_swaps(&Arsm, &model, 400, s)),
    ];
    assert!(t.iter().all(|t| *t < STUDENT_LIMIT_OF_MANY), "{t:?}");
    // The power of it: a twentieth off is told, by the estimator with the least variance.
    let off: Vec<f64> = exact.iter().map(|g| 1.05 * g).collect();
    let t = largest_t(&off, |s| by_swaps(&Arsm, &model, 400, s));
    assert!(t > STUDENT_LIMIT_OF_MANY, "{t}");
}

#[test]
fn the_gradient_of_a_scalar_choice_is_the_known_one() {
    // φ = (0, 0.5, −0.8), f = (1, −2, 0.7): ∇ = (0.529382, −0.723738, 0.194356), the first pinned.
    let model = Choice::<Tape>::new(3, &[0.5, -0.8], &[1.0, -2.0, 0.7], &[0.0; 9]);
    let t = largest_t(&[-0.723738, 0.194356], |s| by_swaps(&Arsm, &model, 400, s));
    assert!(t < STUDENT_LIMIT_OF_MANY, "{t}");
    let single = Pair {
        logits: [0.5, -0.8, 0.0, 0.0],
        linear: [1.0, -2.0, 0.7, 0.0, 0.0, 0.0],
        quadratic: NOTHING,
    };
    let exact = single.exact();
    assert!((exact[0] + 0.723738).abs() < 5e-7 && (exact[1] - 0.194356).abs() < 5e-7);
}

#[test]
fn arsm_is_the_mean_of_ars_over_reference_classes_at_every_draw() {
    let model = pair().model();
    for seed in 0..20 {
        let stream = || Stream::new(seed, Purpose::new("swaps"), [0, 0]);
        let arsm = by_swaps(&Arsm, &model, 3, &mut stream());
        let mut mean = vec![0.0; arsm.len()];
        for reference in 0..3 {
            let ars = by_swaps(&Ars { reference }, &model, 3, &mut stream());
            add_scaled(&mut mean, 1.0 / 3.0, &ars);
        }
        assert!(relative_error(&mean, &arsm) < TOLERANCE, "seed {seed}");
    }
}

#[test]
fn arsm_for_bits_is_arm_at_every_draw() {
    let batch = Batch::new(&Reference::t1(), &data(3));
    let arm = Method::Logits(Logits::Arm(Arm));
    let learned = batch.learned(&arm, 1);
    for seed in 0..20 {
        let stream = || Stream::new(seed, Purpose::new("swaps"), [1, 0]);
        let arm = batch.gradient(&arm, &learned, 1, &mut stream());
        let arsm = batch.gradient(
            &Method::Logits(Logits::Arsm(Arsm)),
            &learned,
            1,
            &mut stream(),
        );
        assert!(relative_error(&arsm, &arm) < 1e-12, "seed {seed}");
    }
}

/// The mean over both variables' classes of a straight-through gradient.
fn expected(pair: &Pair, second_order: bool) -> Vec<f64> {
    let model = pair.model();
    let places = [0, 1].map(|variable| {
        let mut below = 0.0;
        let middle = |p: f64| {
            below += p;
            (p, (below - 0.5 * p) as f32)
        };
        pair.probabilities(variable).map(middle).to_vec()
    });
    let mut mean = vec![0.0; 4];
    each_choice(&places, |probability, uniforms| {
        let x = Tensor::zeros([1, 1], (&Default::default(), DType::F64));
        let noise = &mut Listed(uniforms);
        let estimate = match second_order {
            true => estimate_pathwise(&ReinMax, &model, x, 1, noise),
            false => estimate_pathwise(&StraightThrough, &model, x, 1, noise),
        };
        let gradient = flat_gradient(&estimate.unwrap().loss, &model);
        add_scaled(&mut mean, -probability, &gradient[..4]);
    });
    mean
}

#[test]
fn reinmax_is_exact_for_f_quadratic_in_each_variable_and_straight_through_for_linear_f() {
    let mut separate = pair();
    for place in 0..36 {
        if place / 6 / 3 != place % 6 / 3 {
            separate.quadratic[place] = 0.0; // no term in both variables
        }
    }
    let error = relative_error(&expected(&separate, true), &separate.exact());
    assert!(error < TOLERANCE, "{error}");
    let error = relative_error(&expected(&separate, false), &separate.exact());
    assert!(error > WRONG, "{error}");
    let linear = Pair {
        quadratic: NOTHING,
        ..pair()
    };
    let error = relative_error(&expected(&linear, false), &linear.exact());
    assert!(error < TOLERANCE, "{error}");
}
