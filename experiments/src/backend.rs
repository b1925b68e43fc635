//! From the device that a user names to a backend.

use crate::device::Device;
use crate::error::HarnessError;
use crate::nets::{AnyNet, Net};
use crate::works::{AnyModel, OnModel};
use burn::tensor::backend::BackendTypes;
use helmholtz_estimators::{Adding, Declaration, Kind, Method};
use helmholtz_ops::Backend;

/// A backend that this program is built for.
pub(crate) trait Built: Backend {
    /// The model of a net, with parameters drawn for a seed.
    fn model_of(
        net: &dyn AnyNet,
        seed: u64,
        device: &<Self as BackendTypes>::Device,
    ) -> Result<Box<dyn AnyModel<Self>>, HarnessError>;
}

/// Makes a backend one that the program is built for.
macro_rules! built {
    ($feature:literal, $backend:ty, $method:ident) => {
        #[cfg(feature = $feature)]
        impl Built for $backend {
            fn model_of(
                net: &dyn AnyNet,
                seed: u64,
                device: &<Self as BackendTypes>::Device,
            ) -> Result<Box<dyn AnyModel<Self>>, HarnessError> {
                net.$method(seed, device)
            }
        }
    };
}
built!("cpu", burn_flex::Flex, on_cpu);
built!("wgpu", burn_wgpu::Wgpu, on_wgpu);
built!("cuda", burn_cuda::Cuda, on_cuda);

/// Makes what an estimator must be on a device, if the program is built for it.
macro_rules! estimator_on {
    ($feature:literal, $backend:ty, $on:ident) => {
        /// An estimator on the device, which sees latents of the kind V.
        #[cfg(feature = $feature)]
        pub trait $on<V>:
            helmholtz_estimators::Estimator<
                burn::backend::Autodiff<$backend>,
                helmholtz_estimators::Erased<burn::backend::Autodiff<$backend>, V>,
            >
        {
        }
        #[cfg(feature = $feature)]
        impl<V, E> $on<V> for E where
            E: helmholtz_estimators::Estimator<
                    burn::backend::Autodiff<$backend>,
                    helmholtz_estimators::Erased<burn::backend::Autodiff<$backend>, V>,
                >
        {
        }
        /// Any estimator: the program is not built for the device.
        #[cfg(not(feature = $feature))]
        pub trait $on<V> {}
        #[cfg(not(feature = $feature))]
        impl<V, E> $on<V> for E {}
    };
}
estimator_on!("cpu", burn_flex::Flex, OnCpu);
estimator_on!("wgpu", burn_wgpu::Wgpu, OnWgpu);
estimator_on!("cuda", burn_cuda::Cuda, OnCuda);

/// An [`Estimator`](helmholtz_estimators::Estimator) on every device that the program is built for, of models of any type
/// ([`Erased`](helmholtz_estimators::Erased)) with latents of the kind V.
pub trait OnDevices<V>:
    Declaration + Clone + Send + Sync + 'static + OnCpu<V> + OnWgpu<V> + OnCuda<V>
{
}

impl<V, E> OnDevices<V> for E where
    E: Declaration + Clone + Send + Sync + 'static + OnCpu<V> + OnWgpu<V> + OnCuda<V>
{
}

/// The estimator among those that are chosen at run time.
pub(crate) fn added<V: Kind>(estimator: impl OnDevices<V>) -> Method {
    let adding = Adding::<_, V>::new(estimator);
    #[cfg(feature = "cpu")]
    let adding = adding.on::<burn::backend::Autodiff<burn_flex::Flex>>();
    #[cfg(feature = "wgpu")]
    let adding = adding.on::<burn::backend::Autodiff<burn_wgpu::Wgpu>>();
    #[cfg(feature = "cuda")]
    let adding = adding.on::<burn::backend::Autodiff<burn_cuda::Cuda>>();
    adding.method()
}

/// Work that can be done on any backend.
pub(crate) trait OnBackend {
    /// Result of the work.
    type Output;

    /// Does it, on the backend's default device.
    ///
    /// # Errors
    /// The work's own.
    fn on<B: Built>(self) -> Result<Self::Output, HarnessError>;
}

/// Work on the model of a net, with parameters drawn for a seed.
pub(crate) struct OnNet<W> {
    pub net: Net,
    pub seed: u64,
    pub work: W,
}

impl<W: OnModel> OnBackend for OnNet<W> {
    type Output = W::Output;

    fn on<B: Built>(self) -> Result<W::Output, HarnessError> {
        let model = B::model_of(self.net.any(), self.seed, &Default::default())?;
        self.work.on_any(model)
    }
}

/// Does `work` on the backend of `device`.
///
/// # Errors
/// If the device isn't there, or this binary was built without it; and the work's own.
pub(crate) fn on_device<W: OnBackend>(device: Device, work: W) -> Result<W::Output, HarnessError> {
    device.check_built()?;
    match device {
        #[cfg(feature = "cpu")]
        Device::Cpu => work.on::<burn_flex::Flex>(),
        #[cfg(feature = "wgpu")]
        Device::Wgpu => {
            try_out::<burn_wgpu::Wgpu>(device)?;
            work.on::<burn_wgpu::Wgpu>()
        }
        #[cfg(feature = "cuda")]
        Device::Cuda => {
            find_cuda()?;
            try_out::<burn_cuda::Cuda>(device)?;
            work.on::<burn_cuda::Cuda>()
        }
        #[allow(unreachable_patterns)] // with all devices built
        _ => Err(HarnessError::DeviceNotBuilt {
            device: device.as_str(),
        }),
    }
}

/// Checks that a small computation comes back from a GPU, and right.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn try_out<B: Backend>(device: Device) -> Result<(), HarnessError> {
    use burn::tensor::Tensor;
    let problem = |problem: String| HarnessError::Device {
        device: device.as_str(),
        problem,
    };
    // The backends panic where there is no device: the hook keeps that from the user's screen.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let sum = std::panic::catch_unwind(|| {
        let twos = Tensor::<B, 1>::full([1000], 2.0, &Default::default());
        (twos.clone() * twos).sum().into_scalar()
    });
    std::panic::set_hook(hook);
    match sum {
        Ok(sum) if burn::tensor::ElementConversion::elem::<f64>(sum) == 4000.0 => Ok(()),
        Ok(_) => Err(problem("it computes a small sum wrong".into())),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or(panic.downcast_ref::<&str>().copied());
            Err(problem(format!(
                "it did not answer ({}); without a GPU and its driver, use `--device cpu`",
                text.unwrap_or("no reason given")
            )))
        }
    }
}

/// Checks that there is an NVIDIA driver and a device, before the backend, which panics without them, is asked.
#[cfg(feature = "cuda")]
fn find_cuda() -> Result<(), HarnessError> {
    use cudarc::driver::{result, sys};
    let problem = |problem: String| HarnessError::Device {
        device: Device::Cuda.as_str(),
        problem,
    };
    // SAFETY: it looks for the driver's library and calls nothing in it.
    if !unsafe { sys::is_culib_present() } {
        return Err(problem(
            "there is no NVIDIA driver (libcuda was not found); install it, or use `--device wgpu` or `--device cpu`".into(),
        ));
    }
    match result::init().and_then(|()| result::device::get_count()) {
        Ok(0) => Err(problem("the NVIDIA driver is there, but no device".into())),
        Ok(_) => Ok(()),
        Err(error) => Err(problem(format!("the NVIDIA driver answered {error:?}"))),
    }
}
