//! The published files: names, lengths, checksums, homes.

/// A published file that can be found, checked and downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Its name, without `.gz`.
    pub name: String,
    /// Bytes of its decompressed content.
    pub length: u64,
    /// The sha256 of its decompressed content, in lower-case hexadecimal.
    pub sha256: String,
    /// Where it can be downloaded from, its home first; an address that ends in `.gz` gives it gzipped.
    pub urls: Vec<String>,
}

/// A file that has this name at each home, there followed by `suffix`.
pub(crate) fn file(
    name: &str,
    length: u64,
    sha256: &str,
    homes: &[&str],
    suffix: &str,
) -> DataFile {
    DataFile {
        name: name.to_owned(),
        length,
        sha256: sha256.to_owned(),
        urls: homes
            .iter()
            .map(|home| format!("{home}{name}{suffix}"))
            .collect(),
    }
}
