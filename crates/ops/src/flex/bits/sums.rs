//! Products of bits with a matrix as sums of its rows, for few set bits: images are one in eight, one-hot classes one in C.

use std::mem::MaybeUninit;
use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::super::vector::{Line, Number, Panel, WIDE, add, by_registers, load, store, zeros};
use super::super::words::Lists;
use super::choice::FEW;
use super::source::Source;

/// Bytes of the matrix at a time, in panels: they stay in a first cache of 32 KiB.
const CACHED: usize = 25 << 10;

/// `out[n, :] = bias + Σ_{i in list n} W[i, :]`, of some n: in the same bits as of all.
pub struct Sums<'a, T> {
    pub lists: &'a Lists,
    /// Lists that are added up.
    pub rows: Range<usize>,
    /// W.
    pub matrix: Source<'a, T>,
    pub bias: Option<&'a [T]>,
    /// `[rows, columns of W]`; written throughout.
    pub out: &'a mut [MaybeUninit<T>],
}

impl<T: Number> WithSimd for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let row = self.matrix.columns() * size_of::<T>();
        let wide = size_of::<Panel<T, S, WIDE>>();
        match kernel(self.lists.rows(), [self.matrix.rows(), row], wide) {
            Kernel::Straight => self.straight::<S, WIDE>(simd),
            Kernel::Wide => self.run::<S, WIDE>(simd),
            Kernel::Narrow => by_registers!(T, S, self.run(simd)),
        }
    }
}

/// How lists are added up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kernel {
    /// Straight from the matrix.
    Straight,
    /// From panels of many registers: what a list costs beside its additions is paid for the more columns.
    Wide,
    /// From panels of a cache line.
    Narrow,
}

/// For so many lists, a matrix of so many rows of so many bytes, and wide panels of so many bytes. It is wide where a panel of
/// the whole matrix stays in the cache and is full.
fn kernel(lists: usize, [rows, row]: [usize; 2], wide: usize) -> Kernel {
    if lists < FEW {
        Kernel::Straight
    } else if rows * wide <= CACHED && row >= wide {
        Kernel::Wide
    } else {
        Kernel::Narrow
    }
}

/// Passes over a matrix of so many rows whose panels are cached in parts.
fn passes(rows: usize, panel: usize) -> usize {
    (rows * panel).div_ceil(CACHED).max(1)
}

