//! Every state of small programs, listed by hand; what is done with a state; and the logs of twins.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use helmholtz_files::{File, create_directory, remove, rename, sync_directory};

use super::*;

/// A file of this name with this content, which is not synced.
fn put(root: &Path, name: &str, content: &[u8]) -> File {
    let mut file = File::create_new(&root.join(name)).unwrap();
    file.write_at(0, content).unwrap();
    file
}

fn recorded(prepare: impl Fn(&Path), program: impl Fn(&Path)) -> Log {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    prepare(&root);
    record(&root, |root| program(root)).0
}

/// A state as text: `folder/`, `file=content`, a zero byte as `0`.
fn text(state: &Image) -> String {
    let entry = |(path, content): (&std::path::PathBuf, &Option<Vec<u8>>)| match content {
        None => format!("{}/", path.display()),
        Some(bytes) => {
            let bytes = String::from_utf8_lossy(bytes).replace('\0', "0");
            format!("{}={bytes}", path.display())
        }
    };
    state.0.iter().map(entry).collect::<Vec<_>>().join(" ")
}

/// All states of a log, combinations, and moments cut short.
fn all(log: &Log, limit: usize) -> (BTreeSet<String>, u64, u64) {
    let mut states = States::new(log, limit);
    let found = states.by_ref().map(|(state, _)| text(&state)).collect();
    (found, states.combinations, states.cut_short)
}

fn set(states: &[&str]) -> BTreeSet<String> {
    states.iter().map(|state| state.to_string()).collect()
}

#[test]
fn a_new_file_is_there_or_not_and_its_content_whole_lost_half_or_zeros() {
    let log = recorded(|_| (), |root| drop(put(root, "a", b"abcd")));
    let states = set(&["", "a=", "a=abcd", "a=ab", "a=0000"]);
    // One at the start, two of the name, eight of name and content.
    assert_eq!(all(&log, 8), (states, 11, 0));
    // Of eight every third.
    assert_eq!(all(&log, 3).1, 1 + 2 + 3);
    assert_eq!(all(&log, 3).2, 1);
    assert_eq!((log.len(), log.is_empty()), (2, false));
    let written = Change::Write {
        node: 1,
        at: 0,
        bytes: b"abcd".to_vec(),
    };
    assert_eq!(log.changes()[1], (written, "a".into()));
    assert!(recorded(|_| (), |_| ()).is_empty());
}

#[test]
fn a_write_of_one_byte_is_whole_or_lost() {
    let log = recorded(|_| (), |root| drop(put(root, "a", b"x")));
    assert_eq!(all(&log, 8), (set(&["", "a=", "a=x"]), 1 + 2 + 4, 0));
}

#[test]
fn what_comes_first_is_what_the_program_did() {
    let log = recorded(|_| (), |root| drop(put(root, "a", b"abcd")));
    assert_eq!(all(&log, 1).0, set(&["", "a=", "a=abcd"]));
    let locked = recorded(|_| (), |root| drop(put(root, "lock", b"abcd")));
    assert_eq!(all(&locked, 1).0, set(&["", "lock=", "lock=abcd"]));
}

#[test]
fn a_cut_is_a_change_unless_it_is_to_the_length_that_is_there() {
    let prepare = |root: &Path| fs::write(root.join("a"), "abcdef").unwrap();
    let cut = |length| {
        let log = recorded(prepare, |root| {
            let file = File::open(&root.join("a")).unwrap();
            file.set_length(length).unwrap();
        });
        all(&log, 99)
    };
    assert_eq!(cut(4), (set(&["a=abcdef", "a=abcd"]), 1 + 2, 0));
    assert_eq!(cut(6), (set(&["a=abcdef"]), 1 + 1, 0));
}

#[test]
fn what_is_synced_stays_and_writes_lie_where_they_were_made() {
    let prepare = |root: &Path| fs::write(root.join("a"), "abcdef").unwrap();
    let log = recorded(prepare, |root| {
        let mut file = File::open(&root.join("a")).unwrap();
        file.write_at(1, b"XY").unwrap();
        file.sync().unwrap();
        // The length that it has, which is no change, and others.
        file.set_length(6).unwrap();
        file.set_length(4).unwrap();
        file.set_length(5).unwrap();
    });
    let expected = [
        "a=abcdef", "a=aXYdef", "a=aXcdef", "a=a00def", "a=aXYd", "a=aXYd0", "a=aXYde",
    ];
    let half = all(&log, 99).0;
    // Half of the two bytes is one.
    assert_eq!(half, set(&expected));
}

#[test]
fn names_go_and_come_with_their_folder_or_not() {
    let prepare = |root: &Path| {
        fs::create_dir(root.join("d")).unwrap();
        fs::write(root.join("d/a"), "1").unwrap();
        fs::write(root.join("d/b"), "2").unwrap();
    };
    let log = recorded(prepare, |root| {
        rename(&root.join("d/a"), &root.join("d/c")).unwrap();
        sync_directory(&root.join("d")).unwrap();
        remove(&root.join("d/b")).unwrap();
        create_directory(&root.join("e")).unwrap();
    });
    let expected = [
        "d/ d/a=1 d/b=2",
        "d/ d/b=2 d/c=1",
        "d/ d/c=1",
        "d/ d/b=2 d/c=1 e/",
        "d/ d/c=1 e/",
    ];
    assert_eq!(all(&log, 99).0, set(&expected));
}

