//! Hamiltonian Monte Carlo.

use helmholtz_random::{Chance, Draws};

use super::dual_averaging::DualAveraging;
use super::dynamics::{Dynamics, Phase};
use super::turns::{LONGEST, LONGEST_WITHOUT_MASS, Turns};
use super::warm_up::{Moments, Windows};
use crate::arguments::{at_least_one, open_unit, positive};
use crate::{GradientTarget, Info, Kernel, SamplerError};

/// Moves a position in ℝⁿ along a leapfrog trajectory of L steps of size ε from a fresh momentum r ~ N(0, M). Accepts
/// its end with probability min(1, exp(H - H')), H = -ln p(x) + ½ r' M⁻¹ r.
///
/// One step costs L + 1 gradients, and is in detailed balance with p. Give coordinates of very different scale a mass
/// of 1 / variance each. A trajectory whose length ε L is a multiple of a period of the target goes round in circles,
/// which [`jittered`](Self::jittered) lengths prevent. [`warm_up`](Self::warm_up) finds step size and mass, and jitters.
/// (Duane, Kennedy, Pendleton and Roweth, 1987; Neal, 2011.)
///
/// A trajectory diverges if its energy at the end is NaN or infinite, or more than 1000 nats above that at the start.
/// At 1000 nats the acceptance probability is zero in floating point. A diverged trajectory is rejected and counted in
/// [`Info::non_finite`](crate::Info::non_finite). A start of infinite energy, of either sign, is left for the first
/// finite end.
///
/// A kernel never adapts in [`step`](Kernel::step), since one that does leaves nothing invariant: the warm-up returns a
/// kernel that stays as it is.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{Hmc, Kernel};
///
/// // N(0, 1) and N(0, 3²).
/// let target = |x: &[f64], gradient: &mut [f64]| {
///     gradient[0] -= x[0];
///     gradient[1] -= x[1] / 9.0;
///     -0.5 * (x[0] * x[0] + x[1] * x[1] / 9.0)
/// };
/// let (mut x, mut stream) = (vec![9.0, 9.0], Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let hmc = Hmc::new(target, 0.1, 10)?.warm_up(0.8, 500, &mut x, &mut stream)?;
/// let draws: Vec<f64> = (0..1000)
///     .map(|_| {
///         hmc.step(&mut x, &mut stream);
///         x[1]
///     })
///     .collect();
/// # assert!(draws.iter().any(|x| *x < -3.0) && draws.iter().any(|x| *x > 3.0));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hmc<T> {
    dynamics: Dynamics<T>,
    step_size: f64,
    leapfrog_steps: usize,
    jittered: bool,
}

/// A rise of the energy from which a trajectory has diverged (nats).
pub(crate) const DIVERGED: f64 = 1000.0;

/// How often the first guess of a step size is doubled or halved.
const DOUBLINGS: usize = 100;

impl<T: GradientTarget> Hmc<T> {
    /// The kernel with `leapfrog_steps` steps of `step_size` and the identity as mass.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `step_size` is positive and finite, and `leapfrog_steps` at least 1.
    pub fn new(target: T, step_size: f64, leapfrog_steps: usize) -> Result<Self, SamplerError> {
        Ok(Self {
            dynamics: Dynamics { target, mass: None },
            step_size: positive("the step size", step_size)?,
            leapfrog_steps: at_least_one("the number of leapfrog steps", leapfrog_steps)?,
            jittered: false,
        })
    }

    /// The kernel with the diagonal mass matrix `mass`, one entry a coordinate of the position.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless all entries are positive and finite.
    pub fn with_mass(mut self, mass: Vec<f64>) -> Result<Self, SamplerError> {
        for &m in &mass {
            positive("a mass", m)?;
        }
        self.dynamics.mass = Some(mass);
        Ok(self)
    }

