//! Targets over all values of a few sites.

use helmholtz_invariance::families::{FiniteTarget, log_weights};
use helmholtz_invariance::proptest::prelude::*;
use helmholtz_samplers::{DifferenceTarget, EachChange, Target};

/// A log-density for each state of `sites` sites with `values` values; the first site's code is the lowest digit.
#[derive(Clone, Debug)]
pub struct Field {
    pub sites: usize,
    pub values: usize,
    pub log_p: Vec<f64>,
}

impl Field {
    fn number(&self, state: &[usize]) -> usize {
        state.iter().rev().fold(0, |sum, x| sum * self.values + x)
    }

    pub fn exact(&self) -> EachChange<&Self> {
        EachChange::new(self, self.values)
    }
}

impl FiniteTarget for Field {
    type State = Vec<usize>;

    fn states(&self) -> Vec<Vec<usize>> {
        let digits = |number: usize| {
            (0..self.sites)
                .map(|i| number / self.values.pow(i as u32) % self.values)
                .collect()
        };
        (0..self.log_p.len()).map(digits).collect()
    }

    fn log_density(&self, state: &Vec<usize>) -> f64 {
        self.log_p[self.number(state)]
    }
}

impl Target<Vec<usize>> for &Field {
    fn log_density(&self, state: &Vec<usize>) -> f64 {
        self.log_p[self.number(state)]
    }
}

/// Differences that are wrong by a factor and a term that depend on the state, as those of a gradient are.
pub struct Rough<'a>(pub &'a Field);

impl DifferenceTarget<usize> for Rough<'_> {
    fn values(&self) -> usize {
        self.0.values
    }

    fn log_density(&self, state: &[usize]) -> f64 {
        self.0.log_p[self.0.number(state)]
    }

    fn log_density_and_differences(&self, state: &[usize], differences: &mut [f64]) -> f64 {
        let number = self.0.number(state) as f64;
        for (i, difference) in differences.iter_mut().enumerate() {
            *difference = (0.3 * number + 1.7 * i as f64).sin();
        }
        self.log_density(state)
    }
}

/// Sites and values of at most eight states.
const SHAPES: [(usize, usize); 9] = [
    (1, 2),
    (1, 3),
    (1, 4),
    (1, 5),
    (1, 6),
    (1, 7),
    (1, 8),
    (2, 2),
    (3, 2),
];

/// Gives the differences after a change: of all sites, or, which is wrong, only of those that change.
pub struct WithDifferences<'a> {
    pub field: &'a Field,
    pub forgets: bool,
}

impl DifferenceTarget<usize> for WithDifferences<'_> {
    fn values(&self) -> usize {
        self.field.values
    }

    fn log_density(&self, state: &[usize]) -> f64 {
        self.field.log_p[self.field.number(state)]
    }

    fn log_density_and_differences(&self, state: &[usize], differences: &mut [f64]) -> f64 {
        let exact = self.field.exact();
        exact.log_density_and_differences(state, differences)
    }

    fn log_density_ratio_and_differences(
        &self,
        from: &[usize],
        to: &[usize],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        let mut all = vec![0.0; self.field.sites * self.field.values];
        let log_p = self.log_density_and_differences(to, &mut all);
        match self.forgets {
            true => sites.extend(changes),
            false => sites.extend(0..self.field.sites),
        }
        for site in sites {
            differences.extend(&all[*site * self.field.values..][..self.field.values]);
        }
        Some(log_p - self.log_density(from))
    }
}

/// Every assignment of the log-densities -inf, 0 and 1.3 to up to eight states, but for those without a possible state.
/// Where one site has more than five values, whose order no kernel sees: every set of possible ones, each with a
/// log-density of its own.
pub fn all() -> impl Iterator<Item = Field> {
    SHAPES.into_iter().flat_map(|(sites, values)| {
        let states = values.pow(sites as u32);
        let choices = if values > 5 { 2 } else { 3 };
        (0..usize::pow(choices, states as u32)).filter_map(move |mut number| {
            let log_p: Vec<f64> = (0..states)
                .map(|state| {
                    let digit = number % choices;
                    number /= choices;
                    match (digit, choices) {
                        (0, _) => f64::NEG_INFINITY,
                        (_, 2) => 0.4 * state as f64,
                        (digit, _) => 1.3 * (digit - 1) as f64,
                    }
                })
                .collect();
            let possible = log_p.iter().any(|l| l.is_finite());
            possible.then_some(Field {
                sites,
                values,
                log_p,
            })
        })
    })
}

/// Up to three sites with up to three values: random log-densities, with extremes.
pub fn random() -> impl Strategy<Value = Field> {
    (1usize..=3, 2usize..=3)
        .prop_flat_map(|(sites, values)| {
            let states = values.pow(sites as u32);
            log_weights(states..=states).prop_map(move |log_p| Field {
                sites,
                values,
                log_p,
            })
        })
        .prop_filter("a possible state", |field| {
            field.log_p.iter().any(|l| l.is_finite())
        })
}

/// The same with all states possible.
pub fn positive() -> impl Strategy<Value = Field> {
    random().prop_map(|mut field| {
        for l in &mut field.log_p {
            *l = l.clamp(-5.0, 5.0);
        }
        field
    })
}
