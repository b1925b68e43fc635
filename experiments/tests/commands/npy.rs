//! Arrays for tests that train on own data.

/// An array of `<f4` as NumPy writes it.
pub fn npy(width: usize, numbers: &[f32]) -> Vec<u8> {
    let shape = format!("({}, {width})", numbers.len() / width);
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let numbers = numbers.iter().flat_map(|x| x.to_le_bytes());
    let start = b"\x93NUMPY\x01\x00".iter().copied();
    let length = (header.len() as u16).to_le_bytes();
    start
        .chain(length)
        .chain(header.into_bytes())
        .chain(numbers)
        .collect()
}
