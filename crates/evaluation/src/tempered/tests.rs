//! Unbiasedness by enumeration of the production code, on models with a table for p(x, h) and a q of quarters.

use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_estimators::{
    Joint, Layered, Particles, Proposals, Propose, propose_layers, score_layers,
};
use helmholtz_ops::Values;
use helmholtz_random::{Chance, Enumerator, Purpose, enumerate};
use helmholtz_samplers::resampling::Resampler;
use helmholtz_samplers::{Latents, SamplerError};

use super::moves::{Moves, Scores, log_ratio};
use super::{Tempering, backward, forward};

/// ln p(x, h) of each state, the first layer's first bit the highest; q(h¹ | x) and q(h² | h¹) have probabilities of quarters.
struct Table {
    layers: Vec<Bits>,
    log_joint: Vec<f64>,
}

/// The logit of 3/4.
const THREE_QUARTERS: f64 = 1.098_612_288_668_109_8;

fn tensor(values: Vec<f64>, shape: [usize; 2]) -> Tensor<Flex, 2> {
    Tensor::from_data(
        TensorData::new(values, shape),
        (&Default::default(), DType::F64),
    )
}

impl Table {
    fn new(layers: &[usize], log_joint: &[f64]) -> Self {
        let states = 1 << layers.iter().sum::<usize>();
        assert_eq!(states, log_joint.len());
        Self {
            layers: layers.iter().map(|&bits| Bits(bits)).collect(),
            log_joint: log_joint.to_vec(),
        }
    }

    /// p(x).
    fn evidence(&self) -> f64 {
        self.log_joint.iter().map(|l| l.exp()).sum()
    }

    /// The states, in the order of the table.
    fn states(&self) -> Vec<Particles<Flex>> {
        let bits: usize = self.layers.iter().map(|layer| layer.0).sum();
        let state = |code: usize| {
            let all: Vec<f64> = (0..bits)
                .map(|at| (code >> (bits - 1 - at) & 1) as f64)
                .collect();
            let mut rest = &all[..];
            let layers = self.layers.iter().map(|layer| {
                let (own, above) = rest.split_at(layer.0);
                rest = above;
                Values::binary(tensor(own.to_vec(), [1, layer.0]))
            });
            Particles::new(layers.collect())
        };
        (0..1 << bits).map(state).collect()
    }
}

impl Propose<Flex> for Table {
    type Encoded = Tensor<Flex, 2>;

    fn latents(&self) -> Latents {
        let layers: Vec<usize> = self.layers.iter().map(|layer| layer.0).collect();
        Latents::new(&layers).unwrap()
    }

    fn encode(&self, x: impl Into<Values<Flex>>) -> Tensor<Flex, 2> {
        let (batch, bits) = (x.into().dims()[0], self.layers[0].0);
        let row = (0..bits).map(|at| [THREE_QUARTERS, 0.0][at % 2]);
        tensor(row.collect::<Vec<_>>().repeat(batch), [batch, bits])
    }

    fn propose(
        &self,
        encoded: &Tensor<Flex, 2>,
        retained: Option<Particles<Flex>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<Flex> {
        propose_layers(self, encoded, retained, particles, noise)
    }

    fn log_q(&self, encoded: &Tensor<Flex, 2>, particles: &Particles<Flex>) -> Tensor<Flex, 1> {
        score_layers(self, encoded, particles)
    }
}

impl Layered<Flex> for Table {
    type Variables = Bits;

    fn layers(&self) -> Vec<Bits> {
        self.layers.clone()
    }

    /// 3/4 above a one, and 1/4 above a zero.
    fn logits_above(&self, level: usize, below: impl Into<Values<Flex>>) -> Tensor<Flex, 2> {
        let first = below.into().columns(0, 1).numbers();
        let logits = (first * 2.0 - 1.0) * THREE_QUARTERS;
        let rows = logits.dims()[0];
        logits.expand([rows, self.layers[level].0])
    }
}

impl Joint<Flex> for Table {
    fn log_joint(
        &self,
        _: impl Into<Values<Flex>>,
        particles: &Particles<Flex>,
    ) -> Tensor<Flex, 1> {
        let layers = particles.layers().iter().map(Values::numbers).collect();
        let all = helmholtz_ops::cat(layers, 1);
        let width = all.dims()[1];
        let bits: Vec<f64> = super::numbers(all);
        let code = |row: &[f64]| row.iter().fold(0, |code, &bit| 2 * code + bit as usize);
        let found: Vec<f64> = bits
            .chunks(width)
            .map(|row| self.log_joint[code(row)])
            .collect();
        Tensor::from_data(
            TensorData::from(&found[..]),
            (&Default::default(), DType::F64),
        )
    }
}

/// Every branch: uniforms in the middles of four quarters, and what acceptance and resampling ask.
struct Branches<'a>(&'a mut Enumerator);

