//! What goes to the released code of DISCS and comes back: see `beside.py`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::models::Model;
use crate::{Effective, origin};

type Error = Box<dyn std::error::Error>;

fn file(folder: &Path, name: &str, more: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    folder.join(format!("{name}{more}.json"))
}

/// Writes a model that DISCS has: its parameters, the starts with ln p, and the state that distances are measured from.
pub fn write(folder: &Path, model: &dyn Model, starts: &[Vec<u8>]) -> Result<(), Error> {
    let Some((task, parameters)) = model.of_discs() else {
        return Ok(());
    };
    let log_p: Vec<f64> = starts.iter().map(|x| model.log_density(x)).collect();
    let all = json!({
        "task": task,
        "parameters": parameters,
        "starts": starts,
        "log_p": log_p,
        "origin": origin(model),
    });
    fs::create_dir_all(folder)?;
    Ok(fs::write(file(folder, &model.name(), ""), all.to_string())?)
}

/// What a sampler of DISCS did on the model of this name, if it was run.
pub fn read(
    folder: &Path,
    name: &str,
    task: &str,
    sampler: &str,
) -> Result<Option<Effective>, Error> {
    let path = file(folder, name, &format!("-{sampler}"));
    let Ok(text) = fs::read_to_string(&path) else {
        return Ok(None);
    };
    let found: Value = serde_json::from_str(&text)?;
    let bad = || format!("{} is not what beside.py writes for {task}", path.display());
    let chains = found["distances"].as_array().ok_or_else(bad)?;
    let numbers = |chain: &Value| -> Option<Vec<f64>> {
        chain.as_array()?.iter().map(Value::as_f64).collect()
    };
    let chains: Vec<Vec<f64>> = chains
        .iter()
        .map(numbers)
        .collect::<Option<_>>()
        .ok_or_else(bad)?;
    let microseconds = found["microseconds"].as_f64().ok_or_else(bad)?;
    Ok(Some(Effective::of(&chains, microseconds)))
}
