//! Rows of bits, 32 to a word, and what the kernels read them as.

use super::vector::Number;

/// Bits of a word.
pub const WORD: usize = u32::BITS as usize;

/// Rows of `columns` bits each: bit j of a row is bit `j % 32` of its word `j / 32`; the bits beyond the last column are 0.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    words: &'a [u32],
    columns: usize,
    count: usize,
}

impl<'a> Rows<'a> {
    /// `count` rows, which must be as many words as that takes.
    pub fn new(words: &'a [u32], count: usize, columns: usize) -> Self {
        assert_eq!(
            words.len(),
            count * columns.div_ceil(WORD),
            "as many words as the rows have"
        );
        Self {
            words,
            columns,
            count,
        }
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Words of a row.
    pub fn per_row(&self) -> usize {
        self.columns.div_ceil(WORD)
    }

    pub fn row(&self, n: usize) -> &'a [u32] {
        let words = self.per_row();
        &self.words[n * words..][..words]
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a [u32]> + use<'a> {
        let rows = *self;
        (0..rows.count).map(move |n| rows.row(n))
    }

    /// How many bits are set.
    pub fn ones(&self) -> usize {
        count(self.words)
    }

    /// How many bits of a row are set.
    pub fn ones_of(&self, n: usize) -> usize {
        count(self.row(n))
    }
}

