//! The rows of a gradient that count.

use pulp::{Arch, Simd, WithSimd};

use super::vector::Number;

/// The rows, each as long as `sum`, that are not zero throughout, by number; they are added to `sum`.
pub fn live_rows<T: Number>(rows: &[T], sum: &mut [T]) -> Vec<usize> {
    Arch::new().dispatch(LiveRows { rows, sum })
}

struct LiveRows<'a, T> {
    rows: &'a [T],
    sum: &'a mut [T],
}

impl<T: Number> WithSimd for LiveRows<'_, T> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<usize> {
        let Self { rows, sum } = self;
        let mut live = Vec::new();
        for (n, row) in rows.chunks_exact(sum.len().max(1)).enumerate() {
            // In pieces, each of which becomes vector instructions.
            let zero = |piece: &[T]| piece.iter().fold(true, |all, &g| all & (g == T::default()));
            if !row.chunks(64).all(zero) {
                live.push(n);
                sum.iter_mut().zip(row).for_each(|(sum, &g)| *sum += g);
            }
        }
        live
    }
}
