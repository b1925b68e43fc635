//! Backtraces of panics, where there is memory for them.

use std::hint::black_box;
use std::io::Write;
use std::panic::{set_hook, take_hook};

/// Memory that the symbols of a backtrace may take, in bytes.
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    /// Returns what [`panics`] prints under a limit on its addresses, in KiB.
    fn printed(limit: &str) -> String {
        let under = "ulimit -c 0; ulimit -v \"$1\"; shift; exec \"$@\"";
        let output = Command::new("sh")
            .args(["-c", under, "sh", limit])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture"])
            .arg("backtraces::tests::panics")
            .env("RUST_BACKTRACE", "1")
            .output();
        String::from_utf8_lossy(&output.unwrap().stderr).into_owned()
    }

    #[test]
    #[ignore = "a part of the next"]
    #[should_panic(expected = "told")]
    fn panics() {
        super::where_memory_allows();
        panic!("told");
    }

    #[test]
    fn a_backtrace_is_left_out_where_there_is_no_memory_for_it() {
        for (limit, whole) in [("unlimited", true), ("307200", false)] {
            let text = printed(limit);
            assert!(text.contains("told"), "{limit}: {text}");
            assert_eq!(text.contains("stack backtrace"), whole, "{limit}: {text}");
        }
    }
}
