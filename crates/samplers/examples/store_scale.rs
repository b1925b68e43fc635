//! What a mapped store of many rows costs, measured:
//!
//! ```console
//! cargo run --release -p helmholtz-samplers --example store_scale -- 100000000 200 [folder]
//! ```
//!
//! It takes twice the store's size on disk and three times while folding, in the folder or else in the system's folder
//! of temporary files, and removes everything at the end.
//!
//! Batches of 1000 rows, uniform over the store, are gathered (loaded) and scattered (stored), for ten seconds each: with
//! the pages where they are (warm), and after all of them were written out and dropped (cold; on Linux only). Cold is what
//! this system takes for cold: of the caches of a virtual machine's host it knows nothing.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use helmholtz_samplers::random::{Purpose, Stream};
use helmholtz_samplers::{ChainStore, Latents, MappedStore};

const BATCH: usize = 1000;
const PHASE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| {
        arguments
            .next()
            .map_or(Ok(default), |number| number.parse())
    };
    let (rows, bits): (usize, usize) = (number(1_000_000)?, number(200)?);
    let parent = arguments.next().map_or_else(std::env::temp_dir, Into::into);
    let scratch = tempfile::tempdir_in(parent)?;
    run(
        u32::try_from(rows)?,
        &Latents::new(&[bits])?,
        scratch.path(),
    )
}

fn run(rows: u32, latents: &Latents, folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("{rows} rows of {latents}, batches of {BATCH}\n");
    println!("phase             seconds     rows/s  memory, MiB: own  mapped files    peak");
    let mut stream = Stream::new(1, Purpose::new("rows"), [0, 0]);

    let start = Instant::now();
    let mut store = MappedStore::create(folder, latents, rows as usize)?;
    report("create", start.elapsed(), rows as usize)?;
    scatter("scatter", &mut store, &mut stream)?;
    gather("gather", &store, &mut stream)?;
    if evict()? {
        gather("gather, cold", &store, &mut stream)?;
        evict()?;
        scatter("scatter, cold", &mut store, &mut stream)?;
    }
    let start = Instant::now();
    let mark = store.sync()?;
    report("sync", start.elapsed(), 0)?;
    let logged = mark.log_bytes as usize / (latents.bytes_per_row() + 8);
    drop(store);

    let start = Instant::now();
    let mut store = MappedStore::open(folder, latents, rows as usize, Some(&mark))?;
    report("open", start.elapsed(), 0)?;
    let start = Instant::now();
    store.fold()?;
    report("fold", start.elapsed(), rows as usize)?;

    let base = folder.join("000000.base").metadata()?.len();
    println!(
        "\n{logged} states were logged and replayed, {} bytes each",
        latents.bytes_per_row() + 8
    );
    println!(
        "{:.3} bytes a row in a base file of {base} bytes",
        base as f64 / f64::from(rows)
    );
    println!(
        "{} of 1000000 states looked at are initialised, all as written",
        check(&store, &mut stream)?
    );
    Ok(())
}

/// The state that a row is given: its bytes are a function of the row.
fn state(row: u32, packed: &mut [u8]) {
    let mut bits = u64::from(row) + 1;
    for eight in packed.chunks_mut(8) {
        bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        eight.copy_from_slice(&bits.to_le_bytes()[..eight.len()]);
    }
}

fn batch(store: &MappedStore, stream: &mut Stream) -> Vec<u32> {
    let below = store.len() as u32;
    (0..BATCH).map(|_| stream.below(below)).collect()
}

fn scatter(
    phase: &str,
    store: &mut MappedStore,
    stream: &mut Stream,
) -> Result<(), Box<dyn Error>> {
    let bytes = store.latents().bytes_per_row();
    let (mut packed, mut spent, mut done) = (vec![0; BATCH * bytes], Duration::ZERO, 0);
    while spent < PHASE {
        let rows = batch(store, stream);
        rows.iter()
            .zip(packed.chunks_exact_mut(bytes))
            .for_each(|(&row, packed)| state(row, packed));
        let start = Instant::now();
        store.store(&rows, &packed)?;
        spent += start.elapsed();
        done += BATCH;
    }
    report(phase, spent, done)
}

fn gather(phase: &str, store: &MappedStore, stream: &mut Stream) -> Result<(), Box<dyn Error>> {
    let mut packed = vec![0; BATCH * store.latents().bytes_per_row()];
    let (mut spent, mut done) = (Duration::ZERO, 0);
    while spent < PHASE {
        let rows = batch(store, stream);
        let start = Instant::now();
        store.load(&rows, &mut packed)?;
        spent += start.elapsed();
        done += BATCH;
    }
    report(phase, spent, done)
}

/// Looks at a million states; how many are initialised.
fn check(store: &MappedStore, stream: &mut Stream) -> Result<usize, Box<dyn Error>> {
    let bytes = store.latents().bytes_per_row();
    let (mut packed, mut expected, mut initialised) = (vec![0; BATCH * bytes], vec![0; bytes], 0);
    for _ in 0..1_000_000 / BATCH {
        let rows = batch(store, stream);
        store.load(&rows, &mut packed)?;
        for (&row, packed) in rows.iter().zip(packed.chunks_exact(bytes)) {
            expected.fill(0);
            if store.is_initialised(row) {
                state(row, &mut expected);
                initialised += 1;
            }
            if packed != expected {
                return Err(
                    format!("the state of row {row} is not the one that was written").into(),
                );
            }
        }
    }
    Ok(initialised)
}

/// Prints a phase, with the memory held after it: the process's own, pages of mapped files, and the most ever.
fn report(phase: &str, spent: Duration, rows: usize) -> Result<(), Box<dyn Error>> {
    let status = if cfg!(target_os = "linux") {
        std::fs::read_to_string("/proc/self/status")?
    } else {
        String::new()
    };
    let mib = |key: &str| -> String {
        let value = status.lines().find_map(|line| {
            line.strip_prefix(key)?
                .split_whitespace()
                .next()?
                .parse::<f64>()
                .ok()
        });
        value.map_or("?".to_owned(), |kib| format!("{:.1}", kib / 1024.0))
    };
    let seconds = spent.as_secs_f64();
    let rate = if rows > 0 {
        format!("{:.0}", rows as f64 / seconds)
    } else {
        String::new()
    };
    let (own, mapped, peak) = (mib("RssAnon:"), mib("RssFile:"), mib("VmHWM:"));
    println!("{phase:<16} {seconds:>8.1} {rate:>10} {own:>17} {mapped:>13} {peak:>7}");
    Ok(())
}

/// Has the system write out and drop all pages of the store's mapping; false where we know no way to.
#[cfg(target_os = "linux")]
fn evict() -> Result<bool, Box<dyn Error>> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let line = maps.lines().find(|line| line.contains("working-copy"));
    let range = line.and_then(|line| line.split_whitespace().next()?.split_once('-'));
    let (first, end) = range.ok_or("the store's mapping is not there")?;
    let (first, end) = (
        usize::from_str_radix(first, 16)?,
        usize::from_str_radix(end, 16)?,
    );
    let (address, len) = (std::ptr::without_provenance_mut(first), end - first);
    // SAFETY: the range is that of a shared mapping of a file: neither call changes what it holds.
    let done = unsafe {
        libc::msync(address, len, libc::MS_SYNC) == 0
            && libc::madvise(address, len, libc::MADV_PAGEOUT) == 0
    };
    if done {
        Ok(true)
    } else {
        Err(std::io::Error::last_os_error().into())
    }
}

#[cfg(not(target_os = "linux"))]
fn evict() -> Result<bool, Box<dyn Error>> {
    Ok(false)
}
