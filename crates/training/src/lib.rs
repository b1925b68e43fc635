//! The training loop, two-stage schedule, run folders and checkpoints.
