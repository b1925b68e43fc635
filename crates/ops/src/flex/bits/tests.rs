//! The two kernels on every instruction set that this machine has, against loops in f64.

use std::mem::MaybeUninit;

use pulp::{Simd, WithSimd};

use super::super::vector::Number;
use super::super::words::{Codes, Lists, Rows, WORD};
use super::source::Source;
use super::sums::Sums;
use super::tables::Tables;

/// Sums of a few hundred numbers below 1 in size, in units of a rounding of their sizes' sum.
const ROUNDINGS: f64 = 24.0;

/// Rows of bits and a matrix, without symmetry.
struct Case<T> {
    words: Vec<u32>,
    shape: [usize; 3],
    matrix: Vec<T>,
    bias: Vec<T>,
    live: Vec<usize>,
}

fn unit(n: usize) -> f64 {
    ((n * 7919 + 13) % 1009) as f64 / 504.5 - 1.0
}

impl<T: Number + From<f32> + Into<f64>> Case<T> {
    /// `rows` rows of `inner` bits, one in `sparsity` set (none for 0), and `columns` columns.
    fn new(shape @ [rows, inner, columns]: [usize; 3], sparsity: usize) -> Self {
        let per_row = inner.div_ceil(WORD);
        let mut words = vec![0u32; rows * per_row];
        for n in 0..rows {
            for i in 0..inner {
                let set = sparsity > 0 && (n * 31 + i * i * 7 + i / 5).is_multiple_of(sparsity);
                words[n * per_row + i / WORD] |= u32::from(set) << (i % WORD);
            }
        }
        let number = |n: usize| T::from(unit(n) as f32);
        Self {
            words,
            shape,
            matrix: (0..rows.max(inner) * columns).map(number).collect(),
            bias: (0..columns).map(|c| number(c + 5)).collect(),
            live: (0..rows).filter(|n| n % 3 != 1).collect(),
        }
    }

    fn bits(&self) -> Rows<'_> {
        Rows::new(&self.words, self.shape[0], self.shape[1])
    }

    fn bit(&self, n: usize, i: usize) -> bool {
        self.bits().row(n)[i / WORD] >> (i % WORD) & 1 == 1
    }

    /// bits · W + bias, or bitsᵀ · W over the live rows, and the sizes' sums.
    fn expected(&self, transposed: bool) -> Vec<[f64; 2]> {
        let [rows, inner, columns] = self.shape;
        let entry = |row: usize, c: usize| -> f64 { self.matrix[row * columns + c].into() };
        let sum = |terms: &mut dyn Iterator<Item = f64>| {
            terms.fold([0.0, 0.0], |[sum, size], term| {
                [sum + term, size + term.abs()]
            })
        };
        let all = |count: usize| (0..count).flat_map(move |n| (0..columns).map(move |c| (n, c)));
        if transposed {
            let terms = |(i, c): (usize, usize)| {
                let live = self.live.iter().filter(|&&n| self.bit(n, i));
                sum(&mut live.map(|&n| entry(n, c)))
            };
            return all(inner).map(terms).collect();
        }
        let terms = |(n, c): (usize, usize)| {
            let set = (0..inner).filter(|&i| self.bit(n, i));
            let bias: f64 = self.bias[c].into();
            sum(&mut set.map(|i| entry(i, c)).chain([bias]))
        };
        all(rows).map(terms).collect()
    }

    fn check<S: Simd>(&self, simd: S) {
        let [rows, inner, columns] = self.shape;
        let epsilon = if size_of::<T>() == 4 {
            f64::from(f32::EPSILON)
        } else {
            f64::EPSILON
        };
        let compare = |found: Vec<T>, transposed: bool, kernel: &str| {
            let expected = self.expected(transposed);
            assert_eq!(found.len(), expected.len());
            for (at, (found, [sum, size])) in found.into_iter().zip(expected).enumerate() {
                let error = (found.into() - sum).abs();
                let bound = ROUNDINGS * epsilon * size;
                assert!(
                    error <= bound,
                    "{kernel}, {:?}, {at}: {error:e}",
                    self.shape
                );
            }
        };
        let matrix = Source::new(&self.matrix[..inner * columns], inner, columns);
        let bias = Some(self.bias.as_slice());
        let (codes, lists) = (&Codes::of_rows(self.bits()), &Lists::of_rows(self.bits()));
        let found = run(simd, rows * columns, |out| Tables {
            codes,
            rows: 0..rows,
            matrix,
            bias,
            out,
        });
        compare(found, false, "tables");
        let found = run(simd, rows * columns, |out| Sums {
            lists,
            rows: 0..rows,
            matrix,
            bias,
            out,
        });
        compare(found, false, "sums");
        let delta = Source::new(&self.matrix[..rows * columns], rows, columns).only(&self.live);
        let codes = &Codes::of_columns(self.bits(), &self.live);
        let found = run(simd, inner * columns, |out| Tables {
            codes,
            rows: 0..inner,
            matrix: delta,
            bias: None,
            out,
        });
        compare(found, true, "transposed tables");
        let lists = &Lists::of_columns(self.bits(), &self.live);
        let found = run(simd, inner * columns, |out| Sums {
            lists,
            rows: 0..inner,
            matrix: delta,
            bias: None,
            out,
        });
        compare(found, true, "transposed sums");
    }
}

