//! The mapped store under kills: cuts and damage at every byte of its files, and every instant of a fold.

use std::fs;
use std::path::Path;

use helmholtz_samplers::{ChainStore, Latents, MappedStore, Mark, MemoryStore, SamplerError};
use proptest::prelude::*;
use tempfile::TempDir;

const ROWS: usize = 19;

fn latents() -> Latents {
    Latents::new(&[13, 7]).expect("a layout") // 3 bytes a row
}

fn create(folder: &Path) -> MappedStore {
    MappedStore::create(folder, &latents(), ROWS).expect("a new store")
}

fn open(folder: &Path, mark: Option<&Mark>) -> Result<MappedStore, SamplerError> {
    MappedStore::open(folder, &latents(), ROWS, mark)
}

/// All states, and which rows have one.
type Contents = (Vec<u8>, Vec<bool>);

fn contents(store: &impl ChainStore) -> Contents {
    let rows: Vec<u32> = (0..store.len() as u32).collect();
    let mut packed = vec![0; rows.len() * store.latents().bytes_per_row()];
    store.load(&rows, &mut packed).expect("all rows exist");
    (
        packed,
        rows.iter().map(|&row| store.is_initialised(row)).collect(),
    )
}

/// The i-th of many different writes.
fn write(store: &mut impl ChainStore, i: u8) {
    let rows = [u32::from(i) % 19, u32::from(i) * 7 % 19];
    store.store(&rows, &[i, 1, 2, i, 3, i]).expect("a write");
}

/// A copy of a store's folder, to be harmed.
fn copy(folder: &Path) -> TempDir {
    let copied = tempfile::tempdir().expect("a scratch folder");
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, copied.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    copied
}

fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !name.starts_with("lock"))
        .collect();
    names.sort();
    names
}

/// A store of generation 0 with its contents and mark after each write: `[0]` before the first.
fn history(folder: &Path, writes: u8) -> Vec<(Contents, Mark)> {
    let mut store = create(folder);
    let mut history = vec![(contents(&store), store.sync().expect("a mark"))];
    for i in 0..writes {
        write(&mut store, i);
        history.push((contents(&store), store.sync().expect("a mark")));
    }
    history
}

#[test]
fn it_holds_what_a_memory_store_holds() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (mut mapped, mut memory) = (
        create(folder.path()),
        MemoryStore::new(&latents(), ROWS).expect("a store"),
    );
    for i in 0..40 {
        write(&mut mapped, i);
        write(&mut memory, i);
        assert_eq!(contents(&mapped), contents(&memory));
    }
    assert!(matches!(
        mapped.store(&[19], &[0; 3]),
        Err(SamplerError::Row { row: 19, rows: 19 })
    ));
    assert!(matches!(
        mapped.load(&[1], &mut [0; 4]),
        Err(SamplerError::Length { .. })
    ));
    assert_eq!(contents(&mapped), contents(&memory));
}

#[test]
fn every_mark_can_be_returned_to_and_what_came_later_is_discarded() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let history = history(folder.path(), 6);
    for (then, mark) in history.iter().rev() {
        let copied = copy(folder.path());
        let mut store = open(copied.path(), Some(mark)).expect("a mark within the log");
        assert_eq!(&contents(&store), then);
        assert_eq!(store.discarded(), history[6].1.log_bytes - mark.log_bytes);
        // The run goes on from there, to other states than before, and they stay.
        write(&mut store, 77);
        let (now, mark) = (contents(&store), store.sync().expect("a mark"));
        drop(store);
        assert_eq!(
            contents(&open(copied.path(), Some(&mark)).expect("the new mark")),
            now
        );
        assert_eq!(
            contents(&open(copied.path(), None).expect("the end of the log")),
            now
        );
    }
}

