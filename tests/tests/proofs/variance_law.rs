//! The variances of ARM, DisARM and REINFORCE for one bit: integrated exactly over everything random, they are the laws in
//! closed form, at every logit.

use helmholtz_distributions::Bits;
use helmholtz_estimators::{
    Arm, Chains, Disarm, LogitGradient, Reinforce, estimate, estimate_logits,
};
use helmholtz_experiments::kinds::arm_toy::{OneBit, law, sigmoid, t1, table};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_tests::uniforms::{Listed, cells};
use helmholtz_tests::{Inner, Reference, Tape, flat_parameters};

use crate::logit_gradients::Changed;
use crate::{TOLERANCE, WRONG};

/// [f(0), f(1)]: T4, the toy of the ARM slides, and two more of one sign.
fn tables() -> [[f64; 2]; 4] {
    [[1.3, -0.4], table(0.49), [0.2, 3.0], [-2.0, -1.0]]
}

/// −8, −7.95, …, 8.
fn logits() -> Vec<f64> {
    (-160..=160).map(|i| f64::from(i) / 20.0).collect()
}

/// The law of an estimate at one logit.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    mean: f64,
    variance: f64,
    /// The probability that it is zero.
    zero: f64,
}

/// Logits, each with weights and uniforms at which an estimate is taken; all of them are one batch.
struct Scan {
    logits: Vec<f64>,
    /// The logit's index, the weight and the uniform of each datum.
    points: Vec<(usize, f64, f32)>,
}

impl Scan {
    fn new(logits: &[f64], points: impl Fn(f64) -> Vec<(f64, f32)>) -> Self {
        let own = |(i, &a): (usize, &f64)| {
            let points = points(sigmoid(a)).into_iter();
            points.map(move |(weight, u)| (i, weight, u)).collect()
        };
        Self {
            logits: logits.to_vec(),
            points: logits
                .iter()
                .enumerate()
                .flat_map::<Vec<_>, _>(own)
                .collect(),
        }
    }

    /// For estimates that are linear in u between σ and 1 − σ: squares are integrated exactly.
    fn pairs(logits: &[f64]) -> Self {
        Self::new(logits, |p| cells(vec![p, 1.0 - p]).concat())
    }

    /// For estimates that see the bit alone.
    fn bits(logits: &[f64]) -> Self {
        let sides = |p: f64| vec![(p, (0.5 * p) as f32), (1.0 - p, (0.5 + 0.5 * p) as f32)];
        Self::new(logits, sides)
    }

    fn model(&self, f: [f64; 2]) -> OneBit<Tape> {
        let logits: Vec<f64> = self.points.iter().map(|&(i, ..)| self.logits[i]).collect();
        OneBit::new(&logits, &vec![f; logits.len()], &Default::default())
    }

    fn uniforms(&self) -> Vec<f32> {
        self.points.iter().map(|&(.., u)| u).collect()
    }

    fn moments(&self, estimates: &[f64]) -> Vec<Moments> {
        let mut moments = vec![Moments::default(); self.logits.len()];
        for (&(i, weight, _), g) in self.points.iter().zip(estimates) {
            moments[i].mean += weight * g;
            moments[i].variance += weight * g * g;
            moments[i].zero += if *g == 0.0 { weight } else { 0.0 };
        }
        moments
            .iter_mut()
            .for_each(|m| m.variance -= m.mean.powi(2));
        moments
    }
}

/// An estimator of the logit-gradient family, K = 1, at these logits.
fn logit_gradient(
    estimator: &impl LogitGradient<Bits>,
    logits: &[f64],
    f: [f64; 2],
) -> Vec<Moments> {
    let scan = Scan::pairs(logits);
    let model = scan.model(f);
    // The path comes first; the gradient in the logit does not depend on it.
    let uniforms = [vec![0.5; scan.points.len()], scan.uniforms()].concat();
    let noise = &mut Listed(&uniforms);
    let estimated = estimate_logits(estimator, &model, model.data(), 1, noise);
    scan.moments(&model.ascended(&estimated.unwrap().loss))
}

fn reinforce(logits: &[f64], f: [f64; 2]) -> Vec<Moments> {
    let scan = Scan::bits(logits);
    let model = scan.model(f);
    let no_chains: Option<Chains<'_, dyn ChainStore>> = None;
    let uniforms = scan.uniforms();
    let mut chance = Stream::new(1, Purpose::new("chance"), [0, 0]);
    let method = Reinforce::default();
    let noise = &mut Listed(&uniforms);
    let estimated = estimate(
        &method,
        &model,
        model.data(),
        no_chains,
        1,
        noise,
        &mut chance,
    );
    scan.moments(&model.ascended(&estimated.unwrap().loss))
}

/// The largest relative errors of mean and variance against Δσ(1 − σ) and a law.
fn errors(moments: &[Moments], law: fn(f64, [f64; 2]) -> f64, f: [f64; 2]) -> (f64, f64) {
    let error = |(m, a): (&Moments, f64)| {
        let sigma = sigmoid(a);
        let (mean, variance) = ((f[1] - f[0]) * sigma * (1.0 - sigma), law(sigma, f));
        // In units of what the largest variance would be: DisARM's vanishes at a = 0.
        let unit = variance.max(1e-6 * (f[1] - f[0]).powi(2));
        (
            (m.mean / mean - 1.0).abs(),
            (m.variance - variance).abs() / unit,
        )
    };
    let both = moments.iter().zip(logits()).map(error);
    both.fold((0.0, 0.0), |(a, b), (c, d)| (a.max(c), b.max(d)))
}

