//! Which way a product of bits is made.

use super::words::{BITS, BLOCK, Lists, Rows};

/// The ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As numbers, by the dense product.
    Dense,
    /// By tables of sums (`tables.rs`).
    Tables,
    /// As sums of the rows whose bits are set (`sums.rs`).
    Sums,
}

/// The cheapest way to multiply `rows` rows of `inner` bits, `ones` of which are set in all, with a matrix.
///
/// The costs are those of a panel of 16 columns of f32, in processor cycles, fitted to measurements of the three kernels alone (one
/// thread, AVX2; `cargo bench -p helmholtz-ops --bench bits` draws them). Their ratios are what counts, and those differ little
/// between processors: each kernel is bound by its additions out of the first cache. Below [`FEW`] rows nothing pays for tables or
/// for a copy of the matrix in panels.
pub fn way(rows: usize, inner: usize, ones: usize) -> Way {
    if rows < FEW {
        return Way::Dense;
    }
    let (r, k) = (rows as f64, inner as f64);
    let blocks = rows.next_multiple_of(BLOCK) as f64;
    let dense = 1.2 * r * k + 4.0 * k;
    let tables = k.div_euclid(BITS as f64).max(1.0) * (1.4 * blocks + 90.0);
    // Short lists of few rows go for many columns at once.
    let (addition, list) = if inner <= 60 { (1.2, 8.0) } else { (1.7, 22.0) };
    let sums = addition * ones as f64 + list * r * (k / 400.0).max(1.0) + 9.0 * k;
    if sums <= dense.min(tables) && inner <= Lists::MOST {
        Way::Sums
    } else if tables <= dense {
        Way::Tables
    } else {
        Way::Dense
    }
}

/// Rows of the output from which another way than the dense one can pay.
const FEW: usize = 12;

/// The same for the product of `bits` with a matrix.
pub fn way_of(bits: Rows<'_>) -> Way {
    way(bits.count(), bits.columns(), bits.ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_products_of_table_1_go_the_way_that_measured_quickest() {
        // The encoder, forward, on images; the decoder, forward and backward; an evaluation.
        assert_eq!(way(50, 784, 50 * 102), Way::Sums);
        assert_eq!(way(150, 200, 150 * 70), Way::Tables);
        assert_eq!(way(200, 75, 200 * 26), Way::Tables);
        assert_eq!(way(784, 50, 50 * 102), Way::Sums);
        assert_eq!(way(250, 200, 250 * 70), Way::Tables);
        // One-hot classes: 20 variables of 10.
        assert_eq!(way(250, 200, 250 * 20), Way::Sums);
        // Too few rows to pay for anything, and for tables.
        assert_eq!(way(4, 784, 4 * 40), Way::Dense);
        assert_eq!(way(14, 200, 14 * 150), Way::Dense);
    }
}
