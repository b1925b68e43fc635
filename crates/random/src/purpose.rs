//! What a stream is for.

use core::fmt;

/// A name of one to eight ASCII letters, digits or dashes that keeps streams of different use apart.
///
/// Bytes are packed little endian, so two purposes are equal exactly when their names are. Make it a constant: then a
/// bad name is a compile error.
///
/// ```
/// use helmholtz_random::Purpose;
/// const NOISE: Purpose = Purpose::new("noise");
/// assert_eq!(NOISE.to_string(), "noise");
/// ```
/// ```compile_fail
/// use helmholtz_random::Purpose;
/// const TOO_LONG: Purpose = Purpose::new("evaluation");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Purpose(u64);

impl Purpose {
    /// Packs `name`.
    ///
    /// # Panics
    /// On a name that is empty, longer than eight bytes, or holds another character than `a-z A-Z 0-9 -`; in a
    /// constant that is an error of the compiler.
    pub const fn new(name: &str) -> Self {
        let bytes = name.as_bytes();
        assert!(
            !bytes.is_empty() && bytes.len() <= 8,
            "a purpose is named by 1 to 8 ASCII characters"
        );
        let mut packed = 0;
        let mut i = 0;
        while i < bytes.len() {
            assert!(
                bytes[i].is_ascii_alphanumeric() || bytes[i] == b'-',
                "a purpose is named by ASCII letters, digits and dashes"
            );
            packed |= (bytes[i] as u64) << (8 * i);
            i += 1;
        }
        Self(packed)
    }

    pub(crate) const fn key(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .to_le_bytes()
            .into_iter()
            .take_while(|&b| b != 0)
            .try_for_each(|b| write!(f, "{}", char::from(b)))
    }
}

impl fmt::Debug for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Purpose({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_is_little_endian_and_one_to_one() {
        assert_eq!(Purpose::new("ab").key(), 0x6261);
        assert_eq!(Purpose::new("evaluate").to_string(), "evaluate");
        assert_ne!(Purpose::new("a"), Purpose::new("aa"));
    }

    #[test]
    #[should_panic(expected = "1 to 8")]
    fn an_empty_name_is_refused() {
        let _ = Purpose::new("");
    }
}
