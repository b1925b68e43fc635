//! `variance`: measures how noisy the methods' gradients are, and shows it beside what they cost.

use super::evaluate::replaced;
use crate::backend::on_net;
use crate::cli::Variance;
use crate::data::{Wanted, load};
use crate::error::HarnessError;
use crate::nets::Net;
use crate::registry::Registry;
use crate::trained::Run;
use crate::variance::document as view;
use crate::variance::report::Report;
use crate::variance::request::Request;
use crate::works::variance::{Event, Measurement};
use helmholtz_datasets::{DatasetName, Locator, Splits};
use helmholtz_estimators::Entry;
use helmholtz_evaluation::Replication;
use helmholtz_harness::loading::{Loading, Planning};
use helmholtz_harness::reproduce::{End, named_together};
use helmholtz_harness::streams::Streams;
use helmholtz_report::files::write_text;
use helmholtz_report::markdown;
use helmholtz_runs::{Begun, Pieces, Provenance};
use helmholtz_training::Parameters;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Carries out a request, until it is done or `stop` is set; then with what is there. Where it writes, it keeps the rows that are done,
/// and the same request goes on.
///
/// # Errors
/// What keeps it from being measured: unknown names, missing data, device or run. A method that cannot be measured is left out and
/// named, and gives [`End::Failed`].
pub fn variance(
    args: &Variance,
    registry: &Registry,
    locator: &Locator,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    // Everything that can be wrong with the request is found before anything is loaded.
    let (request, net) = request(args, registry)?;
    args.device.check_built()?;
    let data = find_data(args, &request, registry, locator, streams)?;
    let begun = Begun::now();
    let net = net.of_width(data.train.pixels());
    net.check_data(&data.train)?;
    let seed = request.replication.seed;
    let config = json!({"arguments": format!("{args:?}"), "dataset": data.fingerprint});
    let pieces = match &args.out {
        Some(folder) => Pieces::in_folder(folder, &kept_for(args, &request, &data)),
        None => Pieces::none(),
    };
    let (rows, refused) = {
        let mut display = Display::new(&request, args.json, stop, streams);
        let measurement = Measurement {
            request: &request,
            train: &data.train,
            pieces: &pieces,
            watch: &mut |event| display.event(event),
        };
        let rows = on_net(args.device, net, seed, measurement)?;
        (rows, std::mem::take(&mut display.refused))
    };
    let provenance = begun.provenance(&config, seed, args.device.as_str());
    let report = Report::new(&request, &data.name, rows, &refused, provenance);
    let document = view::document(&report);
    match args.json {
        true => {
            let line = json!({"event": "table", "document": document, "table": report});
            streams.out.line(line.to_string());
        }
        false => streams.show(&document),
    }
    if let Some(folder) = &args.out {
        let table = markdown::render(&document);
        let replaced = replaced(folder, "variance.md");
        let paths = [
            write_text(folder, "variance.md", &table)?,
            write_text(folder, "variance.csv", &view::csv(&report))?,
        ];
        let told = if args.json {
            &streams.err
        } else {
            &streams.out
        };
        told.line(format!("Written to {}{replaced}", named_together(&paths)));
    }
    if !stop.load(Ordering::Relaxed) {
        pieces.clear()?;
        return Ok(match refused.is_empty() {
            true => End::Complete,
            false => End::Failed,
        });
    }
    if args.out.is_some() {
        let line = "Stopped. The same command measures what is left.";
        streams.err.line(line);
    }
    Ok(End::Interrupted)
}

/// Everything that the kept numbers depend on.
fn kept_for(args: &Variance, request: &Request, data: &Splits) -> Value {
    let asked = Variance {
        data_dir: None,
        out: None,
        json: false,
        ..args.clone()
    };
    let run = request.run.as_ref();
    let parameters = run.map(|run| run.checkpoint.digests());
    // A row has seconds, which are of the machine.
    let cpu = Provenance::of(&Value::Null, 0, "").cpu;
    json!({"request": format!("{asked:?}"), "parameters": parameters, "data": data.fingerprint, "cpu": cpu})
}