#[test]
fn a_log_cut_at_any_byte_gives_its_whole_records_and_refuses_later_marks() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let history = history(folder.path(), 2);
    let log = fs::read(folder.path().join("000000.log")).expect("the log");
    let header = history[0].1.log_bytes as usize;
    let record = (history[1].1.log_bytes as usize - header) / 2;
    for cut in 0..=log.len() {
        let cut_here = || {
            let copied = copy(folder.path());
            fs::write(copied.path().join("000000.log"), &log[..cut]).expect("a torn log");
            copied
        };
        for (then, mark) in &history {
            let copied = cut_here();
            match open(copied.path(), Some(mark)) {
                Ok(store) => {
                    assert!(mark.log_bytes as usize <= cut);
                    assert_eq!(&contents(&store), then, "cut at {cut}");
                }
                Err(SamplerError::MarkBeyondLog { .. }) => {
                    assert!((mark.log_bytes as usize) > cut && cut >= header)
                }
                Err(SamplerError::Damaged { .. }) => assert!(cut < header),
                Err(other) => panic!("cut at {cut}: {other}"),
            }
        }
        let copied = cut_here();
        match open(copied.path(), None) {
            Err(error) => assert!(cut < header, "cut at {cut}: {error}"),
            Ok(store) => {
                assert_eq!(
                    store.discarded() as usize,
                    (cut - header) % record,
                    "only the torn record is lost"
                );
                let whole = (cut - header) / record;
                let mut expected = MemoryStore::new(&latents(), ROWS).expect("a store");
                (0..whole / 2).for_each(|i| write(&mut expected, i as u8));
                if whole % 2 == 1 {
                    let i = (whole / 2) as u8;
                    expected
                        .store(&[u32::from(i)], &[i, 1, 2])
                        .expect("half a write");
                }
                assert_eq!(contents(&store), contents(&expected), "cut at {cut}");
                drop(store);
                assert_eq!(
                    fs::metadata(copied.path().join("000000.log"))
                        .expect("the log")
                        .len() as usize,
                    header + whole * record
                );
            }
        }
    }
}

#[test]
fn a_flipped_byte_anywhere_in_the_log_ends_it_before_the_damage() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let history = history(folder.path(), 2);
    let log = fs::read(folder.path().join("000000.log")).expect("the log");
    for at in 0..log.len() {
        let copied = copy(folder.path());
        let mut damaged = log.clone();
        damaged[at] ^= 0x10;
        fs::write(copied.path().join("000000.log"), damaged).expect("a damaged log");
        for (then, mark) in &history {
            let harmed = copy(copied.path());
            match open(harmed.path(), Some(mark)) {
                Ok(store) => {
                    assert!(
                        mark.log_bytes as usize <= at,
                        "damage at {at} before the mark was not noticed"
                    );
                    assert_eq!(&contents(&store), then);
                }
                Err(_) => {
                    assert!(mark.log_bytes as usize > at);
                    assert_eq!(
                        file_names(harmed.path()),
                        file_names(copied.path()),
                        "a refusal changes nothing"
                    );
                    assert_eq!(
                        fs::metadata(harmed.path().join("000000.log"))
                            .expect("the log")
                            .len(),
                        log.len() as u64
                    );
                }
            }
        }
    }
}

#[test]
fn a_flipped_byte_anywhere_in_the_base_is_noticed() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mark = history(folder.path(), 2)[2].1;
    let base = fs::read(folder.path().join("000000.base")).expect("the base");
    for at in 0..base.len() {
        let mut damaged = base.clone();
        damaged[at] ^= 0x10;
        fs::write(folder.path().join("000000.base"), &damaged).expect("a damaged base");
        assert!(open(folder.path(), Some(&mark)).is_err(), "byte {at}");
        fs::write(folder.path().join("000000.base"), &damaged[..at]).expect("a cut base");
        assert!(open(folder.path(), Some(&mark)).is_err(), "cut at {at}");
    }
    fs::write(folder.path().join("000000.base"), base).expect("the base again");
    assert!(open(folder.path(), Some(&mark)).is_ok());
}

#[test]
fn garbage_after_the_last_record_is_cut_off() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let history = history(folder.path(), 3);
    let (then, mark) = &history[3];
    let log = fs::read(folder.path().join("000000.log")).expect("the log");
    // Zeros, as after a power failure; a repetition of whole records; noise.
    for garbage in [
        vec![0; 50],
        log[mark.log_bytes as usize - 22..].to_vec(),
        (0..200).map(|i| (i * 37) as u8).collect(),
    ] {
        for mark in [None, Some(mark)] {
            fs::write(
                folder.path().join("000000.log"),
                [&log[..], &garbage].concat(),
            )
            .expect("a log with garbage");
            let store = open(folder.path(), mark).expect("a log whole up to the garbage");
            assert_eq!(&contents(&store), then);
            assert_eq!(store.discarded() as usize, garbage.len());
        }
    }
}

#[test]
fn the_base_is_never_ahead_of_the_last_checkpoint() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = create(folder.path());
    let base = || fs::read(folder.path().join("000000.base")).expect("the base");
    let before = base();
    (0..20).for_each(|i| write(&mut store, i));
    store.sync().expect("a mark");
    drop(store);
    assert_eq!(base(), before, "changes go to the log, not to the base");
}

