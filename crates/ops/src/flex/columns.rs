//! Rows of a few numbers, worked on as columns of many.

use super::{LANES, multiply_add};

/// Rows at a time: what is known of them stays in the first cache, while one thing after the other passes over them.
pub const ROWS: usize = 8 * LANES;

/// A number of each of these rows. Every loop is one along columns, which becomes vector instructions however many columns there are.
pub type Column = [f32; ROWS];

/// A sum in parts, which are added up only once.
pub type Lanes = [f32; LANES];

/// Calls `$function::<W>` for as many columns as there are, if they are few, and else `$general`. Of a known width the compiler makes
/// permutations of registers, and else a scatter, which takes six times as long.
macro_rules! by_width {
    ($width:expr, $function:ident($($argument:expr),*), $general:expr) => {
        match $width {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            7 => $function::<7>($($argument),*),
            8 => $function::<8>($($argument),*),
            _ => $general,
        }
    };
}
pub(super) use by_width;

/// Rows as columns, as many as a row has numbers.
#[inline(always)]
pub fn transpose(rows: &[f32], columns: &mut [Column]) {
    let width = columns.len();
    by_width!(width, transpose_few(rows, columns), {
        for (number, column) in columns.iter_mut().enumerate() {
            let rows = rows.chunks_exact(width).zip(column);
            rows.for_each(|(row, to)| *to = row[number]);
        }
    });
}

#[inline(always)]
fn transpose_few<const W: usize>(rows: &[f32], columns: &mut [Column]) {
    let columns: &mut [Column; W] = columns.try_into().expect("W columns");
    for (at, row) in rows.as_chunks::<W>().0.iter().take(ROWS).enumerate() {
        for (column, &value) in columns.iter_mut().zip(row) {
            column[at] = value;
        }
    }
}

/// Columns as rows.
#[inline(always)]
pub fn untranspose(columns: &[Column], rows: &mut [f32]) {
    let width = columns.len();
    by_width!(width, untranspose_few(columns, rows), {
        for (at, row) in rows.chunks_exact_mut(width).enumerate() {
            let pairs = row.iter_mut().zip(columns);
            pairs.for_each(|(value, column)| *value = column[at]);
        }
    });
}

#[inline(always)]
fn untranspose_few<const W: usize>(columns: &[Column], rows: &mut [f32]) {
    let columns: &[Column; W] = columns.try_into().expect("W columns");
    let rows = rows.as_chunks_mut::<W>().0.iter_mut().take(ROWS);
    for (at, row) in rows.enumerate() {
        *row = std::array::from_fn(|number| columns[number][at]);
    }
}

/// Rows of this many numbers as columns of any length, one after the other; what is beyond the last row stays as it is.
#[inline(always)]
pub fn spread(rows: &[f32], width: usize, columns: &mut [f32]) {
    let length = columns.len() / width;
    for (number, column) in columns.chunks_exact_mut(length).enumerate() {
        let pairs = column.iter_mut().zip(rows.chunks_exact(width));
        pairs.for_each(|(to, row)| *to = row[number]);
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
