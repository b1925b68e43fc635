//! Chains as InferenceData (feature `zarr`).

use std::path::Path;

use super::Chains;
use super::zarr::Folder;
use crate::diagnostics::{Summary, summary};
use crate::{Info, SamplerError};

/// A quantity of a state with its shape, `[]` for a number: what InferenceData calls a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable<'n> {
    /// Its name, of letters, digits, `_`, `[` and `]`.
    pub name: &'n str,
    /// Its sizes, the last index running fastest.
    pub shape: &'n [usize],
}

impl<'n> Variable<'n> {
    /// A real number.
    pub fn scalar(name: &'n str) -> Self {
        Self { name, shape: &[] }
    }

    /// An array of real numbers.
    pub fn array(name: &'n str, shape: &'n [usize]) -> Self {
        Self { name, shape }
    }

    fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// The names of its axes, as ArviZ gives them where the user gives none.
    fn axes(&self) -> Vec<String> {
        let axis = |i: usize| format!("{}_dim_{i}", self.name);
        (0..self.shape.len()).map(axis).collect()
    }
}

/// A name, and what it stands for.
type Named<S, T> = (&'static str, fn(&S) -> T);

/// The diagnostics of a quantity under the names that ArviZ's `summary` has for them, in the order of the axis
/// `statistic`.
const STATISTICS: [Named<Summary, f64>; 6] = [
    ("mean", |s| s.mean),
    ("sd", |s| s.sd),
    ("mcse_mean", |s| s.monte_carlo_error),
    ("ess_bulk", |s| s.bulk_ess),
    ("ess_tail", |s| s.tail_ess),
    ("r_hat", |s| s.r_hat),
];

impl<S> Chains<S> {
    /// Writes the draws, what the kernel reported, and the diagnostics as InferenceData, a folder of Zarr format 2 that
    /// ArviZ opens in Python (feature `zarr`).
    ///
    /// `values` writes the values of `variables` for a state, in this order. The groups:
    ///
    /// | group | variables | axes |
    /// |---|---|---|
    /// | `posterior` | each of `variables`, f64 | chain, draw, its own |
    /// | `sample_stats` | `acceptance_rate`, f64, the share of accepted moves of a transition; `diverging`, whether it met a NaN or infinite log-density or energy; `n_moves` and `n_non_finite`, i64; `importance_ess`, f64, NaN without importance weights | chain, draw |
    /// | `diagnostics` | each of `variables`, f64, the [`Summary`] of each of its entries; NaN where an entry has none, as it never varies, say | statistic, its own |
    ///
    /// With `zarr` before 3, `arviz.from_zarr(path)` reads it; with a later one
    /// `arviz.InferenceData.from_datatree(xarray.open_datatree(path, engine="zarr"))`.
    ///
    /// ```
    /// use helmholtz_samplers::sampling::{Variable, sample};
    /// use helmholtz_samplers::{MetropolisHastings, RandomWalk};
    ///
    /// let target = |x: &Vec<f64>| -0.5 * (x[0] * x[0] + x[1] * x[1]);
    /// let kernel = MetropolisHastings::new(target, RandomWalk::new(1.5)?);
    /// let chains = sample(&kernel, vec![vec![0.0; 2]; 4], 100, 200, 7)?;
    /// let folder = std::env::temp_dir().join(format!("helmholtz-zarr-{}", std::process::id()));
    /// chains.write_inference_data(&folder, &[Variable::array("x", &[2])], |x, values| {
    ///     values.clone_from(x);
    /// })?;
    /// assert!(folder.join("posterior/x/.zarray").exists());
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), helmholtz_samplers::SamplerError>(())
    /// ```
    ///
    /// # Errors
    /// [`SamplerError::Io`] if `folder` exists or cannot be written, [`SamplerError::Length`] if `values` writes another
    /// number of values than `variables` have.
    pub fn write_inference_data(
        &self,
        folder: &Path,
        variables: &[Variable<'_>],
        values: impl Fn(&S, &mut Vec<f64>),
    ) -> Result<(), SamplerError> {
        let columns = self.columns(variables, values)?;
        let mut store = Folder::create(folder)?;
        self.write_posterior(&mut store, variables, &columns)?;
        self.write_reports(&mut store)?;
        self.write_diagnostics(&mut store, variables, &columns)?;
        store.finish()
    }

    /// The values of each variable, by chain, draw and entry.
    fn columns(
        &self,
        variables: &[Variable<'_>],
        values: impl Fn(&S, &mut Vec<f64>),
    ) -> Result<Vec<Vec<f64>>, SamplerError> {
        let size: usize = variables.iter().map(Variable::size).sum();
        let (mut columns, mut row) = (vec![Vec::new(); variables.len()], Vec::new());
        for state in self.draws().iter().flatten() {
            row.clear();
            values(state, &mut row);
            if row.len() != size {
                return Err(SamplerError::Length {
                    what: "the values of a state, for the sizes of variables",
                    found: row.len(),
                    expected: size,
                });
            }
            let mut rest = row.as_slice();
            for (column, variable) in columns.iter_mut().zip(variables) {
                let (own, others) = rest.split_at(variable.size());
                column.extend_from_slice(own);
                rest = others;
            }
        }
        Ok(columns)
    }

    /// Chains and draws a chain.
    fn sizes(&self) -> [usize; 2] {
        [self.draws().len(), self.draws().first().map_or(0, Vec::len)]
    }

    fn write_posterior(
        &self,
        store: &mut Folder,
        variables: &[Variable<'_>],
        columns: &[Vec<f64>],
    ) -> Result<(), SamplerError> {
        store.group("posterior")?;
        self.write_axes(store, "posterior")?;
        for (variable, column) in variables.iter().zip(columns) {
            write_indices(store, "posterior", variable)?;
            let own = variable.axes();
            let axes: Vec<&str> = ["chain", "draw"]
                .into_iter()
                .chain(own.iter().map(String::as_str))
                .collect();
            let shape = [&self.sizes(), variable.shape].concat();
            let path = format!("posterior/{}", variable.name);
            store.array(&path, &axes, &shape, column)?;
        }
        Ok(())
    }

    fn write_reports(&self, store: &mut Folder) -> Result<(), SamplerError> {
        store.group("sample_stats")?;
        self.write_axes(store, "sample_stats")?;
        let real: [Named<Info, f64>; 2] = [
            ("acceptance_rate", |info| {
                info.acceptance_rate().unwrap_or(f64::NAN)
            }),
            ("importance_ess", |info| info.mean_ess().unwrap_or(f64::NAN)),
        ];
        for (name, of) in real {
            self.write_statistic(store, name, of)?;
        }
        let whole: [Named<Info, i64>; 2] = [
            ("n_moves", |info| info.moves as i64),
            ("n_non_finite", |info| info.non_finite as i64),
        ];
        for (name, of) in whole {
            self.write_statistic(store, name, of)?;
        }
        self.write_statistic(store, "diverging", |info| info.non_finite > 0)
    }

    fn write_statistic<T: super::zarr::Entry>(
        &self,
        store: &mut Folder,
        name: &str,
        of: impl Fn(&Info) -> T,
    ) -> Result<(), SamplerError> {
        let values: Vec<T> = self.reports().iter().flatten().map(of).collect();
        let path = format!("sample_stats/{name}");
        store.array(&path, &["chain", "draw"], &self.sizes(), &values)
    }

    fn write_diagnostics(
        &self,
        store: &mut Folder,
        variables: &[Variable<'_>],
        columns: &[Vec<f64>],
    ) -> Result<(), SamplerError> {
        store.group("diagnostics")?;
        let names = STATISTICS.map(|(name, _)| name.to_owned());
        store.array(
            "diagnostics/statistic",
            &["statistic"],
            &[names.len()],
            &names,
        )?;
        let [chains, draws] = self.sizes();
        for (variable, column) in variables.iter().zip(columns) {
            write_indices(store, "diagnostics", variable)?;
            let size = variable.size();
            let summaries: Vec<Option<Summary>> = (0..size)
                .map(|entry| {
                    let at = |c: usize, d: usize| column[(c * draws + d) * size + entry];
                    let chain = |c: usize| (0..draws).map(|d| at(c, d)).collect::<Vec<_>>();
                    summary(&(0..chains).map(chain).collect::<Vec<_>>()).ok()
                })
                .collect();
            let of = |statistic: fn(&Summary) -> f64| {
                (summaries.iter()).map(move |s| s.as_ref().map_or(f64::NAN, statistic))
            };
            let values: Vec<f64> = STATISTICS.iter().flat_map(|(_, f)| of(*f)).collect();
            let own = variable.axes();
            let axes: Vec<&str> = ["statistic"]
                .into_iter()
                .chain(own.iter().map(String::as_str))
                .collect();
            let shape = [&[STATISTICS.len()], variable.shape].concat();
            let path = format!("diagnostics/{}", variable.name);
            store.array(&path, &axes, &shape, &values)?;
        }
        Ok(())
    }

    /// The coordinates of the axes chain and draw, from 0.
    fn write_axes(&self, store: &mut Folder, group: &str) -> Result<(), SamplerError> {
        for (axis, size) in ["chain", "draw"].into_iter().zip(self.sizes()) {
            write_index(store, group, axis, size)?;
        }
        Ok(())
    }
}

/// The coordinates of a variable's own axes, from 0.
fn write_indices(
    store: &mut Folder,
    group: &str,
    variable: &Variable<'_>,
) -> Result<(), SamplerError> {
    for (axis, size) in variable.axes().iter().zip(variable.shape) {
        write_index(store, group, axis, *size)?;
    }
    Ok(())
}

fn write_index(
    store: &mut Folder,
    group: &str,
    axis: &str,
    size: usize,
) -> Result<(), SamplerError> {
    let indices: Vec<i64> = (0..size as i64).collect();
    store.array(&format!("{group}/{axis}"), &[axis], &[size], &indices)
}
