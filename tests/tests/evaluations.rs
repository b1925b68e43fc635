//! What the catalogue declares an estimate to cost is what it costs: every row of latents whose log p(x, h) or log p(x | h) a method
//! asks the model for is counted, and held against [`Method::evaluations`].

use std::cell::Cell;
use std::marker::PhantomData;

use burn::module::Module;
use burn::tensor::{DType, Tensor, TensorData, backend};
use helmholtz_distributions::{Bits, Noise};
use helmholtz_estimators::{
    Batch, Chains, Dream, Factored, Joint, LatentKind, Layered, Learned, Logits, Method, Particles,
    Proposals, Propose, Variates, Weighted, refresh,
};
use helmholtz_ops::{Backend, Values};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{ChainStore, Latents, MemoryStore};
use helmholtz_sbn::{Initialisation, SbnConfig};
use helmholtz_tests::Tape;

thread_local! {
    /// Rows of latents whose density under p was asked for.
    static ROWS: Cell<usize> = const { Cell::new(0) };
}

fn count<B: Backend>(particles: &Particles<B>) {
    ROWS.with(|rows| rows.set(rows.get() + particles.rows()));
}

/// A model that counts what it is asked for.
#[derive(Module, Debug)]
struct Counted<B: backend::Backend, M> {
    model: M,
    backend: PhantomData<B>,
}

impl<B: Backend, M: Propose<B>> Propose<B> for Counted<B, M> {
    type Encoded = M::Encoded;

    fn latents(&self) -> Latents {
        self.model.latents()
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Self::Encoded {
        let x: Values<B> = x.into();
        self.model.encode(x)
    }

    fn propose(
        &self,
        encoded: &Self::Encoded,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        self.model.propose(encoded, retained, particles, noise)
    }

    fn log_q(&self, encoded: &Self::Encoded, particles: &Particles<B>) -> Tensor<B, 1> {
        self.model.log_q(encoded, particles)
    }
}

impl<B: Backend, M: Layered<B>> Layered<B> for Counted<B, M> {
    type Variables = M::Variables;

    fn layers(&self) -> Vec<Self::Variables> {
        self.model.layers()
    }

    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        self.model.logits_above(level, below)
    }
}

impl<B: Backend, M: Joint<B>> Joint<B> for Counted<B, M> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        count(particles);
        self.model.log_joint(x, particles)
    }
}

impl<B: Backend, M: Factored<B>> Factored<B> for Counted<B, M> {
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        count(particles);
        self.model.log_likelihood(x, particles)
    }

    fn prior_logits(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 2>> {
        let x: Values<B> = x.into();
        self.model.prior_logits(x, particles)
    }
}

impl<B: Backend, M: Dream<B>> Dream<B> for Counted<B, M> {
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        self.model.dream(x, noise)
    }
}

/// Data of a batch.
const DATA: usize = 3;

/// Evaluations that one estimate makes for each datum, on a network of so many layers.
fn counted(method: &Method, particles: usize, layers: usize, retained: bool) -> usize {
    let config = SbnConfig {
        visible: 6,
        latent: vec![4, 3][..layers].to_vec(),
        hidden: vec![],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::FanIn,
    };
    let device = Default::default();
    let model = Counted::<Tape, _> {
        model: config.init::<Tape>(1, DType::F64, &device).unwrap(),
        backend: PhantomData,
    };
    let x: Vec<f64> = (0..DATA * 6).map(|i| f64::from(i as u8 % 2)).collect();
    let x = Tensor::<Tape, 2>::from_data(TensorData::new(x, [DATA, 6]), (&device, DType::F64));
    let variables: Vec<Bits> = Layered::<Tape>::layers(&model);
    let mean = || vec![0.5; 6];
    let mut learned = Learned::init(&method.controls(), mean, &variables, 1, DType::F64, &device);
    let stream = |purpose| Stream::new(1, Purpose::new(purpose), [0, 0]);
    let rows: Vec<u32> = (0..DATA as u32).collect();
    let latents = Propose::<Tape>::latents(&model);
    let mut store = MemoryStore::new(&latents, DATA).unwrap();
    let mut chains = Chains::<dyn ChainStore> {
        store: &mut store,
        rows: &rows,
    };
    refresh(&model, x.clone(), &mut chains, &mut stream("start")).unwrap();
    let batch = Batch {
        x: x.into(),
        chains: retained.then_some(chains),
        particles,
        epoch: 0,
        analytic_kl: false,
    };
    ROWS.with(|rows| rows.set(0));
    let (mut noise, mut chance) = (stream("noise"), stream("accept"));
    method
        .estimate(&model, &mut learned, batch, &mut noise, &mut chance)
        .unwrap();
    ROWS.with(|rows| {
        assert!(rows.get().is_multiple_of(DATA));
        rows.get() / DATA
    })
}

/// What the catalogue says that it does not count: the draws at which θ learns, of the estimators that know q's gradient alone
/// (the K antithetic samples of ARMS belong to one path); and values of f that are computed again, for their derivative.
fn not_counted(method: &Method, particles: usize) -> usize {
    match method {
        Method::Logits(Logits::Arms(_)) => 1,
        Method::Logits(Logits::Arm(_) | Logits::Disarm(_))
        | Method::Logits(Logits::Rebar(_))
        | Method::Logits(Logits::Ar(_))
        | Method::Logits(Logits::Ars(_))
        | Method::Logits(Logits::Arsm(_))
        | Method::Logits(Logits::DisarmTree(_))
        | Method::Logits(Logits::DisarmIw(_)) => particles,
        Method::Variates(Variates::DoubleCv(_) | Variates::Rodeo(_)) => particles,
        Method::Logits(Logits::DisarmBound(_)) => 2 * particles,
        Method::Logits(Logits::ArmsBound(own)) => own.copies * particles,
        _ => 0,
    }
}

#[test]
fn a_method_asks_for_as_many_densities_as_it_declares() {
    let mut wrong = Vec::new();
    // Coupled chains ask until they meet.
    let coupled = |method: &Method| matches!(method, Method::Weighted(Weighted::CoupledChains(_)));
    for entry in Method::CATALOGUE
        .of(LatentKind::Bits)
        .filter(|entry| !coupled(&entry.method))
    {
        let retained: &[bool] = match entry.method.keeps_chains() {
            true => &[false, true],
            false => &[false],
        };
        for (particles, layers) in [(2, 1), (3, 1), (2, 2), (4, 2)] {
            for &retained in retained {
                let counted = counted(&entry.method, particles, layers, retained);
                let declared = entry.method.evaluations(particles, layers, retained);
                let besides = not_counted(&entry.method, particles);
                if counted != declared + besides {
                    wrong.push(format!(
                        "{}, K = {particles}, {layers} layers, retained {retained}: {counted}, not {declared} + {besides}",
                        entry.name
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The broken twin: two methods of different cost are told apart.
#[test]
fn the_count_tells_methods_apart() {
    let of = |name: &str| counted(&name.parse().unwrap(), 4, 2, false);
    assert_eq!((of("rloo"), of("ws")), (4, 1));
}
