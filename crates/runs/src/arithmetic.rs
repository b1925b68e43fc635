//! The version of the arithmetic.

/// The version of the arithmetic that training and evaluation compute with.
///
/// Raise it by one whenever the same configuration, seed, device and processor no longer give the same bits. That is
/// so when the order of a sum changes, a kernel is replaced, an approximation of a function is another, random streams
/// are named otherwise. A change that moves no bit leaves it. Provenance records it; a resume under another version
/// warns.
///
/// | version | what it brought |
/// |---|---|
/// | 1 | everything before the version was recorded |
/// | 2 | products of bit-packed tensors |
/// | 3 | sums of set rows in four parts; the way of a product by the costs of the instruction set |
/// | 4 | products of fewer than 12 rows of bits as sums |
/// | 5 | log-probabilities of Bernoulli rows near 0 to their own precision |
/// | 6 | gradients of amortized population Gibbs in parts of a batch, each with random streams of its own |
/// | 7 | RODEO's surrogates with their hidden units in registers |
/// | 8 | RODEO's surrogates as linear splines; learned baselines of at most eight inputs as products |
/// | 9 | population Gibbs by operations of one pass: moments, moves of classes, own densities, pieces of digits, vector exponentials |
/// | 10 | the gradient of data under their own normals by hand |
/// | 11 | normal-gamma laws of moments and normal log-densities in one pass |
/// | 12 | log-densities of the paths of tracked digits in one pass |
/// | 13 | tanh between layers, and log-probabilities and softmaxes of relaxed classes, as vector instructions |
/// | 14 | particles of population Gibbs with a weight below 2⁻⁶⁴ have no gradient |
/// | 15 | bounded standard deviations in the tracker's proposals |
/// | 16 | Gumbel noise by vector logarithms; log-probabilities of relaxed classes once a datum; softmaxes with their temperature |
pub const ARITHMETIC: u32 = 16;

/// The version of provenance that names none.
pub(crate) fn unrecorded() -> u32 {
    1
}