impl Noise for Branches<'_> {
    fn fill(&mut self, out: &mut [f32]) {
        out.fill_with(|| {
            let quarter = self.0.choose_by_weight(&[1.0; 4]).unwrap();
            (quarter as f32 + 0.5) / 4.0
        });
    }
}

impl Chance for Branches<'_> {
    fn accept(&mut self, log_prob: f64) -> bool {
        self.0.accept(log_prob)
    }

    fn choose(&mut self, log_weights: &[f64]) -> Option<usize> {
        self.0.choose(log_weights)
    }

    fn choose_by_weight(&mut self, weights: &[f64]) -> Option<usize> {
        self.0.choose_by_weight(weights)
    }
}

/// Ancestors one by one: the library's schemes ask for uniforms, which cannot be enumerated.
struct ByChoice;

impl<C: Chance> Resampler<C> for ByChoice {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        for ancestor in ancestors {
            *ancestor = chance.choose(log_weights).unwrap() as u32;
        }
        Ok(())
    }
}

fn tempering(particles: usize, steps: usize) -> Tempering {
    Tempering {
        particles,
        steps,
        seed: 1,
        purpose: Purpose::new("test"),
        threads: 1,
    }
}

type Ratio = fn(f64, [Scores; 2]) -> f64;

/// E p̂(x) / p(x) − 1.
fn bias(table: &Table, ratio: Ratio, [particles, steps]: [usize; 2]) -> f64 {
    let x: Values<Flex> = tensor(vec![0.0], [1, 1]).into();
    let branches = enumerate(|chance| {
        let moves = Moves::with_ratio(table, x.clone(), ratio);
        let found = forward(
            &moves,
            &tempering(particles, steps),
            &ByChoice,
            &mut [Branches(chance)],
            &|| true,
        );
        found.unwrap()[0].exp()
    });
    let mean: f64 = branches
        .into_iter()
        .map(|(probability, p)| probability * p)
        .sum();
    mean / table.evidence() - 1.0
}

/// p(x) E 1 / p̂(x) − 1 of the reverse chains, from each state with its posterior probability.
fn bias_of_inverse(table: &Table, ratio: Ratio, [particles, steps]: [usize; 2]) -> f64 {
    let x: Values<Flex> = tensor(vec![0.0], [1, 1]).into();
    let states = table.states().into_iter().zip(&table.log_joint);
    let mean = states.map(|(state, log_joint)| {
        let branches = enumerate(|chance| {
            let moves = Moves::with_ratio(table, x.clone(), ratio);
            let tempering = tempering(particles, steps);
            let chance = &mut [Branches(chance)];
            let found = backward(&moves, state.clone(), &tempering, chance, &|| true);
            (-found.unwrap()[0]).exp()
        });
        let own: f64 = branches
            .into_iter()
            .map(|(probability, p)| probability * p)
            .sum();
        log_joint.exp() * own
    });
    mean.sum::<f64>() - 1.0
}

const ONE_BIT: [f64; 2] = [-1.3, -3.1];
const TWO_BITS: [f64; 4] = [-2.0, -4.5, -3.2, -1.1];

#[test]
fn the_evidence_is_unbiased() {
    let one = Table::new(&[1], &ONE_BIT);
    for sizes in [[1, 1], [3, 1], [1, 2], [1, 4], [2, 2], [2, 3]] {
        let bias = bias(&one, log_ratio, sizes);
        assert!(bias.abs() < 1e-9, "{sizes:?}: {bias}");
    }
    let two = Table::new(&[2], &TWO_BITS);
    assert!(bias(&two, log_ratio, [1, 2]).abs() < 1e-9);
    let layers = Table::new(&[1, 1], &TWO_BITS);
    for sizes in [[1, 1], [1, 2]] {
        let bias = bias(&layers, log_ratio, sizes);
        assert!(bias.abs() < 1e-9, "{sizes:?}: {bias}");
    }
}

#[test]
fn the_inverse_of_the_evidence_is_unbiased_from_exact_samples() {
    let one = Table::new(&[1], &ONE_BIT);
    for sizes in [[1, 1], [2, 1], [1, 2], [1, 4], [2, 3]] {
        let bias = bias_of_inverse(&one, log_ratio, sizes);
        assert!(bias.abs() < 1e-9, "{sizes:?}: {bias}");
    }
    let layers = Table::new(&[1, 1], &TWO_BITS);
    let bias = bias_of_inverse(&layers, log_ratio, [1, 2]);
    assert!(bias.abs() < 1e-9, "{bias}");
}

