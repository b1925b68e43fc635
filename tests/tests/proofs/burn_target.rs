//! A density differentiated by burn moves a chain as one differentiated by hand does.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_random::{Chance, Draws, Purpose, Stream};
use helmholtz_samplers::{BatchedHmc, BurnTarget, Hmc, Info, Kernel};
use helmholtz_tests::vectors::max_difference;
use helmholtz_tests::{Inner, Tape};

/// ln p = −½ x₀² − eˣ¹ + 2 x₁ − ¼ (x₀ x₁)², and its gradient times `factor`.
fn by_hand(factor: f64) -> impl Fn(&[f64], &mut [f64]) -> f64 {
    move |x, gradient| {
        let (a, b) = (x[0], x[1]);
        gradient[0] += factor * (-a - 0.5 * a * b * b);
        gradient[1] += factor * (-b.exp() + 2.0 - 0.5 * a * a * b);
        -0.5 * a * a - b.exp() + 2.0 * b - 0.25 * (a * b).powi(2)
    }
}

fn by_burn(x: Tensor<Tape, 1>) -> Tensor<Tape, 1> {
    let (a, b) = (x.clone().narrow(0, 0, 1), x.narrow(0, 1, 1));
    let product = (a.clone() * b.clone()).square().mul_scalar(0.25);
    a.square().mul_scalar(-0.5) - b.clone().exp() + b.mul_scalar(2.0) - product
}

/// Where a chain of a hundred transitions ends.
fn end(kernel: &impl Kernel<Vec<f64>, Stream>) -> Vec<f64> {
    let mut stream = Stream::new(1, Purpose::new("hmc"), [0, 0]);
    let mut x = vec![0.3, -0.2];
    (0..100).for_each(|_| {
        kernel.step(&mut x, &mut stream);
    });
    x
}

#[test]
fn hmc_moves_by_burns_gradient_as_by_the_one_derived_by_hand() {
    let burn = BurnTarget::new(by_burn, Default::default());
    let burn = end(&Hmc::new(burn, 0.2, 8).unwrap());
    let hand = end(&Hmc::new(by_hand(1.0), 0.2, 8).unwrap());
    let wrong = end(&Hmc::new(by_hand(1.01), 0.2, 8).unwrap());
    // Rounding grows along a chain of 800 leapfrog steps.
    assert!(max_difference(&burn, &hand) < 1e-8);
    assert!(max_difference(&burn, &wrong) > 1e-3);
}

/// The density of [`by_hand`] for each row.
fn rows_by_burn(x: Tensor<Tape, 2>) -> Tensor<Tape, 1> {
    let (a, b) = (x.clone().narrow(1, 0, 1), x.narrow(1, 1, 1));
    let product = (a.clone() * b.clone()).square().mul_scalar(0.25);
    let sum = a.square().mul_scalar(-0.5) - b.clone().exp() + b.mul_scalar(2.0) - product;
    sum.squeeze_dim(1)
}

pub fn chains(values: Vec<f64>, coordinates: usize) -> Tensor<Inner, 2> {
    let shape = [values.len() / coordinates, coordinates];
    Tensor::from_data(
        TensorData::new(values, shape),
        (&Default::default(), DType::F64),
    )
}

pub fn values(chains: Tensor<Inner, 2>) -> Vec<f64> {
    chains.into_data().iter().collect()
}

#[test]
fn one_chain_of_a_batch_moves_as_a_chain_alone() {
    let hand = end(&Hmc::new(by_hand(1.0), 0.2, 8).unwrap());
    let batched = BatchedHmc::new(rows_by_burn, 0.2, 8).unwrap();
    let mut stream = Stream::new(1, Purpose::new("hmc"), [0, 0]);
    let mut x = chains(vec![0.3, -0.2], 2);
    for _ in 0..100 {
        x = batched.step(x, &mut stream).0;
    }
    assert!(max_difference(&values(x), &hand) < 1e-8);
}

/// The largest distance, over 50 starts, between a step of a batch of one chain with the mass `batched` and one of [`Hmc`] with
/// the mass (2, ½). Both jitter, and draw from the same stream, which they leave at the same place.
fn difference_of_a_step(batched: [f64; 2]) -> f64 {
    let jittered = BatchedHmc::new(rows_by_burn, 0.3, 6).unwrap().jittered();
    let batched = jittered.with_mass(batched.to_vec()).unwrap();
    let alone = Hmc::new(by_hand(1.0), 0.3, 6).unwrap().jittered();
    let alone = alone.with_mass(vec![2.0, 0.5]).unwrap();
    let mut starts = Stream::new(8, Purpose::new("start"), [0, 0]);
    let differences = (0..50).map(|i| {
        let start = vec![starts.normal(), starts.normal()];
        let stream = || Stream::new(8, Purpose::new("hmc"), [i, 0]);
        let (mut a, mut b, mut x) = (stream(), stream(), start.clone());
        alone.step(&mut x, &mut a);
        let (y, _) = batched.step(chains(start, 2), &mut b);
        assert_eq!(a.normal(), b.normal());
        max_difference(&values(y), &x)
    });
    differences.fold(0.0, f64::max)
}

/// The twin has the inverse of the mass.
#[test]
fn a_step_of_a_batch_with_mass_and_jitter_is_that_of_a_chain_alone() {
    let (same, twin) = (
        difference_of_a_step([2.0, 0.5]),
        difference_of_a_step([0.5, 2.0]),
    );
    println!("largest difference {same:.1e}, with the inverse mass {twin:.1e}");
    assert!(same < 1e-12, "{same}");
    assert!(twin > 1e-3, "{twin}");
}

