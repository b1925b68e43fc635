//! Stores of states with bits, classes and real numbers: what comes back, and what is refused.

use std::fs;

use helmholtz_samplers::{
    ChainStore, Latents, Layer, MappedStore, MemoryStore, SamplerError, Values,
};
use proptest::prelude::*;

const DIGIT: Layer = Layer::Categorical {
    variables: 1,
    classes: 10,
};

/// 13 bits, a digit in the 4 bits after them, and a real number: 7 bytes a row.
fn latents() -> Latents {
    Latents::mixed(&[Layer::Bernoulli(13), DIGIT, Layer::F32(1)]).expect("a layout")
}

fn state(digit: u32, real: f32) -> Vec<u8> {
    let values = [
        Values::Bernoulli((0..13).map(|i| i % 3 == 0).collect()),
        Values::Categorical(vec![digit]),
        Values::F32(vec![real]),
    ];
    latents().pack_values(&values).expect("values that fit")
}

/// A state whose digit is 15.
fn no_state() -> Vec<u8> {
    let mut state = state(9, 0.5);
    state[1] |= 0b1110_0000;
    state[2] |= 1;
    state
}

/// Gives an image, changed by hand, the checksum that belongs to it.
fn seal(image: &mut [u8]) {
    let (sealed, seal) = image.split_last_chunk_mut::<4>().expect("an image");
    *seal = crc32fast::hash(sealed).to_le_bytes();
}

fn layer() -> impl Strategy<Value = Layer> {
    prop_oneof![
        (1usize..40).prop_map(Layer::Bernoulli),
        (1usize..4, 2u32..40)
            .prop_map(|(variables, classes)| Layer::Categorical { variables, classes }),
        (1usize..3).prop_map(Layer::F32),
        (1usize..3).prop_map(Layer::F64),
    ]
}

/// Values of one row, made from a number.
fn values(layer: &Layer, number: u64) -> Values {
    let numbers = (0..layer.variables() as u64).map(|i| number.rotate_left(7 * i as u32) ^ i);
    match *layer {
        Layer::Bernoulli(_) => Values::Bernoulli(numbers.map(|n| n % 2 == 1).collect()),
        Layer::Categorical { classes, .. } => {
            Values::Categorical(numbers.map(|n| (n % u64::from(classes)) as u32).collect())
        }
        Layer::F32(_) => Values::F32(numbers.map(|n| n as u32 as f32 / 7.0).collect()),
        Layer::F64(_) => Values::F64(numbers.map(|n| n as f64 / 7.0).collect()),
    }
}

fn unpacked(store: &impl ChainStore, row: u32) -> Vec<Values> {
    let mut packed = vec![0; store.latents().bytes_per_row()];
    store.load(&[row], &mut packed).expect("a row");
    store.latents().unpack_values(&packed).expect("a state")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn states_of_any_layout_survive_a_snapshot_a_reopening_and_a_fold(layers in prop::collection::vec(layer(), 1..5), writes in prop::collection::vec((0u32..9, any::<u64>()), 1..12)) {
        let latents = Latents::mixed(&layers).expect("a layout");
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut memory = MemoryStore::new(&latents, 9).expect("a store");
        let mut mapped = MappedStore::create(folder.path(), &latents, 9).expect("a store");
        let mut expected = vec![None; 9];
        for (row, number) in writes {
            let state: Vec<Values> = layers.iter().map(|layer| values(layer, number)).collect();
            let packed = latents.pack_values(&state).expect("values that fit");
            memory.store(&[row], &packed).expect("a write");
            mapped.store(&[row], &packed).expect("a write");
            expected[row as usize] = Some(state);
        }
        let memory = MemoryStore::restore(&memory.snapshot(), &latents, 9).expect("the snapshot");
        let mark = mapped.sync().expect("a mark");
        drop(mapped);
        let mut mapped = MappedStore::open(folder.path(), &latents, 9, Some(&mark)).expect("the store");
        for fold in [false, true] {
            if fold {
                mapped.fold().expect("a fold");
                drop(mapped);
                mapped = MappedStore::open(folder.path(), &latents, 9, None).expect("the store");
            }
            for (row, state) in (0..9).zip(&expected) {
                prop_assert_eq!(memory.is_initialised(row), state.is_some());
                prop_assert_eq!(mapped.is_initialised(row), state.is_some());
                if let Some(state) = state {
                    prop_assert_eq!(&unpacked(&memory, row), state);
                    prop_assert_eq!(&unpacked(&mapped, row), state);
                }
            }
        }
    }
}

