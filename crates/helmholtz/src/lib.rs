//! Latent-variable models whose latents cannot be reparameterised.
