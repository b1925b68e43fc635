//! `evaluate`: the test NLL of a run's parameters again, with any number of samples.

use crate::backend::on_net;
use crate::blocks;
use crate::cli::Evaluate;
use crate::data::{Wanted, load};
use crate::device::Device;
use crate::error::HarnessError;
use crate::log_likelihoods;
use crate::population::Measured;
use crate::registry::Registry;
use crate::trained::Run;
use crate::works::evaluate::{Evaluated, Formula, Tempered, Work, in_pieces};
use helmholtz_datasets::{Images, Locator, Splits, caution, random_subset};
use helmholtz_evaluation::{LogLikelihoods, LogWeights, Nll};
use helmholtz_harness::loading::{Loading, Planning};
use helmholtz_harness::reproduce::{End, named_together};
use helmholtz_harness::streams::Streams;
use helmholtz_random::{Purpose, Stream};
use helmholtz_report::files::write_text;
use helmholtz_report::{Block, Cell, Document, Note, Table, markdown};
use helmholtz_runs::{Begun, Pieces, Provenance};
use helmholtz_training::Parameters;
use serde::Serialize;
use serde_json::{Value, json};
use std::num::NonZero;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

const SUBSET: Purpose = Purpose::new("evalset");

/// Carries out a request, all numbers of samples in one pass of the largest; a `stop` before its end leaves no rows, and one in the parts
/// after it (the released formula, tempered SMC) those of the pass. Where it writes, it keeps what is done, and the same request goes on.
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
    let run = Run::read(&args.folder, parameters)?;
    let trial = registry.trial(&run.cell)?;
    let seed = args.seed.unwrap_or(run.cell.seed);
    args.device.check_built()?;
    let wanted = Wanted::of_run(&run.cell, registry, &run.folder, args.data.wanted()?)?;
    let mut loading = Loading::new(streams);
    let data = {
        let _planning = Planning::begin();
        load(&wanted, registry, locator, &mut |event| {
            loading.event(event)
        })?
    };
    run.check_data(&data)?;
    let images = test_images(&data, args.images, seed)?;
    let begun = Begun::now();
    let mut samples = args.samples.clone();
    samples.sort_unstable();
    samples.dedup();
    let tempering = tempered(&args.tempered)?;
    let threads = threads(args.device);
    let work = |rows: Range<usize>, (formula, samples): (Formula, &[usize]), tempered| {
        let work = Work {
            run: &run,
            method: trial.entry.method,
            images: &images,
            rows,
            samples,
            formula,
            tempered,
            seed,
            threads,
            state: &|text| loading.state(text),
            stop,
        };
        on_net(args.device, trial.net.clone(), seed, work)
    };
    let pieces = match &args.out {
        Some(folder) => Pieces::in_folder(folder, &kept_for(args, &run, &data, &samples, seed)),
        None => Pieces::none(),
    };
    let size = (images.len(), threads);
    let is_released = run.cell.settings.released_nll;
    let found = in_parts(size, &samples, (is_released, tempering), &pieces, &work)?;
    drop(loading);
    let Some(all) = found else {
        return Ok(stopped(args, pieces.has_kept(), streams));
    };
    let config = json!({"arguments": format!("{args:?}"), "dataset": data.fingerprint});
    let provenance = begun.provenance(&config, seed, args.device.as_str());
    let label = run.label();
    let head = format!("{label}, on {} test images of {}", images.len(), data.name);
    print_result(
        args,
        &head,
        &data.name,
        &samples,
        &all,
        &provenance,
        streams,
    )?;
    if all.left_out.is_empty() {
        pieces.clear()?;
    }
    match stop.load(Ordering::Relaxed) {
        true => Ok(End::Interrupted),
        false => Ok(End::Complete),
    }
}

/// Threads that share the images of an evaluation: all cores, and a GPU's queue alone.
fn threads(device: Device) -> usize {
    match device {
        Device::Cpu => available_parallelism().map_or(1, NonZero::get),
        _ => 1,
    }
}

/// Evaluates some rows.
type OfRows<'a> = dyn Fn(
        Range<usize>,
        (Formula, &[usize]),
        Option<[usize; 2]>,
    ) -> Result<Option<Evaluated>, HarnessError>
    + 'a;

/// All that was evaluated.
struct All {
    /// `[images, samples]`.
    weights: Vec<LogWeights>,
    /// The same by the released formula, where the run reports it and it was not stopped.
    released: Option<Vec<LogWeights>>,
    tempered: Option<Tempered>,
    /// What a stop kept from it.
    left_out: Vec<&'static str>,
}

