//! What the warm-up of the path auxiliary proposal finds.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{EachChange, Info, Kernel, PathAuxiliary, balancing_functions};

/// Over 4000 steps the share accepted has a standard deviation below 0.02, with its autocorrelation; the length found by 500
/// steps moves it by as much again. The band of 0.12 is more than four of the two together; one seed, one look.
#[test]
fn the_warm_up_finds_the_acceptance_that_is_asked_for() {
    // A ring of bits that like to be equal.
    let ring = |x: &Vec<bool>| {
        let n = x.len();
        (0..n).filter(|&i| x[i] == x[(i + 1) % n]).count() as f64
    };
    let mut lengths = Vec::new();
    for (which, target) in [(0, 0.4), (1, 0.574), (2, 0.8)] {
        let mut stream = Stream::new(13, Purpose::new("path"), [which, 0]);
        let mut x = vec![false; 40];
        let kernel = PathAuxiliary::new(EachChange::new(ring, 2), balancing_functions::barker, 1.0)
            .unwrap()
            .warm_up(target, 500, &mut x, &mut stream)
            .unwrap();
        let info: Info = (0..4000).map(|_| kernel.step(&mut x, &mut stream)).sum();
        let share = info.acceptance_rate().unwrap();
        assert!((share - target).abs() < 0.12, "{share} for {target}");
        lengths.push(kernel.mean_length());
    }
    assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
}

/// All paths are accepted where all states are as likely, and none is longer than the sites are many.
#[test]
fn a_path_is_as_long_as_the_sites_are_many_at_most() {
    let flat = |_: &Vec<bool>| 0.0;
    let mut stream = Stream::new(14, Purpose::new("path"), [0, 0]);
    let mut x = vec![false; 6];
    let kernel =
        PathAuxiliary::new(EachChange::new(flat, 2), balancing_functions::barker, 1.0).unwrap();
    let kernel = kernel.warm_up(0.574, 300, &mut x, &mut stream).unwrap();
    assert_eq!(kernel.mean_length(), 6.0);
    let flat = EachChange::new(flat, 2);
    for bad in [0.0, 0.9, -1.0, f64::NAN, f64::INFINITY] {
        assert!(PathAuxiliary::new(flat, balancing_functions::barker, bad).is_err());
    }
    let kernel = PathAuxiliary::new(flat, balancing_functions::barker, 1.0).unwrap();
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(kernel.clone().warm_up(bad, 1, &mut x, &mut stream).is_err());
    }
}
