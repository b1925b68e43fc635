//! Parameters as safetensors: they come back bit for bit, those of another model are refused, and Python reads them.
//!
//! Python with the package `safetensors` is that of the variable `HELMHOLTZ_PYTHON`, or `python3`; without it the test says
//! SKIPPED. `.ci/python` installs it and runs it.

use std::process::Command;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_sbn::{Sbn, SbnConfig};
use helmholtz_training::{TrainError, load_parameters, save_parameters};
use serde_json::{Value, json};

/// Two layers with a deterministic one inside each factor, and a learned prior.
fn model(seed: u64, dtype: DType, learned_prior: bool) -> Sbn<Flex> {
    let mut config = SbnConfig::named("linear").expect("a net");
    config.visible = 7;
    config.latent = vec![3, 2];
    config.hidden = vec![4];
    config.learned_prior = learned_prior;
    config
        .init(seed, dtype, &Default::default())
        .expect("a net")
}

/// Shape and values of each parameter.
#[derive(Default)]
struct Seen(Vec<(Vec<usize>, Vec<f64>)>);

impl<B: Backend> ModuleVisitor<B> for Seen {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let tensor = param.val();
        self.0
            .push((tensor.dims().to_vec(), tensor.into_data().iter().collect()));
    }
}

fn seen(model: &Sbn<Flex>) -> Vec<(Vec<usize>, Vec<f64>)> {
    let mut seen = Seen::default();
    model.visit(&mut seen);
    seen.0
}

#[test]
fn parameters_come_back_bit_for_bit_and_those_of_another_model_are_refused() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for dtype in [DType::F32, DType::F64] {
        let path = scratch.path().join("model.safetensors");
        let saved = model(1, dtype, true);
        save_parameters(&saved, &path).expect("saved");
        let other = model(2, dtype, true);
        assert_ne!(seen(&other), seen(&saved));
        let loaded = load_parameters(other, &path).expect("loaded");
        assert_eq!(seen(&loaded), seen(&saved));
        // One parameter too many, and one too few.
        let refused = |result| matches!(result, Err(TrainError::Parameters { .. }));
        assert!(refused(load_parameters(model(2, dtype, false), &path)));
        save_parameters(&model(1, dtype, false), &path).expect("saved over it");
        assert!(refused(load_parameters(model(2, dtype, true), &path)));
        std::fs::write(&path, "nothing").expect("written");
        assert!(refused(load_parameters(model(2, dtype, true), &path)));
        assert!(refused(load_parameters(
            model(2, dtype, true),
            &path.join("x")
        )));
    }
}

#[test]
fn python_reads_them() {
    let python = std::env::var("HELMHOLTZ_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python)
        .args(["-c", "import numpy, safetensors"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: {python} has no safetensors; run `.ci/python`");
        return;
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for (dtype, name) in [(DType::F32, "float32"), (DType::F64, "float64")] {
        let path = scratch.path().join("model.safetensors");
        save_parameters(&model(1, dtype, true), &path).expect("saved");
        let parameters: Vec<Value> = (seen(&model(1, dtype, true)).into_iter())
            .map(|(shape, values)| json!({ "shape": shape, "values": values }))
            .collect();
        let read = |parameters: &[Value]| {
            Command::new(&python)
                .args(["-c", include_str!("read.py")])
                .arg(&path)
                .args([name, &json!(parameters).to_string()])
                .output()
                .expect("python starts")
        };
        let output = read(&parameters);
        let [said, complaint] = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        println!("{said}");
        assert!(output.status.success(), "{said}\n{complaint}");
        // Twin: one number of one parameter is another.
        let mut other = parameters.clone();
        other[0]["values"][1] = json!(0.125);
        let twin = read(&other);
        assert!(String::from_utf8_lossy(&twin.stderr).contains("AssertionError"));
    }
}
