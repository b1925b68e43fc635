//! `certify`: what estimators claim of themselves, held against enumeration.

use crate::cli::Certify;
use crate::error::HarnessError;
use crate::registry::Registry;
use burn::backend::Autodiff;
use burn::module::Module;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_categorical_vae::CategoricalVaeConfig;
use helmholtz_count_vae::CountVaeConfig;
use helmholtz_estimators::{Declaration, Entry, Estimator, LatentKind, Layered, Method};
use helmholtz_harness::loading::Loading;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::Streams;
use helmholtz_invariance::gradients::{Certificate, Subject, certify as certified};
use helmholtz_report::{Block, Cell, Document, Kind, Note, Table};
use helmholtz_sbn::SbnConfig;
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

type Tape = Autodiff<Flex>;

/// Bits of the datum of every certificate.
const DATUM: [f64; 4] = [1.0, 0.0, 1.0, 1.0];

/// Explanation of every table.
const READING: &str = "Models small enough to enumerate, in f64: three bits in one layer, two layers of two bits, two variables of \
    three classes, two binomial counts of two trials. 200,000 estimates each, with K = 2 or the least (20,000 of those that learn temperatures, which differentiate twice). \
    A claim holds if the largest |t| over all coordinates of the gradient is below 7.3 (99 degrees of freedom): a right one of a \
    coordinate fails with probability 1e-10. Where nothing is claimed the bias is the distance of the mean from the gradient in φ, \
    relative to its norm.";

/// Certifies the methods asked for, or those that the program has added; a `stop` leaves those before it.
///
/// # Errors
/// An unknown name, or none.
pub fn certify(
    args: &Certify,
    registry: &Registry,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let entries = chosen(args, registry)?;
    let heads = [
        "Method",
        "Unbiased for",
        "Model",
        "Largest |t|",
        "Bias",
        "Variance",
        "f",
        "Holds",
    ];
    let mut table = Table::new("certificates", "", heads);
    let mut hold = true;
    let loading = Loading::new(streams);
    let mut done = 0;
    for entry in &entries {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        loading.state(format!(
            "certifying {}, {done} of {} are done",
            entry.name,
            entries.len()
        ));
        for (model, found) in certificates(entry) {
            hold &= found.holds();
            if args.json {
                let line = json!({
                    "event": "certificate", "method": entry.name, "model": model, "t": found.t, "bias": found.bias,
                    "variance": found.variance, "evaluations": found.evaluations, "holds": found.holds(),
                });
                streams.out.line(line.to_string());
            }
            table.push(row(entry, model, &found));
        }
        done += 1;
    }
    drop(loading);
    let is_whole = done == entries.len();
    if !args.json {
        let mut notes = vec![Note::remark(READING)];
        if !is_whole {
            let text = format!(
                "Stopped: {done} of {} methods are certified.",
                entries.len()
            );
            notes.push(Note::caution(text));
        }
        let blocks = vec![Block::Table(table), Block::Notes(notes)];
        let document = Document::of_blocks("Certificates", blocks);
        streams.show(&document);
    }
    Ok(match (hold, is_whole) {
        (false, _) => End::Failed,
        (true, true) => End::Complete,
        (true, false) => End::Interrupted,
    })
}

fn chosen(args: &Certify, registry: &Registry) -> Result<Vec<Entry>, HarnessError> {
    let mut chosen = match args.methods.is_empty() {
        true => registry.added_methods().to_vec(),
        false => Vec::new(),
    };
    for name in &args.methods {
        match name.as_str() {
            "all" => chosen.extend(registry.methods()),
            name => chosen.push(registry.method(name)?),
        }
    }
    let mut known = HashSet::new();
    chosen.retain(|entry| known.insert(entry.name));
    match chosen.is_empty() {
        true => Err(HarnessError::Unusable(
            "this program has added no estimator: name methods with `--method`".into(),
        )),
        false => Ok(chosen),
    }
}

