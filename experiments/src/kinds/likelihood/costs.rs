//! Costs of cells: time, memory and disk. Each net, method, batch size and number of particles is measured once.

use super::work::work;
use crate::cell_runner::Cost as Measured;
use crate::data::Sizes;
use crate::population::stepwise::bytes;
use crate::trial::{CellRunner, Trial};
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::Cost;
use helmholtz_harness::machine::{Machine, Needs};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A run holds its parameters, Adam's two moments and the chains, with them what a step needs or the gradient. It keeps all but those
/// in two checkpoints while it writes a third.
pub fn needs(trial: &Trial, cost: Measured, sizes: Sizes) -> Needs {
    let kept = 3 * 4 * cost.parameters + cost.row_bytes * sizes.train;
    let gradient = 4 * cost.parameters;
    Needs {
        memory: kept.saturating_add(step_bytes(trial, sizes).max(gradient)),
        // Checkpoints hold the selected parameters too.
        disk: 3 * (kept + 4 * cost.parameters),
    }
}

/// The least memory of a training step: for each particle of each image of a batch the logits of what is seen, and the latents.
pub fn step_bytes(trial: &Trial, sizes: Sizes) -> u64 {
    let settings = &trial.cell.settings;
    // Wake-sleep has one particle, whatever K; no other method has fewer than K.
    let most = settings.particles.min(1 << 40);
    let particles = trial.entry.method.evaluations(most, 1, false).min(most);
    let batch = sizes.train.min(settings.batch as u64);
    bytes(&[batch, particles as u64, trial.net.values() as u64])
}

/// Checks that there is the memory for a training step.
///
/// # Errors
/// If there is not.
pub fn check_step(machine: &Machine, trial: &Trial, sizes: Sizes) -> Result<(), HarnessError> {
    let needs = Needs {
        memory: step_bytes(trial, sizes),
        disk: 0,
    };
    machine.check(needs, "choose fewer `particles` or a smaller `batch`")
}

/// Measured costs.
pub struct Costs {
    machine: Machine,
    sizes: Sizes,
    known: Mutex<BTreeMap<(String, String, usize, usize), Measured>>,
}

impl Costs {
    /// Costs for data of these sizes, where the machine has the memory for a step.
    pub fn new(machine: Machine, sizes: Sizes) -> Self {
        Self {
            machine,
            sizes,
            known: Mutex::default(),
        }
    }

    /// Returns the cost of a cell, as `runner` measures it.
    ///
    /// # Errors
    /// A net that the runner cannot build, or for which there is not the memory.
    pub fn of(&self, runner: &dyn CellRunner, trial: &Trial) -> Result<Cost, HarnessError> {
        let Trial { cell, .. } = trial;
        let settings = &cell.settings;
        let names = (cell.net.clone(), cell.method.clone());
        let key = (names.0, names.1, settings.batch, settings.particles);
        let mut known = self.known.lock().expect("nothing panics with this lock");
        let cost = match known.get(&key) {
            Some(cost) => *cost,
            None => {
                check_step(&self.machine, trial, self.sizes)?;
                let cost = runner.measure(trial)?;
                known.insert(key, cost);
                cost
            }
        };
        Ok(Cost {
            work: work(settings, self.sizes, cost),
            needs: needs(trial, cost, self.sizes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::likelihood::fake::{FakeRunner, SIZES};
    use crate::trial::tests::trial;

    #[test]
    fn each_net_and_method_is_measured_once() {
        let runner = FakeRunner::default();
        let machine = Machine {
            memory: None,
            disk: None,
        };
        let costs = Costs::new(machine, SIZES);
        for (net, seed) in [("linear", 1), ("linear", 2), ("nonlinear", 1)] {
            costs.of(&runner, &trial(net, "jsa", seed)).unwrap();
        }
        assert_eq!(runner.measured.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_step_needs_a_row_for_each_particle_of_each_image() {
        let of = |method: &str, particles| {
            let mut trial = trial("linear", method, 1);
            let settings = &mut trial.cell.settings;
            (settings.batch, settings.particles) = (50, particles);
            trial
        };
        let jsa = of("jsa", 20);
        assert_eq!(step_bytes(&jsa, SIZES), 50 * 20 * (784 + 200) * 4);
        let cost = FakeRunner::default().measure(&jsa).unwrap();
        let kept = 3 * 4 * cost.parameters + SIZES.train;
        assert_eq!(
            needs(&jsa, cost, SIZES).memory,
            kept + step_bytes(&jsa, SIZES)
        );
        assert_eq!(step_bytes(&of("ws", 20), SIZES), 50 * (784 + 200) * 4);
        assert!(step_bytes(&of("jsa", usize::MAX), SIZES) > 1 << 50);
    }
}