#[test]
fn a_lock_is_whole_or_empty_whether_it_is_new_or_was_there() {
    let write = |root: &Path| {
        let mut file = File::open_or_create(&root.join("lock")).unwrap();
        file.write_at(0, b"abcd").unwrap();
        file.write_at(0, b"ef").unwrap();
    };
    let new = recorded(|_| (), write);
    // Both writes are lost together: the states after each.
    assert_eq!(
        all(&new, 99),
        (
            set(&["", "lock=", "lock=abcd", "lock=efcd"]),
            1 + 2 + 4 + 4,
            0
        )
    );
    let prepare = |root: &Path| {
        fs::write(root.join("a"), "").unwrap();
        fs::write(root.join("lock"), "").unwrap();
        fs::write(root.join("z"), "").unwrap();
    };
    let there = recorded(prepare, write);
    let states = set(&["a= lock= z=", "a= lock=abcd z=", "a= lock=efcd z="]);
    assert_eq!(all(&there, 99), (states, 1 + 2 + 2, 0));
}

#[test]
fn a_state_comes_with_what_was_promised_before_it() {
    let log = recorded(
        |_| (),
        |root| {
            drop(put(root, "a", b"x"));
            promise(1);
            remove(&root.join("a")).unwrap();
            promise(2);
        },
    );
    let states: Vec<(String, u64)> = States::new(&log, 99)
        .map(|(state, promised)| (text(&state), promised))
        .collect();
    let of = |promised| -> BTreeSet<String> {
        let own = states.iter().filter(|(_, own)| *own == promised);
        own.map(|(state, _)| state.clone()).collect()
    };
    assert_eq!(
        [of(0), of(1), of(2)],
        [(); 3].map(|()| set(&["", "a=", "a=x"]))
    );
    assert_eq!(states.len(), 9);
    assert_eq!(log.len(), 5);
    assert_eq!(log.recovery().len(), 2);
    // Nowhere but in a recorded program.
    promise(3);
}

/// Writes `a`, then `b`, each by a synced file and a synced folder, and says how far it was.
fn sound(root: &Path) -> Result<Ended, String> {
    let done = |name: &str| fs::read(root.join(name)).is_ok_and(|found| found == b"1234");
    let from = ["a", "b"].iter().take_while(|name| done(name)).count() as u64;
    for (index, name) in ["a", "b"].iter().enumerate().skip(from as usize) {
        let mut file = File::open_or_create(&root.join(name)).unwrap();
        file.write_at(0, b"1234").unwrap();
        file.sync().unwrap();
        sync_directory(root).unwrap();
        promise(index as u64 + 1);
    }
    Ok(Ended {
        end: "12341234".into(),
        from,
        warnings: Vec::new(),
    })
}

const LIMITS: Limits = Limits {
    combinations: 99,
    crash_again: 0,
    failures: 1000,
};

#[test]
fn a_sound_program_passes_and_its_states_are_counted() {
    let once = check(&sound, LIMITS);
    assert!(once.failures.is_empty(), "{once}");
    assert_eq!((once.second_states, once.cut_short), (0, 0));
    // Five changes a file: name, content, two syncs, promise.
    assert_eq!(once.changes, 10);
    let again = Limits {
        crash_again: 3,
        ..LIMITS
    };
    let twice = check(&sound, again);
    assert_eq!(
        (twice.states, twice.combinations),
        (once.states, once.combinations)
    );
    let every = Limits {
        crash_again: 1,
        ..LIMITS
    };
    let every = check(&sound, every).second_states;
    assert!(0 < twice.second_states && twice.second_states < every);
    let short = |crash_again| {
        let combinations = 1;
        let limits = Limits {
            combinations,
            crash_again,
            ..LIMITS
        };
        check(&sound, limits).cut_short
    };
    let (without, with) = (short(0), short(1));
    assert!(0 < without && without < with, "those of recoveries count");
    let shown = format!(
        "10 operations, {} combinations, {} states, {} states after a second crash, 0 moments cut short, 0 failures",
        twice.combinations, twice.states, twice.second_states
    );
    assert_eq!(twice.to_string(), shown);
}