impl<T: Number> Sums<'_, T> {
    /// Straight from the matrix: for few lists a copy of it in panels costs more than it saves.
    #[inline(always)]
    fn straight<S: Simd, const P: usize>(self, simd: S) {
        let Self {
            lists,
            rows,
            matrix,
            bias,
            out,
        } = self;
        let columns = matrix.columns();
        assert_eq!(out.len(), rows.len() * columns, "a row for each list");
        let lanes = size_of::<Panel<T, S, P>>() / size_of::<T>();
        for first in (0..columns).step_by(lanes) {
            let width = lanes.min(columns - first);
            let zero = zeros::<T, S, P>(simd);
            let start = bias.map_or(zero, |bias| load::<T, S, P>(simd, &bias[first..]));
            for (n, list) in rows.clone().enumerate() {
                let positions = lists.row(list).iter().map(|&i| usize::from(i));
                let sum = positions.fold(start, |sum, i| {
                    add::<T, S, P>(simd, sum, load::<T, S, P>(simd, matrix.from(i, first)))
                });
                store::<T, S, P>(sum, &mut out[n * columns + first..][..width]);
            }
        }
    }

    #[inline(always)]
    fn run<S: Simd, const P: usize>(self, simd: S) {
        let Self {
            lists,
            rows,
            matrix,
            bias,
            out,
        } = self;
        let (inner, columns) = (matrix.rows(), matrix.columns());
        assert_eq!(out.len(), rows.len() * columns, "a row for each list");
        let zero = zeros::<T, S, P>(simd);
        let lanes = size_of::<Panel<T, S, P>>() / size_of::<T>();
        let passes = passes(inner, size_of::<Panel<T, S, P>>());
        let each = inner.div_ceil(passes);
        let ends = ends(lists, rows.clone(), inner, each);
        let mut panels = vec![Line(zero); each];
        let mut sums = vec![zero; if passes > 1 { rows.len() } else { 0 }];
        for first in (0..columns).step_by(lanes) {
            let width = lanes.min(columns - first);
            let start = bias.map_or(zero, |bias| load::<T, S, P>(simd, &bias[first..]));
            for pass in 0..passes {
                let from = pass * each;
                for (panel, i) in panels.iter_mut().zip(from..inner) {
                    *panel = Line(load::<T, S, P>(simd, matrix.from(i, first)));
                }
                for (n, list) in rows.clone().enumerate() {
                    let [begin, end] = [pass, pass + 1].map(|p| ends[p * rows.len() + n] as usize);
                    let start = match pass {
                        0 => start,
                        _ => sums[n],
                    };
                    let list = &lists.row(list)[begin..end];
                    // SAFETY: the positions are from `from` on, below `from + each` and below `inner`, as `ends` cuts the lists.
                    let sum = unsafe { sum::<T, S, P>(simd, start, list, &panels, from) };
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

/// `start` and the panels at the positions of `list`, of which the first panel has position `from`.
///
/// # Safety
/// There is a panel for each position.
#[inline(always)]
unsafe fn sum<T: Number, S: Simd, const P: usize>(
    simd: S,
    start: Panel<T, S, P>,
    list: &[u16],
    panels: &[Line<Panel<T, S, P>>],
    from: usize,
) -> Panel<T, S, P> {
    let base = panels.as_ptr().wrapping_sub(from);
    // SAFETY: as the caller promises.
    let panel = |i: u16| unsafe { &(*base.wrapping_add(usize::from(i))).0 };
    let mut sum = start;
    if P == WIDE {
        for &i in list {
            sum = add::<T, S, P>(simd, sum, *panel(i));
        }
        return sum;
    }
    // Four sums, so that an addition need not wait for the one before.
    let zero = zeros::<T, S, P>(simd);
    let mut others = [zero; 3];
    let (fours, last) = list.as_chunks::<4>();
    for &[i, j, k, l] in fours {
        sum = add::<T, S, P>(simd, sum, *panel(i));
        for (other, i) in others.iter_mut().zip([j, k, l]) {
            *other = add::<T, S, P>(simd, *other, *panel(i));
        }
    }
    for &i in last {
        sum = add::<T, S, P>(simd, sum, *panel(i));
    }
    let [b, c, d] = others;
    add::<T, S, P>(
        simd,
        add::<T, S, P>(simd, sum, b),
        add::<T, S, P>(simd, c, d),
    )
}

/// For each pass over `each` of the `inner` rows of the matrix, and first for none, how many positions of each list are done
/// then: `[passes + 1, rows]`.
fn ends(lists: &Lists, rows: Range<usize>, inner: usize, each: usize) -> Vec<u32> {
    let mut ends = vec![0u32; rows.len()];
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
        ends.extend(rows.clone().map(of_list));
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_panels_are_for_matrices_that_stay_in_the_cache_and_fill_them() {
        let wide = CACHED / 50;
        assert_eq!(kernel(FEW - 1, [50, wide], wide), Kernel::Straight);
        assert_eq!(kernel(FEW, [50, wide], wide), Kernel::Wide);
        assert_eq!(kernel(FEW + 1, [49, wide + 1], wide), Kernel::Wide);
        assert_eq!(kernel(FEW, [51, wide], wide), Kernel::Narrow);
        assert_eq!(kernel(FEW, [50, wide - 1], wide), Kernel::Narrow);
        assert_eq!(kernel(FEW, [51, wide - 1], wide), Kernel::Narrow);
    }

    #[test]
    fn a_pass_is_as_many_rows_as_stay_in_the_cache() {
        let rows = CACHED / 64;
        let found = [0, 1, rows, rows + 1, 2 * rows, 2 * rows + 1].map(|n| passes(n, 64));
        assert_eq!(found, [1, 1, 1, 2, 2, 3]);
    }
}
