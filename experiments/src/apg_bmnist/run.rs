//! The whole experiment: training in its run folder, then the evaluation.

use super::evaluation::{Evaluation, Frame, Shown, evaluate};
use super::training::Training;
use super::{Digits, Outcome, Settings};
use crate::apg_table::Column;
use crate::backend::{OnBackend, on_device};
use crate::device::Device;
use crate::error::HarnessError;
use crate::picture::{GREY, Picture, write_animation};
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::runner::failed;
use crate::source::Source;
use crate::stepwise::{Request, Stepwise, bytes, seconds_of_step, trained};
use burn::backend::Autodiff;
use burn::tensor::DType;
use helmholtz_datasets::{Locator, load_grey_mnist};
use helmholtz_ops::Backend;
use helmholtz_runs::read_metrics;
use helmholtz_tracker::{Canvas, Tracker};
use serde_json::Value;

impl Stepwise for Settings {
    type Outcome = Outcome;

    const FILES: &'static [&'static str] = &[
        "training.svg",
        "sweeps.svg",
        "sequences-1.png",
        "animated-1.png",
    ];

    const READS_DATA: bool = true;

    fn parse(source: &Source, profile: &str) -> Result<(Self, u64), HarnessError> {
        let settings = Self::parse(source, profile)?;
        let steps = settings.steps;
        Ok((settings, steps))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn seed(&mut self) -> &mut u64 {
        &mut self.seed
    }

    fn plan(&self) -> [String; 2] {
        let (t, e) = (&self.training, &self.evaluation);
        let side = self.model.canvas.side;
        [
            format!(
                "K = {}, L = {}, {} sequences of T = {} frames of {side} x {side} pixels, D = {} digits, a step",
                t.sweeps, t.particles, t.batch, t.frames, t.digits,
            ),
            format!(
                "{} sequences of test images in {} settings, K = {}, L = {}",
                e.sequences,
                e.settings.len(),
                e.sweeps,
                e.particles,
            ),
        ]
    }

    /// What a digit is seen as in each frame, for all particles.
    fn memory(&self) -> u64 {
        let (t, e) = (&self.training, &self.evaluation);
        let pixels = self.model.canvas.digit_area() as u64;
        let crops = |particles: usize, instances: u64, [frames, digits]: [usize; 2]| {
            let [particles, frames, digits] = [particles, frames, digits].map(|n| n as u64);
            bytes(&[particles, instances, frames, digits, pixels])
        };
        let particles = e.prior_particles.max(e.particles.saturating_mul(e.sweeps));
        let evaluations = e.settings.iter();
        let evaluations = evaluations.map(|&setting| crops(particles, e.batch, setting));
        let training = crops(t.particles, t.batch, [t.frames, t.digits]);
        evaluations.fold(training, u64::max)
    }

    fn find_data(&self, locator: &Locator) -> Result<(), HarnessError> {
        load_grey_mnist(locator, &mut |_| {})?;
        Ok(())
    }

    fn seconds_of_step(&self, device: Device, locator: &Locator) -> Result<f64, HarnessError> {
        let [train, _] = self.digits(locator)?;
        let settings = self;
        on_device(device, Time { settings, train })
    }

    fn compute(&self, request: Request<'_>) -> Result<Outcome, HarnessError> {
        (request.going_on)("reading MNIST")?;
        let digits = self.digits(request.locator)?;
        let device = request.device;
        on_device(
            device,
            Run {
                settings: self,
                digits,
                request,
            },
        )
    }

    fn markdown(&self, outcome: &Outcome) -> String {
        outcome.markdown(self)
    }

    fn column(&self, outcome: &Outcome) -> Column {
        outcome.column(self)
    }
}

impl Settings {
    /// Of training and test images.
    fn digits(&self, locator: &Locator) -> Result<[Digits; 2], HarnessError> {
        let mnist = load_grey_mnist(locator, &mut |_| {})?;
        let side = self.model.canvas.digit;
        Ok([&mnist.train, &mnist.test].map(|images| Digits::new(images, side)))
    }
}

struct Time<'a> {
    settings: &'a Settings,
    train: Digits,
}

impl OnBackend for Time<'_> {
    type Output = f64;

    fn on<B: Backend>(self) -> Result<f64, HarnessError> {
        let device = Default::default();
        let objective = Training::<Autodiff<B>>::new(self.settings, &self.train, &device);
        let model = start::<B>(self.settings, &self.train, &device)?;
        seconds_of_step(&model, &objective.map_err(failed)?)
    }
}

/// The model before its first step.
fn start<B: Backend>(
    settings: &Settings,
    train: &Digits,
    device: &B::Device,
) -> Result<Tracker<Autodiff<B>>, HarnessError> {
    let (config, template) = (&settings.model, train.mean());
    let model = config.init(settings.seed, &template, DType::F32, device);
    model.map_err(failed)
}

struct Run<'a> {
    settings: &'a Settings,
    /// Of training and test images.
    digits: [Digits; 2],
    request: Request<'a>,
}

