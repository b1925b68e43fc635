//! Rows of a few numbers, worked on as columns of many.

use super::{LANES, multiply_add};

/// Rows at a time: what is known of them stays in the first cache, while one thing after the other passes over them.
pub const ROWS: usize = 8 * LANES;

/// A number of each of these rows. Every loop is one along columns, which becomes vector instructions however many columns there are.
pub type Column = [f32; ROWS];

/// A sum in parts, which are added up only once.
pub type Lanes = [f32; LANES];

/// Rows as columns.
#[inline(always)]
pub fn transpose<'a>(rows: impl Iterator<Item = &'a [f32]>, columns: &mut [Column]) {
    for (at, row) in rows.enumerate() {
        let pairs = columns.iter_mut().zip(row);
        pairs.for_each(|(column, &value)| column[at] = value);
    }
}

/// Columns as rows.
#[inline(always)]
pub fn untranspose<'a>(columns: &[Column], rows: impl Iterator<Item = &'a mut [f32]>) {
    for (at, row) in rows.enumerate() {
        let pairs = row.iter_mut().zip(columns);
        pairs.for_each(|(value, column)| *value = column[at]);
    }
}

/// sum + a · column.
#[inline(always)]
pub fn add<const FMA: bool>(sum: &mut Column, a: f32, column: &Column) {
    let pairs = sum.iter_mut().zip(column);
    pairs.for_each(|(sum, &value)| *sum = multiply_add::<FMA>(a, value, *sum));
}

/// sum + Σ column.
#[inline(always)]
pub fn add_all(sum: &mut Lanes, column: &Column) {
    for lanes in column.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            sum[lane] += lanes[lane];
        }
    }
}

/// sum + Σ a ∘ b.
#[inline(always)]
pub fn add_products<const FMA: bool>(sum: &mut Lanes, a: &Column, b: &Column) {
    let ((a, _), (b, _)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    // Of its own, or it would be stored at every turn.
    let mut local = *sum;
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            local[lane] = multiply_add::<FMA>(a[lane], b[lane], local[lane]);
        }
    }
    *sum = local;
}

/// The sum of all lanes, in halves.
#[inline(always)]
pub fn total(lanes: &[f32; LANES]) -> f32 {
    let mut lanes = *lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}
