//! Uniforms chosen so that the model draws what is asked.

use std::collections::VecDeque;
use std::ops::Range;

use helmholtz_distributions::Noise;

use crate::{Enumerable, State};

/// A list of uniforms: one array a draw.
///
/// Each uniform lies in the middle of its interval, such as [0, σ) for a one and [σ, 1) for a zero. So it stands for all of them
/// and the probability of the whole list is the product of the intervals' lengths.
#[derive(Clone, Debug, Default)]
pub struct Chosen(VecDeque<Vec<f32>>);

impl Chosen {
    /// Makes the model propose `tuples[b][k]` as the k-th particle of datum `x[b]`.
    pub fn proposals(model: &impl Enumerable, x: &[Vec<f64>], tuples: &[Vec<&State>]) -> Self {
        let particles = 0..tuples[0].len();
        let rows = particles.flat_map(|k| x.iter().zip(tuples).map(move |(x, t)| (x, t[k])));
        Self(draws(rows.map(|(x, h)| model.proposing(x, h))).into())
    }

    /// Then makes it dream these (x, h).
    pub fn then_dreams(mut self, model: &impl Enumerable, dreams: &[(Vec<f64>, &State)]) -> Self {
        let rows = dreams.iter().map(|(x, h)| model.dreaming(x, h));
        self.0.extend(draws(rows));
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
        assert_eq!(draw.len(), out.len(), "one uniform a variable");
        out.copy_from_slice(&draw);
    }
}

/// Layer by layer the middles of all rows' intervals.
fn draws(rows: impl Iterator<Item = Vec<Vec<Range<f64>>>>) -> Vec<Vec<f32>> {
    let mut draws = Vec::new();
    for row in rows {
        draws.resize(row.len(), Vec::new());
        for (draw, layer) in draws.iter_mut().zip(&row) {
            draw.extend(layer.iter().map(middle));
        }
    }
    draws
}

fn middle(interval: &Range<f64>) -> f32 {
    let wide = interval.end - interval.start > 1e-6;
    assert!(wide, "f32 tells the intervals apart");
    (0.5 * (interval.start + interval.end)) as f32
}
