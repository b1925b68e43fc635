//! Data files of any bytes: an error or data, never a panic.

mod check;
mod own;

/// Pseudo-random bytes (xorshift64*), the same on every machine.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn many(check: fn(&[u8]) -> bool, inputs: u64) {
    let mut read = 0;
    for seed in 0..inputs {
        read += u64::from(check(&bytes(seed, 2 + (seed % 23) as usize)));
    }
    println!(
        "{inputs} mutated data files: {read} read, {} refused",
        inputs - read
    );
    assert!(read > inputs / 50 && read < inputs);
}

#[test]
fn any_bytes_in_a_data_file_are_data_or_an_error() {
    many(check::check, 5_000);
    many(own::check, 2_000);
}

#[test]
#[ignore = "minutes: recorded in experiments/results/faults.md"]
fn a_million_mutated_data_files_are_data_or_an_error() {
    many(check::check, 1_000_000);
}

#[test]
#[ignore = "minutes: what was run stands in experiments/results/faults.md"]
fn a_million_mutated_files_of_own_data_are_data_or_an_error() {
    many(own::check, 1_000_000);
}
