//! What tells series apart, in colours and without.

use plotters::style::{Color, RGBColor, ShapeStyle};

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
    colour: RGBColor,
    /// Pixels of a dash and of the gap after it; none for a solid line.
    pub dash: Option<(i32, i32)>,
    /// The marker of points.
    pub marker: Marker,
}

/// Colours that colour-blind readers tell apart (Okabe & Ito 2008); no two share dash pattern or marker.
const STYLES: [Style; 6] = [
    style((0, 0, 0), None, Marker::Circle),
    style((0, 114, 178), Some((9, 4)), Marker::Cross),
    style((213, 94, 0), Some((2, 4)), Marker::Triangle),
    style((0, 158, 115), Some((16, 4)), Marker::Square),
    style((204, 121, 167), Some((5, 7)), Marker::Disc),
    style((230, 159, 0), Some((2, 9)), Marker::Plus),
];

const fn style(rgb: (u8, u8, u8), dash: Option<(i32, i32)>, marker: Marker) -> Style {
    Style {
        colour: RGBColor(rgb.0, rgb.1, rgb.2),
        dash,
        marker,
    }
}

impl Style {
    /// How many there are.
    pub const COUNT: usize = STYLES.len();

    /// The style of this number; beyond the last they begin again.
    pub fn number(number: usize) -> Self {
        STYLES[number % STYLES.len()]
    }

    /// What lines and hollow markers are drawn with.
    pub fn stroke(&self) -> ShapeStyle {
        self.colour.stroke_width(2)
    }

    /// What filled markers are drawn with.
    pub fn fill(&self) -> ShapeStyle {
        self.colour.filled()
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