#[test]
fn a_fold_keeps_the_states_and_the_marks_of_the_two_newest_checkpoints() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = create(folder.path());
    let mut checkpoints = Vec::new();
    for i in 0..6 {
        write(&mut store, i);
        checkpoints.push((contents(&store), store.sync().expect("a mark")));
        assert!(store.log_bytes() > 40);
        store.fold().expect("a fold right after the checkpoint");
        assert_eq!(contents(&store), checkpoints[i as usize].0);
        for (then, mark) in checkpoints.iter().rev().take(2) {
            let copied = copy(folder.path());
            assert_eq!(
                &contents(&open(copied.path(), Some(mark)).expect("a kept mark")),
                then
            );
        }
        let copied = copy(folder.path());
        assert_eq!(
            contents(&open(copied.path(), None).expect("the newest")),
            checkpoints[i as usize].0
        );
    }
    assert_eq!(
        file_names(folder.path()).len(),
        2 * 3,
        "older generations are gone"
    );
    drop(store);
    let gone = open(folder.path(), Some(&checkpoints[2].1)).unwrap_err();
    assert!(
        matches!(
            gone,
            SamplerError::NoStore {
                generation: Some(2),
                ..
            }
        ),
        "{gone}"
    );
}

#[test]
fn a_kill_at_any_instant_of_a_fold_loses_nothing() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = create(folder.path());
    (0..4).for_each(|i| write(&mut store, i));
    let mark = store.sync().expect("a mark");
    let (then, before) = (contents(&store), copy(folder.path()));
    store.fold().expect("a fold");
    write(&mut store, 99); // after the fold, before the next checkpoint
    drop(store);
    let new = |name: &str| fs::read(folder.path().join(name)).expect("a file of the fold");
    let (base, log) = (new("000001.base"), new("000001.log"));

    let check = |harm: &dyn Fn(&Path), instant: &str| {
        for mark in [None, Some(&mark)] {
            let copied = copy(before.path());
            harm(copied.path());
            let mut store =
                open(copied.path(), mark).unwrap_or_else(|error| panic!("{instant}: {error}"));
            assert_eq!(contents(&store), then, "{instant}");
            assert_eq!(
                file_names(copied.path()),
                ["000000.base", "000000.log"],
                "{instant}: leftovers are removed"
            );
            write(&mut store, 5); // and the run can go on
        }
    };
    for cut in 0..log.len() {
        check(
            &|at| fs::write(at.join("000001.log"), &log[..cut]).expect("a log"),
            "while the new log was made",
        );
    }
    for cut in 0..=base.len() {
        let harm = |at: &Path| {
            fs::write(at.join("000001.log"), &log[..36]).expect("a log");
            fs::write(at.join("000001.scratch"), &base[..cut]).expect("a scratch file");
        };
        check(&harm, "while the new base was written");
    }
    // After the rename, and after more stores: the mark still leads back, and removes what came later.
    let mut store = open(folder.path(), Some(&mark)).expect("the mark before the fold");
    assert_eq!(contents(&store), then);
    assert_eq!(file_names(folder.path()), ["000000.base", "000000.log"]);
    store.fold().expect("the fold again");
    assert_eq!(contents(&store), then);
}

#[test]
fn folding_what_no_mark_covers_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = create(folder.path());
    store.sync().expect("a mark");
    write(&mut store, 0);
    assert!(matches!(
        store.fold(),
        Err(SamplerError::Unsynced { bytes: 22 })
    ));
}

#[test]
fn a_mark_of_another_history_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = create(folder.path());
    write(&mut store, 0);
    let mark = store.sync().expect("a mark");
    drop(store);
    let mut store = create(folder.path()); // as long a log, but of other records
    write(&mut store, 1);
    drop(store);
    assert!(matches!(
        open(folder.path(), Some(&mark)),
        Err(SamplerError::Damaged { .. })
    ));
}

