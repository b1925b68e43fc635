//! Networks with a categorical variable on top: every state of a small one, and the named ones.

use burn::module::Module;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_estimators::{
    Chains, Dream, Joint, Jsa, Layered, Particles, Propose, estimate, refresh,
};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{ChainStore, Latents, Layer, MemoryStore, Values};
use helmholtz_sbn::{ConfigError, Initialisation, MixedSbn, MixedSbnConfig, SbnConfig};

use crate::parameters;

const VISIBLE: usize = 3;
const BITS: usize = 2;
const CLASSES: usize = 3;
/// States of the latents, and data.
const STATES: usize = (1 << BITS) * CLASSES;
const DATA: usize = 1 << VISIBLE;

fn small(signed: bool, learned_prior: bool) -> MixedSbn<Flex> {
    let config = MixedSbnConfig {
        bits: SbnConfig {
            visible: VISIBLE,
            latent: vec![BITS],
            hidden: vec![],
            slope: 0.01,
            learned_prior,
            signed,
            tanh: false,
            centred: false,
            initialisation: Initialisation::FanIn,
        },
        classes: CLASSES,
    };
    config.init(3, DType::F64, &Default::default()).unwrap()
}

fn tensor(rows: &[Vec<f64>]) -> Tensor<Flex, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, (&Default::default(), DType::F64))
}

fn bits(number: usize, count: usize) -> Vec<f64> {
    let bit = |d: usize| f64::from(u8::from(number >> d & 1 == 1));
    (0..count).map(bit).collect()
}

fn one_hot(class: usize) -> Vec<f64> {
    (0..CLASSES)
        .map(|c| f64::from(u8::from(c == class)))
        .collect()
}

/// Every state of the latents for every datum: row `state · DATA + datum`.
fn everything() -> (Tensor<Flex, 2>, Particles<Flex>) {
    let data: Vec<_> = (0..DATA).map(|x| bits(x, VISIBLE)).collect();
    let rows = || (0..STATES).flat_map(|state| std::iter::repeat_n(state, DATA));
    let below: Vec<_> = rows().map(|state| bits(state / CLASSES, BITS)).collect();
    let top: Vec<_> = rows().map(|state| one_hot(state % CLASSES)).collect();
    (
        tensor(&data),
        Particles::new(vec![tensor(&below), tensor(&top)]),
    )
}

fn numbers(tensor: Tensor<Flex, 1>) -> Vec<f64> {
    tensor.into_data().to_vec().unwrap()
}

#[test]
fn both_densities_sum_to_one_over_all_states() {
    for (signed, learned) in [(false, true), (true, true), (false, false)] {
        let model = small(signed, learned);
        let (x, h) = everything();
        let q = numbers(model.log_q(&model.encode(x.clone()), &h));
        for datum in 0..DATA {
            let total: f64 = (0..STATES).map(|s| q[s * DATA + datum].exp()).sum();
            assert!((total - 1.0).abs() < 1e-13, "{total}");
        }
        let p: f64 = numbers(model.log_joint(x, &h))
            .iter()
            .map(|l| l.exp())
            .sum();
        assert!((p - 1.0).abs() < 1e-13, "{p}");
    }
}

#[test]
fn values_enter_as_plus_and_minus_one_where_they_are_to() {
    // Two networks of the same parameters, which see 2v − 1 and v: as different as their inputs.
    let (x, h) = everything();
    let log_q = |signed| {
        let model = small(signed, true);
        numbers(model.log_q(&model.encode(x.clone()), &h))
    };
    let (plain, signed) = (log_q(false), log_q(true));
    // All ones are all ones either way; all else is not.
    let same = |state: usize, datum: usize| {
        (plain[state * DATA + datum] - signed[state * DATA + datum]).abs() < 1e-14
    };
    // q(h² | h¹) sees the bits (1, 1) but q(h¹ | x) sees x: for x of ones and bits of ones all is the same.
    let ones = (STATES / CLASSES - 1) * CLASSES;
    assert!((0..CLASSES).all(|class| same(ones + class, DATA - 1)));
    assert!(!same(0, 0));
}

