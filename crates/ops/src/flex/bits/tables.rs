//! Products of bits with a matrix by tables of sums ("Four Russians": Arlazarov, Dinic, Kronrod & Faradžev 1970).
//!
//! The rows of the matrix are taken four at a time. For a panel of columns, the sums of all 16 subsets of the four are a table. Each row
//! of bits then adds one entry a table, in place of four products. A table costs 12 additions and is shared by all
//! rows of bits, so that R rows are at most 4R/(R + 32) times as fast as dense products.

use std::mem::MaybeUninit;
use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::super::vector::{Line, Number, Panel, add, by_registers, lanes, load, store, zeros};
use super::super::words::{BITS, BLOCK, Codes};
use super::source::Source;

/// Subsets of a group.
const ENTRIES: usize = 1 << BITS;

/// The most tables at a time: 26 KiB, which leaves room in a first cache of 32 for the sums and the codes.
const TABLES: usize = 26;

/// bits · W + bias: `out[n, :] = bias + Σ_i bit(n, i) W[i, :]`, of some n: in the same bits as of all.
pub struct Tables<'a, T> {
    pub codes: &'a Codes,
    /// Rows of codes that are multiplied, from the first of a block on.
    pub rows: Range<usize>,
    /// W.
    pub matrix: Source<'a, T>,
    pub bias: Option<&'a [T]>,
    /// `[rows, columns of W]`; written throughout.
    pub out: &'a mut [MaybeUninit<T>],
}

impl<T: Number> WithSimd for Tables<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        by_registers!(T, S, self.run(simd))
    }
}

impl<T: Number> Tables<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const P: usize>(self, simd: S) {
        let Self {
            codes,
            rows,
            matrix,
            bias,
            out,
        } = self;
        let columns = matrix.columns();
        assert!(
            rows.start.is_multiple_of(BLOCK) && rows.end <= codes.rows(),
            "rows of codes, from a block on"
        );
        assert_eq!(out.len(), rows.len() * columns, "a row for each of them");
        assert_eq!(
            codes.groups(),
            matrix.rows().div_ceil(BITS),
            "codes for each row of the matrix"
        );
        let zero = zeros::<T, S, P>(simd);
        let passes = codes.groups().div_ceil(TABLES).max(1);
        let each = codes.groups().div_ceil(passes);
        let mut tables = vec![Line([zero; ENTRIES]); each];
        let (skipped, blocks) = (rows.start / BLOCK, rows.len().div_ceil(BLOCK));
        let mut sums = vec![Line([zero; BLOCK]); if passes > 1 { blocks } else { 0 }];
        for first in (0..columns).step_by(lanes::<T>()) {
            let width = lanes::<T>().min(columns - first);
            let start = bias.map_or(zero, |bias| load::<T, S, P>(simd, &bias[first..][..width]));
            for pass in 0..passes {
                let groups = pass * each..codes.groups().min((pass + 1) * each);
                for (table, group) in tables.iter_mut().zip(groups.clone()) {
                    let row = |k: usize| match BITS * group + k {
                        i if i < matrix.rows() => load::<T, S, P>(simd, matrix.from(i, first)),
                        _ => zero,
                    };
                    fill::<T, S, P>(simd, &mut table.0, [row(0), row(1), row(2), row(3)]);
                }
                for block in 0..blocks {
                    let own = codes.block(skipped + block, groups.clone());
                    let mut sum = match pass {
                        0 => [start; BLOCK],
                        _ => sums[block].0,
                    };
                    for (table, codes) in tables.iter().zip(own) {
                        for (row, sum) in sum.iter_mut().enumerate() {
                            let code = (codes[row / 4] >> (16 * (row % 4))) as u16;
                            // SAFETY: a code is below 16 panels in bytes, and a multiple of one, as the two makers of codes
                            // have it; a table has 16.
                            let entry = unsafe {
                                (&raw const *table)
                                    .byte_add(usize::from(code))
                                    .cast::<Panel<T, S, P>>()
                                    .read()
                            };
                            *sum = add::<T, S, P>(simd, *sum, entry);
                        }
                    }
                    if pass + 1 < passes {
                        sums[block] = Line(sum);
                        continue;
                    }
                    let rows = out[block * BLOCK * columns..].chunks_exact_mut(columns);
                    for (row, sum) in rows.zip(sum) {
                        store::<T, S, P>(sum, &mut row[first..][..width]);
                    }
                }
            }
        }
    }
}

/// The sums of all subsets of four rows; bit k of an entry's number says whether row k is in it.
#[inline(always)]
fn fill<T: Number, S: Simd, const P: usize>(
    simd: S,
    table: &mut [Panel<T, S, P>; ENTRIES],
    rows: [Panel<T, S, P>; BITS],
) {
    table[0] = zeros::<T, S, P>(simd);
    for (k, &row) in rows.iter().enumerate() {
        let (below, own) = table.split_at_mut(1 << k);
        own[0] = row;
        for (own, &below) in own[1..].iter_mut().zip(&below[1..]) {
            *own = add::<T, S, P>(simd, below, row);
        }
    }
}
