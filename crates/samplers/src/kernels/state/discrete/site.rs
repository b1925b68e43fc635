//! What a site holds.

/// A value of a discrete variable: a bit, or the number of a class.
pub trait Site: Copy + PartialEq {
    /// The value as a number, from 0.
    fn code(self) -> usize;

    /// The value of this `code`.
    fn of_code(code: usize) -> Self;
}

impl Site for bool {
    fn code(self) -> usize {
        usize::from(self)
    }

    fn of_code(code: usize) -> Self {
        code == 1
    }
}

impl Site for usize {
    fn code(self) -> usize {
        self
    }

    fn of_code(code: usize) -> Self {
        code
    }
}

/// For fewer than 257 classes, in an eighth of the memory.
impl Site for u8 {
    fn code(self) -> usize {
        usize::from(self)
    }

    fn of_code(code: usize) -> Self {
        code as u8
    }
}
