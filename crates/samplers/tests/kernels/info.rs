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