    /// The kernel with a number of leapfrog steps drawn anew for each trajectory, uniform on the whole numbers from L / 2 to
    /// 3 L / 2 and so L on average.
    ///
    /// A mixture of kernels in detailed balance, and in no period of the target for ever (Mackenzie, 1989; Neal, 2011,
    /// §3.2). A step draws the length first, by one uniform.
    pub fn jittered(mut self) -> Self {
        self.jittered = true;
        self
    }

    /// The step size ε.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// The number of leapfrog steps L, on average if it is jittered.
    pub fn leapfrog_steps(&self) -> usize {
        self.leapfrog_steps
    }

    /// The diagonal of the mass matrix; `None` for the identity.
    pub fn mass(&self) -> Option<&[f64]> {
        self.dynamics.mass.as_deref()
    }

    /// Runs `steps` transitions from `position` while finding step size, number of leapfrog steps and diagonal mass, and
    /// returns the kernel with what was found, which stays, and with [`jittered`](Self::jittered) lengths.
    ///
    /// The step size is that of [`tune_step_size`](Self::tune_step_size). The mass is 1 / variance of the positions in
    /// a window of steps. The windows grow as the chain finds its way, as Stan's do, and after each the step size is
    /// found anew. A thousand steps are customary, fewer than 20 find no mass. A mass given by
    /// [`with_mass`](Self::with_mass) stays as it is.
    ///
    /// L is 0.65 T / ε rounded, from 1 to 1000. T is the 80 % quantile of the times after which trajectories turned back, at
    /// (x − x_0)ᵀ r < 0 (Hoffman and Gelman, 2014; Wu, Stoehr and Robert, 2018). Trajectories are followed for up to 1000 steps, and 250 before a mass is found.
    /// Some transitions follow their trajectory until it turns, for this alone, and move along a random part of it. The
    /// transitions are burn-in: do not average over them.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `target_acceptance` is in (0, 1), the log-density and its gradient are finite
    /// at `position`, and the step size found is positive and finite.
    ///
    /// # Panics
    /// As [`step`](Kernel::step).
    pub fn warm_up(
        self,
        target_acceptance: f64,
        steps: usize,
        position: &mut Vec<f64>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> Result<Self, SamplerError> {
        let windows = match self.dynamics.mass {
            None => Windows::new(steps),
            Some(_) => Windows::new(0),
        };
        self.jittered().adapt(
            target_acceptance,
            steps,
            windows,
            Some(Turns::default()),
            position,
            chance,
        )
    }

    /// Runs `steps` transitions from `position` while tuning the step size so that the acceptance probability is
    /// `target_acceptance` on average, and returns the kernel with the step size found, which stays.
    ///
    /// It doubles or halves the step size until one leapfrog step is accepted with probability near ½. Then it tunes
    /// the step size by dual averaging (Nesterov, 2009; Hoffman and Gelman, 2014, §3.2 and Algorithm 4). The number of
    /// leapfrog steps stays, so the length of the trajectory grows with the step size. The best acceptance is 0.65 in
    /// many dimensions (Beskos et al., 2013); 0.8 is the more careful choice. The second half of the steps corrects
    /// what dual averaging leaves: it tries step sizes so far apart that their mean has a higher acceptance than they
    /// have on average. The transitions are burn-in: do not average over them.
    ///
    /// # Errors
    /// As [`warm_up`](Self::warm_up).
    ///
    /// # Panics
    /// As [`step`](Kernel::step).
    pub fn tune_step_size(
        self,
        target_acceptance: f64,
        steps: usize,
        position: &mut Vec<f64>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> Result<Self, SamplerError> {
        let windows = Windows::new(0);
        self.adapt(target_acceptance, steps, windows, None, position, chance)
    }

    fn adapt(
        mut self,
        target_acceptance: f64,
        steps: usize,
        windows: Windows,
        mut turns: Option<Turns>,
        position: &mut Vec<f64>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> Result<Self, SamplerError> {
        let target_acceptance = open_unit("the target acceptance", target_acceptance)?;
        self.step_size = self.first_step(position, chance)?;
        let until = |t: usize| windows.next_end(t).unwrap_or(steps) - t;
        let mut averaging = DualAveraging::new(self.step_size, target_acceptance, until(0));
        let mut moments = Moments::new(position.len());
        for t in 0..steps {
            self.step_size = averaging.trial();
            self.take_length(&turns);
            let trajectory = match &mut turns {
                Some(turns) if turns.wants(t) => self.trajectory_and_turn(position, chance, turns),
                _ => self.trajectory(position, chance),
            };
            averaging.update(trajectory.acceptance());
            trajectory.finish(position, chance);
            if windows.collects(t) {
                moments.push(position);
            }
            if windows.ends_at(t) {
                self = self.with_mass(moments.mass())?;
                moments = Moments::new(position.len());
                self.step_size = self.first_step(position, chance)?;
                averaging = DualAveraging::new(self.step_size, target_acceptance, until(t + 1));
                turns = turns.map(|_| Turns::default());
            }
        }
        self.step_size = positive("the step size found by the warm-up", averaging.average())?;
        self.take_length(&turns);
        Ok(self)
    }

    /// Sets L to what the turns so far say.
    fn take_length(&mut self, turns: &Option<Turns>) {
        let found = (turns.as_ref()).and_then(|turns| turns.mean_steps(self.step_size));
        self.leapfrog_steps = found.unwrap_or(self.leapfrog_steps);
    }

    fn first_step(
        &self,
        position: &[f64],
        chance: &mut (impl Draws + ?Sized),
    ) -> Result<f64, SamplerError> {
        let start = self.dynamics.phase(position.to_vec(), Vec::new());
        for found in start.gradient.into_iter().chain([start.log_density]) {
            if !found.is_finite() {
                return Err(SamplerError::Parameter {
                    what: "the log-density or its gradient at the start of the warm-up",
                    found,
                    allowed: "finite",
                });
            }
        }
        let momentum = self.dynamics.momentum(position.len(), chance);
        let accepts = |step_size: f64| {
            let mut phase = self.dynamics.phase(position.to_vec(), momentum.clone());
            let before = self.dynamics.energy(&phase);
            self.dynamics.leapfrog(&mut phase, step_size, 1);
            before - self.dynamics.energy(&phase) > 0.5f64.ln()
        };
        first_step(self.step_size, accepts)
    }

    fn trajectory(&self, position: &[f64], chance: &mut (impl Draws + ?Sized)) -> Trajectory {
        let (mut phase, steps) = self.start(position, chance);
        let before = self.dynamics.energy(&phase);
        self.dynamics.leapfrog(&mut phase, self.step_size, steps);
        Trajectory::new(before, self.dynamics.energy(&phase), phase.position)
    }

    /// The same trajectory, followed until it turns, though its end may come before.
    fn trajectory_and_turn(
        &self,
        position: &[f64],
        chance: &mut (impl Draws + ?Sized),
        turns: &mut Turns,
    ) -> Trajectory {
        let (mut phase, steps) = self.start(position, chance);
        let longest = match self.dynamics.mass {
            Some(_) => LONGEST,
            None => LONGEST_WITHOUT_MASS,
        };
        let before = self.dynamics.energy(&phase);
        let mut turned = None;
        let mut advance = |phase: &mut Phase, step: usize| {
            self.dynamics.leapfrog(phase, self.step_size, 1);
            if turned.is_none() && phase.turns_back_to(position) {
                turned = Some(step);
            }
            turned.is_some() || !phase.log_density.is_finite()
        };
        let over = (1..=steps).fold(false, |_, step| advance(&mut phase, step));
        let after = self.dynamics.energy(&phase);
        let trajectory = Trajectory::new(before, after, phase.position.clone());
        if !over {
            (steps + 1..=longest).any(|step| advance(&mut phase, step));
        }
        if !trajectory.diverged {
            turns.push(self.step_size * turned.unwrap_or(longest) as f64);
        }
        trajectory
    }

    /// A point at `position` with a fresh momentum, and a number of steps to go.
    fn start(&self, position: &[f64], chance: &mut (impl Draws + ?Sized)) -> (Phase, usize) {
        let steps = match self.jittered {
            true => jittered_steps(self.leapfrog_steps, chance),
            false => self.leapfrog_steps,
        };
        let momentum = self.dynamics.momentum(position.len(), chance);
        (self.dynamics.phase(position.to_vec(), momentum), steps)
    }
}

/// A trajectory before the coin is tossed.
struct Trajectory {
    end: Vec<f64>,
    /// H' - H; none from a start of infinite energy.
    rise: Option<f64>,
    diverged: bool,
}

impl Trajectory {
    /// From the energies at both ends.
    fn new(before: f64, after: f64, end: Vec<f64>) -> Self {
        Self {
            end,
            rise: before.is_finite().then_some(after - before),
            diverged: !after.is_finite() || (before.is_finite() && after - before > DIVERGED),
        }
    }

    /// The probability with which the end is accepted.
    fn acceptance(&self) -> f64 {
        if self.diverged {
            0.0
        } else {
            self.rise.map_or(1.0, |rise| (-rise).exp().min(1.0))
        }
    }

    /// Accepts or rejects.
    fn finish(self, position: &mut Vec<f64>, chance: &mut (impl Chance + ?Sized)) -> Info {
        let accepted = !self.diverged && self.rise.is_none_or(|rise| chance.accept(-rise));
        if accepted {
            *position = self.end;
        }
        let non_finite = u64::from(self.diverged) + u64::from(self.rise.is_none());
        Info::of_move(accepted, non_finite)
    }
}

impl<T: GradientTarget, C: Chance + Draws + ?Sized> Kernel<Vec<f64>, C> for Hmc<T> {
    type Info = Info;

    /// # Panics
    /// If a mass was given and the position has another number of coordinates.
    fn step(&self, position: &mut Vec<f64>, chance: &mut C) -> Info {
        self.trajectory(position, chance).finish(position, chance)
    }
}

/// A number of leapfrog steps, uniform on the whole numbers from `mean` / 2 to 3 `mean` / 2.
pub(crate) fn jittered_steps(mean: usize, chance: &mut (impl Draws + ?Sized)) -> usize {
    let half = mean / 2;
    let choices = 2 * half + 1;
    // A product may round up to the bound.
    mean - half + ((chance.uniform() * choices as f64) as usize).min(choices - 1)
}

/// A step size at which one leapfrog step crosses acceptance ½, from a guess that is doubled or halved (Hoffman and Gelman, 2014,
/// Algorithm 4).
pub(crate) fn first_step(
    mut step_size: f64,
    accepts: impl Fn(f64) -> bool,
) -> Result<f64, SamplerError> {
    let grow = accepts(step_size);
    for _ in 0..DOUBLINGS {
        step_size *= if grow { 2.0 } else { 0.5 };
        if accepts(step_size) != grow {
            break;
        }
    }
    positive("the first step size of the warm-up", step_size)
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    fn stream() -> Stream {
        Stream::new(1, Purpose::new("test"), [0, 0])
    }

    fn normal(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g -= x);
        -0.5 * x.iter().map(|x| x * x).sum::<f64>()
    }

    #[test]
    fn what_cannot_work_is_refused() {
        for bad in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(Hmc::new(normal, bad, 1).is_err());
            assert!(
                Hmc::new(normal, 0.1, 1)
                    .unwrap()
                    .with_mass(vec![1.0, bad])
                    .is_err()
            );
        }
        assert!(Hmc::new(normal, 0.1, 0).is_err());
        let warmed = |target, from: f64| {
            let hmc = Hmc::new(normal, 0.1, 1).unwrap();
            hmc.warm_up(target, 1, &mut vec![from], &mut stream())
        };
        assert!(warmed(0.8, 0.0).is_ok());
        for bad in [0.0, 1.0, f64::NAN] {
            assert!(warmed(bad, 0.0).is_err());
        }
        let error = warmed(0.8, f64::NAN).err().expect("refused").to_string();
        assert!(error.contains("start of the warm-up"), "{error}");
    }

    #[test]
    fn divergences_are_rejected_and_counted() {
        // Far outside the stability limit of 2 the energy explodes, or overflows.
        for step_size in [40.0, 1e200] {
            let hmc = Hmc::new(normal, step_size, 20).unwrap();
            let mut x = vec![1.0];
            let info = hmc.step(&mut x, &mut stream());
            assert_eq!((info.moves, info.accepted, info.non_finite), (1, 0, 1));
            assert_eq!(x, [1.0]);
        }
        // Half a line: whatever ends beyond 0 is impossible.
        let half = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] -= 1.0;
            if x[0] > 0.0 { -x[0] } else { f64::NEG_INFINITY }
        };
        let hmc = Hmc::new(half, 0.7, 3).unwrap();
        let (mut x, mut stream) = (vec![1.0], stream());
        let info: Info = (0..200)
            .map(|_| {
                let info = hmc.step(&mut x, &mut stream);
                assert!(x[0] > 0.0);
                info
            })
            .sum();
        assert!(info.accepted > 20 && info.non_finite > 20, "{info:?}");
        assert!(info.accepted + info.non_finite <= info.moves);
    }

    #[test]
    fn a_start_of_infinite_energy_is_left_at_once() {
        for beyond in [f64::NEG_INFINITY, f64::INFINITY, f64::NAN] {
            let bounded = |x: &[f64], gradient: &mut [f64]| {
                gradient[0] -= x[0];
                if x[0] < 5.0 {
                    -0.5 * x[0] * x[0]
                } else {
                    beyond
                }
            };
            let hmc = Hmc::new(bounded, 0.3, 10).unwrap();
            let mut x = vec![6.0];
            let info = hmc.step(&mut x, &mut stream());
            assert_eq!((info.accepted, info.non_finite), (1, 1), "{beyond}");
            assert!(x[0] < 5.0);
        }
    }

    #[test]
    fn jittered_lengths_are_from_a_half_to_three_halves_of_the_mean() {
        struct Uniform(f64);
        impl Draws for Uniform {
            fn uniform(&mut self) -> f64 {
                self.0
            }
            fn normal(&mut self) -> f64 {
                unreachable!()
            }
            fn gamma(&mut self, _: f64) -> f64 {
                unreachable!()
            }
            fn beta(&mut self, _: f64, _: f64) -> f64 {
                unreachable!()
            }
        }
        for (mean, expected) in [(1, 1..=1), (2, 1..=3), (3, 2..=4), (7, 4..=10), (8, 4..=12)] {
            let choices = expected.clone().count();
            let lengths: Vec<usize> = (0..choices)
                .map(|i| jittered_steps(mean, &mut Uniform((i as f64 + 0.5) / choices as f64)))
                .collect();
            assert_eq!(lengths, expected.clone().collect::<Vec<_>>());
            let largest = 1.0 - f64::EPSILON / 2.0;
            assert_eq!(jittered_steps(mean, &mut Uniform(largest)), *expected.end());
        }
    }

    #[test]
    fn a_mass_is_a_change_of_scale() {
        // With mass 4 a coordinate of scale 1/2 moves as one of scale 1 does with mass 1.
        let narrow = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] -= 4.0 * x[0];
            -2.0 * x[0] * x[0]
        };
        let (mut x, mut y) = (vec![0.5], vec![1.0]);
        let scaled = Hmc::new(narrow, 0.3, 7)
            .unwrap()
            .with_mass(vec![4.0])
            .unwrap();
        let plain = Hmc::new(normal, 0.3, 7).unwrap();
        let (mut a, mut b) = (stream(), stream());
        for _ in 0..20 {
            scaled.step(&mut x, &mut a);
            plain.step(&mut y, &mut b);
            assert!((2.0 * x[0] - y[0]).abs() < 1e-12);
        }
    }
}