/// What `work` gives of so many images on so many threads; none if it was stopped before the end of its pass.
fn in_parts(
    (images, threads): (usize, usize),
    samples: &[usize],
    (is_released, tempering): (bool, Option<[usize; 2]>),
    pieces: &Pieces,
    work: &OfRows<'_>,
) -> Result<Option<All>, HarnessError> {
    let by = |formula, name| {
        let weights = in_pieces(images, threads, name, pieces, |rows| {
            let found = work(rows, (formula, samples), None)?;
            Ok(found.map(|found| found.weights))
        });
        unless_stopped(weights.map(|parts| parts.concat()))
    };
    let Some(weights) = by(Formula::Likelihood, "weights")? else {
        return Ok(None);
    };
    let released = match is_released {
        true => by(Formula::Released, "released weights")?,
        false => None,
    };
    let tempered = match tempering {
        Some(_) => in_pieces(images, threads, "tempered", pieces, |rows| {
            let found = work(rows, (Formula::Likelihood, &[]), tempering)?;
            Ok(found.and_then(|found| found.tempered))
        }),
        None => Ok(Vec::new()),
    };
    let tempered = unless_stopped(tempered)?;
    let lacks = [
        (is_released && released.is_none(), "the released formula"),
        (tempered.is_none(), "tempered SMC"),
    ];
    let left_out = lacks.into_iter().filter(|(lacks, _)| *lacks);
    Ok(Some(All {
        weights,
        released,
        tempered: tempered.and_then(Tempered::of_parts),
        left_out: left_out.map(|(_, what)| what).collect(),
    }))
}

/// Says what a stop leaves.
fn stopped(args: &Evaluate, has_kept: bool, streams: &Streams) -> End {
    let kept = match (&args.out, has_kept) {
        (Some(_), true) => "The same command goes on.",
        (Some(_), false) => "Nothing was done yet that is kept: the same command starts over.",
        (None, _) => "With `--out` it would keep what is done.",
    };
    streams.err.line(format!(
        "Stopped before the end of its pass: there is nothing to show. {kept}"
    ));
    End::Interrupted
}

/// Everything that the kept numbers depend on.
fn kept_for(args: &Evaluate, run: &Run, data: &Splits, samples: &[usize], seed: u64) -> Value {
    json!({
        "run": run.cell,
        "parameters": run.checkpoint.digests(),
        "selected": !args.last,
        "data": data.fingerprint,
        "images": args.images,
        "samples": samples,
        "tempered": args.tempered,
        "seed": seed,
        "device": args.device.as_str(),
    })
}

/// None of what was stopped.
fn unless_stopped<T>(found: Result<T, HarnessError>) -> Result<Option<T>, HarnessError> {
    match found {
        Err(HarnessError::Interrupted { .. }) => Ok(None),
        found => found.map(Some),
    }
}

/// Says that the file of this name, which is there, is replaced; nothing where it is not there.
pub(super) fn replaced(folder: &Path, name: &str) -> &'static str {
    match folder.join(name).is_file() {
        true => ", in place of what was there",
        false => "",
    }
}

/// Particles and steps.
fn tempered(given: &[usize]) -> Result<Option<[usize; 2]>, HarnessError> {
    match given {
        [] => Ok(None),
        &[particles, steps] => Ok(Some([particles, steps])),
        _ => Err(HarnessError::Unusable(
            "`--tempered` takes two numbers, particles and steps: `--tempered 10,100`".into(),
        )),
    }
}

/// Shows what was evaluated, and writes it where that is asked for.
fn print_result(
    args: &Evaluate,
    head: &str,
    dataset: &str,
    samples: &[usize],
    all: &All,
    provenance: &Provenance,
    streams: &Streams,
) -> Result<(), HarnessError> {
    let numbers = Numbers::new(all, samples, &args.tempered);
    let document = numbers.document(head, caution(dataset), provenance);
    if args.json {
        let Numbers {
            rows,
            released,
            tempered,
            ..
        } = &numbers;
        for row in rows {
            let line = json!({"event": "row", "row": row});
            streams.out.line(line.to_string());
        }
        let table = json!({"run": head, "rows": rows, "released": released, "tempered": tempered, "provenance": provenance});
        let line = json!({"event": "table", "document": document, "table": table});
        streams.out.line(line.to_string());
    } else {
        streams.show(&document);
    }
    if let Some(folder) = &args.out {
        let table = markdown::render(&document);
        let replaced = replaced(folder, "evaluation.md");
        let mut files = vec![write_text(folder, "evaluation.md", &table)?];
        let kept = LogLikelihoods::new(samples, &all.weights);
        files.push(folder.join(log_likelihoods::write(folder, &kept)?.name));
        let written = named_together(&files);
        streams.err.line(format!("Written to {written}{replaced}"));
    }
    Ok(())
}

/// Means over data of tempered estimates, nats, each with its error over data.
#[derive(Debug, Serialize)]
struct Estimates {
    particles: usize,
    steps: usize,
    /// Evaluations of p(x, h) for an image.
    evaluations: usize,
    /// The NLL of the test images.
    nll: [f64; 2],
    /// −ln p(x) of data drawn from the model, at most, at least, and the distance of the two.
    above: [f64; 2],
    below: [f64; 2],
    gap: [f64; 2],
}

