//! Readers, checksums and downloads of the data sets.
