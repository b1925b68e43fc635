//! Every operation on files fails once, in every way that a disk has. The program says so or goes on, and without the fault the
//! same command ends in the same bits.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use helmholtz_crashes::Ended;
use helmholtz_files::{Observer, Op, Timing, Verdict, observe};

mod support;

use support::programs::{alone, marked, train};

/// What is wrong with the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// One operation gives this error.
    Once(i32),
    /// All changes from one operation on give this error.
    From(i32),
    /// A write is cut short, and there is no space.
    Torn,
}

const FAULTS: [Fault; 7] = [
    Fault::Once(libc::EIO),
    Fault::Once(libc::ENOSPC),
    Fault::Once(libc::EMFILE),
    Fault::From(libc::EIO),
    Fault::From(libc::ENOSPC),
    Fault::From(libc::EROFS),
    Fault::Torn,
];

/// Lets the fault befall the operation of this number.
struct Disk {
    fault: Option<Fault>,
    at: u64,
    count: Rc<Cell<u64>>,
}

impl Observer for Disk {
    fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
        let number = self.count.get();
        self.count.set(number + 1);
        let (here, later) = (number == self.at, number >= self.at);
        let reads = matches!(op, Op::Read(_) | Op::Flock(_));
        match self.fault {
            Some(Fault::Once(error)) if here => Err(io::Error::from_raw_os_error(error)),
            Some(Fault::From(error)) if later && !reads => Err(io::Error::from_raw_os_error(error)),
            Some(Fault::Torn) if here => match op {
                Op::Write { bytes, .. } => Ok(Verdict::Torn(bytes.len() / 2)),
                _ => Ok(Verdict::Do),
            },
            _ => Ok(Verdict::Do),
        }
    }

    fn timing(&self) -> Option<Timing> {
        Some(Timing {
            renewal: Duration::from_millis(4),
            patience: Duration::from_millis(2),
        })
    }
}

/// Runs `program` and counts its operations.
fn run(
    program: &dyn Fn(&Path) -> Result<Ended, String>,
    root: &Path,
    fault: Option<Fault>,
    at: u64,
) -> (Result<Ended, String>, u64) {
    let count = Rc::new(Cell::new(0));
    let disk = Disk {
        fault,
        at,
        count: count.clone(),
    };
    let _observed = observe(Box::new(disk));
    (program(root), count.get())
}

/// Faults tried, and how many of them the program noticed.
fn every_fault(name: &str, program: &dyn Fn(&Path) -> Result<Ended, String>) -> (u64, u64) {
    // In memory: the faults are played, and no disk is needed.
    let memory = Path::new("/dev/shm");
    let home = || match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    };
    let whole = home();
    let (expected, operations) = run(program, whole.path(), None, 0);
    let expected = expected.unwrap().end;
    let (mut tried, mut noticed) = (0, 0);
    for fault in FAULTS {
        for at in 0..operations {
            let root = home();
            let root = root.path().canonicalize().unwrap();
            tried += 1;
            match run(program, &root, Some(fault), at).0 {
                Ok(ended) => assert_eq!(ended.end, expected, "{name}: {fault:?} at {at}"),
                Err(error) => {
                    noticed += 1;
                    assert!(error.len() > 20, "{name}: {fault:?} at {at}: {error}");
                }
            }
            let ended = run(program, &root, None, 0).0;
            let ended = ended.unwrap_or_else(|error| panic!("{name}: {fault:?} at {at}: {error}"));
            assert_eq!(ended.end, expected, "{name}: {fault:?} at {at}");
            assert_eq!(ended.warnings, [""; 0], "{name}: {fault:?} at {at}");
        }
    }
    println!("{name}: {operations} operations, {tried} faults, {noticed} noticed, none lost");
    (tried, noticed)
}

#[test]
fn after_every_fault_of_the_disk_the_same_command_ends_in_the_same_bits() {
    let (tried, noticed) = every_fault("run folder", &|root| train(root, 4, 1));
    assert!(tried > 400 && noticed > 200, "{tried} {noticed}");
    let (tried, noticed) = every_fault("chains with marks", &|root| marked(root, 3));
    assert!(tried > 400 && noticed > 200, "{tried} {noticed}");
    let (tried, noticed) = every_fault("chains alone", &|root| alone(root, 6));
    assert!(tried > 200 && noticed > 100, "{tried} {noticed}");
}
