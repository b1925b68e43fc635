//! Test 24: what the data are made of.

use helmholtz_dmm::ConfigError;

use crate::*;

#[test]
fn test_24_every_ring_has_as_many_data_and_they_lie_on_it() {
    let quiet = Rings {
        noise: 0.0,
        ..Rings::default()
    };
    let data = quiet
        .simulate::<B>(1, &[0, 1, 2], 200, F64, &Default::default())
        .expect("rings");
    let counts = data.truth.assignment.clone().sum_dim(2);
    assert_eq!(numbers(counts), [50.0; 12]);
    let own = data.truth.assignment.matmul(data.truth.mean);
    let offset = data.x.unsqueeze::<4>() - own;
    let radius = offset.clone().square().sum_dim(3).sqrt();
    assert!(largest(radius - 2.0) < 1e-12);
    let turn = numbers(data.truth.angle);
    for (offset, turn) in numbers(offset).chunks(2).zip(turn) {
        let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
        assert!((0.0..1.0).contains(&turn));
        assert!((offset[0] - 2.0 * cos).abs() < 1e-9 && (offset[1] - 2.0 * sin).abs() < 1e-9);
    }
}

#[test]
fn test_24_a_pass_is_evenly_spaced_and_closed() {
    let quiet = Rings {
        noise: 0.0,
        ..Rings::default()
    };
    let data = quiet
        .simulate::<B>(1, &[7], 200, F64, &Default::default())
        .expect("rings");
    // The 50 data of ring 0: two passes of 25 angles, spaced by 1/24, their first and last the same place.
    let own = numbers(data.truth.assignment);
    let turns = numbers(data.truth.angle).into_iter().enumerate();
    let turns: Vec<f64> = turns
        .filter(|(n, _)| own[4 * n] == 1.0)
        .map(|(_, turn)| turn * 24.0)
        .collect();
    let mut phases: Vec<f64> = turns.iter().map(|turn| turn.fract()).collect();
    phases.sort_by(f64::total_cmp);
    assert_eq!(phases.len(), 50);
    let (low, high) = (phases[0], phases[49]);
    assert!(
        phases
            .iter()
            .all(|p| (p - low).abs() < 1e-9 || (p - high).abs() < 1e-9),
        "two passes"
    );
    // Each of the 24 places of a pass once, but for the first, which is the last, too.
    for phase in [low, high] {
        let own = turns.iter().filter(|t| (t.fract() - phase).abs() < 1e-9);
        let mut places: Vec<u32> = own.map(|turn| turn.floor() as u32).collect();
        places.sort_unstable();
        let expected = [0].into_iter().chain(0..24);
        assert_eq!(places, expected.collect::<Vec<u32>>());
    }
}

#[test]
fn test_24_noise_and_centres_have_their_moments() {
    let instances: Vec<u64> = (0..2000).collect();
    let data = Rings::default()
        .simulate::<B>(2, &instances, 16, F64, &Default::default())
        .expect("rings");
    let own = data.truth.assignment.matmul(data.truth.mean.clone());
    let around = data.x.unsqueeze::<4>() - own;
    let radius = numbers(around.square().sum_dim(3).sqrt());
    // 16,000 coordinates of centres, 32,000 radii: within 6 standard errors, 2e-9 each. The radius' variance is the noise's up
    // to (0.1 / 2)² / 2, and its mean 2 + 0.1² / 4.
    let moments = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance)
    };
    let (mean, variance) = moments(&numbers(data.truth.mean));
    assert!(mean.abs() < 6.0 * 3.0 / 16_000f64.sqrt(), "{mean}");
    assert!(
        (variance / 9.0 - 1.0).abs() < 6.0 * (2.0 / 16_000f64).sqrt(),
        "{variance}"
    );
    let (mean, variance) = moments(&radius);
    assert!(
        (mean - 2.0025).abs() < 6.0 * 0.1 / 32_000f64.sqrt() + 1e-5,
        "{mean}"
    );
    assert!(
        (variance / 0.01 - 1.0).abs() < 6.0 * (2.0 / 32_000f64).sqrt() + 2e-3,
        "{variance}"
    );
}

#[test]
fn an_instance_depends_on_its_number_alone() {
    let of = |instances: &[u64]| {
        let data = Rings::default().simulate::<B>(5, instances, 16, F64, &Default::default());
        numbers(data.expect("rings").x)
    };
    assert_eq!(of(&[3, 9])[32..], of(&[9]));
    assert_ne!(of(&[3]), of(&[9]));
}

#[test]
fn data_that_do_not_fill_the_rings_are_refused() {
    for points in [0, 8, 12, 201] {
        let refused = Rings::default().simulate::<B>(1, &[0], points, F64, &Default::default());
        let error = refused.expect_err("uneven rings");
        assert_eq!(
            error,
            ConfigError::Points {
                points,
                clusters: 4
            }
        );
        assert!(
            error.to_string().contains("multiple of 8, at least 16"),
            "{error}"
        );
    }
    let none = DmmConfig {
        noise: 0.0,
        ..DmmConfig::released()
    };
    let error = none
        .init::<B>(1, F64, &Default::default())
        .expect_err("no noise")
        .to_string();
    assert!(error.contains("`noise` is 0"), "{error}");
}
