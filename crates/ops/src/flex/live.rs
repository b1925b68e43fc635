//! The rows of a gradient that count.

use pulp::Arch;

use super::vector::Number;
use crate::threads::{block, each, threads};

/// How long an element takes, in multiplications of a product: it comes from memory.
const COST: usize = 24;

/// The rows, each as long as `sum`, that are not zero throughout, by number; they are added to `sum`, in their order.
pub fn live_rows<T: Number>(rows: &[T], sum: &mut [T]) -> Vec<usize> {
    let width = sum.len().max(1);
    let count = rows.len() / width;
    let threads = threads(rows.len() * COST);
    let arch = Arch::new();
    let mut lives = vec![false; count];
    let size = block(count, threads);
    each(threads, lives.chunks_mut(size), |number, lives| {
        let rows = rows[number * size * width..].chunks_exact(width);
        arch.dispatch(
            #[inline(always)]
            || rows.zip(lives).for_each(|(row, live)| *live = is_live(row)),
        );
    });
    let live: Vec<usize> = (0..count).filter(|&n| lives[n]).collect();
    let size = block(width, threads);
    each(threads, sum.chunks_mut(size), |number, sum| {
        let own = live.iter().map(|n| &rows[n * width + number * size..]);
        arch.dispatch(
            #[inline(always)]
            || own.for_each(|row| add(sum, row)),
        );
    });
    live
}

/// Whether a row is not zero throughout.
#[inline(always)]
fn is_live<T: Number>(row: &[T]) -> bool {
    // In pieces, each of which becomes vector instructions.
    let zero = |piece: &[T]| piece.iter().fold(true, |all, &g| all & (g == T::default()));
    !row.chunks(64).all(zero)
}

/// Adds the elements of a row, of which there can be more, to a sum.
#[inline(always)]
fn add<T: Number>(sum: &mut [T], row: &[T]) {
    sum.iter_mut().zip(row).for_each(|(sum, &g)| *sum += g);
}
