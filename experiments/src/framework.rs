//! The framework's configuration.

use crate::error::HarnessError;
use burn_std::config::{BurnConfig, RuntimeConfig};
use helmholtz_training::TrainError;
use std::sync::Once;

/// Sets burn's configuration to its defaults and what the environment variables say. So no `burn.toml` or `cubecl.toml` in the
/// present folder, or in one above it, is obeyed, and no present folder is needed. To be called before anything else; once more does nothing.
pub fn configure() {
    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| {
        BurnConfig::set(BurnConfig::default().override_from_env());
        #[cfg(any(feature = "wgpu", feature = "cuda"))]
        {
            use burn_cubecl::cubecl::config::CubeClRuntimeConfig;
            CubeClRuntimeConfig::set(CubeClRuntimeConfig::default().override_from_env());
        }
    });
}

/// What ended a training before its end.
pub(crate) fn ended(error: TrainError) -> HarnessError {
    match error {
        TrainError::Interrupted { epochs, .. } => HarnessError::Interrupted { epoch: epochs },
        TrainError::Run(error) => error.into(),
        error @ (TrainError::Config { .. }
        | TrainError::Diverged { .. }
        | TrainError::NotANumber { .. }) => HarnessError::Again(Box::new(error)),
        error => failed(error),
    }
}

/// An error of burn, or of what stands on it, in a run.
pub(crate) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> HarnessError {
    HarnessError::Cell(Box::new(error))
}
