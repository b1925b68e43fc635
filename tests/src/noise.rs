//! Uniforms chosen so that the model draws what is asked.

use std::collections::VecDeque;

use helmholtz_distributions::Noise;

use crate::{Reference, State};

/// A list of uniforms: one array a draw.
///
/// Each uniform lies in the middle of its interval, [0, σ) for a one and [σ, 1) for a zero, so it stands for all of them
/// and the probability of the whole list is the product of the intervals' lengths.
#[derive(Clone, Debug, Default)]
pub struct Chosen(VecDeque<Vec<f32>>);

impl Chosen {
    /// Makes the model propose `tuples[b][k]` as the k-th particle of datum `x[b]`.
    pub fn proposals(model: &Reference, x: &[Vec<f64>], tuples: &[Vec<&State>]) -> Self {
        let mut draws = vec![Vec::new(); model.layers().len()];
        for k in 0..tuples[0].len() {
            for (x, tuple) in x.iter().zip(tuples) {
                let thresholds = model.recognition_thresholds(x, tuple[k]);
                for ((draw, ones), layer) in draws.iter_mut().zip(&thresholds).zip(tuple[k]) {
                    draw.extend(middles(ones, layer));
                }
            }
        }
        Self(draws.into())
    }

    /// Then makes it dream these (x, h).
    pub fn then_dreams(mut self, model: &Reference, dreams: &[(Vec<f64>, &State)]) -> Self {
        let mut draws = vec![Vec::new(); model.layers().len() + 1];
        for (x, h) in dreams {
            let thresholds = model.generation_thresholds(h);
            let values = h.iter().rev().chain([x]);
            for ((draw, ones), layer) in draws.iter_mut().zip(&thresholds).zip(values) {
                draw.extend(middles(ones, layer));
            }
        }
        self.0.extend(draws);
        self
    }

    /// Whether every uniform was asked for.
    pub fn is_spent(&self) -> bool {
        self.0.is_empty()
    }
}

impl Noise for Chosen {
    fn fill(&mut self, out: &mut [f32]) {
        let draw = self.0.pop_front().expect("one draw a layer");
        assert_eq!(draw.len(), out.len(), "one uniform a bit");
        out.copy_from_slice(&draw);
    }
}

fn middles(ones: &[f64], values: &[f64]) -> Vec<f32> {
    let middle = |(&one, &value): (&f64, &f64)| {
        assert!(
            one > 1e-6 && one < 1.0 - 1e-6,
            "f32 tells the intervals apart"
        );
        (if value == 1.0 {
            0.5 * one
        } else {
            0.5 * (1.0 + one)
        }) as f32
    };
    ones.iter().zip(values).map(middle).collect()
}
