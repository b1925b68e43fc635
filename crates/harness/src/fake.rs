//! An experiment without tensors, for the harness's own tests: it keeps real run folders, and its numbers are made up.

use crate::cancel::check_cancelled;
use crate::driver::{Event, Observer};
use crate::error::HarnessError;
use crate::experiment::{Cost, Experiment, Heading, Outcome};
use crate::machine::Needs;
use crate::plan::PlannedUnit;
use crate::status::Status;
use crate::unit::Unit;
use crate::work::{Count, Work};
use helmholtz_report::{Block, Document};
use helmholtz_runs::{OpenMode, RunFolder};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// Units that count to five.
#[derive(Default)]
pub(crate) struct Counting {
    units: Vec<Unit>,
    /// Units whose cost was asked for.
    pub measured: Mutex<Vec<usize>>,
    /// Units wait until so many are inside.
    pub meet: usize,
    /// The most units that were inside at once.
    pub most_at_once: AtomicUsize,
    /// Bytes that a unit needs besides 1000.
    pub memory: u64,
    /// The unit of this name fails.
    pub fail: &'static str,
    /// The unit of this name cannot read a file.
    pub fault: &'static str,
    /// The unit of this name panics.
    pub panic: &'static str,
    /// The unit of this name ends after so many counts, and sets `stop`.
    pub stop_in: Option<(&'static str, u64)>,
    /// Stop flag that the driver watches.
    pub stop: Option<Arc<AtomicBool>>,
    inside: Mutex<(usize, usize)>,
    came: Condvar,
}

/// Counts of a unit.
pub(crate) const ALL: u64 = 5;

pub(crate) fn unit(folder: &Path, name: &str, seed: u64) -> Unit {
    let mut fields = Map::new();
    fields.insert("net".into(), name.into());
    Unit {
        label: format!("{name} / seed {seed}"),
        names: vec![name.into()],
        seed,
        folder: folder.join(name).join(format!("seed-{seed}")),
        config: json!({"name": name, "seed": seed, "rate": 1}),
        count: Count {
            name: "epoch",
            all: ALL,
        },
        score: "NLL",
        fields,
    }
}

/// A unit of this work.
pub(crate) fn planned(name: &str, status: Status, work: Work) -> PlannedUnit {
    PlannedUnit {
        index: 0,
        unit: unit("x".as_ref(), name, 1),
        status,
        cost: Cost {
            work,
            ..Cost::default()
        },
    }
}

impl Counting {
    pub fn new(folder: &Path, names: &[&str]) -> Self {
        Self {
            units: names.iter().map(|name| unit(folder, name, 1)).collect(),
            ..Self::default()
        }
    }

    /// Other settings, in the same folders.
    pub fn change_config(&mut self) {
        self.units[0].config["rate"] = 2.into();
    }

    fn enter(&self) {
        let mut inside = self.inside.lock().unwrap();
        inside.0 += 1;
        inside.1 += 1;
        self.most_at_once.fetch_max(inside.0, Ordering::SeqCst);
        self.came.notify_all();
        let few = |inside: &mut (usize, usize)| inside.1 < self.meet;
        drop(self.came.wait_while(inside, few).unwrap());
    }

    fn work(&self, unit: &Unit, observer: &dyn Observer) -> Result<Value, HarnessError> {
        let name = unit.names[0].as_str();
        assert!(name != self.panic, "on purpose");
        if name == self.fault {
            return Err(HarnessError::Io {
                action: "read",
                path: unit.folder.clone(),
                source: std::io::Error::other("stale file handle"),
            });
        }
        if name == self.fail {
            return Err(HarnessError::Cell("NaN loss at epoch 2, step 7".into()));
        }
        let mut run = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume)?;
        let last = run.latest_checkpoint()?;
        let done = last.map_or(0, |last| last.state["epochs_done"].as_u64().unwrap());
        if done > 0 {
            observer.event(&Event::Resumed { done });
        }
        for done in done + 1..=ALL {
            let score = Some(100.0);
            observer.event(&Event::Step {
                done: done as f64,
                score,
            });
            observer.event(&Event::Check {
                done,
                score,
                text: "NLL 100.00".into(),
                fields: json!({"nll": 100.0}),
            });
            run.save_checkpoint(&json!({"epochs_done": done}), &[])?;
            let own = self.stop_in == Some((name, done));
            if own && let Some(stop) = &self.stop {
                stop.store(true, Ordering::SeqCst);
            }
            if own
                || self
                    .stop
                    .as_deref()
                    .is_some_and(|s| check_cancelled(s).is_err())
            {
                return Err(HarnessError::Interrupted { epoch: done });
            }
        }
        let result = json!({"nll": 100.0});
        run.finish(&result)?;
        Ok(result)
    }
}

impl Experiment for Counting {
    fn heading(&self) -> Heading {
        Heading {
            title: "Counting".into(),
            facts: vec![("counts", "to five".into())],
            columns: vec!["Net"],
            may_end_early: false,
            remedy: "give fewer `--jobs`",
        }
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        self.measured.lock().unwrap().push(index);
        Ok(Cost {
            work: Work {
                each: 1.0,
                check: 0.5,
                check_every: Some(1),
                last: 0.0,
            },
            needs: Needs {
                memory: 1000 + self.memory,
                disk: 1 << 16,
            },
        })
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        _: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        self.enter();
        let work = std::panic::AssertUnwindSafe(|| self.work(&self.units[index], observer));
        let result = std::panic::catch_unwind(work);
        self.inside.lock().unwrap().0 -= 1;
        result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        match result["nll"].as_f64() {
            Some(nll) => Ok(format!("NLL {nll:.2}")),
            None => Err(HarnessError::Unusable(format!(
                "{}: no `nll`",
                self.units[index].label
            ))),
        }
    }

    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let done = results.iter().flatten().count();
        let text = format!("{done} of {} units are done.", results.len());
        let folder = self.units[0].folder.parent().unwrap().parent().unwrap();
        Ok(Some(Outcome {
            document: Document::of_blocks("Counted", vec![Block::Text(text.clone())]),
            json: json!({"done": done}),
            write: Box::new(move || {
                Ok(vec![helmholtz_report::files::write_text(
                    folder, "table.md", &text,
                )?])
            }),
        }))
    }
}
