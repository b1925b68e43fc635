//! The matrix that bits are multiplied with.

/// A matrix in row-major order, or some of its rows.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    elements: &'a [T],
    columns: usize,
    rows: usize,
    /// The rows that count, if they are not all.
    which: Option<&'a [usize]>,
}

impl<'a, T> Source<'a, T> {
    /// All rows, `columns` wide.
    pub fn new(elements: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(elements.len(), rows * columns, "a whole matrix");
        Self {
            elements,
            columns,
            rows,
            which: None,
        }
    }

    /// These rows of it, in this order.
    pub fn only(self, which: &'a [usize]) -> Self {
        Self {
            rows: which.len(),
            which: Some(which),
            ..self
        }
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Row i from column `first` on, and what lies behind it. A panel is read whole wherever it can be, and what it holds of
    /// the next row is cut off when it is stored.
    #[inline(always)]
    pub fn from(&self, i: usize, first: usize) -> &'a [T] {
        let i = self.which.map_or(i, |which| which[i]);
        &self.elements[i * self.columns + first..]
    }
}
