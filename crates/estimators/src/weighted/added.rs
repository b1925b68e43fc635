//! A weighted estimator of another crate, among those that are chosen at run time.

use std::fmt;

use helmholtz_random::Chance;

use super::{Coefficient, Outcome, Weighting};
use crate::Description;

/// A [`Weighting`] whose type is not known here; two are equal if they have one name.
#[derive(Clone, Copy)]
pub struct Added(&'static dyn AnyWeighting);

impl Added {
    /// This estimator. It is kept to the end of the program.
    pub fn new(weighting: impl Weighting + Clone + Send + Sync + 'static) -> Self {
        Self(Box::leak(Box::new(weighting)))
    }
}

impl fmt::Debug for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Added")
            .field(&self.0.description().name)
            .finish()
    }
}

impl PartialEq for Added {
    fn eq(&self, other: &Self) -> bool {
        self.0.description() == other.0.description()
    }
}

impl Eq for Added {}

/// [`Weighting`] behind a pointer.
trait AnyWeighting: Send + Sync {
    fn description(&self) -> Description;
    fn proposals(&self, particles: usize, retained: bool) -> usize;
    fn least_particles(&self, retained: bool) -> usize;
    fn sleeps(&self) -> bool;
    fn awake(&self) -> Added;
    fn with_stage1_extra(&self, extra: bool) -> Added;
    fn centres(&self) -> bool;
    fn keeps_chains(&self) -> bool;
    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome;
}

/// Chance behind a pointer.
struct Any<'a>(&'a mut dyn Chance);

impl Chance for Any<'_> {
    fn accept(&mut self, log_prob: f64) -> bool {
        self.0.accept(log_prob)
    }

    fn choose(&mut self, log_weights: &[f64]) -> Option<usize> {
        self.0.choose(log_weights)
    }
}

impl<W: Weighting + Clone + Send + Sync + 'static> AnyWeighting for W {
    fn description(&self) -> Description {
        Weighting::description(self)
    }

    fn proposals(&self, particles: usize, retained: bool) -> usize {
        Weighting::proposals(self, particles, retained)
    }

    fn least_particles(&self, retained: bool) -> usize {
        Weighting::least_particles(self, retained)
    }

    fn sleeps(&self) -> bool {
        Weighting::sleeps(self)
    }

    fn awake(&self) -> Added {
        Added::new(Weighting::awake(self.clone()))
    }

    fn with_stage1_extra(&self, extra: bool) -> Added {
        Added::new(Weighting::with_stage1_extra(self.clone(), extra))
    }

    fn centres(&self) -> bool {
        Weighting::centres(self)
    }

    fn keeps_chains(&self) -> bool {
        Weighting::keeps_chains(self)
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        Weighting::weigh(self, log_w, retained, &mut Any(chance), coefficients)
    }
}

impl Weighting for Added {
    fn description(&self) -> Description {
        self.0.description()
    }

    fn proposals(&self, particles: usize, retained: bool) -> usize {
        self.0.proposals(particles, retained)
    }

    fn least_particles(&self, retained: bool) -> usize {
        self.0.least_particles(retained)
    }

    fn sleeps(&self) -> bool {
        self.0.sleeps()
    }

    fn awake(self) -> Self {
        match self.0.sleeps() {
            true => self.0.awake(),
            false => self,
        }
    }

    fn with_stage1_extra(self, extra: bool) -> Self {
        match extra {
            true => self.0.with_stage1_extra(extra),
            false => self,
        }
    }

    fn centres(&self) -> bool {
        self.0.centres()
    }

    fn keeps_chains(&self) -> bool {
        self.0.keeps_chains()
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut impl Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        self.0.weigh(log_w, retained, chance, coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Jsa, Method, WakeSleep};
    use helmholtz_random::{Purpose, Stream};

    #[test]
    fn an_added_estimator_declares_and_weighs_as_itself() {
        let log_w = [-3.0, -1.0, -2.5];
        let stream = || Stream::new(1, Purpose::new("accept"), [0, 0]);
        for retained in [false, true] {
            let weigh = |estimator: &dyn Fn(&mut Stream, &mut [Coefficient]) -> Outcome| {
                let (mut stream, mut coefficients) = (stream(), [Coefficient::default(); 3]);
                let outcome = estimator(&mut stream, &mut coefficients);
                (outcome, coefficients, stream.below(1000))
            };
            let own = weigh(&|s, c| Weighting::weigh(&Jsa::MIS, &log_w, retained, s, c));
            let added =
                weigh(&|s, c| Weighting::weigh(&Added::new(Jsa::MIS), &log_w, retained, s, c));
            assert_eq!(own, added);
        }
        let (own, added) = (
            Method::Weighted(super::super::Weighted::Jsa(Jsa::MIS)),
            Method::added(Jsa::MIS),
        );
        assert_eq!(own.keeps_chains(), added.keeps_chains());
        for retained in [false, true] {
            assert_eq!(
                own.evaluations(5, 2, retained),
                added.evaluations(5, 2, retained)
            );
            assert_eq!(
                own.least_particles(retained),
                added.least_particles(retained)
            );
        }
        let both = Added::new(WakeSleep::BOTH);
        assert!(Weighting::sleeps(&both) && !Weighting::sleeps(&Weighting::awake(both)));
        assert_eq!(Added::new(Jsa::MIS), Added::new(Jsa::MIS));
        assert_ne!(Added::new(Jsa::MIS), both);
    }
}
