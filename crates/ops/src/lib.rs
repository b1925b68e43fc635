//! Fused tensor operations as a burn backend extension.
