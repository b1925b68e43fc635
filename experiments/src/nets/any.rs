//! Nets and models whose types are not known where they are used.

use super::{Net, NetConfig};
use crate::cell::Settings;
use crate::error::HarnessError;
use crate::works::AnyModel;
use burn::tensor::backend::BackendTypes;
use helmholtz_estimators::{LatentKind, Method};
use helmholtz_ops::Backend;
use std::any::Any;
use std::fmt::Debug;

/// A model's parameters, drawn for a seed on a device.
type Built<B> = Result<Box<dyn AnyModel<B>>, HarnessError>;

/// The device of a backend.
type DeviceOf<B> = <B as BackendTypes>::Device;

/// A [`NetConfig`] of whichever type.
pub(crate) trait AnyNet: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn of_width(&self, width: usize) -> Net;
    fn with(&self, settings: &Settings) -> Net;
    fn options(&self) -> &'static [&'static str];
    fn layers(&self) -> usize;
    fn values(&self) -> usize;
    fn latents(&self) -> LatentKind;
    fn takes_any_numbers(&self) -> bool;
    fn objection(&self, method: &Method) -> Option<&'static str>;
    fn check(&self) -> Result<(), super::Failed>;
    #[cfg(feature = "cpu")]
    fn on_cpu(&self, seed: u64, device: &DeviceOf<burn_flex::Flex>) -> Built<burn_flex::Flex>;
    #[cfg(feature = "wgpu")]
    fn on_wgpu(&self, seed: u64, device: &DeviceOf<burn_wgpu::Wgpu>) -> Built<burn_wgpu::Wgpu>;
    #[cfg(feature = "cuda")]
    fn on_cuda(&self, seed: u64, device: &DeviceOf<burn_cuda::Cuda>) -> Built<burn_cuda::Cuda>;
}

/// The model of a net.
fn built<B: Backend>(net: &impl NetConfig, seed: u64, device: &DeviceOf<B>) -> Built<B> {
    let model = net.init::<B>(seed, device).map_err(HarnessError::Cell)?;
    Ok(Box::new(model))
}

impl<C: NetConfig> AnyNet for C {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn of_width(&self, width: usize) -> Net {
        Net::new(self.clone().of_width(width))
    }

    fn with(&self, settings: &Settings) -> Net {
        Net::new(self.clone().with(settings))
    }

    fn options(&self) -> &'static [&'static str] {
        C::OPTIONS
    }

    fn layers(&self) -> usize {
        NetConfig::layers(self)
    }

    fn values(&self) -> usize {
        NetConfig::values(self)
    }

    fn latents(&self) -> LatentKind {
        C::LATENTS
    }

    fn takes_any_numbers(&self) -> bool {
        C::ANY_NUMBERS
    }

    fn objection(&self, method: &Method) -> Option<&'static str> {
        NetConfig::objection(self, method)
    }

    fn check(&self) -> Result<(), super::Failed> {
        NetConfig::check(self)
    }

    #[cfg(feature = "cpu")]
    fn on_cpu(&self, seed: u64, device: &DeviceOf<burn_flex::Flex>) -> Built<burn_flex::Flex> {
        built(self, seed, device)
    }

    #[cfg(feature = "wgpu")]
    fn on_wgpu(&self, seed: u64, device: &DeviceOf<burn_wgpu::Wgpu>) -> Built<burn_wgpu::Wgpu> {
        built(self, seed, device)
    }

    #[cfg(feature = "cuda")]
    fn on_cuda(&self, seed: u64, device: &DeviceOf<burn_cuda::Cuda>) -> Built<burn_cuda::Cuda> {
        built(self, seed, device)
    }
}
