//! An estimator that is added at run time, and given a model whose type is not known to it, gives the bits of itself.

use burn::tensor::DType;
use helmholtz_conditional_sbn::FeedforwardConfig;
use helmholtz_distributions::{Bits, Counts, Mixed};
use helmholtz_estimators::{
    Adding, Batch, Declaration, Domain, Estimate, EstimateError, Kind, Method, Model, Reinforce,
};
use helmholtz_invariance::gradients::Subject;
use helmholtz_ops::Values;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_tests::certify::{DATUM, of_counts, subject_of};
use helmholtz_tests::{Categories, Enumerable, Reference, Tape, flat_gradient};

/// A method, as one of another crate.
fn added<V: Kind>(method: Method) -> Method {
    Adding::<_, V>::new(method).on::<Tape>().method()
}

/// One estimate of three data, with chains where the method keeps them.
fn estimate<M: Model<Tape>>(
    method: &Method,
    subject: &Subject<M>,
) -> Result<Estimate<Tape>, EstimateError> {
    let mut stream = Stream::new(5, Purpose::new("noise"), [0, 0]);
    let mut learned = subject.learned(method);
    subject.with_chains(
        method.keeps_chains(),
        &mut stream,
        |chains, noise, chance| {
            let batch = Batch::<Tape, dyn ChainStore> {
                x: Values::from(subject.x.clone()),
                chains,
                particles: 3,
                epoch: 2,
                analytic_kl: false,
            };
            method.estimate(&subject.model, &mut learned, batch, noise, chance)
        },
    )
}

/// Its gradient and its reports.
fn bits<M: Model<Tape>>(method: &Method, subject: &Subject<M>) -> (Vec<f64>, f64, usize, bool) {
    let estimate = estimate(method, subject).unwrap();
    let gradient = flat_gradient(&estimate.loss, &subject.model);
    let learns = estimate.controls.is_some();
    (gradient, estimate.elbo, estimate.live_rows, learns)
}

fn agree<R>(reference: &R, of_bits: bool)
where
    R: Enumerable<Production<Tape>: Model<Tape>>,
{
    let subject = subject_of(reference).fewer();
    for entry in Method::CATALOGUE {
        let (own, domain) = match entry.method.domain() {
            Domain::All | Domain::Discrete => (added::<Mixed>(entry.method), Domain::Discrete),
            Domain::Bits if of_bits => (added::<Bits>(entry.method), Domain::Bits),
            Domain::Bits | Domain::Counts => continue,
        };
        assert_eq!(own.domain(), domain);
        assert_eq!(own.description(), entry.method.description());
        let [ours, theirs] = [&own, &entry.method].map(|method| bits(method, &subject));
        assert_eq!(ours, theirs, "{}", entry.name);
    }
}

#[test]
fn every_method_added_gives_its_own_bits_on_layers_of_bits() {
    agree(&Reference::random(DATUM.len(), &[2, 2], 4), true);
}

#[test]
fn every_method_added_gives_its_own_bits_on_classes() {
    agree(&Categories::t3(), false);
}

#[test]
fn every_method_of_counts_added_gives_its_own_bits_on_counts() {
    let subject = of_counts().fewer();
    for entry in Method::CATALOGUE {
        let counts = || Adding::<_, Counts>::new(entry.method).on::<Tape>();
        let (own, domain) = match entry.method.domain() {
            Domain::All => {
                let all = Adding::<_, Mixed>::new(entry.method).on::<Tape>();
                (all.on_counts::<Tape>().method(), Domain::All)
            }
            Domain::Counts => (counts().method(), Domain::Counts),
            Domain::Discrete | Domain::Bits => continue,
        };
        assert_eq!(own.domain(), domain);
        let [ours, theirs] = [&own, &entry.method].map(|method| bits(method, &subject));
        assert_eq!(ours, theirs, "{}", entry.name);
    }
    // Chains cannot hold counts, whatever it was added for.
    let jsa: Method = "jsa".parse().unwrap();
    let jsa = Adding::<_, Mixed>::new(jsa)
        .on::<Tape>()
        .on_counts::<Tape>();
    assert_eq!(jsa.method().domain(), Domain::Discrete);
}

/// A network whose layers have a slope of their own, which an estimator sets.
#[test]
fn an_added_method_sets_the_slope_of_a_model() {
    let config = FeedforwardConfig {
        context: 2,
        target: 2,
        latent: vec![2],
        hidden: vec![2],
        slope: 1.0,
        signed: false,
    };
    let model = config.init::<Tape>(1, DType::F64, &Default::default());
    let subject = Subject::enumerated(model.unwrap(), &[1.0, 0.0, 1.0, 1.0]).fewer();
    let annealed: Method = "slope-annealed".parse().unwrap();
    let [ours, theirs] = [&added::<Bits>(annealed), &annealed].map(|own| bits(own, &subject));
    assert_eq!(ours, theirs);
    // The twin: straight-through alone, without a slope.
    let plain: Method = "straight-through".parse().unwrap();
    assert_ne!(bits(&plain, &subject).0, theirs.0);
}

#[test]
fn the_forms_of_an_added_method_are_those_of_itself() {
    for name in ["rws-wake-sleep", "jsa"] {
        let method: Method = name.parse().unwrap();
        let own = added::<Mixed>(method);
        assert_eq!(own.sleeps(), method.sleeps());
        assert!(!own.awake().sleeps());
        for extra in [false, true] {
            let evaluations =
                |method: Method| method.with_stage1_extra(extra).evaluations(3, 1, false);
            assert_eq!(evaluations(own), evaluations(method), "{name}");
        }
    }
}

#[test]
fn two_added_methods_are_equal_if_they_describe_themselves_alike() {
    let [rloo, again, vimco] =
        ["rloo", "rloo", "vimco"].map(|name| added::<Mixed>(name.parse().unwrap()));
    assert!(rloo == again && rloo != vimco);
    let shown = format!("{rloo:?}");
    assert!(shown.contains("\"rloo\""), "{shown}");
}

#[test]
fn bits_alone_and_other_backends_are_refused() {
    let subject = subject_of(&Categories::t3()).fewer();
    let disarm = added::<Bits>("disarm".parse().unwrap());
    let refused = estimate(&disarm, &subject).err();
    assert!(matches!(refused, Some(EstimateError::NotDefined { .. })));
    let discrete = added::<Mixed>("rloo".parse().unwrap());
    let refused = estimate(&discrete, &of_counts().fewer()).err();
    assert!(matches!(refused, Some(EstimateError::NotDefined { .. })));
    let nowhere = Adding::<_, Mixed>::new(Reinforce { centred: false }).method();
    let refused = estimate(&nowhere, &subject).err().unwrap().to_string();
    assert!(refused.contains("`reinforce`"), "{refused}");
    assert_eq!(subject.x.dtype(), DType::F64);
}