#[test]
fn a_chain_that_diverges_leaves_the_others_alone() {
    let hmc = BatchedHmc::new(rows_by_burn, 0.2, 8).unwrap();
    let step = |third: [f64; 2]| {
        let start = [0.3, -0.2, 1.0, 0.5, third[0], third[1]];
        let mut stream = Stream::new(2, Purpose::new("hmc"), [0, 0]);
        let (end, info) = hmc.step(chains(start.to_vec(), 2), &mut stream);
        (values(end), info)
    };
    let (calm, of_calm) = step([0.1, 0.1]);
    let (wild, of_wild) = step([1e6, 1e3]); // exp overflows
    assert_eq!(calm[..4], wild[..4]);
    assert_eq!(wild[4..], [1e6, 1e3]);
    assert_eq!([of_calm.moves, of_wild.moves], [3, 3]);
    assert_eq!(of_calm.non_finite, 0);
    assert!(of_wild.non_finite > 0 && of_wild.accepted < 3);
}

#[test]
fn a_start_of_infinite_energy_is_left_at_once() {
    for beyond in [f64::NEG_INFINITY, f64::INFINITY] {
        let bounded = |x: Tensor<Tape, 2>| -> Tensor<Tape, 1> {
            let outside = x.clone().detach().greater_elem(5.0);
            let wall = x.zeros_like().mask_fill(outside, beyond);
            (x.square().mul_scalar(-0.5) + wall).squeeze_dim(1)
        };
        let hmc = BatchedHmc::new(bounded, 0.3, 10).unwrap();
        let mut stream = Stream::new(5, Purpose::new("hmc"), [0, 0]);
        let (end, info) = hmc.step(chains(vec![6.0, 7.0], 1), &mut stream);
        assert_eq!((info.accepted, info.non_finite), (2, 2), "{beyond}");
        assert!(values(end).iter().all(|&x| x < 5.0));
    }
}

/// A stream whose coins always fall the same way.
pub(crate) struct Yes(pub(crate) Stream);

impl Chance for Yes {
    fn accept(&mut self, _: f64) -> bool {
        true
    }

    fn choose(&mut self, log_weights: &[f64]) -> Option<usize> {
        self.0.choose(log_weights)
    }
}

impl Draws for Yes {
    fn uniform(&mut self) -> f64 {
        Draws::uniform(&mut self.0)
    }

    fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        self.0.gamma(shape)
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        self.0.beta(a, b)
    }
}

/// The largest distance of the distribution of ln X, X exponential, from that of 20,000 chains that start in it and make five moves.
fn distance_after_moves(chance: &mut (impl Chance + Draws)) -> (f64, Info) {
    // ln p(y) = y − eʸ, with the Jacobian of x = eʸ.
    let log_density =
        |y: Tensor<Tape, 2>| -> Tensor<Tape, 1> { (y.clone() - y.exp()).squeeze_dim(1) };
    let hmc = BatchedHmc::new(log_density, 1.3, 2).unwrap();
    let start = (0..20_000).map(|_| (-(1.0 - Draws::uniform(chance)).ln()).ln());
    let mut y = chains(start.collect(), 1);
    let mut all = Info::default();
    for _ in 0..5 {
        let (next, info) = hmc.step(y, chance);
        y = next;
        all += info;
    }
    let mut y = values(y);
    y.sort_by(f64::total_cmp);
    let n = y.len() as f64;
    let distances = y.iter().zip(0..).map(|(y, at)| {
        let law = 1.0 - (-y.exp()).exp();
        let at = f64::from(at);
        (law - at / n).abs().max((law - (at + 1.0) / n).abs())
    });
    (distances.fold(0.0, f64::max), all)
}

/// False alarms: 1e-8, by the inequality of Dvoretzky, Kiefer and Wolfowitz. The twin accepts everything.
#[test]
fn chains_at_once_leave_their_law_as_it_is() {
    let threshold = ((2.0f64 / 1e-8).ln() / 40_000.0).sqrt();
    let stream = || Stream::new(3, Purpose::new("hmc"), [0, 0]);
    let (distance, info) = distance_after_moves(&mut stream());
    assert!(distance < threshold, "{distance}");
    let share = info.accepted as f64 / info.moves as f64;
    assert!((0.5..0.98).contains(&share), "{share}");
    let (of_twin, _) = distance_after_moves(&mut Yes(stream()));
    assert!(of_twin > threshold, "{of_twin}");
}

/// A chain that starts where there is no density: every step size would be rejected.
#[test]
fn the_warm_up_refuses_a_start_of_no_density() {
    let hmc = BatchedHmc::new(rows_by_burn, 1e-3, 4).unwrap();
    let mut stream = Stream::new(4, Purpose::new("hmc"), [0, 0]);
    let mut start = vec![0.5; 2 * 20];
    start[7] = f64::NAN;
    let refused = hmc.warm_up(0.7, 30, chains(start, 2), &mut stream);
    let text = refused.err().expect("an error").to_string();
    assert!(text.contains("at the start of the warm-up"), "{text}");
}

#[test]
fn the_step_size_that_is_tuned_gives_the_acceptance_that_is_asked_for() {
    let hmc = BatchedHmc::new(rows_by_burn, 1e-3, 4).unwrap();
    let mut stream = Stream::new(4, Purpose::new("hmc"), [0, 0]);
    let start = chains(vec![0.5; 2 * 200], 2);
    let (hmc, mut x) = hmc.tune_step_size(0.7, 300, start, &mut stream).unwrap();
    let mut all = Info::default();
    for _ in 0..50 {
        let (next, info) = hmc.step(x, &mut stream);
        x = next;
        all += info;
    }
    let share = all.accepted as f64 / all.moves as f64;
    assert!((share - 0.7).abs() < 0.1, "{share}");
    assert!(hmc.step_size() > 0.05);
}
