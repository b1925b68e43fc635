//! The configuration that a run folder belongs to.

use std::path::Path;

use serde_json::Value;

use crate::RunError;
use crate::canonical::differences;
use crate::disk::failed;
use crate::identity::{fingerprint, identity};
use crate::names::CONFIG;
use crate::place::{Contents, contents};
use crate::sealed::{self, FORMAT, Unreadable};

/// The configuration of the run folder at `path`; `None` where there is no run.
///
/// Errors: [`RunError::Damaged`], [`RunError::OtherVersion`], [`RunError::NotARunFolder`], [`RunError::Io`].
pub fn read_config(path: impl AsRef<Path>) -> Result<Option<Value>, RunError> {
    let folder = path.as_ref();
    let file = folder.join(CONFIG);
    let damaged = |what: String| RunError::Damaged {
        file: file.clone(),
        what,
        remedy: "restore it from a copy, or start over (`--fresh` keeps the folder aside)",
    };
    match sealed::read(&file) {
        Ok(config) => Ok(Some(config)),
        Err(Unreadable::Missing) if contents(folder)? == Contents::Run => {
            Err(damaged("it is missing".into()))
        }
        Err(Unreadable::Missing) => Ok(None),
        Err(Unreadable::Damaged(what)) => Err(damaged(what)),
        Err(Unreadable::OtherVersion(found)) => Err(RunError::OtherVersion {
            folder: folder.into(),
            found,
            supported: FORMAT,
        }),
        Err(Unreadable::Io(error)) => Err(failed(folder, "read", &file)(error)),
    }
}

/// Nothing where both belong to the same run; else [`RunError::OtherConfig`] with what differs, or [`RunError::OtherData`].
pub(crate) fn same_config(folder: &Path, stored: &Value, asked: &Value) -> Result<(), RunError> {
    let differences = differences(&identity(stored), &identity(asked));
    if !differences.is_empty() {
        return Err(RunError::OtherConfig {
            folder: folder.into(),
            differences,
        });
    }
    match (fingerprint(stored), fingerprint(asked)) {
        (Some(stored), Some(asked)) if stored != asked => Err(RunError::OtherData {
            folder: folder.into(),
            stored: stored.into(),
            asked: asked.into(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_run_of_other_data_is_told_from_one_of_the_same_and_of_unknown_ones() {
        let of = |data: Option<&str>| match data {
            Some(data) => json!({"seed": 1, "fingerprint": data}),
            None => json!({"seed": 1}),
        };
        let same = |stored, asked| same_config(Path::new("run"), &of(stored), &of(asked));
        same(Some("a"), Some("a")).unwrap();
        same(Some("a"), None).unwrap();
        same(None, Some("a")).unwrap();
        let other = same(Some("a"), Some("b"));
        assert!(
            matches!(other, Err(RunError::OtherData { .. })),
            "{other:?}"
        );
    }
}
