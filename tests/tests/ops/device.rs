use burn_flex::Flex;
use helmholtz_ops::try_device;

/// What is said where no device is, `helmholtz-devices` tests, with the backends that may lack one.
#[test]
fn the_processor_computes() {
    assert_eq!(try_device::<Flex>(), Ok(()));
}