/// The request, with a run's own settings where the arguments give none, and its net.
fn request(args: &Variance, registry: &Registry) -> Result<(Request, Net), HarnessError> {
    let parameters = match args.selected {
        true => Parameters::Selected,
        false => Parameters::Last,
    };
    let run = args
        .run
        .as_deref()
        .map(|folder| Run::read(folder, parameters));
    let run = run.transpose()?;
    let cell = run.as_ref().map(|run| &run.cell);
    let names = match (args.methods.is_empty(), cell) {
        (false, _) => args.methods.clone(),
        (true, Some(cell)) => vec![cell.method.clone()],
        (true, None) => ["jsa", "rws", "rloo"].map(String::from).to_vec(),
    };
    let net = cell.map_or(&args.net, |cell| &cell.net);
    let built = match cell {
        Some(cell) => registry.trial(cell)?.net,
        None => registry.net(net, None)?,
    };
    let extra = cell.is_some_and(|cell| cell.settings.stage1_extra > 0);
    let methods = Request::methods(registry, &names, built.latents())?.into_iter();
    let request = Request {
        net: net.clone(),
        methods: methods
            .map(|entry| Entry {
                method: entry.method.with_stage1_extra(extra),
                ..entry
            })
            .collect(),
        particles: args
            .particles
            .or(cell.map(|cell| cell.settings.particles))
            .unwrap_or(2),
        images: args.batch,
        chains: match args.stage {
            Some(stage) => stage == 2,
            None => run.as_ref().is_some_and(Run::has_chains),
        },
        analytic_kl: cell.is_some_and(|cell| cell.settings.analytic_kl),
        replication: Replication {
            replicates: args.replicates,
            seed: args.seed,
        },
        run,
    };
    request.check_latents(&built)?;
    request.check_particles()?;
    Ok((request, built))
}

fn find_data(
    args: &Variance,
    request: &Request,
    registry: &Registry,
    locator: &Locator,
    streams: &Streams,
) -> Result<Splits, HarnessError> {
    let asked = args.data.wanted()?;
    let wanted = match &request.run {
        Some(run) => Wanted::of_run(&run.cell, registry, &run.folder, asked)?,
        None => asked.unwrap_or(Wanted::Known(DatasetName::BinarizedMnist)),
    };
    let (_planning, mut loading) = (Planning::begin(), Loading::new(streams));
    let data = load(&wanted, registry, locator, &mut |event| {
        loading.event(event)
    })?;
    if let Some(run) = &request.run {
        run.check_data(&data)?;
    }
    let there = data.train.len();
    if there < request.images {
        return Err(HarnessError::Unusable(format!(
            "the mini-batch has {} images, but {} has {there} to train on: give `--batch`",
            request.images, data.name
        )));
    }
    Ok(data)
}

/// A bar for the row in progress on a terminal, and a line for each that is done.
struct Display<'a> {
    bar: ProgressBar,
    json: bool,
    stop: &'a AtomicBool,
    streams: &'a Streams,
    label: String,
    begun: Instant,
    /// Rows that cannot be measured, and why.
    refused: Vec<(String, String)>,
}

impl<'a> Display<'a> {
    fn new(request: &Request, json: bool, stop: &'a AtomicBool, streams: &'a Streams) -> Self {
        let target = match streams.err_is_live {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let length = request.replication.replicates as u64;
        let bar = ProgressBar::with_draw_target(Some(length), target);
        let style = "{msg:28} {wide_bar:.green/dim} {pos}/{len} {eta} left";
        bar.set_style(ProgressStyle::with_template(style).expect("a well-formed template"));
        Self {
            bar,
            json,
            stop,
            streams,
            label: String::new(),
            begun: Instant::now(),
            refused: Vec::new(),
        }
    }

    /// Shows it, and answers whether to go on.
    fn event(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::Begins(label) => {
                self.label = label.to_string();
                self.begun = Instant::now();
                self.bar.reset();
                self.bar.set_message(self.label.clone());
            }
            Event::Replicates(done) => self.bar.set_position(done as u64),
            Event::Refused(error) => {
                let text = format!("{}: {error}", self.label);
                self.bar.suspend(|| self.streams.err.line(text));
                self.refused.push((self.label.clone(), error.to_string()));
            }
            Event::Measured { row, is_new } => {
                let when = match is_new {
                    true => format!("in {:.1} s", self.begun.elapsed().as_secs_f64()),
                    false => "kept from an earlier attempt".into(),
                };
                let made = row.measured.replicates;
                let text = format!("{}: {made} replicates {when}", self.label);
                self.bar.suspend(|| self.streams.err.line(text));
                if self.json {
                    let line = json!({"event": "row", "row": row});
                    self.streams.out.line(line.to_string());
                }
            }
        }
        !self.stop.load(Ordering::Relaxed)
    }
}

impl Drop for Display<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
