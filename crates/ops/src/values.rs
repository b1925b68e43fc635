//! Rows of values that a model reads: numbers, or bits packed into words.

use burn::tensor::{DType, Int, Tensor, TensorData};

use crate::backend::portable::WORD;
use crate::primitive::wrap;
use crate::{AutodiffBackend, Backend, cat};

/// Rows of bits, 32 to a word: bit j of a row is bit `j % 32` of its word `j / 32`, and the bits beyond the last column are 0.
/// Without gradient.
#[derive(Clone, Debug)]
pub struct PackedBits<B: Backend> {
    /// `[rows, words]` of u32.
    words: Tensor<B, 2, Int>,
    columns: usize,
    dtype: DType,
}

impl<B: Backend> PackedBits<B> {
    /// Rows of `columns` bits from their words, which read as numbers are of this dtype.
    ///
    /// # Panics
    /// If there are not as many words as `rows` rows take.
    pub fn new(
        words: Vec<u32>,
        [rows, columns]: [usize; 2],
        (device, dtype): (&B::Device, DType),
    ) -> Self {
        let data = TensorData::new(words, [rows, columns.div_ceil(WORD)]);
        Self {
            words: Tensor::from_data(data, (device, DType::U32)),
            columns,
            dtype,
        }
    }

    /// Those numbers `[rows, columns]` that are above ½.
    pub fn of(values: Tensor<B, 2>) -> Self {
        let (columns, dtype) = (values.dims()[1], values.dtype());
        let words = B::pack_bits(values.into_primitive().tensor());
        Self::from_words(Tensor::from_primitive(words), columns, dtype)
    }

    pub(crate) fn from_words(words: Tensor<B, 2, Int>, columns: usize, dtype: DType) -> Self {
        Self {
            words,
            columns,
            dtype,
        }
    }

    /// The words `[rows, words]`.
    pub fn words(&self) -> &Tensor<B, 2, Int> {
        &self.words
    }

    /// Rows and columns.
    pub fn dims(&self) -> [usize; 2] {
        [self.words.dims()[0], self.columns]
    }

    /// The bits as numbers 0 and 1 `[rows, columns]`.
    pub fn numbers(&self) -> Tensor<B, 2> {
        let words = self.words.clone().into_primitive();
        wrap(B::unpack_bits(words, self.columns, self.dtype))
    }

    /// Other rows of as many columns.
    fn with_words(&self, words: Tensor<B, 2, Int>) -> Self {
        Self::from_words(words, self.columns, self.dtype)
    }
}

/// Rows of values `[rows, columns]`: bits that are packed, or any numbers: grey pixels, relaxed bits, values with a gradient.
#[derive(Clone, Debug)]
pub enum Values<B: Backend> {
    /// Zeros and ones.
    Bits(PackedBits<B>),
    /// Real numbers.
    Numbers(Tensor<B, 2>),
}

impl<B: Backend> From<Tensor<B, 2>> for Values<B> {
    fn from(numbers: Tensor<B, 2>) -> Self {
        Self::Numbers(numbers)
    }
}

impl<B: Backend> From<PackedBits<B>> for Values<B> {
    fn from(bits: PackedBits<B>) -> Self {
        Self::Bits(bits)
    }
}

impl<B: Backend> Values<B> {
    /// Bits on the host `[rows, columns]`, packed as [`PackedBits`] are, where the backend multiplies them so
    /// ([`Backend::PACKS_BITS`]); else as numbers.
    ///
    /// # Panics
    /// If there are not as many words as the rows take.
    pub fn of_words(
        words: Vec<u32>,
        shape @ [rows, columns]: [usize; 2],
        (device, dtype): (&B::Device, DType),
    ) -> Self {
        if B::PACKS_BITS {
            return PackedBits::new(words, shape, (device, dtype)).into();
        }
        let per_row = columns.div_ceil(WORD);
        assert_eq!(
            words.len(),
            rows * per_row,
            "as many words as the rows take"
        );
        let mut numbers = Vec::with_capacity(rows * columns);
        for row in words.chunks_exact(per_row.max(1)) {
            let bit = |j: usize| (row[j / WORD] >> (j % WORD) & 1) as f32;
            numbers.extend((0..columns).map(bit));
        }
        Tensor::from_data(TensorData::new(numbers, shape), (device, dtype)).into()
    }

