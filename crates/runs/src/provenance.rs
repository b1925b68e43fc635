//! Provenance of a run's numbers.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

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

/// When work began whose numbers no run folder holds.
#[derive(Clone, Debug)]
pub struct Begun {
    started: String,
    at: Instant,
}

impl Begun {
    /// Here and now.
    pub fn now() -> Self {
        Self {
            started: helmholtz_files::now(),
            at: Instant::now(),
        }
    }

    /// Provenance of the numbers of the work, which ends now.
    pub fn provenance(self, config: &Value, seed: u64, device: &str) -> Provenance {
        Provenance {
            started: self.started,
            seconds: self.at.elapsed().as_secs_f64(),
            ..Provenance::of(config, seed, device)
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
    commit_of(std::env::var("HELMHOLTZ_COMMIT").ok())
}

/// The commit that the environment names, or else that of the program.
fn commit_of(named: Option<String>) -> String {
    let known = named.filter(|commit| !commit.is_empty());
    let built = || {
        BUILT_FROM
            .get()
            .copied()
            .or(option_env!("HELMHOLTZ_COMMIT"))
    };
    known.unwrap_or_else(|| built().unwrap_or("unknown").into())
}

fn cpu_model() -> String {
    model_of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

fn model_of(cpuinfo: &str) -> String {
    let model = cpuinfo
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
    use std::time::Duration;

    use super::*;
    use crate::Position;

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
    fn work_has_the_time_at_which_it_began() {
        let begun = Begun {
            started: "before".into(),
            at: Instant::now() - Duration::from_secs(100),
        };
        let made = begun.provenance(&Value::Null, 1, "cpu");
        assert_eq!(made.started, "before");
        assert!((100.0..200.0).contains(&made.seconds), "{}", made.seconds);
        let (before, begun) = (helmholtz_files::now(), Begun::now());
        let made = begun.provenance(&Value::Null, 1, "cpu");
        assert!(before <= made.started && made.started <= helmholtz_files::now());
    }

    #[test]
    fn the_environment_names_the_commit_or_else_the_program_does() {
        assert_eq!(commit_of(Some("abc".into())), "abc");
        built_from("def");
        built_from("later");
        assert_eq!(commit_of(Some(String::new())), "def");
        assert_eq!(commit_of(None), "def");
        let named = std::env::var("HELMHOLTZ_COMMIT").ok();
        assert_eq!(commit(), commit_of(named));
    }

    #[test]
    fn the_processor_is_the_first_of_its_list() {
        let list = "processor\t: 0\nmodel name\t: One 7\n\nprocessor\t: 1\nmodel name\t: Two\n";
        assert_eq!(model_of(list), "One 7");
        assert_eq!(model_of("vendor_id\t: x"), "unknown");
        let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        assert_eq!(cpu_model(), model_of(&known));
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn the_features_are_those_that_the_system_lists() {
        let known = fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags = known
            .lines()
            .find(|line| line.starts_with("flags"))
            .unwrap();
        let there = |name: &&str| flags.split_whitespace().any(|flag| flag == *name);
        let expected: Vec<&str> = ["avx2", "fma", "avx512f"]
            .into_iter()
            .filter(there)
            .collect();
        assert_eq!(cpu_features(), expected);
    }

    #[test]
    fn a_table_says_what_its_numbers_are_of_and_which_programs_trained() {
        let mut here = Provenance::new("hash", 3, "cpu", "2026-01-01T00:00:00Z", 61.04);
        here.commit = "abc".into();
        here.cpu = "One 7".into();
        here.cpu_features = vec!["avx2".into(), "fma".into()];
        let made = format!(
            "Commit abc, arithmetic {ARITHMETIC}, configuration hash, seed 3; {}, cpu, One 7 (avx2 fma).",
            here.rustc
        );
        let when = "61.0 s, started 2026-01-01T00:00:00Z.";
        assert_eq!(here.lines(), [made.as_str(), when]);
        let at = |epochs, steps| Position { epochs, steps };
        let stint = |commit: &str, from, to| Stint {
            commit: commit.into(),
            version: here.version.clone(),
            rustc: here.rustc.clone(),
            arithmetic: 2,
            device: "cpu".into(),
            cpu_features: Vec::new(),
            from,
            to,
        };
        let (first, second) = (
            stint("abc", at(0, 5), at(2, 0)),
            stint("def", at(2, 0), at(3, 7)),
        );
        here.history = vec![first.clone()];
        assert_eq!(here.several_programs(), None);
        here.history = vec![first, second];
        let several = "Trained by several programs: commit abc (arithmetic 2, cpu) from step 5 to epoch 2; commit def (arithmetic 2, cpu) \
                       from epoch 2 to epoch 3, step 7.";
        assert_eq!(here.several_programs().as_deref(), Some(several));
        assert_eq!(here.lines(), [made.as_str(), when, several]);
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
