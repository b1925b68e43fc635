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
