//! Whether a device is there and computes, asked before it gets work: burn's GPU backends panic where it is not.

use burn::tensor::{ElementConversion, Tensor};

use crate::Backend;

/// Why a device cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The backend panicked at its first computation, with this text.
    #[error("it did not answer ({0})")]
    Silent(String),
    /// A sum of a thousand numbers came back wrong.
    #[error("it computes a small sum wrong")]
    Wrong,
    /// The library of NVIDIA's driver was not found.
    #[error("there is no NVIDIA driver (libcuda was not found)")]
    NoDriver,
    /// The driver answers, and knows of no device.
    #[error("the NVIDIA driver is there, but no device")]
    NoDevice,
    /// The driver refused, with this text.
    #[error("the NVIDIA driver answered {0}")]
    Driver(String),
}

/// Has the default device of a backend compute the sum of a thousand 3², and looks at what comes back.
///
/// A panic of the backend is caught, and its message kept from the screen; meanwhile the panics of other threads are silent, too.
///
/// # Errors
/// [`DeviceError::Silent`] if the backend panics, [`DeviceError::Wrong`] if the sum is not 9000.
pub fn try_device<B: Backend>() -> Result<(), DeviceError> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let sum = std::panic::catch_unwind(|| {
        let threes = Tensor::<B, 1>::full([1000], 3.0, &Default::default());
        (threes.clone() * threes).sum().into_scalar().elem::<f64>()
    });
    std::panic::set_hook(hook);
    match sum {
        Ok(9000.0) => Ok(()),
        Ok(_) => Err(DeviceError::Wrong),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or(panic.downcast_ref::<&str>().copied());
            Err(DeviceError::Silent(
                text.unwrap_or("no reason given").into(),
            ))
        }
    }
}

/// Looks for an NVIDIA driver and a device, before a backend is asked that panics without them.
///
/// # Errors
/// [`DeviceError::NoDriver`], [`DeviceError::NoDevice`] or [`DeviceError::Driver`].
#[cfg(feature = "cuda")]
pub fn find_cuda() -> Result<(), DeviceError> {
    use cudarc::driver::{result, sys};
    // SAFETY: it looks for the driver's library and calls nothing in it.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoDriver);
    }
    match result::init().and_then(|()| result::device::get_count()) {
        Ok(0) => Err(DeviceError::NoDevice),
        Ok(_) => Ok(()),
        Err(error) => Err(DeviceError::Driver(format!("{error:?}"))),
    }
}
