//! A folder of named arrays in Zarr format 2, which every release of Zarr in Python reads.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use zarrs::array::{Array, Element};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::Group;
use zarrs::metadata::v2::{ArrayMetadataV2, GroupMetadataV2};
use zarrs::storage::{Bytes, StoreKey, WritableStorageTraits};

use crate::SamplerError;

/// A number or a word that an array holds.
pub(super) trait Entry: Element + Clone {
    /// The type, the fill value and the filters in the metadata of an array. What equals a fill value is missing for
    /// xarray, so that numbers other than NaN are none.
    fn metadata() -> (&'static str, Value, Value);
}

impl Entry for f64 {
    fn metadata() -> (&'static str, Value, Value) {
        ("<f8", json!("NaN"), Value::Null)
    }
}

impl Entry for i64 {
    fn metadata() -> (&'static str, Value, Value) {
        ("<i8", Value::Null, Value::Null)
    }
}

impl Entry for bool {
    fn metadata() -> (&'static str, Value, Value) {
        ("|b1", Value::Null, Value::Null)
    }
}

impl Entry for String {
    fn metadata() -> (&'static str, Value, Value) {
        ("|O", Value::Null, json!([{ "id": "vlen-utf8" }]))
    }
}

/// A folder that is being written.
pub(super) struct Folder {
    path: PathBuf,
    store: Arc<FilesystemStore>,
    /// The metadata of everything in it, by key, which readers like to find in one file.
    metadata: serde_json::Map<String, Value>,
}

impl Folder {
    /// A folder with an empty root.
    ///
    /// # Errors
    /// [`SamplerError::Io`] if it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, SamplerError> {
        std::fs::create_dir(path).map_err(|source| SamplerError::Io {
            action: "create",
            path: path.to_owned(),
            source,
        })?;
        let store = FilesystemStore::new(path).map_err(|e| refused(path, e))?;
        let mut folder = Self {
            path: path.to_owned(),
            store: Arc::new(store),
            metadata: serde_json::Map::new(),
        };
        folder.group("")?;
        Ok(folder)
    }

    /// A group below the root, or the root itself.
    pub fn group(&mut self, name: &str) -> Result<(), SamplerError> {
        let refused = |e: String| refused(&self.path, e);
        let attributes = match name {
            "" => json!({
                "creation_library": env!("CARGO_PKG_NAME"),
                "creation_library_version": env!("CARGO_PKG_VERSION"),
            }),
            _ => json!({}),
        };
        let of_attributes = attributes.as_object().cloned().unwrap_or_default();
        let group = GroupMetadataV2::new().with_attributes(of_attributes);
        let prefix = match name {
            "" => String::new(),
            _ => format!("{name}/"),
        };
        let group = Group::new_with_metadata(self.store.clone(), &format!("/{name}"), group.into())
            .map_err(|e| refused(e.to_string()))?;
        group.store_metadata().map_err(|e| refused(e.to_string()))?;
        self.metadata
            .insert(format!("{prefix}.zgroup"), json!({ "zarr_format": 2 }));
        self.metadata.insert(format!("{prefix}.zattrs"), attributes);
        Ok(())
    }

    /// An array in one chunk, the last index running fastest.
    pub fn array<T: Entry>(
        &mut self,
        path: &str,
        axes: &[&str],
        shape: &[usize],
        values: &[T],
    ) -> Result<(), SamplerError> {
        let refused = |e: String| refused(&self.path, e);
        let (dtype, fill_value, filters) = T::metadata();
        let chunks: Vec<usize> = shape.iter().map(|&n| n.max(1)).collect();
        let metadata = json!({
            "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype,
            "compressor": null, "fill_value": fill_value, "order": "C", "filters": filters,
        });
        let attributes = json!({ "_ARRAY_DIMENSIONS": axes });
        let of_array: ArrayMetadataV2 =
            serde_json::from_value(metadata.clone()).map_err(|e| refused(e.to_string()))?;
        let of_attributes = attributes.as_object().cloned().unwrap_or_default();
        let array = Array::new_with_metadata(
            self.store.clone(),
            &format!("/{path}"),
            of_array.with_attributes(of_attributes).into(),
        )
        .map_err(|e| refused(e.to_string()))?;
        array.store_metadata().map_err(|e| refused(e.to_string()))?;
        if !values.is_empty() {
            array
                .store_chunk(&vec![0; shape.len()], values)
                .map_err(|e| refused(e.to_string()))?;
        }
        self.metadata.insert(format!("{path}/.zarray"), metadata);
        self.metadata.insert(format!("{path}/.zattrs"), attributes);
        Ok(())
    }

    /// Writes the metadata of all into one file, the last of the folder.
    pub fn finish(self) -> Result<(), SamplerError> {
        let all = json!({ "zarr_consolidated_format": 1, "metadata": self.metadata });
        let key = StoreKey::new(".zmetadata").map_err(|e| refused(&self.path, e))?;
        (self.store)
            .set(&key, Bytes::from(all.to_string()))
            .map_err(|e| refused(&self.path, e))
    }
}

fn refused(path: &Path, error: impl ToString) -> SamplerError {
    SamplerError::Io {
        action: "write InferenceData into",
        path: path.to_owned(),
        source: io::Error::other(error.to_string()),
    }
}
