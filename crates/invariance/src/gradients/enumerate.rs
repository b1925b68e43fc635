//! All that can be known of one datum by summing over all latents.

use std::ops::Range;

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{Joint, Layered, Particles, Parts};
use helmholtz_samplers::{ChainStore, Latents, Layer, MemoryStore, Values};

use super::subject::{Facts, Subject, Tape, flat_gradient};

/// The most states that are listed.
const STATES: usize = 1 << 12;

impl<M> Subject<M>
where
    M: Layered<Tape> + Joint<Tape> + Parts<Tape>,
{
    /// A model of bits and classes in f64 with one datum x. All that is known of it is summed over all latents h with
    /// the model's densities: ∇ Σ_h q(h | x) (log p(x, h) − log q(h | x)), and so on.
    ///
    /// # Panics
    /// If there are more than 4096 states, real latents, or parameters of p among those of q in visiting order.
    pub fn enumerated(model: M, x: &[f64]) -> Self {
        let latents = model.latents();
        let codes = codes(&latents);
        let layers = latents.kinds().iter().enumerate().map(|(level, layer)| {
            let all = codes.iter().flat_map(|state| state[level].iter().copied());
            match layer {
                Layer::Bernoulli(_) => Values::Bernoulli(all.map(|bit| bit == 1).collect()),
                _ => Values::Categorical(all.collect()),
            }
        });
        let layers: Vec<Values> = layers.collect();
        Self::summed_over(model, x, &layers)
    }

    /// The same of a model of one layer of binomial counts, of so many trials each.
    ///
    /// # Panics
    /// As [`enumerated`](Self::enumerated).
    pub fn of_binomial(model: M, x: &[f64], trials: u32) -> Self {
        let as_classes = Layer::Categorical {
            variables: model.latents().kinds()[0].variables(),
            classes: trials + 1,
        };
        let as_classes = Latents::mixed(&[as_classes]).expect("a layer");
        let counts = codes(&as_classes).into_iter().flatten().flatten();
        let counts = Values::F32(counts.map(|count| count as f32).collect());
        Self::summed_over(model, x, &[counts])
    }

    /// All that is known, summed over these latents: of each layer the values of every state, one after another.
    fn summed_over(model: M, x: &[f64], layers: &[Values]) -> Self {
        let latents = model.latents();
        let packed = latents.pack_values(layers).expect("whole states");
        let count = packed.len() / latents.bytes_per_row();
        let device = Default::default();
        let particles = latents.kinds().iter().zip(layers).map(|(layer, values)| {
            let rows = numbers(layer, values);
            let shape = [count, rows.len() / count];
            Tensor::<Tape, 2>::from_data(TensorData::new(rows, shape), (&device, DType::F64))
        });
        let particles = Particles::new(particles.collect::<Vec<_>>());
        let datum = TensorData::new(x.to_vec(), [1, x.len()]);
        let datum = Tensor::<Tape, 2>::from_data(datum, (&device, DType::F64));
        // Each gradient has a tape of its own: a backward pass takes its tape apart.
        let densities = || {
            let log_p = model.log_joint(datum.clone(), &particles);
            let log_q = model.log_q(&model.encode(datum.clone()), &particles);
            (log_p, log_q)
        };
        let q_and_f = || {
            let (log_p, log_q) = densities();
            (log_q.clone().exp(), log_p - log_q)
        };
        let gradient = |value: Tensor<Tape, 1>| flat_gradient(&value, &model);
        let elbo = || {
            let (q, f) = q_and_f();
            (q * f).sum()
        };
        let of_two = || {
            let (q, f) = q_and_f();
            bound_of_two(q, f)
        };
        let posterior = posterior(&densities().0);
        let inclusive = || {
            let (log_p, log_q) = densities();
            let weights = TensorData::new(posterior.clone(), [count]);
            let weights = Tensor::<Tape, 1>::from_data(weights, (&device, DType::F64));
            (weights * (log_p + log_q)).sum()
        };
        let facts = Facts {
            elbo: gradient(elbo()),
            bound_of_two: gradient(of_two()),
            inclusive: gradient(inclusive()),
            states: store(&latents, count, &packed),
            posterior: posterior.clone(),
            phi: together(&model),
        };
        Self::new(model, x, facts)
    }
}

