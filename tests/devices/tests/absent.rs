//! A device that is not there is an error that names it, and no panic.

#![cfg(any(feature = "wgpu", feature = "cuda"))]

use std::process::Command;

/// What the program says of its devices, with no Vulkan driver to be found.
fn said() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_helmholtz-devices"))
        .env("VK_ICD_FILENAMES", "none.json")
        .env("VK_DRIVER_FILES", "none.json")
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && !error.contains("panicked"),
        "{error}"
    );
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(feature = "wgpu")]
#[test]
fn without_a_gpu_wgpu_does_not_answer() {
    let said = said();
    assert!(said.contains("wgpu: it did not answer ("), "{said}");
}

#[cfg(feature = "cuda")]
#[test]
fn without_a_driver_cuda_is_not_asked() {
    if std::path::Path::new("/dev/nvidiactl").exists() {
        println!("SKIPPED: there is an NVIDIA driver");
        return;
    }
    let said = said();
    assert!(said.contains("cuda: there is no NVIDIA driver"), "{said}");
}
