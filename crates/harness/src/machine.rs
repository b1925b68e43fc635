//! Whether this machine has the memory and the disk that a plan needs.

use crate::error::HarnessError;
use std::path::Path;

/// The least that a plan needs, in bytes. What it takes in the end is more: nothing is refused that could have run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Memory, while it runs.
    pub memory: u64,
    /// Space on the disk that holds the run folders.
    pub disk: u64,
}

/// Free memory and disk space, in bytes; none where it cannot be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Machine {
    /// Memory.
    pub memory: Option<u64>,
    /// Space on the disk that holds the run folders.
    pub disk: Option<u64>,
}

impl Machine {
    /// This machine, with run folders below `out`, which need not be there yet.
    pub fn with_runs_in(out: &Path) -> Self {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let free = match system.cgroup_limits() {
            Some(limits) => limits.free_memory.min(system.available_memory()),
            None => system.available_memory(),
        };
        let free = address_space().map_or(free, |space| space.min(free));
        let out = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf());
        let there = out.ancestors().find(|folder| folder.exists());
        Self {
            memory: (free > 0).then_some(free),
            disk: there.and_then(|folder| fs4::available_space(folder).ok()),
        }
    }

    /// The same, computing on a GPU: how much memory that has free cannot be told.
    pub fn with_gpu(self) -> Self {
        Self {
            memory: None,
            ..self
        }
    }

    /// # Errors
    /// [`HarnessError::Machine`] if something is needed that is not free.
    pub fn check(&self, needs: Needs, remedy: &str) -> Result<(), HarnessError> {
        let pairs = [
            ("memory", needs.memory, self.memory),
            ("disk", needs.disk, self.disk),
        ];
        for (what, needed, free) in pairs {
            if let Some(free) = free.filter(|&free| free < needed) {
                return Err(HarnessError::Machine {
                    what,
                    needed: bytes(needed),
                    free: bytes(free),
                    remedy: remedy.into(),
                });
            }
        }
        Ok(())
    }
}

/// Returns what is left of this process's limit on addresses (`ulimit -v`), in bytes; none without a limit, or where it cannot be
/// told.
fn address_space() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    left_of_addresses(&limits, &status)
}

/// The soft limit less the memory in use, from the texts that Linux gives of both.
fn left_of_addresses(limits: &str, status: &str) -> Option<u64> {
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let used = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let used: u64 = used.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(1024 * used))
}

/// `5.00 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::BinaryBytes(count).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::assert_contains;

    #[test]
    fn what_a_gpu_has_free_is_not_known_and_the_disk_is() {
        let here = Machine::with_runs_in(std::env::temp_dir().as_path());
        assert!(here.memory.is_some() && here.disk.is_some());
        let gpu = here.with_gpu();
        assert!(gpu.memory.is_none() && gpu.disk.is_some());
    }

    #[test]
    fn what_is_not_there_is_named_with_a_remedy() {
        let machine = Machine {
            memory: Some(1 << 30),
            disk: Some(1 << 20),
        };
        let check = |memory, disk| machine.check(Needs { memory, disk }, "give fewer `--jobs`");
        assert!(check(1 << 30, 1 << 20).is_ok());
        let text = check(3 << 29, 0).unwrap_err().to_string();
        let expected = "not enough memory: at least 1.50 GiB are needed, 1.00 GiB are free; give fewer `--jobs`";
        assert_eq!(text, expected);
        let text = check(0, 5 << 20).unwrap_err().to_string();
        assert_contains(&text, &["not enough disk: at least 5.00 MiB"]);
        let all = Needs {
            memory: u64::MAX,
            disk: u64::MAX,
        };
        assert!(Machine::default().check(all, "").is_ok());
        let memory = Needs { disk: 0, ..all };
        assert!(machine.check(memory, "").is_err());
        assert!(machine.with_gpu().check(memory, "").is_ok());
    }

    #[test]
    fn a_limit_on_addresses_is_memory_that_is_not_there() {
        let limits = |soft: &str| {
            format!("Limit  Soft  Hard  Units\nMax address space   {soft}   unlimited   bytes\n")
        };
        let status = "Name:\tx\nVmPeak:\t 9 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(left_of_addresses(&limits("3145728"), status), Some(2 << 20));
        assert_eq!(left_of_addresses(&limits("7"), status), Some(0));
        assert_eq!(left_of_addresses(&limits("unlimited"), status), None);
        assert_eq!(left_of_addresses("", status), None);
    }

    #[test]
    fn this_machine_has_some_of_both() {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine::with_runs_in(&dir.path().join("not/there/yet"));
        assert!(machine.memory.unwrap() > 1 << 20);
        assert!(machine.disk.unwrap() > 0);
    }
}
