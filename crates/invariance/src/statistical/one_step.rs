//! One step from an exact draw.

use helmholtz_random::Stream;
use helmholtz_samplers::Kernel;

use crate::InvarianceError;
use crate::statistical::{Report, Share, energy, ks};

/// Whether a kernel keeps its target: x ~ π exactly, the kernel is applied, and the law of the result is compared with
/// fresh draws from π.
///
/// It is the definition of invariance, π P = π, as a two-sample test. It needs exact draws from π, which are available
/// for the targets one would test on. These are normals, mixtures, anything small enough to enumerate, and the
/// posterior of a model whose data are simulated from its own parameters (see [`Geweke`](crate::Geweke)).
///
/// Both samples are of independent draws, so the rates are exact at every sample size:
/// * [`marginals`](Self::marginals): the exact two-sample Kolmogorov-Smirnov test of every coordinate
///   ([`ks_two_sample`](crate::ks_two_sample));
/// * [`joint`](Self::joint): the energy test ([`energy_distance`](crate::energy_distance)), which also sees a
///   dependence between coordinates that is wrong.
///
/// Coordinates may be any functions of the state: add x² or the log-density to see more. A defect that needs several
/// steps to show, adaptation above all, is seen after [`steps`](Self::steps); the law must be π after any number.
///
/// ```
/// use helmholtz_invariance::{OneStep, Suite, step_fn};
/// use helmholtz_invariance::random::{Chance, Draws, Stream};
///
/// let suite = Suite::new(7, 2);
/// let standard_normal = OneStep::new(|rng| rng.normal(), |x| vec![*x]);
/// let log_p = |x: f64| -0.5 * x * x;
///
/// let metropolis = step_fn(|x: &mut f64, rng: &mut Stream| {
///     let to = *x + 2.0 * rng.normal();
///     if rng.accept(log_p(to) - log_p(*x)) {
///         *x = to;
///     }
/// });
/// standard_normal.marginals(&metropolis, suite.share("metropolis")?)?.assert_passed();
///
/// let forgets_to_reject = step_fn(|x: &mut f64, rng: &mut Stream| *x += 2.0 * rng.normal());
/// standard_normal.marginals(&forgets_to_reject, suite.share("control")?)?.assert_failed();
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OneStep<P, F> {
    draw: P,
    coordinates: F,
    samples: usize,
    steps: usize,
}

impl<S, P, F> OneStep<P, F>
where
    P: Fn(&mut Stream) -> S,
    F: Fn(&S) -> Vec<f64>,
{
    /// `draw` draws from the target exactly; `coordinates` are the functions of the state that are compared, the same
    /// number for every state. 2000 draws and 1 step.
    pub fn new(draw: P, coordinates: F) -> Self {
        Self {
            draw,
            coordinates,
            samples: 2000,
            steps: 1,
        }
    }

    /// With this many draws on each side.
    pub fn samples(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    /// With this many steps of the kernel from each draw.
    pub fn steps(self, steps: usize) -> Self {
        Self { steps, ..self }
    }

    /// Compares each coordinate; they split the share.
    ///
    /// # Errors
    /// [`InvarianceError::NotFinite`], [`InvarianceError::TooFewSamples`]; [`InvarianceError::Length`] if states have
    /// different numbers of coordinates.
    pub fn marginals(
        &self,
        kernel: &impl Kernel<S, Stream>,
        share: Share,
    ) -> Result<Report, InvarianceError> {
        let (after, fresh) = (self.after(kernel, &share), self.fresh(&share));
        Ok(Report {
            name: share.name().to_owned(),
            comparisons: ks::columns("coordinate", &after, &fresh, share.name(), share.rate())?,
            ranks: Vec::new(),
        })
    }

    /// Compares the joint law of all coordinates.
    ///
    /// # Errors
    /// As [`marginals`](Self::marginals); [`InvarianceError::Length`] if states have no coordinates, too.
    pub fn joint(
        &self,
        kernel: &impl Kernel<S, Stream>,
        share: Share,
    ) -> Result<Report, InvarianceError> {
        energy::energy_distance(&self.after(kernel, &share), &self.fresh(&share), share)
    }

    fn after(&self, kernel: &impl Kernel<S, Stream>, share: &Share) -> Vec<Vec<f64>> {
        (0..self.samples)
            .map(|i| {
                let mut rng = share.stream(0, i);
                let mut state = (self.draw)(&mut rng);
                for _ in 0..self.steps {
                    kernel.step(&mut state, &mut rng);
                }
                (self.coordinates)(&state)
            })
            .collect()
    }

    fn fresh(&self, share: &Share) -> Vec<Vec<f64>> {
        (0..self.samples)
            .map(|i| (self.coordinates)(&(self.draw)(&mut share.stream(1, i))))
            .collect()
    }
}
