//! Styles that tell series apart, in colours and without.

/// The marker of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A hollow circle.
    Circle,
    /// A diagonal cross.
    Cross,
    /// A filled triangle.
    Triangle,
    /// A hollow square.
    Square,
    /// A filled circle.
    Disc,
    /// An upright cross.
    Plus,
}

/// A colour, a dash pattern and a marker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// The colour on white paper, as `#rrggbb`.
    pub colour: &'static str,
    /// Pixels of a dash and of the gap after it; none for a solid line.
    pub dash: Option<(u8, u8)>,
    /// The marker of points.
    pub marker: Marker,
}

/// Colours that colour-blind readers tell apart (Okabe & Ito 2008); no two share dash pattern or marker.
const STYLES: [Style; 6] = [
    style("#000000", None, Marker::Circle),
    style("#0072b2", Some((9, 4)), Marker::Cross),
    style("#d55e00", Some((2, 4)), Marker::Triangle),
    style("#009e73", Some((16, 4)), Marker::Square),
    style("#cc79a7", Some((5, 7)), Marker::Disc),
    style("#e69f00", Some((2, 9)), Marker::Plus),
];

const fn style(colour: &'static str, dash: Option<(u8, u8)>, marker: Marker) -> Style {
    Style {
        colour,
        dash,
        marker,
    }
}

impl Style {
    /// Number of styles.
    pub const COUNT: usize = STYLES.len();

    /// The style of this number; beyond the last they begin again.
    pub fn number(number: usize) -> Self {
        STYLES[number % STYLES.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_styles_look_alike_in_black_and_white() {
        for (i, a) in STYLES.iter().enumerate() {
            for b in &STYLES[..i] {
                assert!(a.dash != b.dash && a.colour != b.colour && a.marker != b.marker);
            }
        }
        assert_eq!(Style::number(STYLES.len()), Style::number(0));
    }
}