fn largest(moments: &[Moments]) -> f64 {
    moments.iter().map(|m| m.variance).fold(0.0, f64::max)
}

#[test]
fn arm_disarm_and_reinforce_have_the_variances_of_their_laws_at_every_logit() {
    for f in tables() {
        for (name, moments, law) in [
            (
                "arm",
                logit_gradient(&Arm, &logits(), f),
                law::arm as fn(_, _) -> _,
            ),
            ("disarm", logit_gradient(&Disarm, &logits(), f), law::disarm),
            ("reinforce", reinforce(&logits(), f), law::reinforce),
        ] {
            let (mean, variance) = errors(&moments, law, f);
            assert!(
                mean < TOLERANCE && variance < TOLERANCE,
                "{name} {f:?}: {mean} {variance}"
            );
        }
    }
}

#[test]
fn arm_with_u_not_centred_has_its_mean_and_breaks_its_law_at_every_logit() {
    let changed = Changed {
        centre: 0.0,
        complement: false,
    };
    for f in tables() {
        let moments = logit_gradient(&changed, &logits(), f);
        let (mean, _) = errors(&moments, law::arm, f);
        assert!(mean < TOLERANCE, "{mean}");
        for (m, a) in moments.iter().zip(logits()) {
            let law = law::arm(sigmoid(a), f);
            assert!(
                m.variance > (1.0 + WRONG) * law,
                "{f:?} {a}: {} {law}",
                m.variance
            );
        }
        assert!(largest(&moments) > (f[1] - f[0]).powi(2) / 25.0);
    }
}

#[test]
fn arm_varies_most_where_agreeing_is_to_differing_as_the_golden_ratio() {
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let peak = 3.0 * golden.ln();
    assert!((sigmoid(peak) - 0.5 - law::arm_peak()).abs() < 1e-15);
    for f in tables() {
        let unit = (f[1] - f[0]).powi(2);
        for side in [-1.0, 1.0] {
            let near = [0.0, -1e-3, 1e-3].map(|by| side * (peak + by));
            let [at, before, after] = logit_gradient(&Arm, &near, f)[..] else {
                unreachable!("three logits")
            };
            assert!((at.variance / unit - 0.0397881).abs() < 5e-8);
            assert!((at.variance / unit / law::arm_supremum() - 1.0).abs() < TOLERANCE);
            assert!((at.zero / (1.0 - at.zero) - golden).abs() < TOLERANCE);
            assert!(before.variance < at.variance && after.variance < at.variance);
            assert!(largest(&logit_gradient(&Arm, &logits(), f)) <= at.variance);
            assert!(at.variance < unit / 25.0);
        }
    }
}

#[test]
fn reinforce_varies_at_least_as_at_one_half_which_bounds_the_ratio_of_arms_largest_to_its_own() {
    for f in tables() {
        let half = reinforce(&[0.0], f)[0].variance;
        assert!((half / ((f[0] + f[1]).powi(2) / 16.0) - 1.0).abs() < TOLERANCE);
        let own = largest(&reinforce(&logits(), f));
        assert!(own >= half);
        let ratio = largest(&logit_gradient(&Arm, &logits(), f)) / own;
        assert!(ratio <= law::ratio_bound(f), "{f:?}: {ratio}");
    }
    // One half is where the supremum is for equal values only.
    let [equal, unequal] = [[1.0, 1.0], [0.2, 3.0]]
        .map(|f| largest(&reinforce(&logits(), f)) / reinforce(&[0.0], f)[0].variance);
    assert!((equal - 1.0).abs() < TOLERANCE && unequal > 1.0 + WRONG);
}

#[test]
fn disarm_never_varies_more_than_arm_and_not_at_all_at_zero() {
    for f in tables() {
        let arm = logit_gradient(&Arm, &logits(), f);
        let disarm = logit_gradient(&Disarm, &logits(), f);
        for (arm, disarm) in arm.iter().zip(&disarm) {
            assert!(disarm.variance < arm.variance);
        }
        let zero = logit_gradient(&Disarm, &[0.0], f)[0];
        assert!(zero.variance.abs() < 1e-15 * (f[1] - f[0]).powi(2));
    }
}

#[test]
fn t4_has_its_gradient_and_variance() {
    let t4 = logit_gradient(&Arm, &[0.7], [1.3, -0.4])[0];
    assert!((t4.mean + 0.376912).abs() < 5e-7, "{}", t4.mean);
    assert!((t4.variance - 0.0896046).abs() < 5e-8, "{}", t4.variance);
}

#[test]
fn the_toys_t1_is_the_t1_of_the_proofs() {
    let toy = t1::model::<Inner>(&Default::default());
    assert_eq!(flat_parameters(&toy), Reference::t1().parameters);
}
