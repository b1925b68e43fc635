//! Pieces of rows on rows: the fast path in f32 and the portable definition in f64 against loops.

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_ops::{Piece, Pieces, add_pieces};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// Width of a row and of a source.
const WIDTHS: [usize; 2] = [40, 17];

/// Up to five pieces a group, which may lie on each other.
fn pieces(groups: usize, seed: u64) -> Pieces {
    let numbers = Matrix::uniform([groups, 16], seed).elements;
    let mut all = Pieces::default();
    for own in numbers.chunks_exact(16) {
        let count = (own[15] * 6.0) as usize;
        all.push((0..count).map(|at| {
            let [to, from, length] = [0, 1, 2].map(|k| own[3 * at + k]);
            let length = 1 + (length * 8.0) as usize;
            let first = |u: f32, width: usize| (u * (width - length + 1) as f32) as usize;
            let (to, from) = (first(to, WIDTHS[0]), first(from, WIDTHS[1]));
            Piece { to, from, length }
        }));
    }
    all
}

struct Case {
    rows: Matrix,
    sources: Matrix,
    coefficients: Matrix,
    pieces: Pieces,
}

/// The rows, and the gradients of Σ c ∘ rows in rows (if they have one) and sources.
type Outcome = [Vec<f64>; 3];

const WEIGHT: f64 = -0.75;

impl Case {
    fn new([rows, sources, groups]: [usize; 3], seed: u64) -> Self {
        let matrix = |shape, own| Matrix::symmetric(shape, 2.0, seed.wrapping_add(own));
        Self {
            rows: matrix([rows, WIDTHS[0]], 0),
            sources: matrix([sources, WIDTHS[1]], 1),
            coefficients: matrix([groups, WIDTHS[0]], 2),
            pieces: pieces(groups, seed.wrapping_add(3)),
        }
    }

    fn outcome(&self, dtype: DType, of_rows: bool) -> Outcome {
        let rows = self.rows.tensor::<Autodiff<Flex>>(dtype);
        let rows = if of_rows { rows.require_grad() } else { rows };
        let sources = self.sources.tensor(dtype).require_grad();
        let found = add_pieces(rows.clone(), sources.clone(), &self.pieces, WEIGHT);
        let loss = found.clone() * self.coefficients.tensor(dtype);
        let gradients = loss.sum().backward();
        let of_sources = read(sources.grad(&gradients).expect("a gradient"));
        let own = of_rows.then(|| read(rows.grad(&gradients).expect("a gradient")));
        [read(found), own.unwrap_or_default(), of_sources]
    }

    fn by_hand(&self, of_rows: bool) -> Outcome {
        let [width, own] = WIDTHS;
        let mut found = vec![];
        let mut of_row = vec![0.0; self.rows.rows * width];
        let mut of_source = vec![0.0; self.sources.rows * own];
        for (group, pieces) in self.pieces.by_group().enumerate() {
            let mut row: Vec<f64> = (0..width).map(|at| self.rows.at(group, at)).collect();
            for (at, of_row) in of_row[group % self.rows.rows * width..][..width]
                .iter_mut()
                .enumerate()
            {
                *of_row += self.coefficients.at(group, at);
            }
            for &Piece { to, from, length } in pieces {
                for at in 0..length {
                    row[to + at] += WEIGHT * self.sources.at(group, from + at);
                    let g = WEIGHT * self.coefficients.at(group, to + at);
                    of_source[group % self.sources.rows * own + from + at] += g;
                }
            }
            found.extend(row);
        }
        let of_row = if of_rows { of_row } else { vec![] };
        [found, of_row, of_source]
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// At most five pieces of at most 2 on a row of 2; a source's gradient has at most five such terms from each of its groups.
    #[test]
    fn pieces_are_added_where_they_belong(
        (rows, sources, cycles) in (1usize..3, 1usize..3, 1usize..4),
        of_rows in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let groups = rows * sources * cycles;
        let case = Case::new([rows, sources, groups], seed);
        let expected = case.by_hand(of_rows);
        let portable = case.outcome(DType::F64, of_rows);
        let fast = case.outcome(DType::F32, of_rows);
        for i in 0..3 {
            assert_within("portable", &portable[i], &expected[i], |_| 1e-13);
            let terms = 5.0 * groups as f64;
            assert_within("fast", &fast[i], &expected[i], |_| 2.0 * terms * terms * ROUNDING);
        }
    }
}

/// A group of no pieces is its row, in the same bits.
#[test]
fn nothing_is_added_where_there_are_no_pieces() {
    let mut case = Case::new([2, 1, 2], 4);
    case.pieces = Pieces::default();
    case.pieces.push([]);
    case.pieces.push([]);
    for dtype in [DType::F32, DType::F64] {
        let [found, _, of_sources] = case.outcome(dtype, false);
        assert_eq!(found, case.by_hand(false)[0]);
        assert_eq!(of_sources, [0.0; 17]);
    }
}

#[test]
#[should_panic(expected = "a piece reaches beyond its row of 40 or its source of 17")]
fn pieces_that_reach_beyond_a_row_are_refused() {
    let mut case = Case::new([1, 1, 1], 4);
    case.pieces = Pieces::default();
    let (to, from, length) = (36, 0, 5);
    case.pieces.push([Piece { to, from, length }]);
    case.outcome(DType::F32, false);
}

/// Pieces of another group.
#[test]
fn pieces_in_wrong_places_are_caught() {
    let mut case = Case::new([1, 1, 6], 9);
    let right = case.outcome(DType::F32, false);
    case.pieces = pieces(6, 77);
    let wrong = case.by_hand(false);
    for i in [0, 2] {
        let errors = wrong[i].iter().zip(&right[i]).map(|(a, b)| (a - b).abs());
        assert!(errors.fold(0.0, f64::max) > 0.1);
    }
}
