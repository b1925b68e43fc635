//! Keyed counter-based random streams, and chance that can be sampled or enumerated.
