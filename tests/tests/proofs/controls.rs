//! What is learned beside the model: how it starts, what it is given, and how its settings act.

use helmholtz_estimators::{Batch as Given, Learned, Method, Moments, Nvil, Signals};
use helmholtz_ops::Values;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Batch, Enumerable, Reference, Tape, flat_parameters};

use crate::data;

const NVIL: Method = Method::Signals(Signals::Nvil(Nvil { normalise: false }));
const NORMALISED: Method = Method::Signals(Signals::Nvil(Nvil { normalise: true }));

fn noise() -> Stream {
    Stream::new(5, Purpose::new("noise"), [0, 0])
}

fn moments(mean: f64, variance: f64) -> Moments {
    Moments { mean, variance }
}

#[test]
fn a_scale_multiplies_its_control_variate() {
    // The estimate is affine in η: at other numbers than asked for, these three would not lie on a line.
    let batch = Batch::new(&Reference::t2(), &data(2));
    for name in ["rebar", "relax-tied", "muprop"] {
        let method: Method = name.parse().unwrap();
        let at = |eta: f64| {
            let learned = batch.learned(&method, 1);
            let controls = learned.controls.map(|controls| controls.with_scales(eta));
            let learned = Learned {
                controls,
                ..learned
            };
            batch.gradient(&method, &learned, 2, &mut noise())
        };
        let (none, one) = (at(0.0), at(1.0));
        for eta in [0.5, 1.7] {
            let line = none.iter().zip(&one);
            let line: Vec<f64> = line.map(|(none, one)| none + eta * (one - none)).collect();
            let error = relative_error(&at(eta), &line);
            assert!(error < 1e-10, "{name}, {eta}: {error}");
        }
    }
}

#[test]
fn baselines_are_nets_of_data_less_their_mean() {
    // C(x) = W₂ᵀ tanh(W₁ᵀ (x − mean)), biases being zero at first; the mean of the data is 0.3.
    let model = Reference::random(4, &[1], 6);
    let x = data(1);
    let batch = Batch::new(&model, &x);
    let mut learned = batch.learned(&NVIL, 1);
    let parameters = flat_parameters(learned.controls.as_ref().unwrap());
    let (first, second) = (&parameters[..400], &parameters[400..500]);
    let hidden = |unit: usize| -> f64 {
        let inputs = x[0].iter().zip(first[unit..].iter().step_by(100));
        inputs
            .map(|(x, w)| (x - f64::from(0.3f32)) * w)
            .sum::<f64>()
            .tanh()
    };
    let baseline: f64 = second
        .iter()
        .enumerate()
        .map(|(unit, w)| w * hidden(unit))
        .sum();
    learned.moments = vec![moments(-3.0, 1.0)];
    for h in model.states() {
        let mut noise = batch.proposing(&[vec![&h]]);
        let gradient = batch.gradient(&NVIL, &learned, 1, &mut noise);
        let ones = model.recognition_thresholds(&x[0], &h);
        let signal = gradient[4] / (h[0][0] - ones[0][0]);
        let f = model.log_p(&x[0], &h).0 - model.log_q(&x[0], &h).0;
        let expected = f - baseline + 3.0;
        assert!((signal - expected).abs() < 1e-10, "{signal}, {expected}");
    }
}

#[test]
fn nets_start_glorot_uniform() {
    let batch = Batch::new(&Reference::t1(), &data(1));
    let controls = batch.learned(&NVIL, 1).controls.unwrap();
    // A net of 4 inputs, 100 hidden units and one output, its weights first, then its biases; then the mean of the data.
    let parameters = flat_parameters(&controls);
    let (first, rest) = parameters.split_at(4 * 100);
    let (second, rest) = rest.split_at(100);
    assert!(rest[..101].iter().all(|&bias| bias == 0.0));
    for (weights, fans) in [(first, 104.0f64), (second, 101.0)] {
        let limit = (6.0 / fans).sqrt();
        let count = weights.len() as f64;
        assert!(weights.iter().all(|w| w.abs() <= limit));
        // The mean is off by six of its standard deviations, √(limit²/3/n), with probability 2e-9; the mean square, whose
        // standard deviation is limit² √(4/45/n), likewise.
        let mean = weights.iter().sum::<f64>() / count;
        let square = weights.iter().map(|w| w * w).sum::<f64>() / count;
        assert!(mean.abs() < 6.0 * limit / (3.0 * count).sqrt(), "{mean}");
        let slack = 6.0 * limit * limit * (4.0 / 45.0 / count).sqrt();
        assert!((square - limit * limit / 3.0).abs() < slack, "{square}");
    }
}

#[test]
fn running_averages_move_a_fifth_of_the_way() {
    let mut running = moments(5.0, 2.0);
    running.update(&[1.0, 3.0, 8.0]);
    // Mean 4, variance 26/3.
    assert!((running.mean - (0.8 * 5.0 + 0.2 * 4.0)).abs() < 1e-14);
    assert!((running.variance - (0.8 * 2.0 + 0.2 * 26.0 / 3.0)).abs() < 1e-14);
}

/// NVIL's estimate, with running averages, and how it moves them on.
fn nvil(batch: &Batch, method: &Method, moments: Vec<Moments>) -> (Vec<f64>, Vec<Moments>) {
    let learned = batch.learned(method, 1);
    let mut learned = Learned { moments, ..learned };
    let gradient = batch.gradient(method, &learned, 2, &mut noise());
    let given = Given::<Tape, dyn ChainStore> {
        x: Values::binary(batch.x()),
        chains: None,
        particles: 2,
        epoch: 0,
        analytic_kl: false,
    };
    let mut chance = Stream::new(2, Purpose::new("chance"), [0, 0]);
    let estimated = method.estimate(
        batch.model(),
        &mut learned,
        given,
        &mut noise(),
        &mut chance,
    );
    estimated.expect("a valid estimate");
    (gradient, learned.moments)
}

#[test]
fn normalised_signals_are_divided_by_their_standard_deviation_above_one() {
    let model = Reference::t1();
    let batch = Batch::new(&model, &data(2));
    for (variance, scale) in [(6.25, 2.5), (0.25, 1.0)] {
        let (plain, _) = nvil(&batch, &NVIL, vec![moments(-3.0, variance)]);
        let (divided, _) = nvil(&batch, &NORMALISED, vec![moments(-3.0, variance)]);
        let (theta, phi) = (model.theta(), model.phi());
        assert_eq!(plain[theta.clone()], divided[theta]);
        let scaled: Vec<f64> = divided[phi.clone()].iter().map(|g| scale * g).collect();
        assert!(relative_error(&scaled, &plain[phi]) < 1e-10);
    }
}

#[test]
fn running_averages_follow_the_signals_before_centring() {
    // What the running mean takes away from a signal must not come back in the next one.
    let batch = Batch::new(&Reference::t2(), &data(2));
    let moved = |mean: f64| nvil(&batch, &NVIL, vec![moments(mean, 0.0); 2]).1;
    let (from_zero, from_three) = (moved(0.0), moved(3.0));
    for (zero, three) in from_zero.iter().zip(&from_three) {
        assert!((three.mean - zero.mean - 0.8 * 3.0).abs() < 1e-10);
        assert!((three.variance - zero.variance).abs() < 1e-10);
    }
}
