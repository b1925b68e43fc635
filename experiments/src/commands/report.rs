//! `report`: every recorded result as one report, with pictures of what trained models have learned.

use crate::artifacts::PictureKind;
use crate::backend::on_net;
use crate::cli::Report;
use crate::data;
use crate::device::Device;
use crate::error::HarnessError;
use crate::kinds::READERS;
use crate::records::{CellRun, Record, What, find, images};
use crate::registry::Registry;
use crate::report::build::{Found, Picture, document, page_of_run};
use crate::works::draw::Draw;
use helmholtz_datasets::{Images, Locator, load};
use helmholtz_harness::loading::Loading;
use helmholtz_harness::plan_text::count;
use helmholtz_harness::reproduce::{End, named_together};
use helmholtz_harness::streams::Streams;
use helmholtz_report::files;
use helmholtz_runs::read_checkpoint;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Carries out a request: finds the runs, and writes the report; again and again where that is asked for.
///
/// # Errors
/// Folders that are not there, or with nothing in them; files that cannot be written; a stop, before anything is written.
pub fn report(
    args: &Report,
    registry: &Registry,
    locator: &Locator,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let mut test = BTreeMap::new();
    let mut first = true;
    loop {
        let found = search(args, streams, first)?;
        let mut artist = Artist {
            registry,
            locator,
            test: &mut test,
            loading: Loading::new(streams),
            streams,
            stop,
        };
        let mut pictures = |record: &Record, run: &CellRun| artist.pictures(record, run);
        let document = match &args.run {
            Some(_) => page_of_run(&found[0], registry, &mut pictures),
            None => document(&found, registry, &mut pictures),
        };
        drop(artist);
        if stop.load(Ordering::Relaxed) {
            return match first {
                true => Err(HarnessError::Interrupted { epoch: 0 }),
                false => Ok(End::Complete),
            };
        }
        let records: Vec<&Record> = found.iter().flat_map(|found| &found.records).collect();
        let finished = records.iter().filter(|record| is_finished(record)).count();
        let again = args.watch.filter(|_| finished < records.len());
        let paths = files::write(&document, again, &args.to)?;
        let counted = format!("{}, {finished} finished", count(records.len(), "run"));
        if first {
            streams.out.line(format!(
                "{counted}.\nWritten to {}; beside them tables (CSV), figures (SVG and CSV) and images.",
                named_together(&paths)
            ));
        } else {
            streams.out.line(format!("{counted}; written again."));
        }
        match again {
            Some(seconds) if waited(seconds, stop) => first = false,
            _ => return Ok(End::Complete),
        }
    }
}

/// Waits; false where it is stopped.
fn waited(seconds: u64, stop: &AtomicBool) -> bool {
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}

fn is_finished(record: &Record) -> bool {
    match &record.what {
        What::Cell(run) => run.status.is_done(),
        What::Other(run) => run.unfinished.is_none(),
    }
}

/// The runs below the folders that are asked for; what is wrong with others is told the first time.
fn search(args: &Report, streams: &Streams, first: bool) -> Result<Vec<Found>, HarnessError> {
    let mut roots: Vec<&Path> = args.run.iter().map(|path| path.as_path()).collect();
    // What is recorded is there where the repository is; asked for by its name, it must be.
    if args.run.is_none() && (args.results.is_dir() || args.out.is_empty()) {
        roots.push(&args.results);
    }
    roots.extend(args.out.iter().map(|path| path.as_path()));
    let (mut found, mut searched) = (Vec::new(), Vec::new());
    for root in roots {
        if !root.is_dir() {
            return Err(HarnessError::Unusable(format!(
                "there is no folder {}: start in the repository, or name a folder of runs with `--out`, such as `--out runs`",
                root.display()
            )));
        }
        let known = root.canonicalize().unwrap_or(root.to_path_buf());
        if searched.contains(&known) {
            continue;
        }
        searched.push(known);
        let (records, problems) = find(root, READERS)?;
        // A run folder itself, or one whose last part says nothing, is called as it was typed.
        let root = root.to_string_lossy().trim_end_matches('/').to_string();
        for problem in problems.iter().filter(|_| first) {
            streams.err.line(format!("warning: {root}/{problem}"));
        }
        found.push(Found {
            root,
            records,
            problems,
        });
    }
    if found.iter().all(|found| found.records.is_empty()) {
        let roots: Vec<&str> = found.iter().map(|found| found.root.as_str()).collect();
        return Err(HarnessError::Unusable(format!(
            "there are no runs in {}; `cargo xtask reproduce table1` makes some in `runs`, and `--out runs` reports them",
            roots.join(", ")
        )));
    }
    Ok(found)
}

/// Draws what runs have learned.
struct Artist<'a> {
    registry: &'a Registry,
    locator: &'a Locator,
    /// The test images by data set, as far as they were needed; none where they are not on this machine.
    test: &'a mut BTreeMap<String, Option<Images>>,
    loading: Loading,
    streams: &'a Streams,
    stop: &'a AtomicBool,
}

impl Artist<'_> {
    /// Pictures from a run's checkpoint, of the selected parameters once there are some, or those that it keeps. A run that cannot
    /// be drawn is told, and the report goes on without its pictures.
    fn pictures(&mut self, record: &Record, run: &CellRun) -> Vec<Picture> {
        if self.stop.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.draw(record, run).unwrap_or_else(|error| {
            let line = format!("warning: no pictures of {}: {error}", record.place);
            self.streams.err.line(line);
            Vec::new()
        })
    }

    fn draw(&mut self, record: &Record, run: &CellRun) -> Result<Vec<Picture>, HarnessError> {
        let Some(checkpoint) = read_checkpoint(&record.folder)? else {
            return kept_pictures(&record.folder);
        };
        let trial = self.registry.trial(&run.cell)?;
        self.loading.state(format!("drawing {}", record.place));
        let test = self.test(&run.cell.dataset);
        let draw = Draw {
            cell: &run.cell,
            method: trial.entry.method,
            checkpoint: &checkpoint,
            test,
        };
        on_net(Device::Cpu, trial.net, run.cell.seed, draw)
    }

    /// The test images of a data set, if they are on this machine.
    fn test(&mut self, dataset: &str) -> Option<&Images> {
        if !data::is_findable(dataset) {
            return None;
        }
        if !self.test.contains_key(dataset) {
            let offline = self.locator.clone().offline();
            let loaded = dataset
                .parse()
                .and_then(|name| load(name, &offline, &mut |event| self.loading.event(event)));
            if let Err(error) = &loaded {
                let line = format!("no reconstructions of {dataset}: {error}");
                self.streams.err.line(line);
            }
            let test = loaded.ok().map(|splits| splits.test);
            self.test.insert(dataset.to_string(), test);
        }
        self.test[dataset].as_ref()
    }
}

/// The pictures that a record keeps in place of a checkpoint.
fn kept_pictures(folder: &Path) -> Result<Vec<Picture>, HarnessError> {
    let pictures = images(folder)?.into_iter().filter_map(|(name, bytes)| {
        let stem = name.strip_suffix(".png")?;
        let shown = PictureKind::of(&name).map(|kind| kind.caption().to_string());
        Some((shown.unwrap_or_else(|| stem.replace('-', " ")), bytes))
    });
    Ok(pictures.collect())
}
