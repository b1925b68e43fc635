//! The device a request runs on.

use crate::error::HarnessError;

/// Device that runs cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Device {
    /// The processor, one thread a run.
    Cpu,
    /// A GPU through Vulkan, Metal or DirectX.
    Wgpu,
    /// An NVIDIA GPU.
    Cuda,
}

impl Device {
    /// Name that the user types, and that of the cargo feature.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wgpu => "wgpu",
            Self::Cuda => "cuda",
        }
    }

    /// Checks that this binary was built with the device.
    ///
    /// # Errors
    /// [`HarnessError::DeviceNotBuilt`], with the remedy.
    pub fn check_built(self) -> Result<(), HarnessError> {
        let built = match self {
            Self::Cpu => cfg!(feature = "cpu"),
            Self::Wgpu => cfg!(feature = "wgpu"),
            Self::Cuda => cfg!(feature = "cuda"),
        };
        if built {
            Ok(())
        } else {
            Err(HarnessError::DeviceNotBuilt {
                device: self.as_str(),
            })
        }
    }
}