#[test]
fn the_evidence_of_several_particles_is_resampled_and_unbiased() {
    // Weights so uneven that the policy resamples: e⁻⁶ beside 1.
    let uneven = Table::new(&[1], &[-6.0, 0.0]);
    let bias = bias(&uneven, log_ratio, [3, 2]);
    assert!(bias.abs() < 1e-9, "{bias}");
}

/// The twins: acceptance that leaves out the layer's own terms, and one for p(h | x) at every step.
#[test]
fn wrong_acceptances_are_biased() {
    let without_layer: Ratio =
        |beta, [old, new]| (1.0 - beta) * (new.log_q - old.log_q) + beta * (new.log_p - old.log_p);
    let untempered: Ratio = |_, scores| log_ratio(1.0, scores);
    let one = Table::new(&[1], &ONE_BIT);
    let layers = Table::new(&[1, 1], &TWO_BITS);
    for ratio in [without_layer, untempered] {
        assert!(bias(&one, ratio, [1, 3]).abs() > 1e-3);
        assert!(bias(&layers, ratio, [1, 2]).abs() > 1e-3);
        assert!(bias_of_inverse(&one, ratio, [1, 3]).abs() > 1e-3);
    }
}

#[test]
fn a_move_touches_its_own_layer_and_some_of_its_variables() {
    struct Given(f32);
    impl Noise for Given {
        fn fill(&mut self, out: &mut [f32]) {
            out.fill(self.0);
        }
    }
    // Of 6 bits: rates 1, 1/2, 1/4, 1/8.
    let ones = |u: f32| {
        super::moves::chosen(&Bits(6), 1, &mut Given(u))
            .iter()
            .sum::<f32>()
    };
    assert_eq!([0.1, 0.3, 0.6, 0.9].map(ones), [6.0, 6.0, 0.0, 0.0]);
    assert_eq!(
        super::moves::chosen(&Bits(1), 2, &mut Given(0.9)),
        [1.0, 1.0]
    );
    let of_classes = helmholtz_distributions::Classes {
        variables: 2,
        classes: 3,
    };
    let all = super::moves::chosen(&of_classes, 1, &mut Given(0.1));
    assert_eq!(all, vec![1.0; of_classes.values()]);
}

/// Always the last particle; keeps the log-weights that it was given.
struct Last(std::cell::RefCell<Vec<Vec<f64>>>);

impl<C> Resampler<C> for Last {
    fn resample(
        &self,
        log_weights: &[f64],
        _: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        self.0.borrow_mut().push(log_weights.to_vec());
        ancestors.fill(log_weights.len() as u32 - 1);
        Ok(())
    }
}

#[test]
fn only_a_datum_whose_weights_are_uneven_is_resampled_among_its_own_particles() {
    let table = Table::new(&[1], &ONE_BIT);
    let x: Values<Flex> = tensor(vec![0.0; 2], [2, 1]).into();
    let moves = Moves::new(&table, x);
    // Row p · 2 + b is particle p of datum b: zeros, but for the last of each.
    let bits = tensor(vec![0.0, 0.0, 0.0, 0.0, 1.0, 1.0], [6, 1]);
    let mut state = moves.state(Particles::new(vec![Values::binary(bits)]));
    let ratios: Vec<f64> = state.log_ratios().collect();
    let resampler = Last(std::cell::RefCell::default());
    let mut log_weights = vec![vec![0.0, 0.1, 0.0], vec![-9.0, -9.0, 0.0]];
    let mut log_evidence = vec![0.0, 0.5];
    let uneven = log_weights[1].clone();
    super::resample(
        &mut state,
        (&mut log_weights, &mut log_evidence),
        &resampler,
        &mut [(), ()],
    );
    assert_eq!(resampler.0.into_inner(), std::slice::from_ref(&uneven));
    assert_eq!(log_weights, [[0.0, 0.1, 0.0], [0.0; 3]]);
    assert_eq!(log_evidence, [0.0, 0.5 + super::log_mean(&uneven)]);
    let after: Vec<f64> = state.log_ratios().collect();
    let expected = [0, 5, 2, 5, 4, 5].map(|row| ratios[row]);
    assert_eq!(after, expected);
    assert_ne!(ratios[1], ratios[5]);
}