fn count(words: &[u32]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// The positions of the bits that are set in each row, or in each column, in order.
pub struct Lists {
    /// Where each row begins in `positions`; one entry more than rows.
    starts: Vec<u32>,
    positions: Vec<u16>,
}

/// The positions of the bits that are set in a byte, and zeros after them.
static POSITIONS: [[u16; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut found) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][found] = bit as u16;
                found += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl Lists {
    /// The most columns that positions can name.
    pub const MOST: usize = 1 << u16::BITS;

    /// Of the rows, positions being columns.
    pub fn of_rows(rows: Rows<'_>) -> Self {
        assert!(rows.columns() <= Self::MOST, "positions are of 16 bits");
        // A byte writes eight positions, whatever it has.
        let mut positions = vec![0u16; rows.ones() + 8];
        let mut starts = Vec::with_capacity(rows.count() + 1);
        let mut end = 0;
        starts.push(0);
        for row in rows.iter() {
            for (index, word) in row.iter().enumerate() {
                for (byte, value) in word.to_le_bytes().into_iter().enumerate() {
                    let first = (WORD * index + 8 * byte) as u16;
                    let own = POSITIONS[usize::from(value)].map(|at| at.wrapping_add(first));
                    positions[end..end + 8].copy_from_slice(&own);
                    end += value.count_ones() as usize;
                }
            }
            starts.push(end as u32);
        }
        positions.truncate(end);
        Self { starts, positions }
    }

    /// Of the columns, positions being places among the rows `live`.
    pub fn of_columns(rows: Rows<'_>, live: &[usize]) -> Self {
        assert!(live.len() <= Self::MOST, "positions are of 16 bits");
        let of_row = |&n: &usize| {
            let words = rows.row(n).iter().enumerate();
            words.flat_map(|(index, &word)| Ones(word).map(move |bit| WORD * index + bit))
        };
        let mut starts = vec![0u32; rows.columns() + 1];
        for column in live.iter().flat_map(of_row) {
            starts[column + 1] += 1;
        }
        for column in 0..rows.columns() {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut positions = vec![0u16; starts[rows.columns()] as usize];
        for (place, n) in live.iter().enumerate() {
            for column in of_row(n) {
                positions[next[column] as usize] = place as u16;
                next[column] += 1;
            }
        }
        Self { starts, positions }
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn row(&self, n: usize) -> &[u16] {
        &self.positions[self.starts[n] as usize..self.starts[n + 1] as usize]
    }
}

/// The places of the bits that are set in a word, in order.
struct Ones(u32);

impl Iterator for Ones {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let place = (self.0 != 0).then_some(self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(place)
    }
}

/// Bits of a code, and rows of a block of codes.
pub const BITS: usize = 4;
pub const BLOCK: usize = 8;

/// Four neighbouring bits of each row as the place, in bytes, of one of 16 panels. For each block of 8 rows and each group of 4
/// bits the codes of the 8 rows.
pub struct Codes {
    codes: Vec<BlockCodes>,
    groups: usize,
    rows: usize,
}

/// The codes of a block's rows, four to a word, the first in its low bits: read in two loads.
pub type BlockCodes = [u64; BLOCK / 4];

#[inline(always)]
fn block_codes(codes: [u16; BLOCK]) -> BlockCodes {
    std::array::from_fn(|half| {
        let own = &codes[4 * half..][..4];
        own.iter()
            .rev()
            .fold(0, |word, &code| word << 16 | u64::from(code))
    })
}

/// What a bit adds to its code: a bit at place k of its group adds 2ᵏ panels.
const STEP: u32 = super::vector::PANEL.trailing_zeros();

/// The eight bits of a byte, one in each lane, as codes of their own.
static SPREAD: [[u16; BLOCK]; 256] = {
    let mut table = [[0; BLOCK]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < BLOCK {
            table[byte][bit] = ((byte >> bit & 1) << STEP) as u16;
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl Codes {
    /// Of the rows, with groups along their columns.
    pub fn of_rows(rows: Rows<'_>) -> Self {
        let groups = rows.columns().div_ceil(BITS);
        let mut codes = Vec::with_capacity(rows.count().div_ceil(BLOCK) * groups);
        for first in (0..rows.count()).step_by(BLOCK) {
            for word in 0..rows.per_row() {
                let mut own = [0u32; BLOCK];
                for (own, n) in own.iter_mut().zip(first..rows.count()) {
                    *own = rows.row(n)[word];
                }
                let left = groups - word * (WORD / BITS);
                for group in 0..left.min(WORD / BITS) {
                    let shift = BITS * group;
                    codes.push(block_codes(
                        own.map(|word| ((word >> shift) as u16 & 15) << STEP),
                    ));
                }
            }
        }
        Self {
            codes,
            groups,
            rows: rows.count(),
        }
    }

    /// Of the columns, with groups along `live`, the rows that count.
    pub fn of_columns(rows: Rows<'_>, live: &[usize]) -> Self {
        let groups = live.len().div_ceil(BITS);
        let mut codes = Vec::with_capacity(rows.columns().div_ceil(BLOCK) * groups);
        for block in 0..rows.columns().div_ceil(BLOCK) {
            let (word, shift) = (block * BLOCK / WORD, block * BLOCK % WORD);
            let byte = |n: usize| SPREAD[(rows.row(n)[word] >> shift) as usize & 255];
            for group in live.chunks(BITS) {
                let mut own = [0; BLOCK];
                for (k, &n) in group.iter().enumerate() {
                    let bits = byte(n);
                    for (own, bit) in own.iter_mut().zip(bits) {
                        *own |= bit << k;
                    }
                }
                codes.push(block_codes(own));
            }
        }
        Self {
            codes,
            groups,
            rows: rows.columns(),
        }
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The codes of block `block`: those of 8 rows for each of `groups`.
    pub fn block(&self, block: usize, groups: std::ops::Range<usize>) -> &[BlockCodes] {
        &self.codes[block * self.groups..][groups]
    }
}

/// Sets `out` to the bits of a row.
#[inline(always)]
pub fn unpack_row<T: Number>(row: &[u32], out: &mut [T]) {
    let (words, last) = out.as_chunks_mut::<WORD>();
    let of = |word: u32, bit: usize| T::of((word >> bit & 1) as f32);
    for (&word, out) in row.iter().zip(&mut *words) {
        *out = std::array::from_fn(|bit| of(word, bit));
    }
    for (bit, out) in last.iter_mut().enumerate() {
        *out = of(row[words.len()], bit);
    }
}
