//! Gradient estimators for discrete latent-variable models.
