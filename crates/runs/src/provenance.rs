//! Provenance of a run's numbers.

use std::fs;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Stint;
use crate::arithmetic::{ARITHMETIC, unrecorded};
use crate::config_hash;

/// Record of what is needed to make a result again: what was run, and on what. No host name, no path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The source's commit: the environment variable `HELMHOLTZ_COMMIT`, else that of the build, else `unknown`.
    pub commit: String,
    /// The version of the workspace.
    pub version: String,
    /// The compiler, as `rustc --version` says it; empty where the build could not ask.
    pub rustc: String,
    /// The version of the arithmetic, [`ARITHMETIC`]; 1 where none is recorded.
    #[serde(default = "unrecorded")]
    pub arithmetic: u32,
    /// [`config_hash`](crate::config_hash) of the configuration.
    pub config_hash: String,
    /// The run's seed.
    pub seed: u64,
    /// The device that computed, such as `cpu`, `wgpu` or `cuda` with its name.
    pub device: String,
    /// The processor's model, or `unknown`.
    pub cpu: String,
    /// Processor features by which numerical kernels are chosen.
    pub cpu_features: Vec<String>,
    /// Operating system and architecture, such as `linux x86_64`.
    pub os: String,
    /// When the run was first opened (RFC 3339, UTC).
    pub started: String,
    /// Wall time over all resumes, in seconds.
    pub seconds: f64,
    /// Parts of the run, with the program that trained each; empty where nothing was trained, and in older records, where all is
    /// by `commit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Stint>,
}

impl Provenance {
    /// Provenance of numbers that no run folder holds, made here and now with this configuration.
    pub fn of(config: &Value, seed: u64, device: &str) -> Self {
        Self::new(
            &config_hash(config),
            seed,
            device,
            &helmholtz_files::now(),
            0.0,
        )
    }

    /// The lines that stand below a table's numbers.
    pub fn lines(&self) -> Vec<String> {
        let made = format!(
            "Commit {}, arithmetic {}, configuration {}, seed {}; {}, {}, {} ({}).",
            self.commit,
            self.arithmetic,
            self.config_hash,
            self.seed,
            self.rustc,
            self.device,
            self.cpu,
            self.cpu_features.join(" "),
        );
        let when = format!("{:.1} s, started {}.", self.seconds, self.started);
        let several = self.several_programs();
        [made, when].into_iter().chain(several).collect()
    }

    /// Describes which program trained which part, where there was more than one.
    pub fn several_programs(&self) -> Option<String> {
        let part = |stint: &Stint| {
            let Stint {
                commit,
                arithmetic,
                device,
                ..
            } = stint;
            let (from, to) = (stint.from, stint.to);
            format!("commit {commit} (arithmetic {arithmetic}, {device}) from {from} to {to}")
        };
        let parts: Vec<String> = self.history.iter().map(part).collect();
        (parts.len() > 1).then(|| format!("Trained by several programs: {}.", parts.join("; ")))
    }

    pub(crate) fn new(
        config_hash: &str,
        seed: u64,
        device: &str,
        started: &str,
        seconds: f64,
    ) -> Self {
        Self {
            commit: commit(),
            version: env!("CARGO_PKG_VERSION").into(),
            rustc: env!("HELMHOLTZ_RUSTC").into(),
            arithmetic: ARITHMETIC,
            config_hash: config_hash.into(),
            seed,
            device: device.into(),
            cpu: cpu_model(),
            cpu_features: cpu_features(),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            started: started.into(),
            seconds,
            history: Vec::new(),
        }
    }
}

/// The commit that the program says it was built from.
static BUILT_FROM: OnceLock<&str> = OnceLock::new();

/// Tells the commit that a program was built from, for the provenance of its runs; the first call counts.
pub fn built_from(commit: &'static str) {
    let _ = BUILT_FROM.set(commit);
}

fn commit() -> String {
    let known = std::env::var("HELMHOLTZ_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty());
    let built = || {
        BUILT_FROM
            .get()
            .copied()
            .or(option_env!("HELMHOLTZ_COMMIT"))
    };
    known.unwrap_or_else(|| built().unwrap_or("unknown").into())
}

fn cpu_model() -> String {
    let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = known
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| "unknown".into(), |(_, model)| model.trim().into())
}

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<String> {
    let features = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    features
        .into_iter()
        .filter(|(_, there)| *there)
        .map(|(name, _)| name.to_string())
        .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> Vec<String> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provenance_survives_json_in_the_same_bits() {
        let mut here = Provenance::new("hash", u64::MAX, "cpu", "2026-01-01T00:00:00Z", 0.1 + 0.2);
        here.cpu_features.push("made-up".into());
        let text = serde_json::to_string(&here).unwrap();
        assert_eq!(serde_json::from_str::<Provenance>(&text).unwrap(), here);
    }

    #[test]
    fn nothing_is_left_unsaid() {
        let here = Provenance::new("hash", 1, "cpu", "now", 0.0);
        assert!(here.rustc.starts_with("rustc 1."), "{}", here.rustc);
        assert!(!here.commit.is_empty() && !here.cpu.is_empty() && here.os.contains(' '));
    }

    #[test]
    fn provenance_of_one_commit_and_no_arithmetic_still_parses() {
        let here = Provenance::new("hash", 1, "cpu", "now", 0.0);
        let mut old = serde_json::to_value(&here).unwrap();
        old.as_object_mut().unwrap().remove("arithmetic");
        let read: Provenance = serde_json::from_value(old).unwrap();
        assert_eq!((read.arithmetic, read.history.len()), (1, 0));
        assert_eq!(read.several_programs(), None);
    }
}
