//! Proposals and dreams are uniforms inverted: one a variable, in the promised order.

use std::collections::VecDeque;

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_distributions::Noise;
use helmholtz_estimators::{Dream, Propose};
use helmholtz_random::Stream;

use crate::written_out::WrittenOut;
use crate::{built, data, one_hot, rows, small, stream, tensor};

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

    fn next(&mut self) -> f64 {
        self.1.pop_front().expect("a uniform")
    }

    /// The classes whose cumulative probabilities enclose the next uniforms.
    fn classes(&mut self, variables: &[Vec<f64>]) -> Vec<usize> {
        let class = |p: &Vec<f64>| {
            let u = self.next();
            let reached = (1..p.len()).filter(|&c| p[..c].iter().sum::<f64>() <= u);
            reached.count()
        };
        variables.iter().map(class).collect()
    }

    /// The bits u < σ of the next uniforms.
    fn bits(&mut self, ones: &[f64]) -> Vec<f64> {
        let bit = |&one: &f64| f64::from(u8::from(self.next() < one));
        ones.iter().map(bit).collect()
    }
}

#[test]
fn proposals_are_inverted_and_retained_particles_are_scored_beside_them() {
    for free_logits in [false, true] {
        let config = small(free_logits);
        let model = built(&config, DType::F64);
        let written_out = WrittenOut::new(&config, &model);
        let (batch, particles) = (2, 3);
        let x = data(batch, &config);
        let encoded = model.encode(tensor::<Flex>(&x, DType::F64));
        assert_eq!(encoded.dims(), [batch, 9], "the first logits are pinned");
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
            let again = model.log_q(&encoded, &proposals.particles).into_data();
            assert_eq!(scores, again.iter::<f64>().collect::<Vec<_>>());
            for (n, (h, score)) in h.iter().zip(scores).enumerate() {
                let x = &x[n % batch];
                let classes = if n < kept {
                    let class = |value: &[f64]| value.iter().position(|&z| z == 1.0);
                    h.chunks(4).map(|value| class(value).unwrap()).collect()
                } else {
                    noise.classes(&written_out.classes(x))
                };
                assert_eq!(*h, one_hot(&classes, &config), "row {n}");
                assert!((score - written_out.log_q(x, &classes)).abs() < 1e-12);
            }
            assert!(noise.1.is_empty(), "one uniform a variable");
        }
    }
}

#[test]
fn dreams_are_uniform_classes_and_then_bits() {
    let config = small(false);
    let model = built(&config, DType::F64);
    let written_out = WrittenOut::new(&config, &model);
    let mut noise = Recorded::new(3);
    let (x, h) = model.dream(tensor(&data(7, &config), DType::F64), &mut noise);
    let uniform = vec![vec![0.25; 4]; 3];
    let classes: Vec<Vec<usize>> = (0..7).map(|_| noise.classes(&uniform)).collect();
    let values: Vec<Vec<f64>> = classes.iter().map(|h| one_hot(h, &config)).collect();
    assert_eq!(rows(&h.layers()[0].numbers()), values);
    let bits = classes.iter().map(|h| noise.bits(&written_out.ones(h)));
    assert_eq!(rows(&x.numbers()), bits.collect::<Vec<_>>());
    assert!(noise.1.is_empty(), "one uniform a variable and a bit");
}
