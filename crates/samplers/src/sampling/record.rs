//! States as bytes.

use crate::Info;

/// A state that can be written to a file and read back, bit for bit.
pub trait Record: Sized {
    /// Appends the state to `bytes`.
    fn write(&self, bytes: &mut Vec<u8>);

    /// The state of these bytes, all that [`write`](Self::write) appended; `None` if they are of no state.
    fn read(bytes: &[u8]) -> Option<Self>;
}

impl Record for f64 {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_le_bytes)
    }
}

impl Record for usize {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((*self as u64).to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let value = bytes.try_into().ok().map(u64::from_le_bytes)?;
        value.try_into().ok()
    }
}

impl Record for u8 {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self);
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [byte] => Some(*byte),
            _ => None,
        }
    }
}

impl Record for bool {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

/// Seven words.
impl Record for Info {
    fn write(&self, bytes: &mut Vec<u8>) {
        let whole = [
            self.runs,
            self.moves,
            self.accepted,
            self.non_finite,
            self.gaps,
        ];
        whole.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
        self.ess.write(bytes);
        self.cache_gap.write(bytes);
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let words: [[u8; 8]; 7] = bytes.as_chunks().0.try_into().ok()?;
        let (whole, real) = (
            |i: usize| u64::from_le_bytes(words[i]),
            |i: usize| f64::from_le_bytes(words[i]),
        );
        (bytes.len() == 56).then(|| Self {
            runs: whole(0),
            moves: whole(1),
            accepted: whole(2),
            non_finite: whole(3),
            gaps: whole(4),
            ess: real(5),
            cache_gap: real(6),
        })
    }
}

/// Elements of one width, after their number.
impl<T: Record> Record for Vec<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.len() as u64).to_le_bytes());
        self.iter().for_each(|element| element.write(bytes));
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (length, elements) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        if length == 0 {
            return elements.is_empty().then(Self::new);
        }
        if elements.is_empty() || !elements.len().is_multiple_of(length) {
            return None;
        }
        elements
            .chunks(elements.len() / length)
            .map(T::read)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn comes_back<T: Record + PartialEq + std::fmt::Debug>(state: T) {
        let mut bytes = Vec::new();
        state.write(&mut bytes);
        assert_eq!(T::read(&bytes).as_ref(), Some(&state));
        bytes.push(1);
        assert_eq!(T::read(&bytes), None);
    }

    #[test]
    fn states_come_back_and_other_bytes_are_of_none() {
        comes_back(vec![0.1, -0.0, f64::MAX]);
        comes_back(vec![true, false, true]);
        comes_back(vec![3usize, usize::MAX]);
        comes_back(vec![7u8]);
        comes_back(Vec::<f64>::new());
        comes_back(vec![vec![1.0, 2.0], vec![3.0, 4.0]]);
        comes_back(2.5);
        assert_eq!(bool::read(&[2]), None);
        assert_eq!(Vec::<bool>::read(&[3, 0, 0]), None);
        assert_eq!(Vec::<bool>::read(&u64::MAX.to_le_bytes()), None);
    }
}
