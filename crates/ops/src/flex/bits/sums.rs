//! Products of bits with a matrix as sums of its rows, for few set bits: images are one in eight, one-hot classes one in C.

use std::mem::MaybeUninit;

use pulp::{Simd, WithSimd};

use super::source::Source;
use super::vector::{Number, add, by_registers, lanes, load, store, zeros};
use super::words::Lists;

/// Bytes of the matrix at a time, in panels: they stay in a first cache of 32 KiB.
const CACHED: usize = 25 << 10;

/// `out[n, :] = bias + Σ_{i in list n} W[i, :]`.
pub struct Sums<'a, T> {
    pub lists: &'a Lists,
    /// W.
    pub matrix: Source<'a, T>,
    pub bias: Option<&'a [T]>,
    /// `[lists, columns of W]`; written throughout.
    pub out: &'a mut [MaybeUninit<T>],
}

impl<T: Number> WithSimd for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        by_registers!(T, S, self.run(simd))
    }
}

impl<T: Number> Sums<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const P: usize>(self, simd: S) {
        let Self {
            lists,
            matrix,
            bias,
            out,
        } = self;
        let (inner, columns) = (matrix.rows(), matrix.columns());
        assert_eq!(out.len(), lists.rows() * columns, "a row for each list");
        let zero = zeros::<T, S, P>(simd);
        let passes = (inner * super::vector::PANEL).div_ceil(CACHED).max(1);
        let each = inner.div_ceil(passes);
        let ends = ends(lists, inner, each);
        let mut panels = vec![zero; each];
        let mut sums = vec![zero; if passes > 1 { lists.rows() } else { 0 }];
        for first in (0..columns).step_by(lanes::<T>()) {
            let width = lanes::<T>().min(columns - first);
            let start = bias.map_or(zero, |bias| load::<T, S, P>(simd, &bias[first..][..width]));
            for pass in 0..passes {
                let from = pass * each;
                for (panel, i) in panels.iter_mut().zip(from..inner) {
                    *panel = load::<T, S, P>(simd, &matrix.row(i)[first..][..width]);
                }
                // SAFETY: positions from `from` on, below `from + each` and below `inner`, as `ends` cuts the lists.
                let panel = |i: u16| unsafe { *panels.get_unchecked(usize::from(i) - from) };
                for n in 0..lists.rows() {
                    let [begin, end] =
                        [pass, pass + 1].map(|p| ends[p * lists.rows() + n] as usize);
                    let (pairs, last) = lists.row(n)[begin..end].as_chunks::<2>();
                    // Two sums, so that an addition need not wait for the one before.
                    let (mut sum, mut other) = match pass {
                        0 => (start, zero),
                        _ => (sums[n], zero),
                    };
                    for &[i, j] in pairs {
                        sum = add::<T, S, P>(simd, sum, panel(i));
                        other = add::<T, S, P>(simd, other, panel(j));
                    }
                    for &i in last {
                        sum = add::<T, S, P>(simd, sum, panel(i));
                    }
                    sum = add::<T, S, P>(simd, sum, other);
                    if pass + 1 < passes {
                        sums[n] = sum;
                    } else {
                        store::<T, S, P>(sum, &mut out[n * columns + first..][..width]);
                    }
                }
            }
        }
    }
}

/// For each pass over `each` of the `inner` rows of the matrix, and first for none, how many positions of each list are done
/// then: `[passes + 1, lists]`.
fn ends(lists: &Lists, inner: usize, each: usize) -> Vec<u32> {
    let mut ends = vec![0u32; lists.rows()];
    for first in (0..inner.max(1)).step_by(each.max(1)) {
        let end = first + each;
        let of_list = |n| {
            let below = lists.row(n).partition_point(|&i| usize::from(i) < end);
            assert!(
                end < inner || below == lists.row(n).len(),
                "positions name rows of the matrix"
            );
            below as u32
        };
        ends.extend((0..lists.rows()).map(of_list));
    }
    ends
}
