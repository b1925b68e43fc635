//! Which way a product of bits is made.

use super::super::words::{BITS, BLOCK, Lists, Rows};

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

/// What the kernels cost, in processor cycles for a panel of 16 columns of f32, fitted to measurements of each alone (one thread;
/// `cargo bench -p helmholtz-ops --bench bits` draws them). Only their ratios count.
struct Costs {
    /// A row of bits and one of the matrix, multiplied densely.
    product: f64,
    /// A row of bits in a table of four, and a table.
    entry: f64,
    table: f64,
    /// A set bit, and a row of bits.
    addition: f64,
    list: f64,
}

/// With registers of 64 bytes dense products gain most: two multiply-adds a cycle, of 16 numbers each.
const WIDE: Costs = Costs {
    product: 0.58,
    entry: 1.03,
    table: 34.0,
    addition: 1.05,
    list: 16.0,
};

const NARROW: Costs = Costs {
    product: 1.2,
    entry: 1.48,
    table: 60.0,
    addition: 1.4,
    list: 18.0,
};

/// Those of this machine.
fn costs() -> &'static Costs {
    #[cfg(target_arch = "x86_64")]
    if let pulp::Arch::V4(_) = pulp::Arch::new() {
        return &WIDE;
    }
    &NARROW
}

/// The cheapest way to multiply `rows` rows of `inner` bits, `ones` of which are set in all, with a matrix of so many columns.
pub fn way(rows: usize, inner: usize, ones: usize, columns: usize) -> Way {
    cheapest(costs(), rows, inner, ones, columns)
}

fn cheapest(costs: &Costs, rows: usize, inner: usize, ones: usize, columns: usize) -> Way {
    let [dense, tables, sums] = costs.of(rows, inner, ones, columns);
    if sums <= dense.min(tables) && inner <= Lists::MOST {
        Way::Sums
    } else if tables <= dense {
        Way::Tables
    } else {
        Way::Dense
    }
}

impl Costs {
    /// Cycles of the product densely, by tables and by sums.
    fn of(&self, rows: usize, inner: usize, ones: usize, columns: usize) -> [f64; 3] {
        /// A row of the matrix, copied into a panel.
        const COPY: f64 = 6.0;
        /// Rows of the matrix that panels hold at once.
        const PASS: f64 = 400.0;
        /// A row of the matrix, packed for a dense product, and a set bit whose row is added straight from the matrix. Narrow matrices
        /// are dear to pack, and rows that take several turns are dear to add.
        const NARROW_MATRIX: usize = 13 * 16;
        let (pack, straight) = match columns <= NARROW_MATRIX {
            true => (6.0, 2.3),
            false => (1.5, 4.3),
        };
        let (r, k, ones) = (rows as f64, inner as f64, ones as f64);
        let dense = self.product * r * k + pack * k;
        if rows < FEW {
            return [dense, f64::INFINITY, straight * ones];
        }
        let blocks = rows.next_multiple_of(BLOCK) as f64;
        let tables = k.div_euclid(BITS as f64).max(1.0) * (self.entry * blocks + self.table);
        let sums = self.addition * ones + self.list * r * (k / PASS).max(1.0) + COPY * k;
        [dense, tables, sums]
    }
}

/// Rows of the output from which tables, and a copy of the matrix in panels, can pay.
pub const FEW: usize = 12;

