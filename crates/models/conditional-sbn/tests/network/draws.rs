//! Proposals, dreams and completions are uniforms compared with probabilities: one a bit, in the promised order.

use std::collections::VecDeque;

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_distributions::Noise;
use helmholtz_estimators::{Dream, Propose};
use helmholtz_random::Stream;

use crate::written_out::WrittenOut;
use crate::{built, data, rows, small, stream, tensor};

/// Uniforms from a stream, kept as they were given.
struct Recorded(Stream, VecDeque<f64>);

impl Noise for Recorded {
    fn fill(&mut self, out: &mut [f32]) {
        self.0.fill(out);
        self.1.extend(out.iter().copied().map(f64::from));
    }
}

impl Recorded {
    fn new(at: u64) -> Self {
        Self(stream(at), VecDeque::new())
    }

    /// The bits u < σ of the next uniforms.
    fn bits(&mut self, ones: &[f64]) -> Vec<f64> {
        let bit = |&one: &f64| {
            let uniform = self.1.pop_front().expect("a uniform");
            f64::from(u8::from(uniform < one))
        };
        ones.iter().map(bit).collect()
    }
}

#[test]
fn proposals_are_thresholded_and_retained_particles_are_scored_beside_them() {
    let config = small();
    let model = built(&config, DType::F64);
    let written_out = WrittenOut::new(&config, &model);
    let (batch, particles) = (2, 3);
    let x = data(batch, &config);
    let encoded = model.encode(tensor::<Flex>(&x, DType::F64));
    for kept in [0, batch] {
        let retained = (kept > 0).then(|| model.propose(&encoded, None, 1, &mut stream(9)));
        let retained = retained.map(|proposals| proposals.particles);
        let mut noise = Recorded::new(4);
        let proposals = model.propose(&encoded, retained.clone(), particles, &mut noise);
        let h = rows(&proposals.particles.layers()[0].numbers());
        assert_eq!(h.len(), kept + particles * batch);
        if let Some(retained) = &retained {
            assert_eq!(h[..kept], rows(&retained.layers()[0].numbers()));
        }
        let scores: Vec<f64> = proposals.log_q.into_data().iter().collect();
        for (n, (h, score)) in h.iter().zip(scores).enumerate() {
            let x = &x[n % batch];
            if n >= kept {
                assert_eq!(*h, noise.bits(&written_out.proposed(x)), "row {n}");
            }
            assert!((score - written_out.log_q(x, h)).abs() < 1e-12);
        }
        assert!(noise.1.is_empty(), "one uniform a bit");
    }
}

#[test]
fn dreams_keep_each_context_and_draw_latents_then_targets() {
    let config = small();
    let model = built(&config, DType::F64);
    let written_out = WrittenOut::new(&config, &model);
    let x = data(7, &config);
    let mut noise = Recorded::new(3);
    let (dreamt, h) = model.dream(tensor(&x, DType::F64), &mut noise);
    let latents: Vec<Vec<f64>> = x
        .iter()
        .map(|x| noise.bits(&written_out.expected(x)))
        .collect();
    assert_eq!(rows(&h.layers()[0].numbers()), latents);
    let whole = x.iter().zip(&latents).map(|(x, h)| {
        let target = noise.bits(&written_out.completed(x, h));
        [&x[..config.context], &target].concat()
    });
    assert_eq!(rows(&dreamt.numbers()), whole.collect::<Vec<_>>());
    assert!(noise.1.is_empty(), "one uniform a bit");
}

#[test]
fn completions_are_dreams_several_a_context_particle_major() {
    let config = small();
    let model = built(&config, DType::F64);
    let x = data(2, &config);
    let completed = rows(&model.complete(tensor::<Flex>(&x, DType::F64), 3, &mut stream(6)));
    let repeated = [x.clone(), x.clone(), x.clone()].concat();
    let (dreamt, _) = model.dream(tensor::<Flex>(&repeated, DType::F64), &mut stream(6));
    assert_eq!(completed, rows(&dreamt.numbers()));
    assert_ne!(completed[0], completed[2], "samples differ");
}
