//! Small fields of categorical sites, and the exact matrices of kernels on finite states.

use helmholtz_random::{Enumerator, enumerate};
use helmholtz_samplers::Kernel;

use crate::exact::{Matrix, TOLERANCE, distribution};

/// The transition matrix of one step of `kernel` among `states`.
pub fn transition<S, K>(states: &[S], kernel: &K) -> Matrix
where
    S: Clone + PartialEq,
    K: Kernel<S, Enumerator>,
{
    let row = |start: &S| {
        let mut row = vec![0.0; states.len()];
        let ends = enumerate(|chance| {
            let mut state = start.clone();
            kernel.step(&mut state, chance);
            states.iter().position(|s| *s == state)
        });
        for (probability, end) in ends {
            row[end.expect("the kernel stays among the states")] += probability;
        }
        assert!((row.iter().sum::<f64>() - 1.0).abs() < TOLERANCE);
        row
    };
    states.iter().map(row).collect()
}

/// A distribution over all vectors of sites, which all interact.
pub struct Field {
    /// Values a site.
    pub sizes: Vec<usize>,
    pub states: Vec<Vec<usize>>,
    pub p: Vec<f64>,
}

impl Field {
    pub fn new(sizes: &[usize]) -> Self {
        let mut states = vec![Vec::new()];
        for &size in sizes {
            states = states
                .into_iter()
                .flat_map(|state| {
                    (0..size).map(move |value| {
                        let mut longer = state.clone();
                        longer.push(value);
                        longer
                    })
                })
                .collect();
        }
        Self {
            sizes: sizes.to_vec(),
            p: distribution(states.len(), 2),
            states,
        }
    }

    pub fn several() -> Vec<Self> {
        [&[3, 3][..], &[2, 2, 2], &[2, 1, 4]].map(Self::new).into()
    }

    /// ln p + constant, -inf outside.
    pub fn log_p(&self, state: &[usize]) -> f64 {
        let at = self.states.iter().position(|s| s == state);
        at.map_or(f64::NEG_INFINITY, |at| self.p[at].ln() + 300.0)
    }

    pub fn target(&self) -> impl Fn(&Vec<usize>) -> f64 + Copy + '_ {
        |state| self.log_p(state)
    }
}
