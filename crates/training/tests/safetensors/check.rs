//! What must hold of a file of parameters that holds any bytes at all: shared with the fuzzer.

use std::path::Path;

use burn_flex::Flex;
use helmholtz_sbn::Sbn;
use helmholtz_training::{TrainError, load_parameters, save_parameters};

/// Loads `model` from its own file at `path`, in which `bytes` stand at `place` and which ends at `length`: it is refused by
/// name, or has the shapes and the type of the model. Returns the model that was loaded.
///
/// # Panics
/// If it is not so.
pub fn check(
    model: &Sbn<Flex>,
    path: &Path,
    (place, length, bytes): (usize, usize, &[u8]),
) -> Option<Sbn<Flex>> {
    save_parameters(model, path).expect("saved");
    let mut file = std::fs::read(path).expect("a file");
    if place + bytes.len() > file.len() {
        file.resize(place + bytes.len(), 0);
    }
    file[place..place + bytes.len()].copy_from_slice(bytes);
    file.truncate(length);
    std::fs::write(path, file).expect("written");
    match load_parameters(model.clone(), path) {
        Ok(loaded) => Some(loaded),
        Err(TrainError::Parameters { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}
