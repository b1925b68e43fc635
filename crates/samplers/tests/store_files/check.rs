//! What must hold of any files whatever: called by a property test here, and by a fuzzer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use helmholtz_samplers::{
    ChainStore, Latents, Layer, MappedStore, Mark, MemoryStore, SamplerError,
};

const ROWS: usize = 21;
const RECORDS: u8 = 6;

/// Flags of an input.
pub const RAW_BASE: u8 = 1;
pub const RAW_LOG: u8 = 2;
pub const SEAL_BASE: u8 = 4;
pub const SEAL_LOG: u8 = 8;
pub const MARKED: u8 = 16;
pub const ANY_MARK: u8 = 32;

/// Of an edit: the file, and what is done to it.
pub const BASE: u8 = 0;
pub const OVERWRITE: u8 = 1;

/// Makes a base file, a log and a mark from bytes, opens them, and checks what comes of it. Returns whether they opened.
///
/// The bytes are: layout | generation | flags | edits, each a file, an operation, a place and what it puts there | what
/// the flags ask for. Bytes that are missing are 0. Without flags and edits the files are whole.
///
/// # Panics
/// If a claim fails.
pub fn check_bytes(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let digit = Layer::Categorical {
        variables: 2,
        classes: 10,
    };
    let layers = [
        vec![Layer::Bernoulli(20)],
        vec![Layer::Bernoulli(13), Layer::Bernoulli(7)],
        vec![Layer::Bernoulli(3), digit, Layer::F32(1)],
        vec![Layer::F64(1), digit],
    ];
    let latents = Latents::mixed(&layers[usize::from(input.byte() % 4)]).expect("a layout");
    let generation = [0, 1, 7, u64::MAX - 1, u64::MAX][usize::from(input.byte() % 5)];
    let flags = input.byte();

    let record_len = latents.bytes_per_row() + 8;
    let mut base = whole_base(&latents, generation);
    let mut log = whole_log(&latents, generation, record_len);
    for _ in 0..input.byte() % 8 {
        let file = if input.byte() % 2 == BASE {
            &mut base
        } else {
            &mut log
        };
        input.edit(file);
    }
    if flags & RAW_BASE != 0 {
        base = input.piece().to_vec();
    }
    if flags & RAW_LOG != 0 {
        log = input.piece().to_vec();
    }
    if flags & SEAL_BASE != 0 {
        seal(&mut base);
    }
    if flags & SEAL_LOG != 0 {
        seal_log(&mut log, record_len);
    }
    let mark = (flags & MARKED != 0).then(|| Mark {
        generation,
        log_bytes: log.len() as u64,
        checksum: last_checksum(&log),
    });
    let mark = if flags & ANY_MARK != 0 {
        Some(Mark {
            generation: if input.byte() % 2 == 0 {
                generation
            } else {
                input.number()
            },
            log_bytes: input.number(),
            checksum: input.number() as u32,
        })
    } else {
        mark
    };

    let _ = MemoryStore::restore(&base, &latents, ROWS).map(|store| contents(&store));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = |kind: &str| folder.path().join(format!("{generation:06}.{kind}"));
    fs::write(path("base"), &base).expect("a base");
    fs::write(path("log"), &log).expect("a log");
    let before = files(folder.path());
    match MappedStore::open(folder.path(), &latents, ROWS, mark.as_ref()) {
        Ok(store) => {
            check_opened(store, &latents, folder.path(), generation == u64::MAX);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(files(folder.path()) == before, "a refusal changes nothing");
            false
        }
    }
}

/// A log of whole records.
fn whole_log(latents: &Latents, generation: u64, record_len: usize) -> Vec<u8> {
    let mut log = log_header(latents, generation);
    log.extend((0..RECORDS).flat_map(|i| {
        let mut record = vec![0; record_len];
        record[0] = i * 5 % ROWS as u8;
        record[4..][..latents.bytes_per_row()].copy_from_slice(&state(latents, i));
        record
    }));
    seal_log(&mut log, record_len);
    log
}

