//! `evaluate`: the test NLL of a run's parameters again, with any number of samples.

use super::loading::{Loading, Planning};
use super::reproduce::{End, named_together};
use super::streams::Streams;
use crate::backend::{Built, OnBackend, on_device};
use crate::blocks;
use crate::cli::Evaluate;
use crate::data::{Wanted, load};
use crate::device::Device;
use crate::error::HarnessError;
use crate::kept::Keeps;
use crate::log_likelihoods;
use crate::nets::{AnyModel, Net, OnModel};
use crate::registry::Registry;
use crate::runner::failed;
use crate::trained::Run;
use helmholtz_datasets::{Images, Locator, Splits, caution, random_subset};
use helmholtz_evaluation::{Evaluation, LogLikelihoods, Nll, log_weights_at};
use helmholtz_ops::Backend;
use helmholtz_random::{Purpose, Stream};
use helmholtz_report::files::write_text;
use helmholtz_report::{Block, Cell, Document, Note, Table, markdown, text};
use helmholtz_runs::Provenance;
use helmholtz_training::{Parameters, load_model};
use serde_json::json;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

/// Of a run's own last evaluation: with the run's seed and as many samples the number is the same.
const TEST: Purpose = Purpose::new("test");
const SUBSET: Purpose = Purpose::new("evalset");

/// Carries out a request, all numbers of samples in one pass of the largest; a `stop` before its end leaves no rows.
///
/// # Errors
/// What keeps it from being evaluated: a folder without a run or a checkpoint, missing data or device.
pub fn evaluate(
    args: &Evaluate,
    registry: &Registry,
    locator: &Locator,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let parameters = match args.last {
        true => Parameters::Last,
        false => Parameters::Selected,
    };
    let run = Run::read(&args.folder, parameters, registry)?;
    let seed = args.seed.unwrap_or(run.cell.seed);
    args.device.check_built()?;
    let wanted = Wanted::of_run(&run.cell, &run.folder, args.wanted()?)?;
    let mut loading = Loading::new(streams);
    let data = {
        let _planning = Planning::begin();
        load(&wanted, registry, locator, &mut |event| {
            loading.event(event)
        })?
    };
    run.check_data(&data)?;
    let images = test_images(&data, args.images, seed)?;
    let started = Instant::now();
    let mut samples = args.samples.clone();
    samples.sort_unstable();
    samples.dedup();
    let Found {
        rows,
        log_likelihoods,
    } = on_device(
        args.device,
        Work {
            run: &run,
            images: &images,
            samples: &samples,
            seed,
            threads: match args.device {
                Device::Cpu => available_parallelism().map_or(1, NonZero::get),
                _ => 1,
            },
            told: &|row| {
                if args.json {
                    let line = json!({"event": "row", "row": row});
                    streams.out.line(line.to_string());
                }
            },
            state: &|text| loading.state(text),
            stop,
        },
    )?;
    drop(loading);
    let config = json!({"arguments": format!("{args:?}"), "dataset": data.fingerprint});
    let mut provenance = Provenance::of(&config, seed, args.device.as_str());
    provenance.seconds = started.elapsed().as_secs_f64();
    let head = format!(
        "{}, on {} test images of {}",
        run.label(),
        images.len(),
        data.name
    );
    let caution = caution(&data.name);
    let document = document(&head, caution, &rows, &provenance);
    if args.json {
        let line = json!({"event": "table", "run": head, "rows": rows, "provenance": provenance, "caution": caution});
        streams.out.line(line.to_string());
    } else {
        let shown = text::render(&document, streams.out_colours);
        streams.out.line(shown);
    }
    if let Some(folder) = &args.out {
        let table = markdown::render(&document);
        let mut files = vec![write_text(folder, "evaluation.md", &table)?];
        if let Some(all) = log_likelihoods {
            files.push(folder.join(log_likelihoods::write(folder, &all)?.name));
        }
        let written = named_together(&files);
        streams.err.line(format!("Written to {written}"));
    }
    match stop.load(Ordering::Relaxed) {
        true => Ok(End::Interrupted),
        false => Ok(End::Complete),
    }
}

