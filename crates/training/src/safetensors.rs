//! Parameters in a file that other frameworks read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use burn::module::Module;
use burn::tensor::DType;
use burn::tensor::backend::Backend;
use burn_store::{ModuleSnapshot, ModuleStore, SafetensorsStore, TensorSnapshot};
use helmholtz_runs::write_file;

use crate::TrainError;

/// Most bytes of a header: a megabyte of what a framework says of itself, and a kilobyte a parameter.
const HEADER: u64 = 1 << 20;
const HEADER_OF_PARAMETER: u64 = 1 << 10;

/// Writes every parameter of `model` to the file `path` in the safetensors format, under the names of the model's fields,
/// joined by points (feature `safetensors`). A file that is there is replaced in one step, so that a crash leaves the old one
/// or the new one.
///
/// Tensors have the model's own shapes and numbers. For exchange, not for resuming: the parameters' ids, the optimiser and
/// the chains are left out. In Python, `safetensors.torch.load_file(path)` gives a dictionary of tensors.
///
/// # Errors
/// [`TrainError::Parameters`] if the file cannot be written.
pub fn save_parameters<B: Backend, M: Module<B>>(model: &M, path: &Path) -> Result<(), TrainError> {
    let mut store = SafetensorsStore::from_bytes(None);
    model
        .save_into(&mut store)
        .map_err(|e| problem(path, e.to_string()))?;
    let bytes = store
        .get_bytes()
        .map_err(|e| problem(path, e.to_string()))?;
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| problem(path, "the path names no file".into()))?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    write_file(folder, name, &bytes).map_err(|e| problem(path, e.to_string()))
}

/// `model` with the parameters of a file that [`save_parameters`] or another framework wrote (feature `safetensors`). Every
/// parameter of the model must be there with its shape and kind of number, and nothing else: no number is converted.
///
/// The format has no checksum: numbers that were changed are read as they are.
///
/// # Errors
/// [`TrainError::Parameters`] for a file that is none, or of another model. A file that is longer than one of this model can
/// be is refused before it is read.
pub fn load_parameters<B: Backend, M: Module<B>>(
    mut model: M,
    path: &Path,
) -> Result<M, TrainError> {
    let own = model.collect(None, None, false);
    let numbers: usize = own.iter().map(TensorSnapshot::data_len).sum();
    let most = numbers as u64 + HEADER + HEADER_OF_PARAMETER * own.len() as u64;
    let mut load = || {
        let mut store = SafetensorsStore::from_bytes(Some(read(path, most)?));
        let found = store.get_all_snapshots().map_err(|e| e.to_string())?;
        compare(&forms(own.iter()), &forms(found.values()))?;
        model.load_from(&mut store).map_err(|e| e.to_string())
    };
    load().map_err(|e| problem(path, e))?;
    Ok(model)
}

/// The shape and kind of number of each parameter.
type Forms = BTreeMap<String, (Vec<usize>, DType)>;

fn forms<'a>(parameters: impl Iterator<Item = &'a TensorSnapshot>) -> Forms {
    parameters
        .map(|own| (own.full_path(), (own.shape.to_vec(), own.dtype)))
        .collect()
}

/// Rejects a file whose parameters are not those of the model, by name, shape and type of number.
fn compare(own: &Forms, found: &Forms) -> Result<(), String> {
    if let Some(name) = found.keys().find(|name| !own.contains_key(*name)) {
        return Err(format!("`{name}` is not of this model"));
    }
    for (name, (shape, numbers)) in own {
        match found.get(name) {
            None => return Err(format!("the model's `{name}` is not there")),
            Some((other, _)) if other != shape => {
                return Err(format!(
                    "`{name}` has the shape {other:?}, and the model's is {shape:?}"
                ));
            }
            Some((_, other)) if other != numbers => {
                return Err(format!(
                    "`{name}` holds numbers of type {other:?}; convert them to {numbers:?}, as the model's are"
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The bytes of a file of at most so many.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let longer = || format!("the file is longer than {most} bytes, the most of this model");
    let length = file.metadata().map_err(|e| e.to_string())?.len();
    if length > most {
        return Err(longer());
    }
    let mut bytes = Vec::new();
    let reserved = usize::try_from(length).map(|length| bytes.try_reserve_exact(length));
    if !matches!(reserved, Ok(Ok(()))) {
        return Err(format!("{length} bytes are more than memory holds"));
    }
    // A pipe has no length.
    let mut file = file.take(most + 1);
    file.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    match bytes.len() as u64 > most {
        true => Err(longer()),
        false => Ok(bytes),
    }
}

fn problem(path: &Path, problem: String) -> TrainError {
    let path = PathBuf::from(path);
    TrainError::Parameters { path, problem }
}
