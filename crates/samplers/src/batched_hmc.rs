//! Hamiltonian Monte Carlo of many chains at once.

use std::marker::PhantomData;

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};
use helmholtz_random::{Chance, Draws};

use crate::arguments::{at_least_one, open_unit, positive};
use crate::kernels::state::dual_averaging::DualAveraging;
use crate::kernels::state::hmc::{DIVERGED, first_step, jittered_steps};
use crate::kernels::state::warm_up::{Moments, Windows};
use crate::{Info, SamplerError};

/// [`Hmc`](crate::Hmc) of C chains at once, with one mass for all: one gradient by burn moves them all, and each is accepted or
/// refused on its own (feature `burn`).
///
/// Chains are the rows of a tensor `[C, n]`; `log_density` maps it to `[C]`, ln p of each row up to a constant (nats), and no row may
/// depend on another. All chains may have the same target or, as where each instance of a batch has its own, different ones.
///
/// With f32 tensors the energies are rounded to about 6e-8 of their size, which the acceptance cannot see below; keep f64 where ln
/// p is beyond 1e6 nats.
///
/// ```ignore
/// // A thousand chains on the normal distribution in n dimensions.
/// let hmc = BatchedHmc::new(|x: Tensor<B, 2>| x.square().sum_dim(1).squeeze_dim(1).mul_scalar(-0.5), 0.3, 10)?;
/// let (x, info) = hmc.step(x, &mut stream);
/// ```
#[derive(Clone, Debug)]
pub struct BatchedHmc<B, F> {
    log_density: F,
    step_size: f64,
    leapfrog_steps: usize,
    jittered: bool,
    /// The diagonal of the mass matrix; none for ones.
    mass: Option<Vec<f64>>,
    backend: PhantomData<B>,
}

/// Points of phase space, a row a chain, and what the dynamics need to know there.
#[derive(Clone, Debug)]
struct Phase<I: Backend> {
    position: Tensor<I, 2>,
    momentum: Tensor<I, 2>,
    log_density: Tensor<I, 1>,
    gradient: Tensor<I, 2>,
    /// 1 / m_i, `[1, n]`; none for ones.
    inverse_mass: Option<Tensor<I, 2>>,
}

impl<I: Backend> Phase<I> {
    /// r_i / m_i of momenta r.
    fn velocity(&self, momentum: Tensor<I, 2>) -> Tensor<I, 2> {
        match &self.inverse_mass {
            Some(inverse_mass) => momentum * inverse_mass.clone(),
            None => momentum,
        }
    }

    /// H = ½ Σ r_i² / m_i − ln p of each chain, nats.
    fn energies(&self) -> Vec<f64> {
        let squares = self.velocity(self.momentum.clone().square());
        let kinetic: Tensor<I, 1> = squares.sum_dim(1).squeeze_dim(1);
        let kinetic: Vec<f64> = kinetic.into_data().iter().collect();
        let densities = self.log_density.to_data();
        let densities = densities.iter::<f64>();
        let pairs = kinetic.into_iter().zip(densities);
        pairs.map(|(twice, log_p)| 0.5 * twice - log_p).collect()
    }
}