#[test]
fn a_store_tells_its_rows_and_its_layers() {
    let latents = latents();
    assert_eq!(latents.layers(), [13, 4, 32]);
    for rows in [0, 1, 3] {
        let store = MemoryStore::new(&latents, rows).expect("a new store");
        assert_eq!((store.len(), store.is_empty()), (rows, rows == 0));
        assert_eq!(store.bits(), 13 + 4 + 32);
    }
}

#[test]
fn a_row_beyond_a_store_has_no_state() {
    let mut store = MemoryStore::new(&latents(), 8).expect("a new store");
    store.store(&[7], &state(4, 0.5)).expect("a write");
    assert!(store.is_initialised(7));
    assert!(!store.is_initialised(8) && !store.is_initialised(u32::MAX));
}

#[test]
fn layers_of_every_kind_are_named() {
    let all = [Layer::F64(2), DIGIT, Layer::F32(1), Layer::Bernoulli(3)];
    let all = Latents::mixed(&all).expect("a layout");
    let snapshot = MemoryStore::new(&all, 5).expect("a store").snapshot();
    let error = MemoryStore::restore(&snapshot, &latents(), 5).unwrap_err();
    assert!(
        matches!(&error, SamplerError::Shape { found, .. }
            if found == "5 rows of 2 f64 + 1 of 10 classes + 1 f32 + 3 bits"),
        "{error}"
    );
}

#[test]
fn a_code_that_is_no_class_is_not_stored() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut memory = MemoryStore::new(&latents(), 5).expect("a store");
    let mut mapped = MappedStore::create(folder.path(), &latents(), 5).expect("a store");
    let before = (memory.clone(), mapped.log_bytes());
    let batch = [state(3, 1.5), no_state()].concat();
    for error in [
        memory.store(&[2, 4], &batch).unwrap_err(),
        mapped.store(&[2, 4], &batch).unwrap_err(),
    ] {
        assert!(
            matches!(
                error,
                SamplerError::Class {
                    layer: 1,
                    code: 15,
                    classes: 10
                }
            ),
            "{error}"
        );
    }
    assert_eq!((memory, mapped.log_bytes()), before);
    assert!(!mapped.is_initialised(2));
}

#[test]
fn a_code_that_is_no_class_is_damage_though_every_checksum_is_right() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut store = MappedStore::create(folder.path(), &latents(), 5).expect("a store");
    store
        .store(&[2, 3], &[state(3, 1.5), state(4, 2.5)].concat())
        .expect("a write");
    store.sync().expect("a mark");
    store.fold().expect("a fold");
    drop(store);
    let path = folder.path().join("000001.base");
    let mut base = fs::read(&path).expect("the base");
    let row = base.len() - 4 - 1 - 5 * 7 + 2 * 7;
    assert_eq!(base[row..row + 7], state(3, 1.5));
    base[row..row + 7].copy_from_slice(&no_state());
    seal(&mut base);
    fs::write(&path, &base).expect("a forged base");

    let store = MappedStore::open(folder.path(), &latents(), 5, None).expect("whole files");
    let mut packed = [0; 14];
    let error = store.load(&[3, 2], &mut packed).unwrap_err();
    assert!(
        matches!(&error, SamplerError::Damaged { reason } if reason.contains("code 15")),
        "{error}"
    );
    assert_eq!(unpacked(&store, 3)[1], Values::Categorical(vec![4]));
}

