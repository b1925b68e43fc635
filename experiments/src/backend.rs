//! From the device that a user names to a backend.

use crate::device::Device;
use crate::error::HarnessError;
use crate::nets::{AnyNet, Net};
use crate::works::{AnyModel, OnModel};
use burn::tensor::backend::BackendTypes;
use helmholtz_distributions::{Counts, Mixed};
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
    on_devices::<V, _>(estimator).method()
}

/// The same of an estimator for counts too.
pub(crate) fn added_for_all(estimator: impl OnDevices<Mixed> + OnDevices<Counts>) -> Method {
    let adding = on_devices::<Mixed, _>(estimator);
    #[cfg(feature = "cpu")]
    let adding = adding.on_counts::<burn::backend::Autodiff<burn_flex::Flex>>();
    #[cfg(feature = "wgpu")]
    let adding = adding.on_counts::<burn::backend::Autodiff<burn_wgpu::Wgpu>>();
    #[cfg(feature = "cuda")]
    let adding = adding.on_counts::<burn::backend::Autodiff<burn_cuda::Cuda>>();
    adding.method()
}

fn on_devices<V: Kind, E: OnDevices<V>>(estimator: E) -> Adding<E, V> {
    let adding = Adding::<_, V>::new(estimator);
    #[cfg(feature = "cpu")]
    let adding = adding.on::<burn::backend::Autodiff<burn_flex::Flex>>();
    #[cfg(feature = "wgpu")]
    let adding = adding.on::<burn::backend::Autodiff<burn_wgpu::Wgpu>>();
    #[cfg(feature = "cuda")]
    let adding = adding.on::<burn::backend::Autodiff<burn_cuda::Cuda>>();
    adding
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
struct OnNet<W> {
    net: Net,
    seed: u64,
    work: W,
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
            helmholtz_ops::try_device::<burn_wgpu::Wgpu>().map_err(absent(device))?;
            work.on::<burn_wgpu::Wgpu>()
        }
        #[cfg(feature = "cuda")]
        Device::Cuda => {
            helmholtz_ops::find_cuda().map_err(absent(device))?;
            helmholtz_ops::try_device::<burn_cuda::Cuda>().map_err(absent(device))?;
            work.on::<burn_cuda::Cuda>()
        }
        #[allow(unreachable_patterns)] // with all devices built
        _ => Err(HarnessError::DeviceNotBuilt {
            device: device.as_str(),
        }),
    }
}

/// Does `work` on the model of a net, with parameters drawn for a seed.
///
/// # Errors
/// As [`on_device`].
pub(crate) fn on_net<W: OnModel>(
    device: Device,
    net: Net,
    seed: u64,
    work: W,
) -> Result<W::Output, HarnessError> {
    on_device(device, OnNet { net, seed, work })
}

/// What is wrong with a device, and what to do.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn absent(device: Device) -> impl Fn(helmholtz_ops::DeviceError) -> HarnessError {
    use helmholtz_ops::DeviceError;
    move |error| {
        let remedy = match error {
            DeviceError::Silent(_) => "; without a GPU and its driver, use `--device cpu`",
            DeviceError::NoDriver => "; install it, or use `--device wgpu` or `--device cpu`",
            _ => "",
        };
        HarnessError::Device {
            device: device.as_str(),
            problem: format!("{error}{remedy}"),
        }
    }
}