impl Estimates {
    fn new(tempered: &Tempered, [particles, steps]: [usize; 2]) -> Self {
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            let measured = Measured::of(&values);
            [measured.mean, measured.standard_error]
        };
        let bounds = tempered.bounds.iter();
        Self {
            particles,
            steps,
            evaluations: tempered.evaluations,
            nll: mean(&mut tempered.log_evidence.iter().map(|own| -own)),
            above: mean(&mut bounds.clone().map(|own| -own.lower)),
            below: mean(&mut bounds.clone().map(|own| -own.upper)),
            gap: mean(&mut bounds.clone().map(|own| own.upper - own.lower)),
        }
    }

    fn table(&self) -> Table {
        let heads = ["Tempered SMC", "Nats", "Error over images"];
        let mut table = Table::new("tempered", "", heads);
        for (what, [mean, error]) in [
            ("NLL of the test images", self.nll),
            ("NLL of data of the model, at most", self.above),
            ("NLL of data of the model, at least", self.below),
            ("distance of the two", self.gap),
        ] {
            table.push([what.into(), Cell::fixed(mean, 3), Cell::fixed(error, 3)]);
        }
        table
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

/// What is shown of an evaluation.
struct Numbers {
    /// One for each S.
    rows: Vec<Nll>,
    /// The same by the released formula.
    released: Option<Vec<Nll>>,
    tempered: Option<Estimates>,
    left_out: Vec<&'static str>,
}

impl Numbers {
    fn new(all: &All, samples: &[usize], tempering: &[usize]) -> Self {
        let each = |weights: &Vec<LogWeights>| Nll::each(weights, samples);
        Self {
            rows: each(&all.weights),
            released: all.released.as_ref().map(each),
            tempered: all.tempered.as_ref().and_then(|tempered| {
                let [particles, steps] = [tempering.first()?, tempering.get(1)?];
                Some(Estimates::new(tempered, [*particles, *steps]))
            }),
            left_out: all.left_out.clone(),
        }
    }

    fn document(&self, head: &str, caution: Option<&str>, from: &Provenance) -> Document {
        let heads = ["S", "NLL", "Error over images", "-ELBO"];
        let mut table = Table::new("evaluation", "", heads);
        for row in &self.rows {
            table.push([
                Cell::count(row.samples),
                Cell::fixed(row.mean, 3),
                Cell::fixed(row.standard_error, 3),
                Cell::fixed(-row.elbo, 3),
            ]);
        }
        let mut blocks = vec![Block::Table(table)];
        let remark = "In nats. With few samples the NLL is overestimated, most for a broad q.";
        let left_out = self.left_out.iter().map(|what| {
            let text = format!("Stopped before the end of {what}, which is left out.");
            Note::caution(text)
        });
        let cautions = caution.map(Note::caution).into_iter();
        let remarks = [Note::remark(remark)].into_iter();
        let mut notes: Vec<Note> = cautions.chain(remarks).chain(left_out).collect();
        if let Some(released) = &self.released {
            let heads = ["S", "By the released formula", "Error over images"];
            let mut table = Table::new("released", "", heads);
            for row in released {
                table.push([
                    Cell::count(row.samples),
                    Cell::fixed(row.mean, 3),
                    Cell::fixed(row.standard_error, 3),
                ]);
            }
            blocks.push(Block::Table(table));
            notes.push(Note::remark(
                "By the released formula: -ln of the mean of p(x | h) over S samples, plus KL(q(h | x) || p(h)). That is what the released code \
                 reports; it estimates no likelihood.",
            ));
        }
        if let Some(tempered) = &self.tempered {
            let Estimates {
                particles,
                steps,
                evaluations,
                ..
            } = tempered;
            blocks.push(Block::Table(tempered.table()));
            notes.push(Note::remark(format!(
                "Tempered: {particles} particles, {steps} steps from q to p, {evaluations} evaluations of p(x, h) an image. Of data drawn \
                 from the model the mean NLL lies between the two bounds."
            )));
        }
        blocks.extend([Block::Notes(notes), blocks::provenance(from)]);
        Document::of_blocks(head, blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: LogWeights = LogWeights {
        log_mean: -1.0,
        mean_log: -2.0,
    };

    /// Of five images, where the released formula is evaluated to its end or stopped.
    fn all(is_released: bool, stops: bool) -> All {
        let work = |rows: Range<usize>, (formula, samples): (Formula, &[usize]), _| {
            let released = matches!(formula, Formula::Released);
            assert!(is_released || !released, "nobody asks for it");
            let evaluated = Evaluated {
                weights: vec![ONE; rows.len() * samples.len()],
                tempered: None,
            };
            Ok(Some(evaluated).filter(|_| !(released && stops)))
        };
        let asked = (is_released, None);
        let all = in_parts((5, 1), &[1, 2], asked, &Pieces::none(), &work);
        all.unwrap().unwrap()
    }

    #[test]
    fn the_released_formula_has_as_many_weights_and_a_stop_leaves_it_out_and_says_so() {
        let released = |all: &All| all.released.as_ref().map(Vec::len);
        let whole = all(true, false);
        assert_eq!((whole.weights.len(), released(&whole)), (10, Some(10)));
        assert!(whole.left_out.is_empty());
        let stopped = all(true, true);
        assert_eq!((stopped.weights.len(), released(&stopped)), (10, None));
        assert_eq!(stopped.left_out, ["the released formula"]);
        let without = all(false, true);
        assert_eq!((without.weights.len(), released(&without)), (10, None));
        assert!(without.left_out.is_empty());
    }
}
