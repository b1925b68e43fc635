//! Whether a folder can be one that all nodes see.

use super::rejected;
use crate::error::HarnessError;
use std::path::Path;

/// File systems in the memory of one machine.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];
/// Folders that every machine has its own of.
const OWN: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];

/// Refuses a folder that other nodes cannot see. What is not refused need not be shared: a node has the last word.
///
/// # Errors
/// A folder in a machine's memory, or below one that every machine has its own of.
pub fn check(out: &Path) -> Result<(), HarnessError> {
    let there = out.ancestors().find(|folder| folder.exists());
    let real = there.and_then(|folder| folder.canonicalize().ok());
    let real = real.unwrap_or_else(|| out.to_path_buf());
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    match why_not(&real, &mounts) {
        None => Ok(()),
        Some(why) => Err(rejected(
            format!("{} is {why}, which other nodes do not see", out.display()),
            "give an `--out` on a file system that all nodes share, such as your home or project folder",
        )),
    }
}

/// Why the nodes cannot share it, as far as its name and `mounts` (as in /proc/self/mounts) tell.
fn why_not(folder: &Path, mounts: &str) -> Option<String> {
    let fields = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?.replace("\\040", " "), fields.next()?))
    });
    let of = fields.filter(|(at, _)| folder.starts_with(at));
    // Of two at the same place the later hides the other.
    let kind = of.max_by_key(|(at, _)| at.len()).map(|(_, kind)| kind);
    if let Some(kind) = kind.filter(|kind| IN_MEMORY.contains(kind)) {
        return Some(format!("in this machine's memory ({kind})"));
    }
    let own = OWN.iter().find(|own| folder.starts_with(own));
    own.map(|own| format!("below this machine's own {own}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::assert_contains;

    #[test]
    fn folders_of_one_machine_are_told_from_others() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /scratch tmpfs rw 0 0\nhome:/home /home nfs4 rw 0 0\n\
                      nas:/tmp /tmp/shared\\040here nfs4 rw 0 0\nlustre /scratch/big lustre rw 0 0\n";
        let why = |folder: &str| why_not(folder.as_ref(), mounts);
        assert_eq!(why("/home/me/runs"), None);
        assert_eq!(why("/scratch/big/me"), None);
        assert!(why("/scratch/me").unwrap().contains("tmpfs"));
        assert!(why("/tmp/me").unwrap().contains("/tmp"));
        assert_eq!(why("/tmpfiles/me"), None);
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_judged_by_where_it_will_be() {
        assert_contains(
            check("/tmp/not/there/yet".as_ref()).unwrap_err(),
            &["`--out`", "/tmp/not/there/yet"],
        );
    }
}
