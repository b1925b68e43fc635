//! The model's constants, and the sizes of its nets.

use serde::{Deserialize, Serialize};

use crate::{Aggregation, Canvas};

/// A model of frames in which digits move, and proposals for where they are and what they look like: what to build.
///
/// Appearance w_d ~ N(0, I), first position z_d1 ~ N(0, s² I), z_dt ~ N(z_{d, t−1}, r² I). The log-likelihood of frame t, nats, is
/// Σ_px \[x ln(ρ + ε) + (1 − x) ln(1 − ρ + ε)\] with ρ = min(Σ_d place(g_θ(w_d), z_dt), 1) and ε = 1e-9 (Wu et al. 2020, section
/// 6.4). For bits x it is Bernoulli's; over grey values it is not normalised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrackerConfig {
    /// The canvas.
    pub canvas: Canvas,
    /// Dimensions of an appearance.
    pub appearance: usize,
    /// s, the standard deviation of a coordinate in the first frame.
    pub start: f64,
    /// r, the standard deviation of a coordinate's step.
    pub step: f64,
    /// Hidden units of the net for positions: of what its two heads share, and of each head.
    pub position_hidden: [usize; 2],
    /// Hidden units of the net for appearances; the decoder has the same in the reverse order.
    pub digit_hidden: [usize; 2],
    /// How an appearance is read off many frames.
    pub aggregation: Aggregation,
}

impl Default for TrackerConfig {
    /// The paper's: 96 x 96 pixels, 10 dimensions, s = 1, r = 0.2, 200 and 100 units, 400 and 200 units.
    fn default() -> Self {
        Self {
            canvas: Canvas::default(),
            appearance: 10,
            start: 1.0,
            step: 0.2,
            position_hidden: [200, 100],
            digit_hidden: [400, 200],
            aggregation: Aggregation::Mean,
        }
    }
}

/// A configuration that describes no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// Nothing of something.
    #[error("`{field}` is 0; give at least 1")]
    Nothing {
        /// The field at fault.
        field: &'static str,
    },
    /// A standard deviation that is none.
    #[error("`{field}` is {given}; a standard deviation is a positive number")]
    Deviation {
        /// The field at fault.
        field: &'static str,
        /// What was given.
        given: f64,
    },
    /// Digits that do not fit.
    #[error(
        "digits of {digit} pixels on a canvas of {side}; a digit needs 2, and the canvas must be larger"
    )]
    Canvas {
        /// A digit's side.
        digit: usize,
        /// The canvas' side.
        side: usize,
    },
    /// A template of another size.
    #[error("the template has {given} pixels, a digit {expected}")]
    Template {
        /// What was given.
        given: usize,
        /// A digit's pixels.
        expected: usize,
    },
}

impl TrackerConfig {
    /// The preset for a CPU: the paper's nets for digits of 14 x 14 pixels on a canvas of 48 x 48.
    pub fn small() -> Self {
        Self {
            canvas: Canvas::SMALL,
            ..Self::default()
        }
    }

    pub(crate) fn check(&self, template: &[f32]) -> Result<(), ConfigError> {
        let Canvas { side, digit, .. } = self.canvas;
        if digit < 2 || digit >= side {
            return Err(ConfigError::Canvas { digit, side });
        }
        for (field, given) in [
            ("appearance", self.appearance),
            ("position-hidden", self.position_hidden[0]),
            ("position-hidden", self.position_hidden[1]),
            ("digit-hidden", self.digit_hidden[0]),
            ("digit-hidden", self.digit_hidden[1]),
        ] {
            if given == 0 {
                return Err(ConfigError::Nothing { field });
            }
        }
        for (field, given) in [("start", self.start), ("step", self.step)] {
            if !(given > 0.0 && given.is_finite()) {
                return Err(ConfigError::Deviation { field, given });
            }
        }
        let (given, expected) = (template.len(), self.canvas.digit_area());
        if given != expected {
            return Err(ConfigError::Template { given, expected });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_preset_is_the_paper_s_nets_on_a_small_canvas() {
        let small = TrackerConfig::small();
        assert_eq!((small.canvas.side, small.canvas.digit), (48, 14));
        let canvas = TrackerConfig::default().canvas;
        assert_eq!(TrackerConfig { canvas, ..small }, TrackerConfig::default());
    }

    #[test]
    fn what_describes_no_model_is_an_error_that_says_why() {
        let checked = |change: &dyn Fn(&mut TrackerConfig)| {
            let mut config = TrackerConfig::small();
            change(&mut config);
            config.check(&vec![0.0; config.canvas.digit_area()])
        };
        assert_eq!(checked(&|_| {}), Ok(()));
        for (digit, side, fits) in [
            (1, 48, false),
            (2, 48, true),
            (48, 48, false),
            (47, 48, true),
        ] {
            let found =
                checked(&|config| (config.canvas.digit, config.canvas.side) = (digit, side));
            let refused = Err(ConfigError::Canvas { digit, side });
            assert_eq!(found, if fits { Ok(()) } else { refused });
        }
        type Change = fn(&mut TrackerConfig);
        let nothing: [(&str, Change); 5] = [
            ("appearance", |config| config.appearance = 0),
            ("position-hidden", |config| config.position_hidden[0] = 0),
            ("position-hidden", |config| config.position_hidden[1] = 0),
            ("digit-hidden", |config| config.digit_hidden[0] = 0),
            ("digit-hidden", |config| config.digit_hidden[1] = 0),
        ];
        for (field, change) in nothing {
            assert_eq!(checked(&change), Err(ConfigError::Nothing { field }));
        }
        for given in [0.0, -1.0, f64::INFINITY] {
            let start = checked(&|config| config.start = given);
            let step = checked(&|config| config.step = given);
            for (field, found) in [("start", start), ("step", step)] {
                assert_eq!(found, Err(ConfigError::Deviation { field, given }));
            }
        }
        assert!(checked(&|config| config.step = f64::NAN).is_err());
        let small = TrackerConfig::small();
        let (given, expected) = (195, 196);
        let refused = Err(ConfigError::Template { given, expected });
        assert_eq!(small.check(&[0.0; 195]), refused);
    }
}
