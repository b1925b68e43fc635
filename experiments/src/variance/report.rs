//! The rows, with what must be known to read them.

use crate::works::variance::Request;
pub use crate::works::variance::{Chains, Row};
use helmholtz_datasets::caution;
use helmholtz_estimators::Entry;
use helmholtz_report::Note;
use helmholtz_runs::Provenance;
use serde::Serialize;

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The net's name.
    pub net: String,
    /// The data set's name.
    pub dataset: String,
    /// Images of the mini-batch.
    pub images: usize,
    /// K.
    pub particles: usize,
    /// R.
    pub replicates: usize,
    /// Origin of the parameters.
    pub parameters: String,
    /// The measured methods, the smallest V × seconds first.
    pub rows: Vec<Row>,
    /// Notes that must be known to read them.
    pub notes: Vec<Note>,
    /// Provenance of the numbers.
    pub provenance: Provenance,
}

impl Report {
    /// The report of `rows`, and of those that could not be measured, with why.
    pub fn new(
        request: &Request,
        dataset: &str,
        mut rows: Vec<Row>,
        refused: &[(String, String)],
        provenance: Provenance,
    ) -> Self {
        rows.sort_by(|a, b| a.by_seconds().total_cmp(&b.by_seconds()));
        Self {
            net: request.net.clone(),
            dataset: dataset.to_string(),
            images: request.images,
            particles: request.particles,
            replicates: request.replication.replicates,
            parameters: match &request.run {
                Some(run) => format!("parameters of {}", run.label()),
                None => format!("fresh parameters (seed {})", request.replication.seed),
            },
            notes: notes(request, dataset, &rows, refused),
            rows,
            provenance,
        }
    }
}

/// Cautions first.
fn notes(
    request: &Request,
    dataset: &str,
    rows: &[Row],
    refused: &[(String, String)],
) -> Vec<Note> {
    let mut notes: Vec<Note> = caution(dataset).map(Note::caution).into_iter().collect();
    for (label, why) in refused {
        let text = format!("NOT MEASURED: {label}: {why}.");
        notes.push(Note::caution(text));
    }
    let is_there = |name: &str| rows.iter().any(|row| row.method == name);
    let names = |which: &dyn Fn(&Entry) -> bool| {
        let named = request.methods.iter().filter(|entry| which(entry));
        named.map(|e| e.name).collect::<Vec<_>>().join(", ")
    };
    let is_refused = |name: &str| {
        let mut labels = refused.iter().map(|(label, _)| label.split(',').next());
        labels.any(|label| label == Some(name))
    };
    let missing = names(&|entry| !is_there(entry.name) && !is_refused(entry.name));
    let few = |row: &&Row| row.measured.replicates < request.replication.replicates;
    for row in rows.iter().filter(few) {
        let (label, made) = (row.label(), row.measured.replicates);
        let text = format!("STOPPED: {label} after {made} replicates.");
        notes.push(Note::caution(text));
    }
    if !missing.is_empty() {
        notes.push(Note::caution(format!("STOPPED before {missing}.")));
    }
    notes.push(Note::remark(
        "V is the sample variance of the gradient of the mini-batch mean, summed over parameters, and in V x f and V x s \
         over both groups; f counts the values of f that an estimate takes for an image; ms is the median time of an \
         estimate with its backward pass. V says nothing about bias, and estimates of different gradients do not compare.",
    ));
    if rows.iter().any(|row| row.chains != Chains::None) {
        let own = request.run.as_ref().is_some_and(|run| run.has_chains());
        let start = match own {
            true => "The chains are the run's.",
            false => "The chains were started at draws from q.",
        };
        notes.push(Note::remark(format!(
            "held: given the chain states, the same for every replicate. moving: the chains move on from replicate to \
             replicate, so that V is over their states, too. {start}"
        )));
    }
    let trained = request.run.as_ref().map(|run| run.cell.method.as_str());
    let fresh = names(&|entry| {
        let learns = !entry.method.controls().is_empty();
        learns && trained != Some(entry.name) && is_there(entry.name)
    });
    if !fresh.is_empty() {
        notes.push(Note::remark(format!(
            "{fresh}: what is learned beside the model is fresh, and held fixed."
        )));
    }
    if is_there("rloo") {
        let k = request.particles as f64;
        notes.push(Note::remark(format!(
            "The VIMCO of JSA's released code is rloo without the factor K/(K-1): without it ln V phi is {:.3} lower.",
            2.0 * (k / (k - 1.0)).ln()
        )));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use helmholtz_datasets::DatasetName;
    use helmholtz_estimators::LatentKind;
    use helmholtz_evaluation::Replication;

    fn request() -> Request {
        Request {
            net: "linear".into(),
            methods: vec![],
            particles: 2,
            images: 4,
            chains: false,
            analytic_kl: false,
            replication: Replication {
                replicates: 2,
                seed: 1,
            },
            run: None,
        }
    }

    #[test]
    fn a_method_that_could_not_be_measured_is_named_with_why_and_was_not_stopped() {
        let registry = crate::registry::Registry::default();
        let names = ["jsa", "rloo", "rws"].map(String::from);
        let methods = Request::methods(&registry, &names, LatentKind::Bits).unwrap();
        let request = Request {
            methods,
            ..request()
        };
        let refused = [("jsa, held".to_owned(), "no state".to_owned())];
        let notes = notes(&request, "binarized-mnist", &[], &refused);
        let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(texts[0], "NOT MEASURED: jsa, held: no state.");
        assert_eq!(texts[1], "STOPPED before rloo, rws.");
    }

    #[test]
    fn the_caution_of_a_data_set_comes_first() {
        let request = request();
        let first = |dataset: &str| notes(&request, dataset, &[], &[])[0].clone();
        for name in DatasetName::ALL {
            let caution = name.caution().map(Note::caution);
            let first = first(name.as_str());
            assert_eq!(caution.is_some(), first.is_caution(), "{name}");
            assert!(caution.is_none_or(|caution| caution == first), "{name}");
        }
    }
}