#[test]
fn a_store_of_another_shape_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    drop(create(folder.path()));
    for (latents, rows) in [
        (latents(), ROWS + 1),
        (Latents::new(&[20]).expect("a layout"), ROWS),
    ] {
        let error = MappedStore::open(folder.path(), &latents, rows, None).unwrap_err();
        assert!(
            matches!(&error, SamplerError::Shape { found, .. } if found == "19 rows of 13 + 7 bits"),
            "{error}"
        );
    }
    let error = open(&folder.path().join("elsewhere"), None).unwrap_err();
    assert!(
        matches!(
            error,
            SamplerError::NoStore {
                generation: None,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_base_of_another_generation_is_damage() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = create(folder.path());
    let mark = store.sync().expect("a mark");
    store.fold().expect("a fold");
    drop(store);
    let [first, second] = ["000000.base", "000001.base"].map(|name| folder.path().join(name));
    fs::copy(second, first).expect("a copy");
    let error = open(folder.path(), Some(&mark)).unwrap_err();
    assert!(matches!(error, SamplerError::Damaged { .. }), "{error}");
}

#[test]
fn files_of_others_are_left_alone() {
    // Files that are not the store's stay, whatever the store does in their folder.
    let folder = tempfile::tempdir().expect("a scratch folder");
    for name in ["notes.log", "000000.txt", "x.base", "1.base", "+00001.log"] {
        fs::write(folder.path().join(name), "mine").expect("a file");
    }
    drop(create(folder.path()));
    drop(create(folder.path()));
    assert_eq!(
        file_names(folder.path()),
        [
            "+00001.log",
            "000000.base",
            "000000.log",
            "000000.txt",
            "1.base",
            "notes.log",
            "x.base"
        ]
    );
}

/// What a run may do to its store.
#[derive(Clone, Debug)]
enum Event {
    Store(u8),
    Checkpoint {
        fold: bool,
    },
    /// The process dies; of what the log holds beyond the last mark, this share is on disk, with garbage after it.
    Kill {
        share: u8,
        garbage: Vec<u8>,
    },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => any::<u8>().prop_map(Event::Store),
        2 => any::<bool>().prop_map(|fold| Event::Checkpoint { fold }),
        1 => (any::<u8>(), prop::collection::vec(any::<u8>(), 0..30)).prop_map(|(share, garbage)| Event::Kill { share, garbage }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_resumed_store_is_that_of_the_last_checkpoint(events in prop::collection::vec(event(), 1..40)) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut store = create(folder.path());
        let mut model = MemoryStore::new(&latents(), ROWS).expect("a store");
        let mut checkpoint = (store.sync().expect("a mark"), model.clone());
        for event in events {
            match event {
                Event::Store(i) => {
                    write(&mut store, i);
                    write(&mut model, i);
                }
                Event::Checkpoint { fold } => {
                    checkpoint = (store.sync().expect("a mark"), model.clone());
                    if fold {
                        store.fold().expect("a fold");
                    }
                }
                Event::Kill { share, garbage } => {
                    drop(store);
                    let log = folder.path().join(format!("{:06}.log", checkpoint.0.generation));
                    let mut bytes = fs::read(&log).expect("the log");
                    let marked = checkpoint.0.log_bytes as usize;
                    bytes.truncate(marked + (bytes.len() - marked) * usize::from(share) / 255);
                    bytes.extend(garbage);
                    fs::write(&log, bytes).expect("the log");
                    store = open(folder.path(), Some(&checkpoint.0)).expect("the last checkpoint");
                    model = checkpoint.1.clone();
                }
            }
            prop_assert_eq!(contents(&store), contents(&model));
        }
    }
}

#[test]
fn a_store_that_is_open_is_refused_and_its_synced_states_stay() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = create(folder.path());
    write(&mut store, 1);
    let early = store.sync().expect("a mark");
    write(&mut store, 2);
    let mark = store.sync().expect("a mark");
    let then = contents(&store);
    // A second one at the early mark would cut off what the first has synced.
    let locked = |result: Result<MappedStore, SamplerError>| match result {
        Err(SamplerError::Locked { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other:?}"),
    };
    locked(open(folder.path(), Some(&early)));
    locked(MappedStore::create(folder.path(), &latents(), 19));
    drop(store);
    let store = open(folder.path(), Some(&mark)).expect("the synced states");
    assert_eq!(contents(&store), then);
}

#[test]
fn who_holds_a_store_is_named_as_far_as_it_is_known() {
    for (pid, host, holder) in [
        (Some(7), Some("this one"), "process 7 on this one"),
        (Some(7), None, "process 7"),
        (None, None, "another process"),
        (None, Some("this one"), "another process"),
    ] {
        let error = SamplerError::Locked {
            path: "chains".into(),
            pid,
            host: host.map(str::to_owned),
        };
        let start = format!("the chain store in chains is in use by {holder}; ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
}

/// From 64 MiB on the rows to come are announced to the system.
#[test]
fn the_rows_of_a_large_store_come_back() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let latents = Latents::new(&[1 << 23]).expect("a layout"); // 1 MiB a row
    let mut store = MappedStore::create(folder.path(), &latents, 65).expect("a new store");
    let rows = [64, 0, 33];
    let states: Vec<u8> = (0..3 << 20).map(|i| (i >> 10) as u8 ^ i as u8).collect();
    store.store(&rows, &states).expect("a write");
    let mut packed = vec![0; states.len()];
    store.load(&rows, &mut packed).expect("all rows exist");
    assert!(packed == states);
}
