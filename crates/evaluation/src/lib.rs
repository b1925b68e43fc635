//! Importance-sampled likelihoods with their standard error.
