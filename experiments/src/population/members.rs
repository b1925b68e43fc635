//! The runs of several experiments of amortized population Gibbs, for one figure or table.

use super::Column;
use super::experiment::{Population, place};
use super::stepwise::Stepwise;
use crate::request::Request;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::Experiment;
use helmholtz_harness::unit::Unit;
use helmholtz_runs::{OpenMode, RunError, RunFolder};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// An experiment whose runs are shown beside others.
pub trait Member: Experiment {
    /// Returns what the samplers of a finished run reached.
    ///
    /// # Errors
    /// A result of another shape.
    fn column(&self, index: usize, result: &Value) -> Result<Column, HarnessError>;
}

impl<E: Stepwise> Member for Population<'_, E> {
    fn column(&self, index: usize, result: &Value) -> Result<Column, HarnessError> {
        Population::column(self, index, result)
    }
}

/// The experiments, each with the same seeds, and a folder a seed for what they show together.
pub struct Members<'a> {
    all: Vec<Box<dyn Member + 'a>>,
    /// The units of all, one experiment after the other.
    pub units: Vec<Unit>,
    /// A folder for each seed.
    folders: Vec<Folder>,
    device: &'static str,
}

struct Folder {
    seed: u64,
    path: PathBuf,
    config: Value,
}

impl<'a> Members<'a> {
    /// The members of `name`, whose folders have this configuration.
    ///
    /// # Errors
    /// A folder that another configuration has, unless it is to be set aside.
    pub fn new(
        request: &Request<'_>,
        all: Vec<Box<dyn Member + 'a>>,
        name: &str,
        steps: [u64; 2],
        config: &Value,
    ) -> Result<Self, HarnessError> {
        let args = request.args;
        let seeds = all.first().map_or(&[][..], |first| first.units()).iter();
        let folder = |unit: &Unit| {
            let path = place(&args.out, [name, &args.profile], unit.seed, steps);
            let config = config.clone();
            if !args.fresh {
                match RunFolder::peek_as(&path, &config) {
                    Err(error @ RunError::OtherConfig { .. }) => {
                        return Err(HarnessError::Unusable(format!(
                            "{error}; or move it away: the runs have folders of their own, and those that are finished are not run again"
                        )));
                    }
                    status => status?,
                };
            }
            let seed = unit.seed;
            Ok(Folder { seed, path, config })
        };
        let folders = seeds.map(folder).collect::<Result<_, HarnessError>>()?;
        Ok(Self {
            units: all
                .iter()
                .flat_map(|member| member.units().to_vec())
                .collect(),
            all,
            folders,
            device: args.device.as_str(),
        })
    }

    /// The member and its own index of a unit.
    pub fn of(&self, index: usize) -> (&(dyn Member + 'a), usize) {
        (&*self.all[self.number(index)], index % self.folders.len())
    }

    /// Number of the member of a unit.
    pub fn number(&self, index: usize) -> usize {
        index / self.folders.len()
    }

    /// Sets aside what the seeds showed together.
    ///
    /// # Errors
    /// A folder that a live run holds, or that cannot be renamed.
    pub fn archive_folders(&self) -> Result<(), HarnessError> {
        for Folder { path, config, .. } in &self.folders {
            if path.exists() {
                RunFolder::open(path, config, OpenMode::Fresh)?;
            }
        }
        Ok(())
    }

    /// Returns each seed with finished runs, and what `of` makes of each of these runs.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn by_seed<T>(
        &self,
        results: &[Option<Value>],
        of: impl Fn(usize, &Value) -> Result<T, HarnessError>,
    ) -> Result<Vec<(u64, Vec<T>)>, HarnessError> {
        let mut seeds = Vec::new();
        for Folder { seed, .. } in &self.folders {
            let mut own = Vec::new();
            for (index, result) in results.iter().enumerate() {
                if let Some(result) = result
                    && self.units[index].seed == *seed
                {
                    own.push(of(index, result)?);
                }
            }
            if !own.is_empty() {
                seeds.push((*seed, own));
            }
        }
        Ok(seeds)
    }

    /// Writes what a seed's runs show together by `write`, and completes its folder, with a table if there is one.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write(
        &self,
        seed: u64,
        table: Option<Value>,
        write: impl FnOnce(&Path) -> Result<Vec<PathBuf>, HarnessError>,
    ) -> Result<Vec<PathBuf>, HarnessError> {
        let own = self.folders.iter().find(|folder| folder.seed == seed);
        let Folder { path, config, .. } = own.expect("a folder for each seed");
        let mut folder = RunFolder::open(path, config, OpenMode::Resume)?;
        let files = write(folder.path())?;
        let mut result = json!({"provenance": folder.provenance(seed, self.device)});
        if let Some(table) = table {
            result["table"] = table;
        }
        folder.finish(&result)?;
        Ok(files)
    }
}
