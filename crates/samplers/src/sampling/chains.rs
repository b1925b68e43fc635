//! What a run gives.

use crate::diagnostics::{Summary, summary};
use crate::{Info, SamplerError};

/// The draws of some chains, all of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Chains<S> {
    draws: Vec<Vec<S>>,
    reports: Vec<Vec<Info>>,
    infos: Vec<Info>,
}

impl<S> Chains<S> {
    pub(super) fn new(chains: Vec<(Vec<S>, Vec<Info>)>) -> Self {
        let (draws, reports): (_, Vec<Vec<Info>>) = chains.into_iter().unzip();
        let total = |chain: &Vec<Info>| chain.iter().copied().sum();
        Self {
            draws,
            infos: reports.iter().map(total).collect(),
            reports,
        }
    }

    /// The draws of each chain, in order.
    pub fn draws(&self) -> &[Vec<S>] {
        &self.draws
    }

    /// What the kernel reported of each transition to a draw, in the order of [`draws`](Self::draws).
    pub fn reports(&self) -> &[Vec<Info>] {
        &self.reports
    }

    /// What the kernel reported over the draws of each chain, warm-up left out.
    pub fn infos(&self) -> &[Info] {
        &self.infos
    }

    /// The same of all chains together.
    pub fn info(&self) -> Info {
        self.infos.iter().copied().sum()
    }

    /// One real quantity, a vector a chain: what the [diagnostics](crate::diagnostics) take.
    pub fn quantity(&self, f: impl Fn(&S) -> f64) -> Vec<Vec<f64>> {
        let of = |chain: &Vec<S>| chain.iter().map(&f).collect();
        self.draws.iter().map(of).collect()
    }

    /// The summary of each of the quantities `names`, which `values` writes for a state, in this order.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if `values` writes another number of them, and those of [`summary`].
    pub fn summaries<'n>(
        &self,
        names: &[&'n str],
        values: impl Fn(&S, &mut Vec<f64>),
    ) -> Result<Vec<(&'n str, Summary)>, SamplerError> {
        let mut columns = vec![vec![Vec::new(); self.draws.len()]; names.len()];
        let mut row = Vec::new();
        for (c, chain) in self.draws.iter().enumerate() {
            for state in chain {
                row.clear();
                values(state, &mut row);
                if row.len() != names.len() {
                    return Err(SamplerError::Length {
                        what: "the values of a state, for the names of quantities",
                        found: row.len(),
                        expected: names.len(),
                    });
                }
                for (column, value) in columns.iter_mut().zip(&row) {
                    column[c].push(*value);
                }
            }
        }
        (names.iter().zip(columns))
            .map(|(name, column)| Ok((*name, summary(&column)?)))
            .collect()
    }
}
