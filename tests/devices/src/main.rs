//! Says of each device that this program is built for whether it is there and computes.

/// What is said of a device.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn say(device: &str, state: Result<(), helmholtz_ops::DeviceError>) {
    match state {
        Ok(()) => println!("{device}: computes"),
        Err(error) => println!("{device}: {error}"),
    }
}

fn main() {
    #[cfg(feature = "wgpu")]
    say("wgpu", helmholtz_ops::try_device::<burn_wgpu::Wgpu>());
    #[cfg(feature = "cuda")]
    say(
        "cuda",
        helmholtz_ops::find_cuda().and_then(|()| helmholtz_ops::try_device::<burn_cuda::Cuda>()),
    );
    if cfg!(not(any(feature = "wgpu", feature = "cuda"))) {
        println!("built for no device: --features wgpu,cuda");
    }
}