    /// Zeros and ones `[rows, columns]` without gradient, packed where the backend multiplies them so.
    pub fn binary(numbers: Tensor<B, 2>) -> Self {
        match B::PACKS_BITS {
            true => PackedBits::of(numbers).into(),
            false => numbers.into(),
        }
    }

    /// Rows and columns.
    pub fn dims(&self) -> [usize; 2] {
        match self {
            Self::Bits(bits) => bits.dims(),
            Self::Numbers(numbers) => numbers.dims(),
        }
    }

    /// The type of the numbers.
    pub fn dtype(&self) -> DType {
        match self {
            Self::Bits(bits) => bits.dtype,
            Self::Numbers(numbers) => numbers.dtype(),
        }
    }

    /// Where they are.
    pub fn device(&self) -> B::Device {
        match self {
            Self::Bits(bits) => bits.words.device(),
            Self::Numbers(numbers) => numbers.device(),
        }
    }

    /// As numbers `[rows, columns]`.
    pub fn numbers(&self) -> Tensor<B, 2> {
        match self {
            Self::Bits(bits) => bits.numbers(),
            Self::Numbers(numbers) => numbers.clone(),
        }
    }

    /// The rows of all, one after the other; packed if all are.
    ///
    /// # Panics
    /// Of none, or if the numbers of columns differ.
    pub fn cat(all: Vec<Self>) -> Self {
        let packed = all.iter().map(|values| match values {
            Self::Bits(bits) => Some(bits),
            Self::Numbers(_) => None,
        });
        match packed.collect::<Option<Vec<_>>>() {
            Some(packed) => {
                let [first, rest @ ..] = packed.as_slice() else {
                    panic!("there is nothing to put together");
                };
                let same = rest.iter().all(|bits| bits.columns == first.columns);
                assert!(same, "the numbers of columns differ");
                let words = packed.iter().map(|bits| bits.words.clone());
                first.with_words(cat(words.collect(), 0)).into()
            }
            None => cat(all.iter().map(Self::numbers).collect(), 0).into(),
        }
    }

    /// The rows repeated cyclically to `count`.
    ///
    /// # Panics
    /// If they don't divide it.
    pub fn cycle(&self, count: usize) -> Self {
        let rows = self.dims()[0];
        assert!(
            rows > 0 && count.is_multiple_of(rows),
            "{rows} rows do not divide {count}"
        );
        match count == rows {
            true => self.clone(),
            false => Self::cat(vec![self.clone(); count / rows]),
        }
    }

    /// `count` rows from row `first` on.
    pub fn rows(&self, first: usize, count: usize) -> Self {
        match self {
            Self::Bits(bits) => bits
                .with_words(bits.words.clone().narrow(0, first, count))
                .into(),
            Self::Numbers(numbers) => numbers.clone().narrow(0, first, count).into(),
        }
    }

    /// `count` columns from column `first` on.
    pub fn columns(&self, first: usize, count: usize) -> Self {
        match self {
            Self::Bits(bits) => {
                let words = bits.words.clone().into_primitive();
                let words = B::bit_columns(words, bits.columns, first..first + count);
                PackedBits::from_words(Tensor::from_primitive(words), count, bits.dtype).into()
            }
            Self::Numbers(numbers) => numbers.clone().narrow(1, first, count).into(),
        }
    }

    /// The same values off the tape.
    pub fn inner(self) -> Values<B::InnerBackend>
    where
        B: AutodiffBackend,
    {
        match self {
            Self::Bits(PackedBits {
                words,
                columns,
                dtype,
            }) => PackedBits::from_words(words.inner(), columns, dtype).into(),
            Self::Numbers(numbers) => numbers.inner().into(),
        }
    }

    /// The same values as constants of the tape.
    pub fn from_inner(values: Values<B::InnerBackend>) -> Self
    where
        B: AutodiffBackend,
    {
        match values {
            Values::Bits(PackedBits {
                words,
                columns,
                dtype,
            }) => PackedBits::from_words(Tensor::from_inner(words), columns, dtype).into(),
            Values::Numbers(numbers) => Self::Numbers(Tensor::from_inner(numbers)),
        }
    }
}
