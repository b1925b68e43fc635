//! Parameters in a file that other frameworks read.

use std::path::Path;

use burn::module::Module;
use burn::tensor::backend::Backend;
use burn_store::{ModuleSnapshot, SafetensorsStore};

use crate::TrainError;

/// Writes every parameter of `model` to the file `path` in the safetensors format, under the names of the model's fields,
/// joined by points. A file that is there is replaced (feature `safetensors`).
///
/// Tensors have the model's own shapes and numbers. For exchange, not for resuming: the parameters' ids, the optimiser and
/// the chains are left out. In Python, `safetensors.torch.load_file(path)` gives a dictionary of tensors.
///
/// # Errors
/// [`TrainError::Parameters`] if the file cannot be written.
pub fn save_parameters<B: Backend, M: Module<B>>(model: &M, path: &Path) -> Result<(), TrainError> {
    let mut store = SafetensorsStore::from_file(path).overwrite(true);
    model.save_into(&mut store).map_err(|e| problem(path, e))
}

/// `model` with the parameters of a file that [`save_parameters`] or another framework wrote (feature `safetensors`). Every
/// parameter of the model must be there, and nothing else.
///
/// # Errors
/// [`TrainError::Parameters`] for a file that is none, or of another model.
pub fn load_parameters<B: Backend, M: Module<B>>(
    mut model: M,
    path: &Path,
) -> Result<M, TrainError> {
    let mut store = SafetensorsStore::from_file(path);
    let applied = model.load_from(&mut store).map_err(|e| problem(path, e))?;
    match applied.unused.first() {
        Some(name) => Err(problem(path, format!("`{name}` is not of this model"))),
        None => Ok(model),
    }
}

fn problem(path: &Path, problem: impl ToString) -> TrainError {
    TrainError::Parameters {
        path: path.to_owned(),
        problem: problem.to_string(),
    }
}