fn row(entry: &Entry, model: &str, found: &Certificate) -> [Cell; 8] {
    let holds = match (found.t, found.holds()) {
        (None, _) => "nothing claimed",
        (Some(_), true) => "yes",
        (Some(_), false) => "NO",
    };
    [
        entry.name.into(),
        entry.target.to_string().into(),
        model.into(),
        found.t.map_or_else(|| "".into(), |t| Cell::fixed(t, 2)),
        Cell::fixed(found.bias, 4),
        Cell::scientific(found.variance, 3),
        Cell::count(found.evaluations),
        Cell::of(Kind::Ours, holds),
    ]
}

/// An estimator's certificates on the models that it is defined for.
fn certificates(entry: &Entry) -> Vec<(&'static str, Certificate)> {
    let device = Default::default();
    let bits = |latent: &[usize], seed| {
        let config = SbnConfig {
            visible: DATUM.len(),
            latent: latent.to_vec(),
            learned_prior: true,
            ..SbnConfig::named("linear").expect("a net of that name")
        };
        let model = config.init::<Tape>(seed, DType::F64, &device);
        model.expect("a configuration of a model")
    };
    let takes = |latents| entry.method.domain().takes(latents);
    let mut all = Vec::new();
    if takes(LatentKind::Bits) {
        let subjects = [("3 bits", bits(&[3], 1)), ("2, 2 bits", bits(&[2, 2], 2))];
        let found = |model| certificate(&entry.method, Subject::enumerated(model, &DATUM));
        all.extend(subjects.map(|(name, model)| (name, found(model))));
    }
    if takes(LatentKind::Classes) {
        let config = CategoricalVaeConfig {
            visible: DATUM.len(),
            variables: 2,
            classes: 3,
            hidden: vec![3],
            slope: 0.2,
            free_logits: false,
            learned_prior: true,
        };
        let model = config.init::<Tape>(3, DType::F64, &device);
        let model = model.expect("a configuration of a model");
        let found = certificate(&entry.method, Subject::enumerated(model, &DATUM));
        all.push(("2 of 3 classes", found));
    }
    if takes(LatentKind::Counts) {
        let config = CountVaeConfig {
            visible: DATUM.len(),
            variables: 2,
            trials: Some(2),
            hidden: vec![3],
            slope: 0.2,
            learned_prior: true,
        };
        let model = config.init::<Tape>(3, DType::F64, &device);
        let model = model.expect("a configuration of a model");
        let subject = Subject::of_binomial(model, &DATUM, 2);
        all.push(("2 counts", certificate(&entry.method, subject)));
    }
    all
}

fn certificate<M>(method: &Method, subject: Subject<M>) -> Certificate
where
    M: Module<Tape> + Layered<Tape>,
    Method: Estimator<Tape, M>,
{
    let method = Declaration::claimed(*method);
    let subject = match method.controls().temperature.is_some() {
        true => subject.fewer(),
        false => subject,
    };
    certified(&method, &subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use helmholtz_harness::streams::Captured;

    fn asked(methods: &[&str]) -> Certify {
        Certify {
            methods: methods.iter().map(|name| name.to_string()).collect(),
            json: false,
        }
    }

    #[test]
    fn all_are_all_methods_each_once() {
        let registry = Registry::default();
        let names = |methods: &[&str]| -> Vec<&str> {
            let chosen = chosen(&asked(methods), &registry).unwrap();
            chosen.iter().map(|entry| entry.name).collect()
        };
        let all: Vec<&str> = registry.method_names().collect();
        assert_eq!(names(&["all"]), all);
        assert_eq!(names(&["all", "rloo"]), all);
        let first = names(&["rloo", "all", "rloo"]);
        assert_eq!((first[0], first.len()), ("rloo", all.len()));
        assert!(chosen(&asked(&["none-such"]), &registry).is_err());
        assert!(chosen(&asked(&[]), &registry).is_err());
    }

    #[test]
    fn a_stop_leaves_those_before_it() {
        let (out, err) = (Captured::default(), Captured::default());
        let streams = Captured::streams(&out, &err);
        let stop = AtomicBool::new(true);
        let end = certify(&asked(&["all"]), &Registry::default(), &stop, &streams).unwrap();
        assert_eq!(end, End::Interrupted);
        let text = out.take();
        assert!(
            text.contains("Stopped: 0 of") && text.contains("methods are certified"),
            "{text}"
        );
    }
}
