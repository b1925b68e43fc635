//! The formula of released code, against its definition and beside the right one, on a model small enough to enumerate.

use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_datasets::Images;
use helmholtz_estimators::{Factored, Joint, Layered, Particles, Propose};
use helmholtz_evaluation::{AnalyticKl, Evaluation, nll};
use helmholtz_random::Purpose;
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};

const VISIBLE: usize = 6;
const LATENT: usize = 3;

fn model() -> Sbn<Flex> {
    let config = SbnConfig {
        visible: VISIBLE,
        latent: vec![LATENT],
        hidden: vec![5],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::Xavier { bias: 0.7 },
    };
    config.init(1, DType::F32, &Default::default()).unwrap()
}

fn numbers(tensor: Tensor<Flex, 1>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

/// −ELBO, −log p(x) and −ln E_q p(x | h) + KL(q ‖ p) of a datum, by enumeration.
fn exact(model: &Sbn<Flex>, x: &[f32]) -> [f64; 3] {
    let states: Vec<f32> = (0..1 << LATENT)
        .flat_map(|index: usize| (0..LATENT).map(move |i| (index >> i & 1) as f32))
        .collect();
    let h = TensorData::new(states, [1 << LATENT, LATENT]);
    let h = Particles::new(vec![Tensor::from_data(h, &Default::default())]);
    let x = TensorData::new(x.to_vec(), [1, VISIBLE]);
    let x = Tensor::from_data(x, &Default::default());
    let log_q = numbers(model.log_q(&model.encode(x.clone()), &h));
    let log_p = numbers(model.log_joint(x.clone(), &h));
    let given = numbers(model.log_likelihood(x, &h));
    let states = || log_q.iter().zip(log_p.iter().zip(&given));
    let divergence: f64 = states().map(|(q, (p, g))| q.exp() * (q - (p - g))).sum();
    let expected: f64 = states().map(|(q, (_, g))| (q + g).exp()).sum();
    [
        states().map(|(q, (p, _))| q.exp() * (q - p)).sum(),
        -log_p.iter().map(|l| l.exp()).sum::<f64>().ln(),
        divergence - expected.ln(),
    ]
}

#[test]
fn it_goes_to_its_formula_and_not_to_the_likelihood_and_its_elbo_is_right() {
    let model = model();
    assert_eq!(model.layers().len(), 1);
    let pixels = [1.0f32, 0.0, 1.0, 1.0, 0.0, 1.0];
    // Copies of one datum, with samples of their own.
    let images = Images::from_fn(200, VISIBLE, |_, pixel| pixels[pixel] == 1.0);
    let evaluation = Evaluation {
        samples: 2000,
        seed: 1,
        purpose: Purpose::new("test"),
        threads: 1,
    };
    let all = &|_| true;
    let right = nll::<Flex, _>(&model, &images, &evaluation, &Default::default(), all).unwrap();
    let kl = AnalyticKl(model.clone());
    let released = nll::<Flex, _>(&kl, &images, &evaluation, &Default::default(), all).unwrap();
    let [minus_elbo, minus_log_p, formula] = exact(&model, &pixels);
    // 400,000 samples of weights within a factor of a few: the errors are some 0.001.
    assert!((right.mean - minus_log_p).abs() < 0.01, "{right:?}");
    assert!((released.mean - formula).abs() < 0.01, "{released:?}");
    assert!((released.elbo + minus_elbo).abs() < 0.01, "{released:?}");
    assert!(formula < minus_elbo);
    assert!(
        (formula - minus_log_p).abs() > 0.02,
        "{formula}, {minus_log_p}"
    );
}
