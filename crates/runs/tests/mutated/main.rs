//! Run folders with any edits: a whole checkpoint or a typed error, never a panic.

mod check;

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

fn many(inputs: u64) {
    let (mut opened, mut refused) = (0, 0);
    for seed in 0..inputs {
        match check::check(&bytes(seed, 4 + (seed % 29) as usize)) {
            true => opened += 1,
            false => refused += 1,
        }
    }
    println!("{inputs} mutated run folders: {opened} opened, {refused} refused");
    assert!(opened > inputs / 20 && refused > inputs / 20);
}

#[test]
fn any_edits_of_a_run_folder_are_mended_or_refused() {
    many(600);
}

#[test]
#[ignore = "minutes: what was run stands in experiments/results/faults.md"]
fn a_great_many_edits_of_a_run_folder_are_mended_or_refused() {
    many(100_000);
}
