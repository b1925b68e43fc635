//! A tracker from its configuration: the nets, drawn for a seed.

use burn::tensor::{DType, backend::Backend};
use helmholtz_nets::{Activation, Initialisation, Initialiser};

use crate::identify::Identify;
use crate::locate::Locate;
use crate::{ConfigError, Tracker, TrackerConfig};

impl TrackerConfig {
    /// The model with nets drawn for this seed: for positions, for appearances, the decoder. `template` is what a digit is searched
    /// by before its appearance is known: the mean of many, row by row from the top.
    ///
    /// # Errors
    /// [`ConfigError`] if a size or a standard deviation is impossible, or the template is of another size.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        template: &[f32],
        dtype: DType,
        device: &B::Device,
    ) -> Result<Tracker<B>, ConfigError> {
        self.check(template)?;
        let fan_in = Initialisation::FanIn;
        let rectified = Activation::LeakyRelu(0.0);
        let (pixels, w) = (self.canvas.digit_area(), self.appearance);
        let responses = (self.canvas.room() + 1).pow(2);
        let [trunk, head] = self.position_hidden;
        let [wide, narrow] = self.digit_hidden;
        let mut draw = Initialiser::new(seed, dtype, device);
        let locate = Locate {
            trunk: draw.linear(responses, trunk, fan_in),
            mean: draw.net(&[trunk, head, 2], rectified, fan_in),
            log_deviation: draw.net(&[trunk, head, 2], rectified, fan_in),
        };
        let identify = Identify {
            trunk: draw.net(&[pixels, wide, narrow], rectified, fan_in),
            mean: draw.linear(narrow, w, fan_in),
            log_deviation: draw.linear(narrow, w, fan_in),
        };
        Ok(Tracker {
            locate,
            identify,
            decoder: draw.net(&[w, narrow, wide, pixels], rectified, fan_in),
            template: template.iter().map(|&pixel| pixel.into()).collect(),
            config: self.clone(),
        })
    }
}
