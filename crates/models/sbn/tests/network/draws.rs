//! Proposals and dreams are thresholded uniforms: one a bit, in the promised order.

use std::collections::VecDeque;

use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_distributions::Noise;
use helmholtz_estimators::{Dream, Joint, Particles, Propose};
use helmholtz_random::{Purpose, Stream};
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};

use crate::written_out::WrittenOut;

/// Uniforms from a stream, kept as they were given.
struct Recorded(Stream, VecDeque<f64>);

impl Noise for Recorded {
    fn fill(&mut self, out: &mut [f32]) {
        self.0.fill(out);
        self.1.extend(out.iter().copied().map(f64::from));
    }
}

fn three_layers() -> (SbnConfig, Sbn<Flex>) {
    let config = SbnConfig {
        visible: 6,
        latent: vec![4, 3, 5],
        hidden: vec![3],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::FanIn,
    };
    let model = config.init(2, DType::F64, &Default::default()).unwrap();
    (config, model)
}

fn recorded(at: u64) -> Recorded {
    Recorded(
        Stream::new(2, Purpose::new("test"), [0, at]),
        VecDeque::new(),
    )
}

fn rows(tensor: &Tensor<Flex, 2>) -> Vec<Vec<f64>> {
    let width = tensor.dims()[1];
    let values: Vec<f64> = tensor.to_data().iter().collect();
    values.chunks(width).map(<[f64]>::to_vec).collect()
}

/// The bits u < σ for the next uniforms.
fn thresholded(ones: &[f64], uniforms: &mut VecDeque<f64>) -> Vec<f64> {
    let bit = |one: &f64| f64::from(uniforms.pop_front().expect("a uniform") < *one);
    ones.iter().map(bit).collect()
}

#[test]
fn proposals_are_thresholded_layer_by_layer_and_retained_particles_are_scored_beside_them() {
    let (config, model) = three_layers();
    let written_out = WrittenOut::new(&config, &model);
    let (batch, particles) = (2, 3);
    let x = [
        [1.0, 0.0, 0.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 1.0, 1.0],
    ];
    let data = TensorData::new(x.concat(), [batch, 6]);
    let data = Tensor::<Flex, 2>::from_data(data, (&Default::default(), DType::F64));
    let encoded = model.encode(data.clone());
    for kept in [0, batch] {
        let retained = (kept > 0).then(|| model.propose(&encoded, None, 1, &mut recorded(9)));
        let retained = retained.map(|proposals| proposals.particles);
        let mut noise = recorded(kept as u64);
        let proposals = model.propose(&encoded, retained.clone(), particles, &mut noise);
        let layers: Vec<_> = proposals
            .particles
            .layers()
            .iter()
            .map(|layer| rows(&layer.numbers()))
            .collect();
        let mut below: Vec<Vec<f64>> = (0..particles * batch)
            .map(|n| x[n % batch].to_vec())
            .collect();
        for (level, layer) in layers.iter().enumerate() {
            assert_eq!(layer.len(), kept + particles * batch);
            let drawn = below
                .iter()
                .map(|below| thresholded(&written_out.up(level, below), &mut noise.1));
            let drawn: Vec<_> = drawn.collect();
            assert_eq!(layer[kept..], drawn, "level {level}");
            if let Some(retained) = &retained {
                assert_eq!(
                    layer[..kept],
                    rows(&retained.layers()[level].numbers()),
                    "level {level}"
                );
            }
            below = drawn;
        }
        assert!(noise.1.is_empty(), "one uniform a bit");
        // Scores come with the proposals, and are those of the separate function.
        let again = model.log_q(&encoded, &proposals.particles).into_data();
        let scores = proposals.log_q.into_data();
        for (n, (score, again)) in scores.iter::<f64>().zip(again.iter::<f64>()).enumerate() {
            let h: Vec<_> = layers.iter().map(|layer| layer[n].clone()).collect();
            let expected = written_out.log_q(&x[n % batch], &h);
            assert!((score - expected).abs() < 1e-12 && (again - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn dreams_are_thresholded_from_the_top_layer_down() {
    for learned_prior in [true, false] {
        let (config, _) = three_layers();
        let config = SbnConfig {
            learned_prior,
            ..config
        };
        let model = config
            .init::<Flex>(2, DType::F64, &Default::default())
            .unwrap();
        let written_out = WrittenOut::new(&config, &model);
        let mut noise = recorded(3);
        let (x, h) = model.dream(
            Tensor::zeros([7, 6], (&Default::default(), DType::F64)),
            &mut noise,
        );
        let mut layers: Vec<_> = h
            .layers()
            .iter()
            .map(|layer| rows(&layer.numbers()))
            .collect();
        layers.insert(0, rows(&x.numbers()));
        let top = written_out.top();
        let mut above: Vec<_> = (0..7).map(|_| thresholded(&top, &mut noise.1)).collect();
        assert_eq!(layers[3], above);
        for level in (0..3).rev() {
            let drawn = above
                .iter()
                .map(|above| thresholded(&written_out.down(level, above), &mut noise.1));
            above = drawn.collect();
            assert_eq!(layers[level], above, "level {level}");
        }
        assert!(noise.1.is_empty(), "one uniform a bit");
    }
}

#[test]
fn data_meet_their_particles_cyclically() {
    // Four rows of latents with two data: rows 0 and 2 belong to the first.
    let (_, model) = three_layers();
    let tensor = |rows: &[Vec<f64>]| {
        let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
        Tensor::<Flex, 2>::from_data(data, (&Default::default(), DType::F64))
    };
    let x = [
        vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0],
        vec![0.0, 0.0, 1.0, 0.0, 1.0, 1.0],
    ];
    let same = |bits: usize| tensor(&vec![vec![1.0; bits]; 4]);
    let particles = Particles::new(vec![same(4), same(3), same(5)]);
    let log_p: Vec<f64> = model
        .log_joint(tensor(&x), &particles)
        .into_data()
        .iter()
        .collect();
    assert_eq!(log_p[0], log_p[2]);
    assert_eq!(log_p[1], log_p[3]);
    assert_ne!(log_p[0], log_p[1]);
}
