//! The store's files as others may have left them: any bytes, and whole files changed here and there, with and without
//! checksums that belong to them.

mod check;

use check::{BASE, MARKED, OVERWRITE, SEAL_BASE, SEAL_LOG, check_bytes};
use proptest::prelude::*;

/// Mostly whole files with a few edits, mostly sealed after them; now and then anything.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let flags = prop_oneof![
        3 => Just(SEAL_BASE | SEAL_LOG),
        3 => Just(SEAL_BASE | SEAL_LOG | MARKED),
        1 => any::<u8>(),
    ];
    let head = (any::<u8>(), any::<u8>(), flags, 0u8..4);
    let rest = prop::collection::vec(any::<u8>(), 0..300);
    (head, rest).prop_map(|((layout, generation, flags, edits), rest)| {
        [&[layout, generation, flags, edits], &rest[..]].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_files_give_a_store_that_works_or_an_error_that_leaves_them(bytes in bytes()) {
        check_bytes(&bytes);
    }
}

#[test]
fn whole_files_are_opened() {
    // Or else all that the property says is that they are refused: no edits, each layout, generation 0 and 1.
    for layout in 0..4 {
        for generation in 0..2 {
            for flags in [0, MARKED] {
                assert!(check_bytes(&[layout, generation, flags]));
            }
        }
    }
}

#[test]
fn sealed_edits_are_opened_and_others_are_not() {
    // One edit, of the base: the byte 70 is of a state, and is turned into 0xff.
    let edit = [1, BASE, OVERWRITE, 70, 0, 1, 0xff];
    let opens = |flags| check_bytes(&[&[0, 0, flags], &edit[..]].concat());
    assert!(!opens(0));
    assert!(opens(SEAL_BASE));
}

/// A deterministic walk through the inputs of the property above: no shrinking, many more of them.
#[test]
#[ignore = "minutes: what was run stands in experiments/results/faults.md"]
fn a_great_many_files_give_a_store_that_works_or_an_error_that_leaves_them() {
    let asked = std::env::var("HELMHOLTZ_INPUTS").ok();
    let inputs = asked.and_then(|n| n.parse().ok()).unwrap_or(1_000_000u64);
    let mut opened = 0;
    for seed in 0..inputs {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
        };
        let flags = match seed % 7 {
            0..3 => SEAL_BASE | SEAL_LOG,
            3..6 => SEAL_BASE | SEAL_LOG | MARKED,
            _ => next(),
        };
        let mut bytes = vec![next(), next(), flags, next() % 4];
        bytes.extend((0..seed % 300).map(|_| next()));
        opened += u64::from(check_bytes(&bytes));
    }
    println!(
        "{inputs} mutated stores: {opened} opened, {} refused",
        inputs - opened
    );
    assert!(opened > inputs / 20 && opened < inputs);
}