impl<B, F> BatchedHmc<B, F>
where
    B: AutodiffBackend,
    F: Fn(Tensor<B, 2>) -> Tensor<B, 1>,
{
    /// The kernel with `leapfrog` steps of `step_size`.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `step_size` is positive and finite, and `leapfrog` at least 1.
    pub fn new(log_density: F, step_size: f64, leapfrog: usize) -> Result<Self, SamplerError> {
        Ok(Self {
            log_density,
            step_size: positive("the step size", step_size)?,
            leapfrog_steps: at_least_one("the number of leapfrog steps", leapfrog)?,
            jittered: false,
            mass: None,
            backend: PhantomData,
        })
    }

    /// The kernel with the diagonal mass matrix `mass`, one entry a coordinate, the same for all chains.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless all entries are positive and finite.
    pub fn with_mass(mut self, mass: Vec<f64>) -> Result<Self, SamplerError> {
        for &m in &mass {
            positive("a mass", m)?;
        }
        self.mass = Some(mass);
        Ok(self)
    }

    /// The kernel with a number of leapfrog steps drawn anew for each step, the same for all chains: see
    /// [`Hmc::jittered`](crate::Hmc::jittered).
    pub fn jittered(mut self) -> Self {
        self.jittered = true;
        self
    }

    /// The diagonal of the mass matrix; `None` for the identity.
    pub fn mass(&self) -> Option<&[f64]> {
        self.mass.as_deref()
    }

    /// The step size ε.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// Moves all chains `[C, n]`. The draws are the length if it is jittered, the momenta, row by row, then a coin for each
    /// chain.
    ///
    /// # Panics
    /// If `log_density` doesn't give a number a chain, or a mass was given for another number of coordinates.
    pub fn step(
        &self,
        position: Tensor<B::InnerBackend, 2>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> (Tensor<B::InnerBackend, 2>, Info) {
        let trajectories = self.trajectories(position, self.step_size, chance);
        trajectories.finish(chance)
    }

    /// Runs `steps` transitions from `position` while finding step size and diagonal mass, and returns the kernel with what was
    /// found, which stays, with jittered lengths, and where the chains are. How it is found: [`Hmc::warm_up`](crate::Hmc::warm_up);
    /// the variances are those of all chains, about one mean. Chains of different targets share the mass.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `target_acceptance` is in (0, 1), the log-density and its gradient are finite at every
    /// chain's start, and the step size found is positive and finite.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn warm_up(
        self,
        target_acceptance: f64,
        steps: usize,
        position: Tensor<B::InnerBackend, 2>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> Result<(Self, Tensor<B::InnerBackend, 2>), SamplerError> {
        let windows = match self.mass {
            None => Windows::new(steps),
            Some(_) => Windows::new(0),
        };
        self.jittered()
            .adapt(target_acceptance, steps, windows, position, chance)
    }

    /// Runs `steps` transitions from `position` while tuning the step size so that the acceptance probability is
    /// `target_acceptance`, a mean over chains and transitions. Returns the kernel with the step size found, which
    /// stays, and the positions of the chains. How it is found, and how near:
    /// [`Hmc::tune_step_size`](crate::Hmc::tune_step_size).
    ///
    /// # Errors
    /// As [`warm_up`](Self::warm_up).
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn tune_step_size(
        self,
        target_acceptance: f64,
        steps: usize,
        position: Tensor<B::InnerBackend, 2>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> Result<(Self, Tensor<B::InnerBackend, 2>), SamplerError> {
        self.adapt(target_acceptance, steps, Windows::new(0), position, chance)
    }

    fn adapt(
        mut self,
        target_acceptance: f64,
        steps: usize,
        windows: Windows,
        mut position: Tensor<B::InnerBackend, 2>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> Result<(Self, Tensor<B::InnerBackend, 2>), SamplerError> {
        let target_acceptance = open_unit("the target acceptance", target_acceptance)?;
        let coordinates = position.dims()[1];
        self.step_size = self.first_step(&position, chance)?;
        let until = |t: usize| windows.next_end(t).unwrap_or(steps) - t;
        let mut averaging = DualAveraging::new(self.step_size, target_acceptance, until(0));
        let mut moments = Moments::new(coordinates);
        for t in 0..steps {
            let trajectories = self.trajectories(position, averaging.trial(), chance);
            averaging.update(trajectories.acceptance());
            position = trajectories.finish(chance).0;
            if windows.collects(t) {
                let rows: Vec<f64> = position.to_data().iter().collect();
                rows.chunks(coordinates.max(1))
                    .for_each(|row| moments.push(row));
            }
            if windows.ends_at(t) {
                self = self.with_mass(moments.mass())?;
                moments = Moments::new(coordinates);
                self.step_size = self.first_step(&position, chance)?;
                averaging = DualAveraging::new(self.step_size, target_acceptance, until(t + 1));
            }
        }
        self.step_size = positive("the step size found by the warm-up", averaging.average())?;
        Ok((self, position))
    }

    fn first_step(
        &self,
        position: &Tensor<B::InnerBackend, 2>,
        chance: &mut (impl Draws + ?Sized),
    ) -> Result<f64, SamplerError> {
        let momentum = self.momentum(position, chance);
        let start = self.phase(position.clone(), momentum);
        let of_start = [start.log_density.to_data(), start.gradient.to_data()];
        let mut of_start = of_start.iter().flat_map(|data| data.iter::<f64>());
        if let Some(found) = of_start.find(|value| !value.is_finite()) {
            return Err(SamplerError::Parameter {
                what: "the log-density or its gradient at the start of the warm-up",
                found,
                allowed: "finite",
            });
        }
        first_step(self.step_size, |step_size| {
            let (before, mut phase) = (start.energies(), start.clone());
            self.leapfrog(&mut phase, step_size, 1);
            Trajectories::new(before, start.position.clone(), phase).acceptance() > 0.5
        })
    }

    fn momentum(
        &self,
        like: &Tensor<B::InnerBackend, 2>,
        draws: &mut (impl Draws + ?Sized),
    ) -> Tensor<B::InnerBackend, 2> {
        let [chains, n] = like.dims();
        if let Some(mass) = &self.mass {
            assert_eq!(mass.len(), n, "a mass per coordinate is needed");
        }
        let scale = |i: usize| self.mass.as_ref().map_or(1.0, |mass| mass[i % n].sqrt());
        let normals: Vec<f64> = (0..chains * n).map(|i| scale(i) * draws.normal()).collect();
        Tensor::from_data(
            TensorData::new(normals, [chains, n]),
            (&like.device(), like.dtype()),
        )
    }

    /// The chains there, with the target evaluated.
    fn phase(
        &self,
        position: Tensor<B::InnerBackend, 2>,
        momentum: Tensor<B::InnerBackend, 2>,
    ) -> Phase<B::InnerBackend> {
        let (log_density, gradient) = self.evaluate(&position);
        let inverse_mass = self.mass.as_ref().map(|mass| {
            let inverse: Vec<f64> = mass.iter().map(|m| 1.0 / m).collect();
            Tensor::from_data(
                TensorData::new(inverse, [1, mass.len()]),
                (&position.device(), position.dtype()),
            )
        });
        Phase {
            inverse_mass,
            position,
            momentum,
            log_density,
            gradient,
        }
    }

    fn evaluate(
        &self,
        position: &Tensor<B::InnerBackend, 2>,
    ) -> (Tensor<B::InnerBackend, 1>, Tensor<B::InnerBackend, 2>) {
        let x = Tensor::<B, 2>::from_inner(position.clone()).require_grad();
        let value = (self.log_density)(x.clone());
        assert_eq!(value.dims(), [position.dims()[0]], "a number a chain");
        let log_density = value.clone().inner();
        let gradient = x.grad(&value.sum().backward());
        // Where nothing depends on x the gradient is zero.
        (
            log_density,
            gradient.unwrap_or_else(|| position.zeros_like()),
        )
    }

    /// Half a step of the momenta, a step of the positions, half a step of the momenta, `steps` times.
    fn leapfrog(&self, phase: &mut Phase<B::InnerBackend>, step_size: f64, steps: usize) {
        for _ in 0..steps {
            let half = phase.gradient.clone().mul_scalar(0.5 * step_size);
            let middle = phase.momentum.clone() + half;
            let velocity = phase.velocity(middle.clone());
            phase.position = phase.position.clone() + velocity.mul_scalar(step_size);
            (phase.log_density, phase.gradient) = self.evaluate(&phase.position);
            phase.momentum = middle + phase.gradient.clone().mul_scalar(0.5 * step_size);
        }
    }

    fn trajectories(
        &self,
        position: Tensor<B::InnerBackend, 2>,
        step_size: f64,
        draws: &mut (impl Draws + ?Sized),
    ) -> Trajectories<B::InnerBackend> {
        let steps = match self.jittered {
            true => jittered_steps(self.leapfrog_steps, draws),
            false => self.leapfrog_steps,
        };
        let momentum = self.momentum(&position, draws);
        let mut phase = self.phase(position.clone(), momentum);
        let before = phase.energies();
        self.leapfrog(&mut phase, step_size, steps);
        Trajectories::new(before, position, phase)
    }
}

/// Trajectories before the coins are tossed.
struct Trajectories<I: Backend> {
    start: Tensor<I, 2>,
    end: Tensor<I, 2>,
    /// min(0, H − H') of each chain; −∞ where it diverged, 0 from a start of infinite energy.
    log_acceptance: Vec<f64>,
    non_finite: u64,
}

impl<I: Backend> Trajectories<I> {
    fn new(before: Vec<f64>, start: Tensor<I, 2>, end: Phase<I>) -> Self {
        let mut non_finite = 0;
        let pairs = before.into_iter().zip(end.energies());
        let log_acceptance = pairs.map(|(before, after)| {
            let diverged = !after.is_finite() || (before.is_finite() && after - before > DIVERGED);
            non_finite += u64::from(diverged) + u64::from(!before.is_finite());
            match (diverged, before.is_finite()) {
                (true, _) => f64::NEG_INFINITY,
                (false, false) => 0.0,
                (false, true) => (before - after).min(0.0),
            }
        });
        Self {
            log_acceptance: log_acceptance.collect(),
            non_finite,
            start,
            end: end.position,
        }
    }

    /// The mean over chains of the probability with which the end is accepted.
    fn acceptance(&self) -> f64 {
        let probabilities = self.log_acceptance.iter().map(|log| log.exp());
        probabilities.sum::<f64>() / self.log_acceptance.len() as f64
    }

    /// Accepts or refuses, chain by chain.
    fn finish(self, chance: &mut (impl Chance + ?Sized)) -> (Tensor<I, 2>, Info) {
        let coins = self.log_acceptance.iter().map(|&log| chance.accept(log));
        let accepted: Vec<bool> = coins.collect();
        let info = Info {
            moves: accepted.len() as u64,
            accepted: accepted.iter().filter(|accepted| **accepted).count() as u64,
            non_finite: self.non_finite,
            ..Info::default()
        };
        let chains = accepted.len();
        let accepted = Tensor::<I, 2, burn::tensor::Bool>::from_data(
            TensorData::new(accepted, [chains, 1]),
            &self.start.device(),
        );
        let accepted = accepted.expand(self.start.dims());
        (self.start.mask_where(accepted, self.end), info)
    }
}
