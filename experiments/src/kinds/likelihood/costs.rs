//! Costs of cells: time, memory and disk. Each net, method, batch size and number of particles is measured once.

use super::work::work;
use crate::cell::Cell;
use crate::cell_runner::{CellRunner, Cost as Measured};
use crate::data::Sizes;
use crate::population::stepwise::bytes;
use crate::registry::Registry;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::Cost;
use helmholtz_harness::machine::{Machine, Needs};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A run holds its parameters, Adam's two moments and the chains, with them what a step needs or the gradient. It keeps all but those
/// in two checkpoints while it writes a third.
pub fn needs(registry: &Registry, cell: &Cell, cost: Measured, sizes: Sizes) -> Needs {
    let kept = 3 * 4 * cost.parameters + cost.row_bytes * sizes.train;
    let gradient = 4 * cost.parameters;
    Needs {
        memory: kept.saturating_add(step_bytes(registry, cell, sizes).max(gradient)),
        // Checkpoints hold the selected parameters too.
        disk: 3 * (kept + 4 * cost.parameters),
    }
}

/// The least memory of a training step: for each particle of each image of a batch the logits of what is seen, and the latents.
/// Nothing for a cell that cannot be built, which is the runner's to refuse.
pub fn step_bytes(registry: &Registry, cell: &Cell, sizes: Sizes) -> u64 {
    let (Ok(net), Ok(method)) = (registry.net_of(cell), cell.method()) else {
        return 0;
    };
    let settings = &cell.settings;
    // Wake-sleep has one particle, whatever K; no other method has fewer than K.
    let most = settings.particles.min(1 << 40);
    let particles = method.evaluations(most, 1, false).min(most);
    let batch = sizes.train.min(settings.batch as u64);
    bytes(&[batch, particles as u64, net.values() as u64])
}

/// Checks that there is the memory for a training step of the cell.
///
/// # Errors
/// If there is not.
pub fn check_step(
    machine: &Machine,
    registry: &Registry,
    cell: &Cell,
    sizes: Sizes,
) -> Result<(), HarnessError> {
    let needs = Needs {
        memory: step_bytes(registry, cell, sizes),
        disk: 0,
    };
    machine.check(needs, "choose fewer `particles` or a smaller `batch`")
}

/// Measured costs.
pub struct Costs {
    machine: Machine,
    registry: Registry,
    sizes: Sizes,
    known: Mutex<BTreeMap<(String, String, usize, usize), Measured>>,
}

impl Costs {
    /// Costs for data of these sizes, where the machine has the memory for a step.
    pub fn new(machine: Machine, registry: &Registry, sizes: Sizes) -> Self {
        Self {
            machine,
            registry: registry.clone(),
            sizes,
            known: Mutex::default(),
        }
    }

    /// Returns the cost of a cell, as `runner` measures it.
    ///
    /// # Errors
    /// A cell that the runner cannot build, or for which there is not the memory.
    pub fn of(&self, runner: &dyn CellRunner, cell: &Cell) -> Result<Cost, HarnessError> {
        let settings = &cell.settings;
        let names = (cell.net.clone(), cell.method.clone());
        let key = (names.0, names.1, settings.batch, settings.particles);
        let mut known = self.known.lock().expect("nothing panics with this lock");
        let cost = match known.get(&key) {
            Some(cost) => *cost,
            None => {
                check_step(&self.machine, &self.registry, cell, self.sizes)?;
                let cost = runner.measure(cell)?;
                known.insert(key, cost);
                cost
            }
        };
        Ok(Cost {
            work: work(settings, self.sizes, cost),
            needs: needs(&self.registry, cell, cost, self.sizes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::kinds::likelihood::fake::{FakeRunner, SIZES};

    #[test]
    fn each_net_and_method_is_measured_once() {
        let runner = FakeRunner::default();
        let machine = Machine {
            memory: None,
            disk: None,
        };
        let costs = Costs::new(machine, &Registry::default(), SIZES);
        for (net, seed) in [("linear", 1), ("linear", 2), ("nonlinear", 1)] {
            costs.of(&runner, &cell(net, "jsa", seed)).unwrap();
        }
        assert_eq!(runner.measured.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_step_needs_a_row_for_each_particle_of_each_image() {
        let known = Registry::default();
        let mut c = cell("linear", "jsa", 1);
        (c.settings.batch, c.settings.particles) = (50, 20);
        assert_eq!(step_bytes(&known, &c, SIZES), 50 * 20 * (784 + 200) * 4);
        let cost = FakeRunner::default().measure(&c).unwrap();
        let kept = 3 * 4 * cost.parameters + SIZES.train;
        assert_eq!(
            needs(&known, &c, cost, SIZES).memory,
            kept + step_bytes(&known, &c, SIZES)
        );
        c.method = "ws".into();
        assert_eq!(step_bytes(&known, &c, SIZES), 50 * (784 + 200) * 4);
        c.method = "jsa".into();
        c.settings.particles = usize::MAX;
        assert!(step_bytes(&known, &c, SIZES) > 1 << 50);
        c.net = "none".into();
        assert_eq!(step_bytes(&known, &c, SIZES), 0);
    }
}