#[test]
fn a_mixed_store_of_another_layout_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    drop(MappedStore::create(folder.path(), &latents(), 5).expect("a store"));
    let snapshot = MemoryStore::new(&latents(), 5).expect("a store").snapshot();
    let eleven = Layer::Categorical {
        variables: 1,
        classes: 11,
    };
    for (other, rows, name) in [
        // Of as many bits, in all of them.
        (Latents::new(&[13, 4, 32]), 5, "13 + 4 + 32 bits"),
        (
            Latents::mixed(&[Layer::Bernoulli(13), eleven, Layer::F32(1)]),
            5,
            "13 bits + 1 of 11 classes + 1 f32",
        ),
        (
            Ok(latents()),
            6,
            "6 rows of 13 bits + 1 of 10 classes + 1 f32",
        ),
    ] {
        let other = other.expect("a layout");
        for error in [
            MappedStore::open(folder.path(), &other, rows, None).unwrap_err(),
            MemoryStore::restore(&snapshot, &other, rows).unwrap_err(),
        ] {
            assert!(
                matches!(&error, SamplerError::Shape { found, expected }
                    if found == "5 rows of 13 bits + 1 of 10 classes + 1 f32" && expected.ends_with(name)),
                "{error}"
            );
        }
    }
    // And a mixed layout does not read a binary store.
    let snapshot = MemoryStore::new(&Latents::new(&[49]).expect("a layout"), 5).expect("a store");
    let error = MemoryStore::restore(&snapshot.snapshot(), &latents(), 5).unwrap_err();
    assert!(
        matches!(&error, SamplerError::Shape { found, .. } if found == "5 rows of 49 bits"),
        "{error}"
    );
}

#[test]
fn any_flipped_bit_and_any_cut_of_a_mixed_store_is_noticed() {
    let mut store = MemoryStore::new(&latents(), 5).expect("a store");
    store.store(&[4], &state(9, f32::NAN)).expect("a write");
    let snapshot = store.snapshot();
    for i in 0..8 * snapshot.len() {
        let mut flipped = snapshot.clone();
        flipped[i / 8] ^= 1 << (i % 8);
        assert!(
            MemoryStore::restore(&flipped, &latents(), 5).is_err(),
            "bit {i}"
        );
        assert!(
            MemoryStore::restore(&snapshot[..i / 8], &latents(), 5).is_err(),
            "cut at {}",
            i / 8
        );
    }
}

#[test]
fn the_bytes_of_a_store_are_these() {
    let words = |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let sealed = |parts: [&[u8]; 3]| {
        let mut image = [parts[0], parts[1], parts[2], &[0; 4]].concat();
        seal(&mut image);
        image
    };

    let mut binary = MemoryStore::new(&Latents::new(&[9, 3]).expect("a layout"), 3).expect("rows");
    binary.store(&[1], &[0xab, 0x0c]).expect("a write");
    assert_eq!(
        binary.snapshot(),
        sealed([
            b"hhchain1",
            &words(&[2, 3, 0, 9, 3]),
            &[0, 0, 0xab, 0x0c, 0, 0, 0b010]
        ])
    );

    let kinds = [Layer::Bernoulli(3), DIGIT, Layer::F32(1), Layer::F64(2)];
    let mixed = MemoryStore::new(&Latents::mixed(&kinds).expect("a layout"), 1).expect("rows");
    let layers = [[1, 3, 0], [2, 1, 10], [3, 1, 0], [4, 2, 0]].concat();
    assert_eq!(
        mixed.snapshot(),
        sealed([
            b"hhchain2",
            &words(&[&[4, 1, 0], &layers[..]].concat()),
            &[0; 21 + 1]
        ])
    );
}
