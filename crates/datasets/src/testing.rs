//! What the crate's own tests share.

use std::io::Write;

use sha2::{Digest, Sha256};

use crate::{DataFile, content::hex};

/// The gzip form of `content`.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A published file with this name and content, at home nowhere.
pub(crate) fn published(name: &str, content: &[u8]) -> DataFile {
    DataFile {
        name: name.to_owned(),
        length: content.len() as u64,
        sha256: hex(&Sha256::digest(content)),
        urls: Vec::new(),
    }
}
