//! The gradient of log p(x) without bias, by two coupled chains (Ruiz, Titsias, Cemgil & Doucet 2021).

use std::collections::BTreeMap;

use burn::module::AutodiffModule;
use burn::tensor::{Int, Tensor, TensorData};
use helmholtz_distributions::Noise;
use helmholtz_ops::{AutodiffBackend, Backend, Values, cat};
use helmholtz_random::Chance;
use helmholtz_samplers::coupling::CoupledIndexKernel;
use helmholtz_samplers::{ChainStore, Cis, IndexKernel, Info};

use crate::host::numbers;
use crate::objective::at_least;
use crate::{
    Batch, Declaration, Description, Estimate, EstimateError, Estimator, Joint, Learned, Particles,
    Propose, Target,
};

/// For each datum two chains X and Y whose kernel is conditional importance sampling with K proposals from q, and whose target is
/// p(h | x). Both start from q, X moves once alone, and then both move together: on the same proposals, their choices coupled as
/// closely as can be, until X_τ = Y_{τ−1}. The estimate is
///
/// g(X_1) + Σ_{1<t<τ} \[g(X_t) − g(Y_{t−1})\],  g(h) = ∇ log p(x, h) + ∇ log q(h | x)
///
/// (Ruiz, Titsias, Cemgil & Doucet 2021, after Jacob, O'Leary & Atchadé 2020). Unbiased at every K ≥ 1 for ∇_θ log p(x) and for
/// −∇_φ KL(p(h | x) ‖ q(h | x)): the targets of [`Jsa`](crate::Jsa), without a chain that is kept and without its
/// stationarity.
///
/// 2 + K τ values of f a datum, τ ≥ 2 the largest meeting time of the batch: all data are offered proposals until the last pair
/// has met. Pairs meet the sooner the larger K is and the nearer q is to p(h | x).
///
/// # Errors
/// [`EstimateError::NotMet`] if a pair has not met after 10,000 steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoupledChains;

/// Steps after which an estimate gives up. To leave out the pairs that have not met would bias it.
const MOST: usize = 10_000;

impl Declaration for CoupledChains {
    fn description(&self) -> Description {
        Description {
            name: "coupled-chains",
            label: "Coupled chains",
            idea: "two coupled chains a datum, from q until they meet",
            target: Target::Likelihood,
        }
    }

    /// Those of a batch whose pairs all meet as early as they can, at τ = 2.
    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        2 * particles + 2
    }

    fn evaluations_of_classes(&self) -> Option<&'static str> {
        Some("K τ + 2, τ ≥ 2 the meeting time")
    }
}

impl<B, M> Estimator<B, M> for CoupledChains
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Propose<B> + Joint<B>,
    M::InnerModule: Propose<B::InnerBackend> + Joint<B::InnerBackend>,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        _learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        let Batch { x, particles, .. } = batch;
        at_least(1, particles, &x)?;
        let inner = model.valid();
        let mut drawn = Drawn::new(&inner, x.clone().inner());
        let pairs = meet(particles, &mut drawn, noise, chance)?;
        let elbo = drawn.first_elbo(particles + 2);
        let (chosen, coefficients) = drawn.chosen(&pairs);

        let chosen: Vec<_> = chosen.into_iter().map(Values::from_inner).collect();
        let chosen = Particles::new(chosen);
        let densities =
            model.log_joint(x.clone(), &chosen) + model.log_q(&model.encode(x.clone()), &chosen);
        let share = -1.0 / drawn.batch as f64;
        let scaled: Vec<f64> = coefficients.iter().map(|c| c * share).collect();
        let scaled = TensorData::new(scaled, [coefficients.len()]);
        let scaled = Tensor::<B, 1>::from_data(scaled, (&x.device(), x.dtype()));
        Ok(Estimate {
            loss: (densities * scaled).sum(),
            elbo,
            live_rows: coefficients.iter().filter(|c| **c != 0.0).count(),
            info: pairs.iter().map(|pair| pair.info).sum(),
            controls: None,
        })
    }
}

/// One datum's pair of chains, whose states are numbers of particles.
#[derive(Clone, Debug, Default)]
struct Pair {
    ahead: usize,
    behind: usize,
    met: bool,
    /// How often g of a particle counts.
    coefficients: BTreeMap<usize, i64>,
    info: Info,
}

impl Pair {
    fn count(&mut self, particle: usize, times: i64) {
        *self.coefficients.entry(particle).or_default() += times;
    }
}