/// The codes of each variable of each layer, of each state.
fn codes(latents: &Latents) -> Vec<Vec<Vec<u32>>> {
    let mut states: Vec<Vec<Vec<u32>>> = vec![vec![]];
    for layer in latents.kinds() {
        let classes = match *layer {
            Layer::Bernoulli(_) => 2,
            Layer::Categorical { classes, .. } => classes,
            _ => panic!("{layer} cannot be enumerated"),
        };
        let mut rows: Vec<Vec<u32>> = vec![vec![]];
        for _ in 0..layer.variables() {
            let longer = |row: &Vec<u32>| (0..classes).map(|c| [&row[..], &[c]].concat()).collect();
            rows = rows.iter().flat_map::<Vec<_>, _>(longer).collect();
            assert!(rows.len() * states.len() <= STATES, "too many states");
        }
        let with = |state: &Vec<Vec<u32>>| {
            let row = |row: &Vec<u32>| [&state[..], std::slice::from_ref(row)].concat();
            rows.iter().map(row).collect()
        };
        states = states.iter().flat_map::<Vec<_>, _>(with).collect();
    }
    states
}

/// The values of a layer as tensors hold them: numbers, or one-hot classes.
fn numbers(layer: &Layer, values: &Values) -> Vec<f64> {
    match (layer, values) {
        (Layer::Categorical { classes, .. }, Values::Categorical(codes)) => {
            let one_hot = |&code: &u32| (0..*classes).map(move |c| f64::from(u8::from(c == code)));
            codes.iter().flat_map(one_hot).collect()
        }
        (_, Values::Bernoulli(bits)) => bits.iter().map(|&bit| f64::from(u8::from(bit))).collect(),
        (_, Values::F32(reals)) => reals.iter().copied().map(f64::from).collect(),
        (layer, _) => panic!("{layer} cannot be enumerated"),
    }
}

/// A store with each state in a row.
fn store(latents: &Latents, count: usize, packed: &[u8]) -> MemoryStore {
    let mut store = MemoryStore::new(latents, count).expect("few rows");
    let rows: Vec<u32> = (0..count as u32).collect();
    store.store(&rows, packed).expect("rows of the store");
    store
}

/// p(h | x) of each state.
fn posterior(log_p: &Tensor<Tape, 1>) -> Vec<f64> {
    let log_p: Vec<f64> = log_p.to_data().iter::<f64>().collect();
    let max = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_p.iter().map(|l| (l - max).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

/// Σ_{ij} q_i q_j ln ½ (e^{f_i} + e^{f_j}).
fn bound_of_two(q: Tensor<Tape, 1>, f: Tensor<Tape, 1>) -> Tensor<Tape, 1> {
    let count = q.dims()[0];
    let max = f.clone().detach().max();
    let weights = (f - max.clone()).exp();
    let pairs = weights.clone().reshape([count, 1]) + weights.reshape([1, count]);
    let bound = (pairs * 0.5).log() + max.reshape([1, 1]);
    (q.clone().reshape([count, 1]) * q.reshape([1, count]) * bound).sum()
}

/// Where the parameters of q stand among all.
fn together<M: Parts<Tape>>(model: &M) -> Range<usize> {
    struct Places(Vec<(ParamId, Range<usize>)>);
    impl ModuleVisitor<Tape> for Places {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Tape, D>>) {
            let start = self.0.last().map_or(0, |(_, place)| place.end);
            let end = start + param.val().shape().num_elements();
            self.0.push((param.id, start..end));
        }
    }
    let mut places = Places(vec![]);
    Module::visit(model, &mut places);
    let inference = model.inference();
    let own = places.0.iter().filter(|(id, _)| inference.contains(id));
    let own: Vec<_> = own.map(|(_, place)| place.clone()).collect();
    let together = own.windows(2).all(|pair| pair[0].end == pair[1].start);
    assert!(together, "parameters of q stand together");
    match (own.first(), own.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f64]) -> Tensor<Tape, 1> {
        let data = TensorData::new(values.to_vec(), [values.len()]);
        Tensor::from_data(data, (&Default::default(), DType::F64))
    }

    #[test]
    fn densities_whose_exponentials_underflow_have_a_posterior() {
        let posterior = posterior(&tensor(&[-2000.0, -2000.0 - 3f64.ln()]));
        assert!((posterior[0] - 0.75).abs() < 1e-12 && (posterior[1] - 0.25).abs() < 1e-12);
    }

    #[test]
    fn the_bound_of_two_samples_is_its_sum_over_pairs() {
        let (q, f): ([f64; 2], [f64; 2]) = ([0.3, 0.7], [-2000.0, -2000.0 + 3f64.ln()]);
        // ln ½ (e^{f_i} + e^{f_j}) + 2000: of weights 1 and 3.
        let exact = 0.09 * 0f64 + 2.0 * 0.21 * 2f64.ln() + 0.49 * 3f64.ln();
        let bound = bound_of_two(tensor(&q), tensor(&f)).into_data();
        let bound = bound.iter::<f64>().next().expect("a number");
        assert!((bound + 2000.0 - exact).abs() < 1e-9, "{bound}");
    }
}