impl OnBackend for Run<'_> {
    type Output = Outcome;

    fn on<B: Backend>(self) -> Result<Outcome, HarnessError> {
        let (settings, device) = (self.settings, Default::default());
        let [train, test] = &self.digits;
        let model = start::<B>(settings, train, &device)?;
        let t = &settings.training;
        let objective = Training::<Autodiff<B>>::new(settings, train, &device).map_err(failed)?;
        let mut request = self.request;
        let config = request.config(
            settings.seed,
            [t.learning_rate, t.beta_2],
            t.check_every,
            t.checkpoint_seconds,
        );
        let model = trained(model, &objective, &config, &device, &mut request)?;
        let going_on = request.going_on;
        let (evaluation, shown) = evaluate(settings, &model, test, &device, going_on)?;
        let folder = request.folder;
        let metrics = read_metrics(folder.path())?;
        training_figure(&metrics).write(folder.path(), "training")?;
        sweeps_figure(settings, &evaluation).write(folder.path(), "sweeps")?;
        for (shown, number) in shown.iter().zip(1..) {
            let path = |name: &str| folder.path().join(format!("{name}-{number}.png"));
            sheet(shown).write(&path("sequences"))?;
            write_animation(&movie(shown), MILLISECONDS, &path("animated"))?;
        }
        let check = |row: Option<&Value>| row.and_then(Value::as_object).cloned();
        Ok(Outcome {
            steps: request.steps,
            checks: [metrics.first(), metrics.last()].map(|row| check(row).unwrap_or_default()),
            evaluation,
            provenance: folder.provenance(settings.seed, request.device.as_str()),
        })
    }
}

fn line(label: String, style: usize, points: Vec<[f64; 2]>) -> Series {
    Series {
        label,
        mark: Mark::Line,
        style,
        points,
    }
}

fn training_figure(metrics: &[Value]) -> Figure {
    let of = |key: &str| -> Vec<[f64; 2]> {
        let point = |row: &Value| Some([row["step"].as_f64()?, row.get(key)?.as_f64()?]);
        metrics.iter().filter_map(point).collect()
    };
    let panel = |title: &str, y: Axis, what: &str| Panel {
        title: title.into(),
        x: Axis::linear("gradient steps"),
        y,
        series: vec![
            line("one shot".into(), 1, of(&format!("{what}_one_shot"))),
            line("after the last sweep".into(), 2, of(&format!("{what}_end"))),
        ],
    };
    Figure {
        title: "Checks during training".into(),
        columns: 3,
        panels: vec![
            panel(
                "Reconstruction",
                Axis::linear("squared error a frame"),
                "mse",
            ),
            panel("Log joint", Axis::linear("nats a sequence"), "log_joint"),
            panel("Tracking", Axis::linear("error, pixels"), "error"),
        ],
    }
}

fn sweeps_figure(settings: &Settings, evaluation: &Evaluation) -> Figure {
    let pairs = settings.evaluation.settings.iter().zip(&evaluation.curves);
    let series = pairs.zip(1..).map(|((&[t, d], curve), style)| {
        let points = curve.iter().zip(1..).map(|(&mse, k)| [f64::from(k), mse]);
        line(format!("T = {t}, D = {d}"), style, points.collect())
    });
    Figure {
        title: "Sequences of test images".into(),
        columns: 1,
        panels: vec![Panel {
            title: "Reconstruction after each sweep".into(),
            x: Axis::linear("K, the one-shot proposal counted"),
            y: Axis::linear("squared error a frame"),
            series: series.collect(),
        }],
    }
}

/// Frames of a sequence on a sheet.
const SHEET_FRAMES: usize = 10;
/// A frame of a moving picture.
const MILLISECONDS: u16 = 150;
/// Pixels of a frame's side in a moving picture, at least.
const MOVIE_SIDE: usize = 192;

/// A frame, each digit in a box.
fn image(canvas: &Canvas, (frame, positions): &Frame) -> Vec<u8> {
    let grey = |&pixel: &f32| (pixel.clamp(0.0, 1.0) * 255.0).round() as u8;
    let mut pixels: Vec<u8> = frame.iter().map(grey).collect();
    let boxes = positions.iter();
    boxes.for_each(|&z| boxed(canvas, z, &mut pixels));
    pixels
}

/// The first frames of the data, and below what is found in them after one shot and after more sweeps.
fn sheet(shown: &Shown) -> Picture {
    let rows = shown.rows.iter().map(|row| {
        let frames = row.iter().take(SHEET_FRAMES);
        frames.map(|frame| image(&shown.canvas, frame)).collect()
    });
    let rows: Vec<Vec<Vec<u8>>> = rows.collect();
    Picture::grid(&rows, shown.canvas.side)
}

/// Frame by frame, the data and beside them what is found.
fn movie(shown: &Shown) -> Vec<Picture> {
    let Canvas { side, .. } = shown.canvas;
    let at = |t: usize| {
        let images = shown.rows.iter().map(|row| image(&shown.canvas, &row[t]));
        let picture = Picture::grid(&[images.collect()], side);
        picture.enlarged(MOVIE_SIDE.div_ceil(side))
    };
    (0..shown.rows[0].len()).map(at).collect()
}

/// Draws the border of a digit's square.
fn boxed(canvas: &Canvas, z: [f64; 2], pixels: &mut [u8]) {
    let footprint = canvas.footprint(z);
    let last = canvas.digit - 1;
    for (pixel, own) in footprint {
        let (row, column) = (own / canvas.digit, own % canvas.digit);
        if [row, column].iter().any(|&at| at == 0 || at == last) {
            pixels[pixel] = pixels[pixel].max(GREY);
        }
    }
}
