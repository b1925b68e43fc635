//! What every method of the catalogue reports beside its gradient, and what it refuses.

use helmholtz_distributions::Noise;
use helmholtz_estimators::{
    Batch as Given, Chains, Entry, Estimate, EstimateError, LatentKind, Learned, Logits, Method,
    Moments, MuProp, Nvil, Rloo, Signals, estimate,
};
use helmholtz_ops::Values;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Batch, Enumerable, Exact, Reference, State, Tape, flat_gradient, store_of};

use crate::data;

/// Two layers of different sizes.
fn network() -> Reference {
    Reference::random(4, &[3, 2], 7)
}

/// One estimate without chains.
fn estimated(
    batch: &Batch,
    entry: &Entry,
    particles: usize,
    stream: &mut Stream,
) -> Result<Estimate<Tape>, EstimateError> {
    let given = Given::<Tape, dyn ChainStore> {
        x: Values::binary(batch.x()),
        chains: None,
        particles,
        epoch: 0,
        analytic_kl: false,
    };
    let mut learned = batch.learned(&entry.method, 1);
    let mut chance = Stream::new(2, Purpose::new("chance"), [0, 0]);
    let model = batch.model();
    entry
        .method
        .estimate(model, &mut learned, given, stream, &mut chance)
}

fn noise() -> Stream {
    Stream::new(3, Purpose::new("noise"), [0, 0])
}

#[test]
fn what_a_method_learns_is_made_where_there_is_something() {
    let batch = Batch::new(&network(), &data(1));
    for entry in Method::CATALOGUE.of(LatentKind::Bits) {
        let learned = batch.learned(&entry.method, 1);
        let something = !entry.learns().is_empty();
        assert_eq!(learned.controls.is_some(), something, "{}", entry.name);
    }
}

#[test]
fn chains_are_kept_by_the_methods_that_move_them() {
    for entry in Method::CATALOGUE {
        let kept = ["jsa", "jsa-mtmis", "jsa-frozen-reference", "msc"].contains(&entry.name);
        assert_eq!(entry.method.keeps_chains(), kept, "{}", entry.name);
    }
}

