//! Distributions on tensors with capability traits.
