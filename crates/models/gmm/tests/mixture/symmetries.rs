//! Test 17: what permutations of the data and of the clusters change. Test 18: the same nets at any number of data.

use helmholtz_apg::{Sampler, Streams};
use helmholtz_gmm::{GmmConfig, Scheme};
use helmholtz_samplers::resampling::{Policy, Systematic};

use crate::*;

#[test]
fn test_17_the_order_of_the_data_does_not_matter_for_eta_and_goes_along_for_c() {
    let (model, (x, z)) = (published(), some_particles(3, 11));
    let (reversed, assignment) = (x.clone().flip([1]), z.assignment.clone().flip([2]));
    for (law, other) in [
        (model.one_shot_law(&x), model.one_shot_law(&reversed)),
        (
            model.conditional_law(&x, &z.assignment),
            model.conditional_law(&reversed, &assignment),
        ),
        (
            model.exact_law(&x, &z.assignment),
            model.exact_law(&reversed, &assignment),
        ),
    ] {
        for (one, other) in [
            (law.mean, other.mean),
            (law.nu, other.nu),
            (law.alpha, other.alpha),
            (law.beta, other.beta),
        ] {
            let scale = largest(one.clone());
            assert!(largest(one - other) < 1e-12 * scale);
        }
    }
    let logits = model.choices(&x, &z.mean, &z.precision).logits().clone();
    let other = model
        .choices(&reversed, &z.mean, &z.precision)
        .logits()
        .clone();
    assert!(largest(logits.flip([2]) - other) < 1e-12);
}

#[test]
fn test_17_permuting_clusters_permutes_the_logits_of_c() {
    let (model, (x, z)) = (published(), some_particles(3, 11));
    let (mean, precision) = (z.mean.clone().flip([2]), z.precision.clone().flip([2]));
    let logits = model.choices(&x, &z.mean, &z.precision).logits().clone();
    let other = model.choices(&x, &mean, &precision).logits().clone();
    assert!(largest(logits.clone().flip([3]) - other.clone()) < 1e-12);
    assert!(largest(logits - other) > 1e-3);
}

#[test]
fn test_18_the_same_nets_run_at_any_number_of_data() {
    let sampler = Sampler::new(3, 2, Policy::Always, Systematic).expect("a sampler");
    for points in [1, 2, 60, 600] {
        let x = GmmConfig::default()
            .simulate::<B>(5, &[0, 1], points, F64, &Default::default())
            .x;
        let mut streams = Streams::new(1, points as u64);
        let run = sampler.run(
            &published(),
            &x,
            &Scheme::Apg.blocks(),
            &mut streams,
            |_, _, _| {},
        );
        let state = run.expect("weights").population.state().clone();
        assert_eq!(state.assignment.dims(), [3, 2, points, 3]);
    }
}

/// Over 100 instances the mean of ln sd(μ_1) under the proposal falls as −½ ln N. The variance of μ is β / (ν (α − 1)).
#[test]
fn test_18_the_proposal_narrows_as_one_over_the_root_of_the_number_of_data() {
    let instances: Vec<u64> = (0..100).collect();
    let log_sd = |points: usize| {
        let data =
            GmmConfig::default().simulate::<B>(6, &instances, points, F64, &Default::default());
        let law = published().conditional_law(&data.x, &data.truth.assignment);
        let variance = law.beta / (law.nu * (law.alpha - 1.0));
        numbers(variance.log().mean())[0] / 2.0
    };
    let slope = (log_sd(600) - log_sd(100)) / 6f64.ln();
    assert!((slope + 0.5).abs() < 0.05, "{slope}");
}

#[test]
fn a_sweep_has_its_blocks() {
    for (scheme, expected) in [
        (Scheme::Apg, &["eta", "c"][..]),
        (Scheme::ApgJoint, &["eta + c"]),
        (Scheme::Gibbs, &["eta", "c"]),
        (Scheme::Bpg, &["eta", "c"]),
    ] {
        let blocks = scheme.blocks::<B, Stream>();
        let names: Vec<String> = blocks.iter().map(|block| block.name()).collect();
        assert_eq!(names, expected);
    }
}