#[test]
fn proposals_are_scored_as_they_are_evaluated_and_dreams_have_the_law_of_the_prior() {
    let model = small(false, true);
    let (x, _) = everything();
    let encoded = model.encode(x.clone());
    let mut noise = Stream::new(1, Purpose::new("test"), [0, 0]);
    let proposals = model.propose(&encoded, None, 50, &mut noise);
    let layers = proposals.particles.layers();
    assert_eq!(layers[1].dims(), [50 * DATA, CLASSES]);
    let again = numbers(model.log_q(&encoded, &proposals.particles));
    for (score, again) in numbers(proposals.log_q).into_iter().zip(again) {
        assert!((score - again).abs() < 1e-14);
    }
    // The top variable of a dream is uniform, since its prior has learned nothing yet: of 30 000 draws each class has 10 000, sd
    // 82; 5.5 sd miss with probability 1.2e-7 in three classes.
    let rows = tensor(&vec![vec![0.0; VISIBLE]; 30_000]);
    let (dreamt, causes) = model.dream(rows, &mut noise);
    assert_eq!(dreamt.dims(), [30_000, VISIBLE]);
    let counts = numbers(causes.layers()[1].numbers().sum_dim(0).reshape([CLASSES]));
    assert!(
        counts.iter().all(|n| (n - 10_000.0).abs() < 450.0),
        "{counts:?}"
    );
}

fn chains<'a>(store: &'a mut MemoryStore, rows: &'a [u32]) -> Chains<'a, MemoryStore> {
    Chains { store, rows }
}

#[test]
fn a_chain_over_bits_and_classes_has_the_posterior_as_its_law() {
    const CHAINS: usize = 20_000;
    const STEPS: u64 = 10;
    const PARTICLES: usize = 5;
    let model = small(false, true);
    let (x, h) = everything();
    let datum = 5;
    let of = |l: Vec<f64>| -> Vec<f64> { (0..STATES).map(|s| l[s * DATA + datum]).collect() };
    let log_p = of(numbers(model.log_joint(x.clone(), &h)));
    let log_q = of(numbers(model.log_q(&model.encode(x), &h)));
    let evidence: f64 = log_p.iter().map(|l| l.exp()).sum();
    let posterior: Vec<f64> = log_p.iter().map(|l| l.exp() / evidence).collect();
    // Metropolis independence sampling started at q is within (1 − 1/w*)^moves of its law.
    let ratio = |state: usize| posterior[state] / log_q[state].exp();
    let largest = (0..STATES).map(ratio).fold(0.0, f64::max);
    let bias = (1.0 - 1.0 / largest).powi((STEPS as usize * PARTICLES) as i32);
    assert!(bias < 1e-6, "{bias}");

    let rows: Vec<u32> = (0..CHAINS as u32).collect();
    let data = tensor(&vec![bits(datum, VISIBLE); CHAINS]);
    let mut store = MemoryStore::new(&model.latents(), CHAINS).unwrap();
    let stream = |purpose, step| Stream::new(1, Purpose::new(purpose), [0, step]);
    let mut started = chains(&mut store, &rows);
    refresh(&model, data.clone(), &mut started, &mut stream("start", 0)).unwrap();
    for step in 0..STEPS {
        estimate(
            &Jsa::MIS,
            &model,
            data.clone(),
            Some(chains(&mut store, &rows)),
            PARTICLES,
            &mut stream("noise", step),
            &mut stream("accept", step),
        )
        .unwrap();
    }
    let latents = model.latents();
    let mut packed = vec![0; CHAINS * latents.bytes_per_row()];
    store.load(&rows, &mut packed).unwrap();
    let values = latents.unpack_values(&packed).unwrap();
    let [Values::Bernoulli(below), Values::Categorical(top)] = &values[..] else {
        panic!("bits and a class")
    };
    let mut counts = [0.0; STATES];
    for (bits, class) in below.chunks(BITS).zip(top) {
        let number = usize::from(bits[0]) + 2 * usize::from(bits[1]);
        counts[number * CLASSES + *class as usize] += 1.0;
    }
    // χ² with 11 degrees of freedom exceeds 49.9 with probability 1e-6.
    let chi_squared: f64 = (0..STATES)
        .map(|state| {
            let expected = CHAINS as f64 * posterior[state];
            (counts[state] - expected).powi(2) / expected
        })
        .sum();
    assert!(chi_squared < 49.9, "{chi_squared}");
}

