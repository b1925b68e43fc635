//! The variance of gradient estimates as a measurement: reproducible, with a prefix that more replicates don't change,
//! interruptible. That it is the right number is proved on enumerable models in the workspace's `tests`.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_datasets::Images;
use helmholtz_estimators::{Batch, EstimateError, Layered, Learned, Method, Parts};
use helmholtz_evaluation::{
    GradientVariance, Held, Replication, Variance, batch_of, gradient_variance, method_variance,
};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{ChainStore, Latents, MemoryStore};
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};

type Tape = Autodiff<Flex>;

fn model() -> Sbn<Tape> {
    let config = SbnConfig {
        visible: 30,
        latent: vec![6, 4],
        hidden: vec![5],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::FanIn,
    };
    config.init(1, DType::F32, &Default::default()).unwrap()
}

/// Measures a method on ten images until `stop` replicates are done.
fn measure(
    name: &str,
    particles: usize,
    replication: Replication,
    stop: usize,
) -> Result<Option<GradientVariance>, EstimateError> {
    let mut stream = Stream::new(1, Purpose::new("images"), [0, 0]);
    let images = Images::from_fn(10, 30, |_, _| stream.below(3) == 0);
    let (method, device): (Method, _) = (name.parse().unwrap(), Default::default());
    let means = || images.pixel_means();
    let (model, needed) = (model(), method.controls());
    let learned = Learned::init(&needed, means, &model.layers(), 1, DType::F32, &device);
    let batch = Batch::<Tape, MemoryStore> {
        x: batch_of(&images, 0..10, &device),
        chains: None,
        particles,
        epoch: 0,
        analytic_kl: false,
    };
    let mut go_on = |done| done < stop;
    method_variance(&method, &model, &learned, batch, &replication, &mut go_on)
}

fn measured(name: &str, replicates: usize, seed: u64) -> [Variance; 2] {
    let replication = Replication { replicates, seed };
    let measured = measure(name, 2, replication, usize::MAX).unwrap().unwrap();
    assert_eq!(measured.replicates, replicates);
    assert!(measured.seconds > 0.0);
    [measured.theta, measured.phi]
}

#[test]
fn it_is_the_same_to_the_bit_and_another_seed_is_another_sample() {
    for name in ["rloo", "jsa", "rws-sleep", "nvil", "rebar"] {
        let once = measured(name, 5, 1);
        assert_eq!(measured(name, 5, 1), once, "{name}");
        assert_ne!(measured(name, 5, 2), once, "{name}");
    }
}

#[test]
fn stopped_it_gives_what_fewer_replicates_give_and_of_one_nothing() {
    let replication = Replication {
        replicates: 9,
        seed: 1,
    };
    let stopped = measure("rloo", 2, replication, 4).unwrap().unwrap();
    assert_eq!([stopped.theta, stopped.phi], measured("rloo", 4, 1));
    assert_eq!(stopped.replicates, 4);
    assert!(measure("rloo", 2, replication, 1).unwrap().is_none());
}

#[test]
fn an_estimator_that_refuses_is_heard() {
    let replication = Replication {
        replicates: 9,
        seed: 1,
    };
    let error = measure("rloo", 1, replication, 9).unwrap_err();
    assert!(error.to_string().contains("at least 2 particles"));
}

#[test]
fn theta_and_phi_are_what_the_model_says_and_what_no_gradient_reaches_does_not_vary() {
    let model = model();
    let all = burn::module::list_param_ids::<_, Tape>(&model);
    let mut parts = [model.generative(), model.inference()].concat();
    parts.sort_by_key(|id| id.val());
    let mut sorted = all;
    sorted.sort_by_key(|id| id.val());
    assert_eq!(parts, sorted, "each parameter is in one part");

    // log q of dreams, which are drawn without gradient, reaches φ alone.
    let loss = |noise: &mut Stream, _: &mut Stream| {
        use helmholtz_estimators::{Dream, Propose};
        let (x, causes) = model.dream(Tensor::zeros([7, 30], &Default::default()), noise);
        let log_q: Tensor<Tape, 1> = model.log_q(&model.encode(x), &causes);
        Ok::<_, EstimateError>(log_q.mean())
    };
    let replication = Replication {
        replicates: 3,
        seed: 1,
    };
    let measured = gradient_variance(&model, &replication, loss, &mut |_| true);
    let measured = measured.unwrap().unwrap();
    assert_eq!(
        (measured.theta.variance, measured.theta.mean_norm),
        (0.0, 0.0)
    );
    assert!(measured.phi.variance > 0.0);
    // Weights and biases: 30-5-6 and 6-5-4 up; 6-5-30 and 4-5-6 down, and the prior.
    let up = 30 * 5 + 5 + 5 * 6 + 6 + 6 * 5 + 5 + 5 * 4 + 4;
    let down = 6 * 5 + 5 + 5 * 30 + 30 + 4 * 5 + 5 + 5 * 6 + 6 + 4;
    assert_eq!(
        (measured.phi.parameters, measured.theta.parameters),
        (up, down)
    );
}

#[test]
fn the_figure_of_merit_is_the_variance_of_all_times_the_cost() {
    let of = |variance| Variance {
        parameters: 1,
        variance,
        standard_error: 0.5,
        mean_norm: 0.0,
    };
    let measured = GradientVariance {
        theta: of(2.0),
        phi: of(3.0),
        replicates: 2,
        seconds: 1.0,
    };
    assert_eq!(measured.merit(4.0), 20.0);
    assert_eq!(of(2.0).ln(), (2f64.ln(), 0.25));
}

#[test]
fn two_replicates_are_enough() {
    let replication = Replication {
        replicates: 5,
        seed: 1,
    };
    let two = measure("rloo", 2, replication, 2).unwrap().unwrap();
    assert_eq!(two.replicates, 2);
    assert!(two.seconds > 0.0 && two.seconds < 60.0);
}

#[test]
fn a_store_that_is_held_reads_as_it_is_and_forgets_what_is_written() {
    let mut store = MemoryStore::new(&Latents::new(&[8]).unwrap(), 3).unwrap();
    store.store(&[1], &[0b1010_0101]).unwrap();
    let mut held = Held(&store);
    assert_eq!((held.len(), held.latents()), (3, store.latents()));
    assert_eq!(
        [0, 1, 9].map(|row| held.is_initialised(row)),
        [false, true, false]
    );
    held.store(&[0, 1], &[255, 255]).unwrap();
    let mut packed = [7; 2];
    held.load(&[1, 0], &mut packed).unwrap();
    assert_eq!(packed, [0b1010_0101, 0]);
    assert!(held.load(&[9], &mut packed[..1]).is_err());
}