/// The same for the product of `bits` with a matrix of so many columns.
pub fn way_of(bits: Rows<'_>, columns: usize) -> Way {
    way(bits.count(), bits.columns(), bits.ones(), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_products_of_table_1_go_the_way_that_measured_quickest() {
        for costs in [&WIDE, &NARROW] {
            let way = |rows, inner, ones, columns| cheapest(costs, rows, inner, ones, columns);
            // The encoder, forward and backward, on images; the decoder, forward and backward; an evaluation.
            assert_eq!(way(50, 784, 50 * 102, 200), Way::Sums);
            assert_eq!(way(784, 50, 50 * 102, 200), Way::Tables);
            assert_eq!(way(150, 200, 150 * 70, 784), Way::Tables);
            assert_eq!(way(200, 75, 200 * 26, 784), Way::Tables);
            assert_eq!(way(250, 200, 250 * 70, 784), Way::Tables);
            // One-hot classes: 20 variables of 10.
            assert_eq!(way(250, 200, 250 * 20, 784), Way::Sums);
            // Too few rows to pay for tables.
            assert_eq!(way(14, 200, 14 * 150, 784), Way::Dense);
        }
    }

    #[test]
    fn costs_count_products_tables_entries_additions_and_copies() {
        let close = |found: [f64; 3], expected: [f64; 3]| {
            for (found, expected) in found.into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() <= 1e-9 * expected,
                    "{found}, {expected}"
                );
            }
        };
        // 20 rows are 3 blocks of 8; 42 bits fill 10 groups of 4.
        let [dense, tables] = [0.58 * 20.0 * 42.0 + 6.0 * 42.0, 10.0 * (1.03 * 24.0 + 34.0)];
        close(
            WIDE.of(20, 42, 90, 208),
            [dense, tables, 1.05 * 90.0 + 16.0 * 20.0 + 6.0 * 42.0],
        );
        let [dense, tables] = [
            1.2 * 16.0 * 800.0 + 1.5 * 800.0,
            200.0 * (1.48 * 16.0 + 60.0),
        ];
        // 800 rows of the matrix take two passes.
        let sums = 1.4 * 300.0 + 18.0 * 16.0 * 2.0 + 6.0 * 800.0;
        close(NARROW.of(16, 800, 300, 209), [dense, tables, sums]);
        // Fewer bits than a group has are a table.
        let [_, one_table, _] = NARROW.of(12, 2, 3, 5);
        assert_eq!(one_table, 1.48 * 16.0 + 60.0);
        let few = WIDE.of(FEW - 1, 100, 7, 208);
        assert_eq!(few, [0.58 * 11.0 * 100.0 + 600.0, f64::INFINITY, 2.3 * 7.0]);
        assert_eq!(WIDE.of(1, 100, 7, 209)[2], 4.3 * 7.0);
    }

    #[test]
    fn the_cheapest_way_is_taken_and_positions_that_have_no_name_are_not() {
        // Level costs: sums before tables, tables before dense products.
        let level = |product, entry, table, addition| Costs {
            product,
            entry,
            table,
            addition,
            list: 0.0,
        };
        let way = |costs: &Costs, ones| cheapest(costs, 16, 4, ones, 500);
        // Dense 64 p + 6, tables 16 e + t, sums a · ones + 24.
        assert_eq!(way(&level(1.0, 4.0, 6.0, 1.0), 46), Way::Sums);
        assert_eq!(way(&level(1.0, 4.0, 6.0, 1.0), 47), Way::Tables);
        assert_eq!(way(&level(1.0, 4.0, 7.0, 1.0), 47), Way::Dense);
        assert_eq!(way(&level(2.0, 4.0, 6.0, 1.0), 46), Way::Sums);
        assert_eq!(cheapest(&WIDE, 1, Lists::MOST, 1, 200), Way::Sums);
        assert_eq!(cheapest(&WIDE, 1, Lists::MOST + 1, 1, 200), Way::Dense);
        assert_eq!(cheapest(&WIDE, 100, Lists::MOST, 1, 200), Way::Sums);
        assert_ne!(cheapest(&WIDE, 100, Lists::MOST + 1, 1, 200), Way::Sums);
    }

    #[test]
    fn few_rows_are_added_up_where_few_bits_are_set() {
        for columns in [200, 784] {
            assert_eq!(way(1, 784, 200, columns), Way::Sums);
            assert_eq!(way(FEW - 1, 784, 400, columns), Way::Sums);
            assert_eq!(way(FEW - 1, 784, 700 * (FEW - 1), columns), Way::Dense);
        }
    }
}
