//! A variational autoencoder with categorical latents in plain `f64`.

use std::ops::Range;

use burn::tensor::DType;
use helmholtz_categorical_vae::{CategoricalVae, CategoricalVaeConfig};
use helmholtz_ops::Backend;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::{Latents, Layer};

use crate::classes;
use crate::enumerable::{Enumerable, State, of_bits};
use crate::network::Network;

const SLOPE: f64 = 0.2;

/// p(x, h) and q(h | x) with one layer of V one-hot variables of C classes, the logit of each first class 0, a uniform prior or a
/// learned one, and networks with a rectified layer.
#[derive(Clone, Debug)]
pub struct Categories {
    config: CategoricalVaeConfig,
    recognition: Network,
    generation: Network,
    /// The flat parameters.
    pub parameters: Vec<f64>,
}

impl Categories {
    /// T3: four visible bits, two variables of three classes, three rectified units. Parameters N(0, 0.7²), which makes logits
    /// of about 1.5.
    pub fn t3() -> Self {
        Self::random(4, 2, 3, &[3], 3)
    }

    /// A model of these sizes with parameters N(0, 0.7²).
    pub fn random(
        visible: usize,
        variables: usize,
        classes: usize,
        hidden: &[usize],
        seed: u64,
    ) -> Self {
        let up = [&[visible], hidden, &[variables * (classes - 1)]].concat();
        let mut down = [&[visible], hidden, &[variables * classes]].concat();
        down.reverse();
        let recognition = Network::new(&up, SLOPE, 0);
        let generation = Network::new(&down, SLOPE, recognition.range().end);
        let mut stream = Stream::new(seed, Purpose::new("proof"), [0, 0]);
        let parameters = 0..generation.range().end;
        Self {
            config: CategoricalVaeConfig {
                visible,
                variables,
                classes: classes as u32,
                hidden: hidden.to_vec(),
                slope: SLOPE,
                free_logits: false,
                learned_prior: false,
            },
            recognition,
            generation,
            parameters: parameters.map(|_| 0.7 * stream.normal()).collect(),
        }
    }

    /// The same with a learned prior, its logits N(0, 0.7²), last among the parameters.
    pub fn with_learned_prior(mut self) -> Self {
        self.config.learned_prior = true;
        let mut stream = Stream::new(6, Purpose::new("proof"), [0, 0]);
        let logits = self.config.variables * (self.classes() - 1);
        let prior = (0..logits).map(|_| 0.7 * stream.normal());
        self.parameters.extend(prior);
        self
    }

    fn classes(&self) -> usize {
        self.config.classes as usize
    }

    /// The probabilities of the classes under q(h | x): `[V, C]`.
    fn probabilities(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let logits = self.recognition.outputs(&self.parameters, x);
        classes::probabilities(&logits, self.classes())
    }

    /// The probabilities of the classes under p(h): `[V, C]`.
    fn prior(&self) -> Vec<Vec<f64>> {
        let uniform = vec![0.0; self.config.variables * (self.classes() - 1)];
        let logits = match self.config.learned_prior {
            true => &self.parameters[self.generation.range().end..],
            false => &uniform,
        };
        classes::probabilities(logits, self.classes())
    }
}

impl Enumerable for Categories {
    type Production<B: Backend> = CategoricalVae<B>;

    fn production<B: Backend>(&self, dtype: DType) -> CategoricalVae<B> {
        let model = self.config.init(0, dtype, &Default::default());
        model.expect("a valid model")
    }

    fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    fn with_parameters(&self, parameters: Vec<f64>) -> Self {
        assert_eq!(parameters.len(), self.parameters.len());
        Self {
            parameters,
            ..self.clone()
        }
    }

    fn phi(&self) -> Range<usize> {
        self.recognition.range()
    }

    fn visible(&self) -> usize {
        self.config.visible
    }

    fn latents(&self) -> Latents {
        let layer = Layer::Categorical {
            variables: self.config.variables,
            classes: self.config.classes,
        };
        Latents::mixed(&[layer]).expect("a layer of classes")
    }

    fn states(&self) -> Vec<State> {
        let (variables, classes) = (self.config.variables, self.classes());
        let state = |index: usize| {
            let class = |v: usize| index / classes.pow(v as u32) % classes;
            let value = |v: usize| (0..classes).map(move |c| f64::from(u8::from(c == class(v))));
            vec![(0..variables).flat_map(value).collect()]
        };
        (0..classes.pow(variables as u32)).map(state).collect()
    }

    fn log_q(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let (log_q, residuals) = classes::score(&self.probabilities(x), &h[0]);
        let mut gradient = vec![0.0; self.parameters.len()];
        self.recognition
            .differentiate(&self.parameters, x, &residuals, &mut gradient);
        (log_q, gradient)
    }

    fn log_p(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let given = self
            .generation
            .score(&self.parameters, &h[0], x, &mut gradient);
        let (prior, residuals) = classes::score(&self.prior(), &h[0]);
        if self.config.learned_prior {
            gradient[self.generation.range().end..].copy_from_slice(&residuals);
        }
        (given + prior, gradient)
    }

    fn proposing(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        vec![classes::intervals(&self.probabilities(x), &h[0])]
    }

    fn dreaming(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        let ones = self.generation.ones(&self.parameters, &h[0]);
        vec![classes::intervals(&self.prior(), &h[0]), of_bits(&ones, x)]
    }
}
