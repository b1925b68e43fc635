//! Run folders: lock, append-only metrics, atomic checkpoints, provenance.
