//! Pieces of rows.

/// For each of G groups, which pieces of a source's row lie where on the group's row: pixels of a digit on a canvas, say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    pieces: Vec<Piece>,
    /// Where the pieces of each group end.
    ends: Vec<usize>,
}

/// Elements `from .. from + length` of a source, added to the elements from `to` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first element of the row.
    pub to: usize,
    /// The first element of the source.
    pub from: usize,
    /// How many elements.
    pub length: usize,
}

impl Pieces {
    /// Adds a group with these pieces.
    pub fn push(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        self.pieces.extend(pieces);
        self.ends.push(self.pieces.len());
    }

    /// G.
    pub fn groups(&self) -> usize {
        self.ends.len()
    }

    /// The pieces of each group.
    pub fn by_group(&self) -> impl Iterator<Item = &[Piece]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        (starts.zip(&self.ends)).map(|(start, &end)| &self.pieces[start..end])
    }

    /// The places (to, from) of each group, filled up with `nothing` to the same number for all; and that number.
    pub(crate) fn places(&self, nothing: [usize; 2]) -> (Vec<[usize; 2]>, usize) {
        let single = |piece: &Piece| {
            let Piece { to, from, length } = *piece;
            (0..length).map(move |at| [to + at, from + at])
        };
        let count = |pieces: &[Piece]| pieces.iter().map(|piece| piece.length).sum::<usize>();
        let most = self.by_group().map(count).max().unwrap_or(0);
        let all = self.by_group().flat_map(|pieces| {
            let rest = std::iter::repeat_n(nothing, most - count(pieces));
            pieces.iter().flat_map(single).chain(rest)
        });
        (all.collect(), most)
    }
}
