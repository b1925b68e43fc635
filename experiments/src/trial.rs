//! A cell whose names are resolved, and what trains it.

use crate::cell::Cell;
use crate::cell_runner::{CellResult, Cost};
use crate::error::HarnessError;
use crate::nets::Net;
use crate::registry::Registry;
use helmholtz_estimators::Entry;
use helmholtz_harness::driver::Observer;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A cell with the net and the estimator that its names mean, which go together.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The cell.
    pub cell: Cell,
    /// Its net, as its settings change it.
    pub net: Net,
    /// Its estimator, as its settings change it.
    pub entry: Entry,
}

/// Trains and evaluates the nets of cells. The harness knows no tensors; [`likelihood::runner`](crate::kinds::likelihood::runner) implements this over burn.
pub trait CellRunner: Send + Sync {
    /// Measures the cost of the cell's work on this machine, in a short warm-up on one thread.
    ///
    /// # Errors
    /// A net or device that cannot be built.
    fn measure(&self, trial: &Trial) -> Result<Cost, HarnessError>;

    /// Runs the cell in its `folder`: from where its last checkpoint left it, to its result.
    /// A finished folder gives its stored result at once.
    ///
    /// # Errors
    /// [`HarnessError::Interrupted`], after a checkpoint, once `stop` is set; a run folder that cannot be
    /// used; a failed training.
    fn run(
        &self,
        trial: &Trial,
        folder: &Path,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<CellResult, HarnessError>;
}

impl Registry {
    /// The trial that a cell describes.
    ///
    /// # Errors
    /// A cell that cannot be run, whatever the data and the device. It has a net or a method that there is not, a method or a
    /// setting that the net has no use for, or too few particles.
    pub fn trial(&self, cell: &Cell) -> Result<Trial, HarnessError> {
        let rejected = |problem: String| {
            let file = cell.label();
            Err(HarnessError::Spec { file, problem })
        };
        let settings = &cell.settings;
        let entry = self.method(&cell.method)?;
        let method = entry.method.with_stage1_extra(settings.stage1_extra > 0);
        let retains = method.keeps_chains() && settings.switch_epoch() == 0;
        let least = method.least_particles(retains);
        if settings.particles < least {
            return rejected(format!(
                "`{}` needs at least {least} particles, not {}",
                cell.method, settings.particles
            ));
        }
        let mut net = self.net(&cell.net, cell.own_net.as_ref())?;
        if let Some(width) = cell.width {
            net = net.of_width(width);
        }
        let options = net.options();
        let stranger = settings.net_options().find(|key| !options.contains(key));
        if let Some(key) = stranger {
            let families = self.families_with(key);
            return rejected(format!("`{key}` is for nets of {families} alone"));
        }
        let net = net.with(settings);
        if let Err(problem) = net.check() {
            return rejected(format!("the net `{}`: {problem}", cell.net));
        }
        if let Some(why) = net.objection(&method) {
            return rejected(format!("`{}` on `{}`: {why}", cell.method, cell.net));
        }
        if settings.analytic_kl && !method.takes_analytic_kl() {
            return rejected(format!(
                "`analytic_kl` is for the pathwise estimators, AR, ARS and ARSM, not for `{}`",
                cell.method
            ));
        }
        if settings.analytic_kl && net.layers() > 1 {
            return rejected(format!(
                "`analytic_kl` is for nets of one stochastic layer, and `{}` has {}",
                cell.net,
                net.layers()
            ));
        }
        Ok(Trial {
            cell: cell.clone(),
            net,
            entry: Entry { method, ..entry },
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cell::tests::cell;

    /// A trial that the tests of costs and runners vary.
    pub(crate) fn trial(net: &str, method: &str, seed: u64) -> Trial {
        Registry::default().trial(&cell(net, method, seed)).unwrap()
    }
}
