//! Backtraces of panics, where there is memory for them.

use std::hint::black_box;
use std::io::Write;
use std::panic::{set_hook, take_hook};

/// What the symbols of a backtrace may take, in bytes.
const SYMBOLS: usize = 256 << 20;

/// Leaves the backtrace of a panic out where there is no memory for it; the message is printed all the same.
///
/// The standard library holds a lock while it prints a backtrace, and takes the same lock when an allocation fails. A process at its
/// limit of memory, with `RUST_BACKTRACE` set, would wait for ever.
pub fn where_memory_allows() {
    let with_backtrace = take_hook();
    set_hook(Box::new(move |panic| {
        let mut symbols = Vec::<u8>::new();
        let allowed = symbols.try_reserve_exact(SYMBOLS);
        black_box(&symbols);
        drop(symbols);
        match allowed {
            Ok(()) => with_backtrace(panic),
            Err(_) => {
                let _ = writeln!(std::io::stderr(), "\n{panic}");
            }
        }
    }));
}
