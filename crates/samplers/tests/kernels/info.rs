//! What the kernels report of their moves.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{Barker, FrozenReferenceMis, IndexKernel, Info, Mis};

/// Moves and acceptances among proposals that are surely accepted or surely rejected.
fn counted(kernel: impl IndexKernel) -> (u64, u64) {
    let mut stream = Stream::new(1, Purpose::new("counts"), [0, 0]);
    let proposals = [-950.0, -1.0, -951.0, -952.0];
    let Info {
        moves, accepted, ..
    } = kernel.run(-500.0, &proposals, &mut stream, &mut Vec::new());
    (moves, accepted)
}

#[test]
fn moves_and_acceptances_are_counted() {
    assert_eq!(counted(Mis), (4, 1));
    assert_eq!(counted(Barker), (4, 1));
    assert_eq!(counted(FrozenReferenceMis), (4, 1));
}

#[test]
fn without_a_finite_proposal_there_is_no_gap() {
    let mut stream = Stream::new(1, Purpose::new("counts"), [0, 0]);
    let info = Mis.run(-1.0, &[f64::NEG_INFINITY; 3], &mut stream, &mut Vec::new());
    assert_eq!((info.non_finite, info.gaps, info.cache_gap), (3, 0, 0.0));
    assert_eq!(info.mean_cache_gap(), None);
}
