//! Sigmoid belief networks with a bottom-up inference net.
