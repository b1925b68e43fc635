//! Test 17: what permutations of the data and of the rings change. Test 18: the same nets at any number of data.

use burn::tensor::activation::softmax;
use helmholtz_apg::{Sampler, Streams};
use helmholtz_dmm::Scheme;
use helmholtz_samplers::resampling::{Policy, Systematic};

use crate::*;

#[test]
fn test_17_the_order_of_the_data_does_not_matter_for_the_centres_and_goes_along_for_the_places() {
    let (model, (x, z)) = (released(), some_particles(3, 16));
    let reversed = x.clone().flip([1]);
    let turned = DmmState {
        mean: z.mean.clone(),
        assignment: z.assignment.clone().flip([2]),
        angle: z.angle.clone().flip([2]),
    };
    for (law, other) in [
        (model.one_shot_law(&x), model.one_shot_law(&reversed)),
        (
            model.conditional_law(&x, &z),
            model.conditional_law(&reversed, &turned),
        ),
    ] {
        assert!(largest(law.mean - other.mean) < 1e-12);
        assert!(largest(law.deviation - other.deviation) < 1e-12);
    }
    let logits = |x: &Tensor<B, 3>| model.places(x, &z.mean).choices().logits().clone();
    assert!(largest(logits(&x).flip([2]) - logits(&reversed)) < 1e-12);
}

#[test]
fn the_centres_proposal_reads_h_or_does_not() {
    let (x, z) = some_particles(3, 16);
    let other = DmmState {
        angle: z.angle.clone() * 0.5,
        ..z.clone()
    };
    for reads_angles in [true, false] {
        let config = DmmConfig {
            reads_angles,
            ..DmmConfig::released()
        };
        let model = config.init::<B>(1, F64, &Default::default());
        let model = model.expect("a configuration");
        let [law, of_other] = [&z, &other].map(|z| model.conditional_law(&x, z).mean);
        assert_eq!(largest(law - of_other) > 1e-6, reads_angles);
    }
}

#[test]
fn test_17_permuting_rings_permutes_the_logits_of_c() {
    let (model, (x, z)) = (released(), some_particles(3, 16));
    let logits = |mean: &Tensor<B, 4>| model.places(&x, mean).choices().logits().clone();
    let (one, other) = (logits(&z.mean), logits(&z.mean.clone().flip([2])));
    assert!(largest(one.clone().flip([3]) - other.clone()) < 1e-12);
    assert!(largest(one - other) > 1e-3);
}

/// Moving the data and the centres together changes no place.
#[test]
fn places_know_displacements_only() {
    let (model, (x, z)) = (released(), some_particles(3, 16));
    let probabilities = |shift: f64| {
        let places = model.places(&(x.clone() + shift), &(z.mean.clone() + shift));
        softmax(places.choices().logits().clone(), 3)
    };
    assert!(largest(probabilities(0.0) - probabilities(17.0)) < 1e-12);
}

#[test]
fn test_18_the_same_nets_run_at_any_number_of_data() {
    let sampler = Sampler::new(3, 2, Policy::Always, Systematic).expect("a sampler");
    for points in [16, 120, 600] {
        let x = Rings::default().simulate::<B>(5, &[0, 1], points, F64, &Default::default());
        let x = x.expect("rings").x;
        let mut streams = Streams::new(1, points as u64);
        for scheme in [Scheme::Apg, Scheme::Bpg] {
            let run = sampler.run(
                &released(),
                &x,
                &scheme.blocks(),
                &mut streams,
                |_, _, _| {},
            );
            let state = run.expect("weights").population.state().clone();
            assert_eq!(state.assignment.dims(), [3, 2, points, 4]);
            assert_eq!(state.angle.dims(), [3, 2, points, 1]);
        }
    }
}
