//! `evaluate`: the test NLL of a run's parameters again, with any number of samples.

use crate::backend::on_device;
use crate::blocks;
use crate::cli::Evaluate;
use crate::data::{Wanted, load};
use crate::device::Device;
use crate::error::HarnessError;
use crate::evaluations::Work;
use crate::log_likelihoods;
use crate::registry::Registry;
use crate::trained::Run;
use helmholtz_datasets::{Images, Locator, Splits, caution, random_subset};
use helmholtz_evaluation::{LogLikelihoods, Nll};
use helmholtz_harness::loading::{Loading, Planning};
use helmholtz_harness::reproduce::{End, named_together};
use helmholtz_harness::streams::Streams;
use helmholtz_random::{Purpose, Stream};
use helmholtz_report::files::write_text;
use helmholtz_report::{Block, Cell, Document, Note, Table, markdown, text};
use helmholtz_runs::Provenance;
use helmholtz_training::Parameters;
use serde_json::json;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

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
    let wanted = Wanted::of_run(&run.cell, &run.folder, args.data.wanted()?)?;
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
    let weights = on_device(
        args.device,
        Work {
            run: &run,
            images: &images,
            rows: 0..images.len(),
            samples: &samples,
            seed,
            threads: match args.device {
                Device::Cpu => available_parallelism().map_or(1, NonZero::get),
                _ => 1,
            },
            state: &|text| loading.state(text),
            stop,
        },
    )?;
    drop(loading);
    let rows = weights
        .as_deref()
        .map_or(Vec::new(), |w| Nll::each(w, &samples));
    for row in rows.iter().filter(|_| args.json) {
        let line = json!({"event": "row", "row": row});
        streams.out.line(line.to_string());
    }
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
        if let Some(weights) = weights {
            let all = LogLikelihoods::new(&samples, &weights);
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
