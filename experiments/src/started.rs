//! Build and start of the program.

use std::borrow::Cow;
use std::sync::LazyLock;

/// The commit that the program was built from, where its build knows it.
pub(crate) const BUILT_FROM: Option<&str> = option_env!("HELMHOLTZ_BUILT_FROM");

/// `0.1.0 (commit 1a2b3c4d5e6f, features cpu wgpu, burn 0.21.0)`.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let started = std::env::var("HELMHOLTZ_COMMIT").ok();
        let commit = started.filter(|commit| !commit.is_empty());
        let commit = commit.or(BUILT_FROM.map(String::from));
        let features = [
            ("cpu", cfg!(feature = "cpu")),
            ("wgpu", cfg!(feature = "wgpu")),
            ("cuda", cfg!(feature = "cuda")),
            ("parquet", cfg!(feature = "parquet")),
        ];
        let features = features.iter().filter(|(_, built)| *built);
        let features: Vec<&str> = features.map(|(name, _)| *name).collect();
        format!(
            "{} (commit {}, features {}, burn 0.21.0)",
            env!("CARGO_PKG_VERSION"),
            commit.as_deref().unwrap_or("unknown"),
            features.join(" ")
        )
    });
    &VERSION
}

/// The text with commands as they are typed here: `cargo xtask` in a checkout, `helmholtz` where the program is installed.
pub(crate) fn as_started(text: &str) -> Cow<'_, str> {
    match is_in_target_folder() {
        true => text.into(),
        false => text.replace("cargo xtask ", "helmholtz ").into(),
    }
}

/// Whether the program lies where cargo builds: cargo marks such a folder.
fn is_in_target_folder() -> bool {
    static IS: LazyLock<bool> = LazyLock::new(|| {
        let program = std::env::current_exe().unwrap_or_default();
        let mut folders = program.ancestors().skip(1);
        folders.any(|folder| folder.join("CACHEDIR.TAG").is_file())
    });
    *IS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_tells_commit_and_features() {
        let version = version();
        assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{version}");
        assert!(version.contains("(commit ") && version.contains("features cpu"));
    }

    #[test]
    fn a_program_that_cargo_has_just_built_is_started_by_xtask() {
        assert_eq!(as_started("cargo xtask report"), "cargo xtask report");
    }
}
