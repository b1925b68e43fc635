//! A sigmoid belief network with a categorical variable on top, in plain `f64`.

use std::ops::Range;

use burn::tensor::DType;
use helmholtz_ops::Backend;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::{Latents, Layer};
use helmholtz_sbn::{Initialisation, MixedSbn, MixedSbnConfig, SbnConfig};

use crate::enumerable::{Enumerable, State, of_bits};
use crate::network::Network;
use crate::{bits, classes};

/// p(x, h) = p(x | b) p(b | c) p(c) and q(h | x) = q(b | x) q(c | b) with linear factors and a learned prior; h = (b, c), b bits and
/// c one class of C.
#[derive(Clone, Debug)]
pub struct Topped {
    config: MixedSbnConfig,
    /// q(b | x), q(c | b).
    up: [Network; 2],
    /// p(x | b), p(b | c).
    down: [Network; 2],
    /// The flat parameters, the logits of p(c) last.
    pub parameters: Vec<f64>,
}

impl Topped {
    /// T5: four visible bits, two bits, three classes. Parameters N(0, 1).
    pub fn t5() -> Self {
        Self::random(4, 2, 3, 5)
    }

    /// A model of these sizes with parameters N(0, 1).
    pub fn random(visible: usize, middle: usize, classes: usize, seed: u64) -> Self {
        let mut offset = 0;
        let mut net = |from: usize, to: usize| {
            let net = Network::new(&[from, to], 1.0, offset);
            offset = net.range().end;
            net
        };
        let up = [net(visible, middle), net(middle, classes - 1)];
        let down = [net(middle, visible), net(classes, middle)];
        let mut stream = Stream::new(seed, Purpose::new("proof"), [0, 0]);
        Self {
            config: MixedSbnConfig {
                bits: SbnConfig {
                    visible,
                    latent: vec![middle],
                    hidden: vec![],
                    slope: 1.0,
                    learned_prior: true,
                    signed: false,
                    tanh: false,
                    centred: false,
                    initialisation: Initialisation::FanIn,
                },
                classes,
            },
            up,
            down,
            parameters: (0..offset + classes - 1).map(|_| stream.normal()).collect(),
        }
    }

    /// The probabilities of the classes with these logits.
    fn classes(&self, logits: &[f64]) -> Vec<Vec<f64>> {
        classes::probabilities(logits, self.config.classes)
    }

    fn prior(&self) -> Range<usize> {
        self.down[1].range().end..self.parameters.len()
    }
}

impl Enumerable for Topped {
    type Production<B: Backend> = MixedSbn<B>;

    fn production<B: Backend>(&self, dtype: DType) -> MixedSbn<B> {
        let model = self.config.init(0, dtype, &Default::default());
        model.expect("a valid network")
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
        0..self.up[1].range().end
    }

    fn visible(&self) -> usize {
        self.config.bits.visible
    }

    fn latents(&self) -> Latents {
        let layers = [
            Layer::Bernoulli(self.config.bits.latent[0]),
            Layer::Categorical {
                variables: 1,
                classes: self.config.classes as u32,
            },
        ];
        Latents::mixed(&layers).expect("a layer of bits and one of classes")
    }

    fn states(&self) -> Vec<State> {
        let middle = bits(self.config.bits.latent[0]);
        let tops = classes::one_hot(self.config.classes).into_iter();
        tops.flat_map(|top| middle.iter().map(move |b| vec![b.clone(), top.clone()]))
            .collect()
    }

    fn log_q(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let [of_bits, of_class] = &self.up;
        let log_b = of_bits.score(&self.parameters, x, &h[0], &mut gradient);
        let logits = of_class.outputs(&self.parameters, &h[0]);
        let (log_c, residuals) = classes::score(&self.classes(&logits), &h[1]);
        of_class.differentiate(&self.parameters, &h[0], &residuals, &mut gradient);
        (log_b + log_c, gradient)
    }

    fn log_p(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let [of_x, of_bits] = &self.down;
        let log_x = of_x.score(&self.parameters, &h[0], x, &mut gradient);
        let log_b = of_bits.score(&self.parameters, &h[1], &h[0], &mut gradient);
        let prior = self.prior();
        let classes = self.classes(&self.parameters[prior.clone()]);
        let (log_c, residuals) = classes::score(&classes, &h[1]);
        gradient[prior].copy_from_slice(&residuals);
        (log_x + log_b + log_c, gradient)
    }

    fn proposing(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        let ones = self.up[0].ones(&self.parameters, x);
        let classes = self.classes(&self.up[1].outputs(&self.parameters, &h[0]));
        vec![of_bits(&ones, &h[0]), classes::intervals(&classes, &h[1])]
    }

    fn dreaming(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        let classes = self.classes(&self.parameters[self.prior()]);
        let middle = self.down[1].ones(&self.parameters, &h[1]);
        let ones = self.down[0].ones(&self.parameters, &h[0]);
        vec![
            classes::intervals(&classes, &h[1]),
            of_bits(&middle, &h[0]),
            of_bits(&ones, x),
        ]
    }
}