/// What a kernel writes into so many numbers; it must write each.
fn run<'a, S: Simd, T: Number + From<f32>, K: WithSimd<Output = ()> + 'a>(
    simd: S,
    len: usize,
    kernel: impl FnOnce(&'a mut [MaybeUninit<T>]) -> K,
) -> Vec<T> {
    let out = Box::leak(vec![MaybeUninit::new(T::from(f32::NAN)); len].into_boxed_slice());
    let at = out.as_mut_ptr();
    simd.vectorize(kernel(out));
    // SAFETY: the memory is leaked, was initialised, and the kernel has given it back.
    unsafe { std::slice::from_raw_parts(at.cast::<T>(), len) }.to_vec()
}

fn check_all<S: Simd>(simd: S) {
    // Nothing, a bit, words and panels cut off, more tables and panels than go at once.
    let shapes = [
        [0, 5, 3],
        [1, 1, 1],
        [3, 2, 17],
        [8, 31, 16],
        [9, 32, 15],
        [7, 33, 40],
        [17, 130, 24],
        [20, 450, 33],
        [5, 840, 8],
        [50, 70, 230],
    ];
    for shape in shapes {
        for sparsity in [0, 1, 2, 7] {
            Case::<f32>::new(shape, sparsity).check(simd);
            Case::<f64>::new(shape, sparsity).check(simd);
        }
    }
}

#[test]
fn the_kernels_are_loops_in_f64_on_every_instruction_set() {
    check_all(pulp::Scalar::new());
    #[cfg(target_arch = "x86_64")]
    {
        pulp::x86::V3::try_new().into_iter().for_each(check_all);
        pulp::x86::V4::try_new().into_iter().for_each(check_all);
    }
}

#[test]
fn positions_are_those_of_the_bits_that_are_set() {
    let words = [0x8000_0001, 0x0000_0006, 0, 0];
    let lists = Lists::of_rows(Rows::new(&words, 2, 35));
    assert_eq!(lists.row(0), [0, 31, 33, 34]);
    assert!(lists.row(1).is_empty());
    assert_eq!(lists.rows(), 2);
}

#[test]
fn ones_are_counted_in_all_rows_and_in_each() {
    let words = [0x8000_0001, 0x0000_0006, 0, 0x0000_0001];
    let rows = Rows::new(&words, 2, 35);
    assert_eq!((rows.ones(), [0, 1].map(|n| rows.ones_of(n))), (5, [4, 1]));
}

#[test]
#[should_panic(expected = "as many words as the rows have")]
fn too_few_words_are_refused() {
    Rows::new(&[0; 3], 2, 35);
}