#[test]
fn the_first_stage_of_a_chain_may_propose_one_particle_more() {
    for entry in Method::CATALOGUE {
        let moves = ["jsa", "jsa-mtmis", "jsa-frozen-reference"].contains(&entry.name);
        for (extra, more) in [(false, 0), (true, usize::from(moves))] {
            let evaluations = |method: Method| [false, true].map(|r| method.evaluations(3, 2, r));
            let [plain, changed] = [entry.method, entry.method.with_stage1_extra(extra)];
            let [first, second] = evaluations(plain);
            assert_eq!(
                evaluations(changed),
                [first + more, second],
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn fewer_particles_than_a_method_needs_are_refused() {
    let batch = Batch::new(&network(), &data(2));
    for entry in Method::CATALOGUE.of(LatentKind::Bits) {
        let needed = entry.least_particles();
        let enough = estimated(&batch, &entry, needed, &mut noise()).unwrap();
        let gradient = flat_gradient(&enough.loss, batch.model());
        assert!(gradient.iter().all(|g| g.is_finite()), "{}", entry.name);
        match estimated(&batch, &entry, needed - 1, &mut noise()) {
            Err(EstimateError::TooFewParticles { least, given }) => {
                assert_eq!((least, given), (needed, needed - 1), "{}", entry.name);
            }
            other => panic!("{}: {:?}", entry.name, other.map(|e| e.elbo)),
        }
    }
}

#[test]
fn fewer_particles_than_a_chain_needs_are_refused() {
    let (model, batch) = (network(), Batch::new(&network(), &data(1)));
    for (name, needed) in [
        ("jsa", 1),
        ("jsa-mtmis", 1),
        ("jsa-frozen-reference", 1),
        ("msc", 2),
    ] {
        let method: Method = name.parse().unwrap();
        assert_eq!(method.least_particles(true), needed, "{name}");
        let given = |particles: usize| {
            let mut store = store_of(&model, &[&model.states()[3]]);
            let rows = [0];
            let chains = Chains::<dyn ChainStore> {
                store: &mut store,
                rows: &rows,
            };
            let given = Given {
                x: Values::binary(batch.x()),
                chains: Some(chains),
                particles,
                epoch: 0,
                analytic_kl: false,
            };
            let mut learned = batch.learned(&method, 1);
            method.estimate(
                batch.model(),
                &mut learned,
                given,
                &mut noise(),
                &mut noise(),
            )
        };
        assert!(given(needed).is_ok(), "{name}");
        let refused = given(needed - 1);
        let few = EstimateError::TooFewParticles {
            least: needed,
            given: needed - 1,
        };
        assert_eq!(refused.unwrap_err().to_string(), few.to_string(), "{name}");
    }
}

#[test]
fn a_batch_of_no_data_is_refused() {
    let batch = Batch::new(&network(), &[]);
    for entry in Method::CATALOGUE.of(LatentKind::Bits) {
        let particles = entry.least_particles();
        let refused = estimated(&batch, &entry, particles, &mut noise());
        assert!(
            matches!(refused, Err(EstimateError::NoData)),
            "{}",
            entry.name
        );
    }
}

#[test]
fn chains_are_refused_where_none_are_kept_and_stay_as_they_are() {
    let (model, batch) = (network(), Batch::new(&network(), &data(1)));
    let store = store_of(&model, &[&model.states()[3]]);
    for entry in Method::CATALOGUE.of(LatentKind::Bits) {
        let mut after = store.clone();
        let given = Given {
            x: Values::binary(batch.x()),
            chains: Some(Chains::<dyn ChainStore> {
                store: &mut after,
                rows: &[0],
            }),
            particles: 2,
            epoch: 0,
            analytic_kl: false,
        };
        let mut learned = batch.learned(&entry.method, 1);
        let (mut noise, mut chance) = (noise(), noise());
        let method = entry.method;
        let found = method.estimate(batch.model(), &mut learned, given, &mut noise, &mut chance);
        let refused = matches!(found, Err(EstimateError::KeepsNoChains));
        assert_eq!(refused, !method.keeps_chains(), "{}", entry.name);
        assert!(!refused || after == store);
    }
    // Not only by name.
    let mut after = store.clone();
    let chains = Some(Chains {
        store: &mut after,
        rows: &[0],
    });
    let (mut noise, mut chance) = (noise(), noise());
    let found = estimate(
        &Rloo,
        batch.model(),
        batch.x(),
        chains,
        2,
        &mut noise,
        &mut chance,
    );
    assert!(matches!(found, Err(EstimateError::KeepsNoChains)));
    assert_eq!(after, store);
}

/// Whether f = log p − log q is reported at latents that are drawn from q, and not at relaxed ones.
fn draws_from_q(entry: &Entry) -> bool {
    !["gumbel-softmax", "concrete"].contains(&entry.name)
}

#[test]
fn the_elbo_that_is_reported_is_the_evidence_where_q_is_the_posterior() {
    // There f is log p(x) at every draw.
    let (model, x) = (Reference::with_exact_posterior(), data(2));
    let batch = Batch::new(&model, &x);
    let evidence = x.iter().map(|x| Exact::new(&model, x).log_evidence());
    let elbo = evidence.sum::<f64>() / x.len() as f64;
    for entry in Method::CATALOGUE.of(LatentKind::Bits).filter(draws_from_q) {
        let reported = estimated(&batch, &entry, 3, &mut noise()).unwrap().elbo;
        assert!(
            (reported - elbo).abs() < 1e-10,
            "{}: {reported}",
            entry.name
        );
    }
}

#[test]
fn the_elbo_that_is_reported_is_f_at_the_draw() {
    // Methods whose uniforms, one a bit, are compared with the probabilities of ones.
    let (model, x) = (Reference::t2(), data(1));
    let batch = Batch::new(&model, &x);
    let names = [
        "reinforce",
        "nvil",
        "muprop",
        "straight-through",
        "slope-annealed",
        "half",
    ];
    for method in names.map(|name| name.parse::<Method>().unwrap()) {
        for h in &model.states() {
            let given = Given::<Tape, dyn ChainStore> {
                x: Values::binary(batch.x()),
                chains: None,
                particles: 1,
                epoch: 0,
                analytic_kl: false,
            };
            let mut learned = batch.learned(&method, 1);
            let (mut draw, mut chance) = (batch.proposing(&[vec![h]]), noise());
            let estimated =
                method.estimate(batch.model(), &mut learned, given, &mut draw, &mut chance);
            let f = model.log_p(&x[0], h).0 - model.log_q(&x[0], h).0;
            let elbo = estimated.unwrap().elbo;
            assert!((elbo - f).abs() < 1e-10, "{method:?}: {elbo}, {f}");
        }
    }
}

#[test]
fn wake_sleep_dreams_as_reweighted_wake_sleep_does_with_one_particle() {
    let model = network();
    let batch = Batch::new(&model, &data(2));
    let [one, other] = ["ws", "rws-sleep"].map(|name| {
        let method: Method = name.parse().unwrap();
        batch.gradient(&method, &batch.learned(&method, 1), 1, &mut noise())
    });
    assert_eq!(one, other);
    // What q learns it learns from dreams.
    assert!(one[model.phi()].iter().any(|&g| g != 0.0));
}

#[test]
fn centred_reinforce_takes_the_mean_over_the_batch_from_its_signals() {
    // Of one datum with one particle that is the signal itself.
    let model = network();
    let batch = Batch::new(&model, &data(1));
    for (name, moves) in [("reinforce", true), ("reinforce-centred", false)] {
        let method: Method = name.parse().unwrap();
        let learned = batch.learned(&method, 1);
        let gradient = batch.gradient(&method, &learned, 1, &mut noise());
        let phi = &gradient[model.phi()];
        assert_eq!(phi.iter().any(|&g| g != 0.0), moves, "{name}");
    }
}

#[test]
fn the_rows_that_are_differentiated_are_counted() {
    let batch = Batch::new(&network(), &data(2));
    for entry in Method::CATALOGUE.of(LatentKind::Bits) {
        let rows = match (entry.name, entry.method) {
            // Chains differentiate the states that they visit.
            ("jsa" | "jsa-mtmis" | "jsa-frozen-reference" | "coupled-chains", _) => continue,
            ("ws", _) => 2,
            ("arms", _) => 2,
            ("disarm-bound", _) => 12,
            ("arms-bound", _) => 18,
            _ => 6,
        };
        let estimate = estimated(&batch, &entry, 3, &mut noise()).unwrap();
        assert_eq!(estimate.live_rows, rows, "{}", entry.name);
    }
    // Of one datum: where its pair met, and what was seen before that.
    let batch = Batch::new(&network(), &data(1));
    let mut coupled = Method::CATALOGUE.of(LatentKind::Bits);
    let coupled = coupled
        .find(|entry| entry.name == "coupled-chains")
        .unwrap();
    assert!(
        estimated(&batch, &coupled, 3, &mut noise())
            .unwrap()
            .live_rows
            > 0
    );
}

/// The objective of what is learned, and the gradient that the estimate ascends.
fn learning(
    batch: &Batch,
    method: &Method,
    learned: &Learned<Tape>,
    particles: usize,
    noise: &mut impl Noise,
) -> (f64, Vec<f64>) {
    let given = Given::<Tape, dyn ChainStore> {
        x: Values::binary(batch.x()),
        chains: None,
        particles,
        epoch: 0,
        analytic_kl: false,
    };
    let mut chance = Stream::new(2, Purpose::new("chance"), [0, 0]);
    let estimated = method.estimate(
        batch.model(),
        &mut learned.clone(),
        given,
        noise,
        &mut chance,
    );
    let Estimate { loss, controls, .. } = estimated.unwrap();
    // Without an objective of its own what is learned descends the loss.
    let objective = controls.unwrap_or(loss.clone()).into_data();
    let gradient = flat_gradient(&loss, batch.model());
    (
        objective.iter::<f64>().sum(),
        gradient.into_iter().map(|g| -g).collect(),
    )
}

#[test]
fn control_variates_descend_the_squared_gradient_in_the_logits() {
    // Of one path, or of a layer whose logits all paths share, that is the gradient in the biases.
    for (model, layers, biases) in [
        (Reference::t1(), 1, Vec::from_iter(12..15)),
        (Reference::t2(), 2, (8..10).chain(14..16).collect()),
    ] {
        let batch = Batch::new(&model, &data(1));
        for (name, particles) in [
            ("rebar", 1),
            ("rebar-tied", 1),
            ("relax", 1),
            ("relax-tied", 1),
            ("relax-all", 1),
            ("double-cv", 2),
            ("double-cv", 3),
            ("rodeo", 2),
            ("rodeo", 3),
        ] {
            if particles > 1 && layers > 1 {
                continue;
            }
            let method: Method = name.parse().unwrap();
            let learned = batch.learned(&method, 1);
            let noise = &mut noise();
            let (objective, gradient) = learning(&batch, &method, &learned, particles, noise);
            let places = biases.iter().copied();
            let squares: f64 = places.map(|at| gradient[at].powi(2)).sum();
            assert!(
                (objective / squares - 1.0).abs() < 1e-10,
                "{name}: {objective}, {squares}"
            );
        }
    }
}

#[test]
fn leave_one_out_control_variates_descend_the_squares_of_each_path_above_the_first_layer() {
    // Two layers of one bit. Paths with h¹ = 1 and h¹ = 0: the second layer's weight has the gradient of the first path alone, its
    // bias that of both.
    let model = Reference::random(4, &[1, 1], 6);
    let batch = Batch::new(&model, &data(1));
    let path = |h: [f64; 2]| h.map(|bit| vec![bit]).to_vec();
    for name in ["double-cv", "rodeo"] {
        let method: Method = name.parse().unwrap();
        let learned = batch.learned(&method, 1);
        for (above_one, above_zero) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
            let (one, zero) = (path([1.0, above_one]), path([0.0, above_zero]));
            let mut noise = batch.proposing(&[vec![&one, &zero]]);
            let (objective, gradient) = learning(&batch, &method, &learned, 2, &mut noise);
            let (shared, first, both) = (gradient[4], gradient[5], gradient[6]);
            let squares = shared.powi(2) + first.powi(2) + (both - first).powi(2);
            assert!(
                (objective / squares - 1.0).abs() < 1e-10,
                "{name}: {objective}, {squares}"
            );
        }
    }
}

#[test]
fn baselines_descend_the_squared_signals() {
    // Two layers of one bit: the gradient in a layer's bias is its signal times h − p.
    let model = Reference::random(4, &[1, 1], 6);
    let x = data(1);
    let batch = Batch::new(&model, &x);
    let states = model.states();
    for method in [
        Method::Signals(Signals::Nvil(Nvil { normalise: false })),
        Method::Signals(Signals::MuProp(MuProp)),
    ] {
        let learned = batch.learned(&method, 1);
        let controls = learned.controls.map(|controls| controls.with_scales(0.0));
        let learned = Learned {
            controls,
            moments: vec![
                Moments {
                    mean: -3.0,
                    variance: 4.0,
                },
                Moments {
                    mean: 2.0,
                    variance: 1.0,
                },
            ],
        };
        let objective = |states: &[&State]| {
            let mut noise = batch.proposing(&[states.to_vec()]);
            learning(&batch, &method, &learned, states.len(), &mut noise)
        };
        for h in &states {
            let (found, gradient) = objective(&[h]);
            let ones = model.recognition_thresholds(&x[0], h);
            let squares = |bias: usize, level: usize| {
                (gradient[bias] / (h[level][0] - ones[level][0])).powi(2)
            };
            let expected = squares(4, 0) + squares(6, 1);
            assert!(
                (found / expected - 1.0).abs() < 1e-10,
                "{found}, {expected}"
            );
        }
        // Their mean over rows.
        let [one, other] = [0, 1].map(|at| objective(&[&states[at]]).0);
        let (both, _) = objective(&[&states[0], &states[1]]);
        assert!((both - (one + other) / 2.0).abs() < 1e-10);
    }
}

/// Gives both halves of what is asked for the same uniforms: two paths of one datum become equal, or those of two data.
struct Twice(Stream);

impl Noise for Twice {
    fn fill(&mut self, out: &mut [f32]) {
        let (first, second) = out.split_at_mut(out.len() / 2);
        self.0.fill(first);
        second.copy_from_slice(first);
    }
}

#[test]
fn two_paths_or_data_that_are_equal_give_what_one_gives() {
    let (one_layer, two_layers) = (Reference::t1(), network());
    for entry in Method::CATALOGUE.of(LatentKind::Bits) {
        let method = entry.method;
        // Of the others the particles are no paths of their own.
        let together = ["coupled-chains", "arms-bound"].contains(&entry.name);
        let weighted = method.weighting().is_some();
        if entry.least_particles() > 1 || weighted || together {
            continue;
        }
        // Of these the uniforms of layers above lie in another order.
        let in_order = !matches!(
            method,
            Method::Logits(Logits::Ars(_)) | Method::Logits(Logits::Arsm(_))
        );
        let model = if in_order { &two_layers } else { &one_layer };
        let batch = Batch::new(model, &data(1));
        let learned = batch.learned(&method, 1);
        let one = batch.gradient(&method, &learned, 1, &mut noise());
        let two = batch.gradient(&method, &learned, 2, &mut Twice(noise()));
        assert!(relative_error(&two, &one) < 1e-10, "{}", entry.name);
        let two = Batch::new(model, &[data(1), data(1)].concat());
        let two = two.gradient(&method, &learned, 1, &mut Twice(noise()));
        assert!(relative_error(&two, &one) < 1e-10, "{}", entry.name);
        if learned.controls.is_some() {
            let (one, _) = learning(&batch, &method, &learned, 1, &mut noise());
            let (two, _) = learning(&batch, &method, &learned, 2, &mut Twice(noise()));
            assert!(
                (two / one - 1.0).abs() < 1e-10,
                "{}: {two}, {one}",
                entry.name
            );
        }
    }
}
