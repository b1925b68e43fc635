//! Hamiltonian Monte Carlo.

use helmholtz_random::{Chance, Draws};

use super::dual_averaging::DualAveraging;
use super::dynamics::Dynamics;
use crate::{GradientTarget, Info, Kernel, SamplerError};

/// Moves a position in ℝⁿ along a leapfrog trajectory of L steps of size ε from a fresh momentum r ~ N(0, M), and
/// accepts its end with probability min(1, exp(H - H')), H = -ln p(x) + ½ r' M⁻¹ r.
///
/// One step costs L + 1 gradients, and is in detailed balance with p. Give coordinates of very different scale a mass
/// of 1 / variance each. A trajectory whose length ε L is a multiple of a period of the target goes round in circles:
/// if in doubt, mix kernels of different L in a [`Mixture`](crate::Mixture). (Duane, Kennedy, Pendleton and Roweth,
/// 1987; Neal, 2011.)
///
/// A trajectory diverges if its energy at the end is NaN or infinite, or more than 1000 nats above that at the start,
/// where the acceptance probability is zero in floating point; it is rejected and counted in
/// [`Info::non_finite`](crate::Info::non_finite). A start of infinite energy, of either sign, is left for the first
/// finite end.
///
/// The step size is tuned by [`warm_up`](Self::warm_up), and by nothing else: a kernel never adapts in
/// [`step`](Kernel::step), since one that does leaves nothing invariant.
///
/// ```
/// use helmholtz_random::{Purpose, Stream};
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
            leapfrog_steps: at_least_one_step(leapfrog_steps)?,
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

    /// The step size ε.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// Runs `steps` transitions from `position` while tuning the step size so that the acceptance probability is
    /// `target_acceptance` on average, and returns the kernel with the step size found, which stays.
    ///
    /// It doubles or halves the step size until one leapfrog step is accepted with probability near ½, then tunes it
    /// by dual averaging (Nesterov, 2009; Hoffman and Gelman, 2014, §3.2 and Algorithm 4). The number of leapfrog steps
    /// stays, so the length of the trajectory grows with the step size. The best acceptance is 0.65 in many dimensions
    /// (Beskos et al., 2013); 0.8 is the more careful choice. What is reached is a little more: up to a tenth after a few
    /// hundred steps and a few hundredths after a few thousand, since the step sizes tried are averaged by their
    /// logarithm, and too large ones cost more acceptance than too small ones gain. The transitions are burn-in: do not
    /// average over them.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `target_acceptance` is in (0, 1), the log-density and its gradient are finite
    /// at `position`, and the step size found is positive and finite.
    ///
    /// # Panics
    /// As [`step`](Kernel::step).
    pub fn warm_up(
        mut self,
        target_acceptance: f64,
        steps: usize,
        position: &mut Vec<f64>,
        chance: &mut (impl Chance + Draws + ?Sized),
    ) -> Result<Self, SamplerError> {
        let target_acceptance = open_unit("the target acceptance", target_acceptance)?;
        self.step_size = self.first_step(position, chance)?;
        let mut averaging = DualAveraging::new(self.step_size, target_acceptance);
        for _ in 0..steps {
            self.step_size = averaging.trial();
            let trajectory = self.trajectory(position, chance);
            averaging.update(trajectory.acceptance());
            trajectory.finish(position, chance);
        }
        self.step_size = positive("the step size found by the warm-up", averaging.average())?;
        Ok(self)
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
        let momentum = self.dynamics.momentum(position.len(), chance);
        let mut phase = self.dynamics.phase(position.to_vec(), momentum);
        let before = self.dynamics.energy(&phase);
        self.dynamics
            .leapfrog(&mut phase, self.step_size, self.leapfrog_steps);
        let after = self.dynamics.energy(&phase);
        Trajectory {
            end: phase.position,
            rise: before.is_finite().then_some(after - before),
            diverged: !after.is_finite() || (before.is_finite() && after - before > DIVERGED),
        }
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

pub(crate) fn at_least_one_step(leapfrog_steps: usize) -> Result<usize, SamplerError> {
    match leapfrog_steps {
        0 => Err(SamplerError::Parameter {
            what: "the number of leapfrog steps",
            found: 0.0,
            allowed: "at least 1",
        }),
        steps => Ok(steps),
    }
}

pub(crate) fn open_unit(what: &'static str, found: f64) -> Result<f64, SamplerError> {
    if found > 0.0 && found < 1.0 {
        Ok(found)
    } else {
        Err(SamplerError::Parameter {
            what,
            found,
            allowed: "between 0 and 1",
        })
    }
}

pub(crate) fn positive(what: &'static str, found: f64) -> Result<f64, SamplerError> {
    if found > 0.0 && found.is_finite() {
        Ok(found)
    } else {
        Err(SamplerError::Parameter {
            what,
            found,
            allowed: "positive and finite",
        })
    }
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
