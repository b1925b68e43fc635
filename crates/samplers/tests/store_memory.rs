//! A mapped store does not keep in memory what it holds. Alone in its process: it counts the process's own pages.
#![cfg(target_os = "linux")]

use helmholtz_samplers::{ChainStore, Latents, MappedStore};

/// KiB of memory that belong to this process alone, and that the system cannot write to a file and take back.
fn own_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
    let own = status.lines().find_map(|l| l.strip_prefix("RssAnon:"));
    let kib = own.and_then(|own| own.split_whitespace().next());
    kib.and_then(|kib| kib.parse().ok()).expect("a number")
}

#[test]
fn writing_every_row_takes_no_memory_of_our_own() {
    const ROWS: u32 = 1 << 20; // 26 MB
    let folder = tempfile::tempdir().expect("a scratch folder");
    let latents = Latents::new(&[200]).expect("a layout");
    let mut store =
        MappedStore::create(folder.path(), &latents, ROWS as usize).expect("a new store");
    let before = own_kib();
    let states = [0x5a; 1024 * 25];
    for first in (0..ROWS).step_by(1024) {
        let rows: Vec<u32> = (first..first + 1024).collect();
        store.store(&rows, &states).expect("a write");
    }
    assert!(store.is_initialised(ROWS - 1));
    store.sync().expect("a mark");
    store.fold().expect("a fold");
    let grown = own_kib().saturating_sub(before);
    assert!(grown < 4096, "{grown} KiB for a store of 26 MB");
}