#[test]
fn a_program_that_does_not_do_what_it_must_is_found_and_told_why() {
    type Fault = fn(&Path, Ended) -> Result<Ended, String>;
    let empty = |root: &Path| fs::read(root.join("a")).is_ok_and(|found| found.is_empty());
    let faults: [(Fault, &str); 5] = [
        (|_, _| Err("no".into()), "it refused to go on: no"),
        (|_, _| panic!("so"), "it panicked"),
        (
            |_, ended| {
                Ok(Ended {
                    end: "x".into(),
                    ..ended
                })
            },
            "it ended in other bits: x instead of 12341234",
        ),
        (
            |_, ended| Ok(Ended { from: 0, ..ended }),
            "it went on from 0 after it had promised 1",
        ),
        (
            |_, ended| {
                Ok(Ended {
                    warnings: vec!["odd".into()],
                    ..ended
                })
            },
            "it took the crash for damage: odd",
        ),
    ];
    for (fault, what) in faults {
        let program = |root: &Path| {
            let (crashed, promised) = (empty(root), root.join("b").exists());
            let ended = sound(root)?;
            match crashed || (promised && what.contains("promised")) {
                true => fault(root, ended),
                false => Ok(ended),
            }
        };
        let report = check(&program, LIMITS);
        let first = report.failures.first().map(|failure| failure.what.as_str());
        assert_eq!(first, Some(what), "{report}");
        let limited = Limits {
            failures: 1,
            ..LIMITS
        };
        assert_eq!(check(&program, limited).failures.len(), 1);
        let shown = report.failures[0].to_string();
        assert!(
            shown.starts_with(what) && shown.contains("\n  a ("),
            "{shown}"
        );
    }
}

#[test]
fn a_twin_is_searched_up_to_its_first_failure_and_not_twice() {
    let limits = Limits {
        crash_again: 1,
        ..LIMITS
    };
    let whole = check(&sound, limits);
    let report = check_twin(&sound, Twin::Unsynced("a"), limits);
    assert_eq!((report.failures.len(), report.second_states), (1, 0));
    assert!(report.states < whole.states, "{report}");
    let runs = Cell::new(0);
    let counted = |root: &Path| {
        runs.set(runs.get() + 1);
        sound(root)
    };
    check_twin(&counted, Twin::Unsynced("a"), limits);
    assert_eq!(runs.get(), 1 + report.states);
}

/// The changes of a log as words.
fn words(log: &Log) -> Vec<String> {
    let word = |(change, path): &(Change, std::path::PathBuf)| {
        let path = path.display();
        match change {
            Change::Create { node, .. } => format!("create {path} {node}"),
            Change::Rename { node, .. } => format!("rename {path} {node}"),
            Change::Write { node, .. } => format!("write {path} {node}"),
            Change::Sync { node } => format!("sync {path} {node}"),
            other => format!("{other:?} {path}"),
        }
    };
    log.changes().iter().map(word).collect()
}

/// A folder under a scratch name with a manifest last, then renamed; and a file beside it.
fn published(root: &Path) {
    let scratch = root.join(".tmp-1");
    create_directory(&scratch).unwrap();
    for name in ["x", "manifest.json"] {
        put(&scratch, name, b"12").sync().unwrap();
    }
    sync_directory(&scratch).unwrap();
    rename(&scratch, &root.join("1")).unwrap();
    sync_directory(root).unwrap();
    put(root, "y", b"3").sync().unwrap();
}

#[test]
fn twins_do_the_same_in_another_order_or_with_fewer_syncs() {
    let log = recorded(|_| (), published);
    let [create, x, manifest, last] = [
        &["create .tmp-1 1"][..],
        &["create .tmp-1/x 2", "write .tmp-1/x 2", "sync .tmp-1/x 2"],
        &[
            "create .tmp-1/manifest.json 3",
            "write .tmp-1/manifest.json 3",
            "sync .tmp-1/manifest.json 3",
        ],
        &["create y 4", "write y 4", "sync y 4"],
    ];
    let (sync, rename) = (&["sync .tmp-1 1"][..], &["rename 1 1", "sync  0"][..]);
    assert_eq!(
        words(&log),
        [create, x, manifest, sync, rename, last].concat()
    );

    let first = Twin::RenamedFirst("1").of(&log);
    assert_eq!(
        words(&first),
        [create, rename, x, manifest, sync, last].concat()
    );
    let other = Twin::RenamedFirst("2").of(&log);
    assert_eq!(words(&other), words(&log));

    // The manifest takes the number of the file that it is created before.
    let early = Twin::ManifestFirst("1").of(&log);
    let renumbered = |lines: &[&str], to: &str| -> Vec<String> {
        let line = |line: &&str| format!("{}{to}", &line[..line.len() - 1]);
        lines.iter().map(line).collect()
    };
    let own = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| line.to_string())
            .collect::<Vec<_>>()
    };
    let expected = [
        own(create),
        renumbered(manifest, "2"),
        own(rename),
        renumbered(x, "3"),
        own(sync),
        own(last),
    ];
    assert_eq!(words(&early), expected.concat());

    let without = |twin: Twin| {
        let (kept, log) = (words(&twin.of(&log)), words(&log));
        let lost = log.into_iter().filter(|word| !kept.contains(word));
        lost.collect::<Vec<_>>()
    };
    assert_eq!(without(Twin::Unsynced("x")), ["sync .tmp-1/x 2"]);
    assert_eq!(without(Twin::UnsyncedFolder(".tmp-1")), ["sync .tmp-1 1"]);
    assert_eq!(without(Twin::UnsyncedFolder("")), ["sync  0"]);
}