#[test]
fn the_machines_are_the_posters_with_the_start_of_the_rws_code() {
    let top = Layer::Categorical {
        variables: 1,
        classes: 10,
    };
    for (name, layers) in [
        ("sbn-200-10c", 1),
        ("sbn-200-200-10c", 2),
        ("sbn-200-200-200-10c", 3),
    ] {
        let config = MixedSbnConfig::named(name).unwrap();
        let model = config
            .init::<Flex>(1, DType::F32, &Default::default())
            .unwrap();
        let kinds = [vec![Layer::Bernoulli(200); layers], vec![top]].concat();
        assert_eq!(model.latents(), Latents::mixed(&kinds).unwrap(), "{name}");
        assert_eq!(Layered::<Flex>::layers(&model).len(), layers + 1);
        let up = 784 * 200 + 200 + (layers - 1) * (200 * 200 + 200) + 200 * 9 + 9;
        let down = 200 * 784 + 784 + (layers - 1) * (200 * 200 + 200) + 10 * 200 + 200;
        assert_eq!(model.num_params(), up + down + 9, "{name}");
    }
    for (name, layers) in [("sbn-200", 1), ("sbn-200-200", 2), ("sbn-200-200-200", 3)] {
        let config = SbnConfig::named(name).unwrap();
        assert_eq!(config.latent, vec![200; layers]);
        assert!(config.learned_prior && config.hidden.is_empty());
    }
}

#[test]
fn weights_are_xaviers_over_the_fan_in_and_the_rest_is_minus_one_but_for_classes() {
    let config = MixedSbnConfig::named("sbn-200-10c").unwrap();
    let model = config
        .init::<Flex>(1, DType::F64, &Default::default())
        .unwrap();
    let found = parameters(&model);
    // q: 784 → 200, 200 → 9; p: 200 → 784, 10 → 200; the prior of the classes.
    let constants = [(1, -1.0), (3, 0.0), (5, -1.0), (7, -1.0), (8, 0.0)];
    for (at, constant) in constants {
        assert!(found[at].values.iter().all(|v| *v == constant), "{at}");
    }
    for (at, inputs, outputs) in [(0, 784, 200), (2, 200, 9), (4, 200, 784), (6, 10, 200)] {
        assert_eq!(found[at].shape, [inputs, outputs]);
        let limit = (6.0 / (inputs + outputs) as f64).sqrt() / inputs as f64;
        let largest = found[at]
            .values
            .iter()
            .fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(
            largest <= limit && largest > 0.99 * limit,
            "{at}: {largest}"
        );
    }
    // A learned prior of bits starts where their biases do.
    let bits = SbnConfig::named("sbn-200").unwrap();
    let bits = bits.init::<Flex>(1, DType::F64, &Default::default());
    let found = parameters(&bits.unwrap());
    assert!(found.last().unwrap().values.iter().all(|v| *v == -1.0));
}

#[test]
fn what_describes_no_network_is_an_error() {
    let config = MixedSbnConfig {
        classes: 1,
        ..MixedSbnConfig::named("sbn-200-10c").unwrap()
    };
    let refused = config.init::<Flex>(1, DType::F32, &Default::default());
    assert_eq!(
        refused.map(|_| ()).unwrap_err(),
        ConfigError::Classes { classes: 1 }
    );
    let two = MixedSbnConfig {
        classes: 2,
        ..config
    };
    assert_eq!(two.check(), Ok(()));
    for name in ["sbn-200", "linear-10c", "sbn-200-200-200-200-10c"] {
        let error = MixedSbnConfig::named(name).unwrap_err().to_string();
        assert!(
            error.contains(name) && error.contains("sbn-200-200-10c"),
            "{error}"
        );
    }
}