/// A store that opened can be read, written, marked, folded and opened again, and holds what it held.
fn check_opened(mut store: MappedStore, latents: &Latents, folder: &Path, is_last: bool) {
    contents(&store);
    let row = ROWS as u32;
    let mut packed = vec![0; latents.bytes_per_row()];
    assert!(!store.is_initialised(row));
    assert!(matches!(
        store.load(&[row], &mut packed),
        Err(SamplerError::Row { .. })
    ));
    store
        .store(&[row - 1], &state(latents, 9))
        .expect("a write");
    assert!(store.is_initialised(row - 1));
    let (held, mark) = (contents(&store), store.sync().expect("a mark"));
    drop(store);
    let mut store = MappedStore::open(folder, latents, ROWS, Some(&mark)).expect("the mark");
    assert_eq!((contents(&store), store.discarded()), (held.clone(), 0));
    assert_eq!(store.fold().is_err(), is_last);
    assert_eq!(contents(&store), held);
    drop(store);
    let store = MappedStore::open(folder, latents, ROWS, None).expect("the fold");
    assert_eq!(contents(&store), held);
}

/// Each row's state, or that it is damaged, and whether it is initialised.
fn contents(store: &impl ChainStore) -> Vec<(Option<Vec<u8>>, bool)> {
    let latents = store.latents();
    let row = |row| {
        let mut packed = vec![0; latents.bytes_per_row()];
        let state = match store.load(&[row], &mut packed) {
            Ok(()) => Some(packed),
            Err(SamplerError::Damaged { .. }) => None,
            Err(error) => panic!("{error}"),
        };
        if let Some(state) = &state {
            latents.unpack_values(state).expect("codes are checked");
        }
        (state, store.is_initialised(row))
    };
    (0..ROWS as u32).map(row).collect()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    // The lock of the folder says who had it last.
    let is_lock = |path: &Path| path.file_name().is_some_and(|name| name == "lock");
    paths
        .filter(|path| !is_lock(path))
        .map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
        .collect()
}

/// The i-th of some states that fit the layout: small numbers, which name classes.
fn state(latents: &Latents, i: u8) -> Vec<u8> {
    let mut state = vec![0; latents.bytes_per_row()];
    state[0] = i;
    state
}

fn whole_base(latents: &Latents, generation: u64) -> Vec<u8> {
    let mut store = MemoryStore::new(latents, ROWS).expect("a store");
    for i in 0..8 {
        store
            .store(&[u32::from(i) * 2], &state(latents, i))
            .expect("a write");
    }
    let mut base = store.snapshot();
    base[24..32].copy_from_slice(&generation.to_le_bytes());
    seal(&mut base);
    base
}

/// Gives an image the checksum that belongs to it.
fn seal(image: &mut [u8]) {
    if let Some((sealed, seal)) = image.split_last_chunk_mut::<4>() {
        *seal = crc32fast::hash(sealed).to_le_bytes();
    }
}

fn log_header(latents: &Latents, generation: u64) -> Vec<u8> {
    let mut header = b"hhchnlog".to_vec();
    for number in [generation, ROWS as u64, latents.bytes_per_row() as u64] {
        header.extend(number.to_le_bytes());
    }
    header.extend([0; 4]);
    header
}

/// Gives the header and each whole record of a log the checksum that belongs to it.
fn seal_log(log: &mut [u8], record_len: usize) {
    let Some((header, records)) = log.split_first_chunk_mut::<36>() else {
        return;
    };
    seal(header);
    let mut checksum = [header[32], header[33], header[34], header[35]];
    for record in records.chunks_exact_mut(record_len) {
        let content = [&checksum[..], &record[..record_len - 4]].concat();
        checksum = crc32fast::hash(&content).to_le_bytes();
        record[record_len - 4..].copy_from_slice(&checksum);
    }
}

fn last_checksum(log: &[u8]) -> u32 {
    log.last_chunk().map_or(0, |last| u32::from_le_bytes(*last))
}

/// What is left of the bytes.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A place in a file of this length, or its end.
    fn place(&mut self, len: usize) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()])) % (len + 1)
    }

    /// As many of the bytes as the first two of them say, or all.
    fn piece(&mut self) -> &'a [u8] {
        let len = self.place(usize::from(u16::MAX)).min(self.0.len());
        let (piece, rest) = self.0.split_at(len);
        self.0 = rest;
        piece
    }

    fn edit(&mut self, file: &mut Vec<u8>) {
        let (operation, at) = (self.byte() % 4, self.place(file.len()));
        match operation {
            0 => file.truncate(at),
            OVERWRITE => {
                let new = (0..self.byte() % 9).map(|_| self.byte());
                file.iter_mut()
                    .skip(at)
                    .zip(new)
                    .for_each(|(old, new)| *old = new);
            }
            2 => drop(file.splice(at..at, (0..self.byte() % 40).map(|_| self.byte()))),
            _ => {
                let end = file.len().min(at + usize::from(self.byte()));
                drop(file.drain(at..end));
            }
        }
    }
}
