//! Categorical states on their way through the chain store.

use std::cell::RefCell;

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_categorical_vae::{CategoricalVae, CategoricalVaeConfig};
use helmholtz_estimators::{
    Chains, Coefficient, EstimateError, Joint, Outcome, Particles, Propose, Weighting, estimate,
    refresh,
};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Latents, MemoryStore, Values};

use crate::{built, data, one_hot, rows, small, stream, tensor};

/// Ends each chain in this particle, and keeps the log-weights it was given, datum by datum.
struct EndsIn(usize, RefCell<Vec<Vec<f64>>>);

impl Weighting for EndsIn {
    fn keeps_chains(&self) -> bool {
        true
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        assert!(retained);
        self.1.borrow_mut().push(log_w.to_vec());
        coefficients.fill(Coefficient::default());
        Outcome {
            state: self.0,
            ..Outcome::default()
        }
    }
}

struct Setting {
    config: CategoricalVaeConfig,
    model: CategoricalVae<Flex>,
    x: Vec<Vec<f64>>,
    store: MemoryStore,
}

/// The rows of the store that the data are, out of order.
const ROWS: [u32; 3] = [3, 0, 4];
const PARTICLES: usize = 2;

impl Setting {
    fn new() -> Self {
        let config = small(false);
        let model = built(&config, DType::F64);
        Self {
            x: data(ROWS.len(), &config),
            store: MemoryStore::new(&model.latents(), 6).unwrap(),
            config,
            model,
        }
    }

    fn refresh(&mut self) {
        let mut chains = Chains {
            store: &mut self.store,
            rows: &ROWS,
        };
        let x = tensor(&self.x, DType::F64);
        refresh(&self.model, x, &mut chains, &mut stream(5)).unwrap();
    }

    fn step(&mut self, method: &EndsIn) -> Result<(), EstimateError> {
        let chains = Chains {
            store: &mut self.store,
            rows: &ROWS,
        };
        let x = tensor::<Flex>(&self.x, DType::F64);
        let (mut noise, mut chance) = (stream(6), stream(7));
        let chains = Some(chains);
        estimate(
            method,
            &self.model,
            x,
            chains,
            PARTICLES,
            &mut noise,
            &mut chance,
        )
        .map(|_| ())
    }

    /// The states of the data in the store, one-hot.
    fn states(&self) -> Vec<Vec<f64>> {
        let latents = self.model.latents();
        let mut packed = vec![0; ROWS.len() * latents.bytes_per_row()];
        self.store.load(&ROWS, &mut packed).unwrap();
        let values = latents.unpack_values(&packed).unwrap();
        let [Values::Categorical(codes)] = &values[..] else {
            panic!("one layer of classes")
        };
        let state = |codes: &[u32]| codes.iter().map(|&code| code as usize).collect::<Vec<_>>();
        let states = codes.chunks(3).map(state);
        states.map(|state| one_hot(&state, &self.config)).collect()
    }

    fn proposed(&self, particles: usize, at: u64) -> Vec<Vec<f64>> {
        let encoded = self.model.encode(tensor(&self.x, DType::F64));
        let proposals = self
            .model
            .propose(&encoded, None, particles, &mut stream(at));
        rows(&proposals.particles.layers()[0].numbers())
    }
}

#[test]
fn chains_start_at_draws_and_end_where_the_kernel_says() {
    for end in 0..=PARTICLES {
        let mut setting = Setting::new();
        setting.refresh();
        let started = setting.states();
        assert_eq!(started, setting.proposed(1, 5));
        let untouched: Vec<u32> = (0..6).filter(|row| !ROWS.contains(row)).collect();
        assert!(
            untouched
                .iter()
                .all(|&row| !setting.store.is_initialised(row))
        );

        let method = EndsIn(end, RefCell::default());
        setting.step(&method).unwrap();
        let batch = ROWS.len();
        let expected = match end {
            0 => started.clone(),
            _ => setting.proposed(PARTICLES, 6)[(end - 1) * batch..end * batch].to_vec(),
        };
        assert_eq!(setting.states(), expected, "the particle {end}");

        // The state was loaded as it was stored: it has its log-weight.
        let particles = Particles::new(vec![tensor(&started, DType::F64)]);
        let x = || tensor::<Flex>(&setting.x, DType::F64);
        let log_p = setting.model.log_joint(x(), &particles);
        let log_q = setting.model.log_q(&setting.model.encode(x()), &particles);
        let log_w: Vec<f64> = (log_p - log_q).into_data().iter().collect();
        let given = method.1.borrow();
        for (given, expected) in given.iter().zip(log_w) {
            assert_eq!(given.len(), 1 + PARTICLES);
            assert!((given[0] - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn chains_of_other_latents_or_without_states_are_refused() {
    let method = EndsIn(0, RefCell::default());
    let mut setting = Setting::new();
    let error = setting.step(&method).unwrap_err();
    assert!(
        matches!(error, EstimateError::NotStarted { row: 3 }),
        "{error}"
    );
    setting.store = MemoryStore::new(&Latents::new(&[12]).unwrap(), 6).unwrap();
    let error = setting.step(&method).unwrap_err().to_string();
    assert!(
        error.contains("12 bits") && error.contains("3 of 4 classes"),
        "{error}"
    );
}