/// Moves the pairs of all data until the last has met.
fn meet<B: Backend, M: Propose<B> + Joint<B>>(
    particles: usize,
    drawn: &mut Drawn<'_, B, M>,
    noise: &mut impl Noise,
    chance: &mut impl Chance,
) -> Result<Vec<Pair>, EstimateError> {
    let kernel = Cis;
    drawn.propose(2, noise);
    let start = Pair {
        ahead: 0,
        behind: 1,
        ..Pair::default()
    };
    let mut pairs = vec![start; drawn.batch];
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for step in 1..=MOST {
        let from = drawn.propose(particles, noise);
        let moved = |visits: &[u32], at: usize| match visits.last() {
            Some(&chosen) if chosen > 0 => from + chosen as usize - 1,
            _ => at,
        };
        for (datum, pair) in pairs.iter_mut().enumerate().filter(|(_, pair)| !pair.met) {
            let log_w = |particle: usize| drawn.log_w[particle * drawn.batch + datum];
            let proposals: Vec<f64> = (from..from + particles).map(log_w).collect();
            if step == 1 {
                let log_w = log_w(pair.ahead);
                pair.info += kernel.run(log_w, &proposals, chance, &mut first);
                pair.ahead = moved(&first, pair.ahead);
                pair.count(pair.ahead, 1);
                continue;
            }
            let current = [log_w(pair.ahead), log_w(pair.behind)];
            let visits = [&mut first, &mut second];
            let [info, _] = kernel.run_both(current, &proposals, chance, visits);
            pair.info += info;
            pair.ahead = moved(&first, pair.ahead);
            pair.behind = moved(&second, pair.behind);
            pair.met = pair.ahead == pair.behind;
            if !pair.met {
                pair.count(pair.ahead, 1);
                pair.count(pair.behind, -1);
            }
        }
        if pairs.iter().all(|pair| pair.met) {
            return Ok(pairs);
        }
    }
    Err(EstimateError::NotMet { steps: MOST })
}

/// All particles that were proposed for a batch, off the tape.
struct Drawn<'a, B: Backend, M: Propose<B>> {
    model: &'a M,
    x: Values<B>,
    encoded: M::Encoded,
    batch: usize,
    /// A layer's values of each proposing.
    layers: Vec<Vec<Tensor<B, 2>>>,
    /// ℓ `[particles, batch]`.
    log_w: Vec<f64>,
}

impl<'a, B: Backend, M: Propose<B> + Joint<B>> Drawn<'a, B, M> {
    fn new(model: &'a M, x: Values<B>) -> Self {
        Self {
            encoded: model.encode(x.clone()),
            batch: x.dims()[0],
            model,
            x,
            layers: Vec::new(),
            log_w: Vec::new(),
        }
    }

    /// Proposes so many particles a datum; the number of the first.
    fn propose(&mut self, count: usize, noise: &mut impl Noise) -> usize {
        let first = self.log_w.len() / self.batch;
        let proposed = self.model.propose(&self.encoded, None, count, noise);
        let log_p = self.model.log_joint(self.x.clone(), &proposed.particles);
        let log_w = (log_p - proposed.log_q).into_data();
        self.log_w.extend(numbers::<f64>(&log_w));
        let layers = proposed.particles.layers();
        self.layers.resize(layers.len(), Vec::new());
        for (all, layer) in self.layers.iter_mut().zip(layers) {
            all.push(layer.numbers());
        }
        first
    }

    /// The mean of ℓ over the first particles, which are proposed whatever the chains do.
    fn first_elbo(&self, particles: usize) -> f64 {
        let first = &self.log_w[..particles * self.batch];
        first.iter().sum::<f64>() / first.len() as f64
    }

    /// The particles that count, as many for each datum `[slots · batch, values]`, and how often; those that fill up count 0 times.
    fn chosen(&self, pairs: &[Pair]) -> (Vec<Values<B>>, Vec<f64>) {
        let counted = pairs.iter().map(|pair| {
            let of = pair.coefficients.iter().filter(|(_, times)| **times != 0);
            of.map(|(&particle, &times)| (particle, times as f64))
                .collect::<Vec<_>>()
        });
        let counted: Vec<_> = counted.collect();
        let slots = counted.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let (mut rows, mut coefficients) = (Vec::new(), Vec::new());
        for slot in 0..slots {
            for (datum, own) in counted.iter().enumerate() {
                let (particle, times) = own.get(slot).copied().unwrap_or((0, 0.0));
                rows.push((particle * self.batch + datum) as i64);
                coefficients.push(times);
            }
        }
        let count = rows.len();
        let rows = TensorData::new(rows, [count]);
        let rows = Tensor::<B, 1, Int>::from_data(rows, &self.x.device());
        let layers = self.layers.iter().map(|all| {
            let all = cat(all.clone(), 0);
            Values::binary(all.select(0, rows.clone()))
        });
        (layers.collect(), coefficients)
    }
}