/// All test images, or a random subset named by the seed.
fn test_images(data: &Splits, count: Option<usize>, seed: u64) -> Result<Images, HarnessError> {
    let there = data.test.len();
    match count {
        None => Ok(data.test.clone()),
        Some(count) if count > there => Err(HarnessError::Unusable(format!(
            "`--images` asks for {count} images, but {} has {there} to test on",
            data.name
        ))),
        Some(count) => {
            let mut stream = Stream::new(seed, SUBSET, [0, 0]);
            Ok(data.test.select(&random_subset(there, count, &mut stream)))
        }
    }
}

fn document(head: &str, caution: Option<&str>, rows: &[Nll], from: &Provenance) -> Document {
    let heads = ["S", "NLL", "Error over images", "-ELBO"];
    let mut table = Table::new("evaluation", "", heads);
    for row in rows {
        table.push([
            Cell::count(row.samples),
            Cell::fixed(row.mean, 3),
            Cell::fixed(row.standard_error, 3),
            Cell::fixed(-row.elbo, 3),
        ]);
    }
    let remark = "In nats. With few samples the NLL is overestimated, most for a broad q.";
    let cautions = caution.map(Note::caution).into_iter();
    let notes = cautions.chain([Note::remark(remark)]).collect();
    let blocks = vec![
        Block::Table(table),
        Block::Notes(notes),
        blocks::provenance(from),
    ];
    Document::of_blocks(head, blocks)
}

/// What was evaluated: nothing if it was stopped.
#[derive(Default)]
pub(crate) struct Found {
    rows: Vec<Nll>,
    log_likelihoods: Option<LogLikelihoods>,
}

pub(crate) struct Work<'a> {
    run: &'a Run,
    images: &'a Images,
    samples: &'a [usize],
    seed: u64,
    threads: usize,
    told: &'a dyn Fn(&Nll),
    state: &'a (dyn Fn(String) + Sync),
    stop: &'a AtomicBool,
}

impl OnBackend for Work<'_> {
    type Output = Found;

    fn on<B: Built>(self) -> Result<Found, HarnessError> {
        let (net, seed) = (Net::of(&self.run.cell)?, self.seed);
        net.build::<B, _>(seed, &Default::default(), self)
    }
}

impl<B: Backend> OnModel<B> for Work<'_> {
    type Output = Found;

    fn on_any(self, model: Box<dyn AnyModel<B>>) -> Result<Found, HarnessError> {
        model.evaluate(self)
    }

    fn on<M: Keeps<B>>(self, model: M) -> Result<Found, HarnessError> {
        let device = Default::default();
        let Run {
            cell,
            checkpoint,
            parameters,
            ..
        } = self.run;
        let model = load_model(model, checkpoint, *parameters, &device).map_err(failed)?;
        let model = cell
            .method()?
            .tested(model.valid(), self.run.epoch().unwrap_or(0));
        let largest = self.samples.iter().copied().max().unwrap_or(0);
        let evaluation = Evaluation {
            samples: largest,
            seed: self.seed,
            purpose: TEST,
            threads: self.threads,
        };
        let (done, all) = (AtomicUsize::new(0), self.images.len());
        let progress = |images: usize| {
            let done = done.fetch_add(images, Ordering::Relaxed) + images;
            (self.state)(format!("S = {largest}: {done} of {all} images"));
            !self.stop.load(Ordering::Relaxed)
        };
        let (images, samples) = (self.images, self.samples);
        let weights = log_weights_at::<B, _>(
            &model,
            images,
            0..all,
            &evaluation,
            samples,
            &device,
            &progress,
        );
        let Some(weights) = weights else {
            return Ok(Found::default());
        };
        let rows = Nll::each(&weights, samples);
        rows.iter().for_each(|row| (self.told)(row));
        Ok(Found {
            rows,
            log_likelihoods: Some(LogLikelihoods::new(samples, &weights)),
        })
    }
}
