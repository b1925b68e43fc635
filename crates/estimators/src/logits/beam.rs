//! Distinct latents by a stochastic beam (Kool, van Hoof & Welling 2019).

use burn::tensor::{Tensor, TensorData, activation};
use helmholtz_distributions::{Classes, Noise};
use helmholtz_ops::{Backend, Values, pinned_logits};

use crate::Race;
use crate::host::numbers;
use crate::{Layered, Particles};

/// The beams of each datum, K or as many as there are latents, the layers nearest the data first.
///
/// Each beam is a beginning of a latent with ln q of it and a Gumbel number, the largest of all latents that begin so. It is expanded by a
/// variable into its classes, whose numbers are Gumbel of their ln q given that the largest is the beam's. The K largest stay. In the
/// end they are the K largest of all latents: draws without replacement from q.
pub struct Beams<B: Backend> {
    particles: usize,
    data: Vec<Vec<Beam>>,
    /// Values of each layer `[K · batch, values]`, particle-major; beams that are missing repeat the first.
    layers: Vec<Values<B>>,
}

#[derive(Clone, Debug)]
struct Beam {
    log_q: f64,
    /// The largest Gumbel number of all latents that begin so.
    number: f64,
    /// Classes of the present layer.
    chosen: Vec<u32>,
    /// Which beam below it stands on.
    below: usize,
}

impl<B: Backend> Beams<B> {
    /// Draws K beams for each datum of x.
    pub fn draw<M>(model: &M, x: Values<B>, particles: usize, noise: &mut impl Noise) -> Self
    where
        M: Layered<B, Variables: Race>,
    {
        let batch = x.dims()[0];
        let start = Beam {
            log_q: 0.0,
            number: 0.0,
            chosen: Vec::new(),
            below: 0,
        };
        let mut beams = Self {
            particles,
            data: vec![vec![start]; batch],
            layers: Vec::new(),
        };
        for (level, variables) in model.layers().into_iter().enumerate() {
            let logits = match beams.layers.last() {
                Some(below) => model.logits_above(level, below.clone()),
                None => model.encode(x.clone()),
            };
            beams.grow(variables, logits, noise);
        }
        beams
    }

    /// The latents.
    pub fn particles(&self) -> Particles<B> {
        Particles::new(self.layers.clone())
    }

    /// ln q of each datum's latents.
    pub fn log_q(&self) -> impl Iterator<Item = Vec<f64>> {
        let of = |beams: &Vec<Beam>| beams.iter().map(|beam| beam.log_q).collect();
        self.data.iter().map(of)
    }

    /// Adds a layer, by the logits of each beam below it, or of each datum.
    fn grow<V: Race>(&mut self, variables: V, logits: Tensor<B, 2>, noise: &mut impl Noise) {
        let (batch, device, dtype) = (self.data.len(), logits.device(), logits.dtype());
        let Classes {
            variables: count,
            classes,
        } = variables.classes();
        let log_p = activation::log_softmax(pinned_logits(logits, classes), 2).into_data();
        let log_p = numbers::<f64>(&log_p);
        let first = self.layers.is_empty();
        for (datum, beams) in self.data.iter_mut().enumerate() {
            for (place, beam) in beams.iter_mut().enumerate() {
                (beam.below, beam.chosen) = (place, Vec::with_capacity(count));
            }
            for variable in 0..count {
                let of_beam = |beam: &Beam| {
                    let row = if first {
                        datum
                    } else {
                        beam.below * batch + datum
                    };
                    let start = (row * count + variable) * classes;
                    &log_p[start..start + classes]
                };
                let longer = expanded(beams, of_beam, self.particles, noise);
                *beams = longer;
            }
        }
        let mut one_hot = vec![0.0; self.particles * batch * count * classes];
        for (row, place) in one_hot.chunks_exact_mut(count * classes).enumerate() {
            let beams = &self.data[row % batch];
            let beam = beams.get(place_of(row, batch)).unwrap_or(&beams[0]);
            for (variable, &class) in place.chunks_exact_mut(classes).zip(&beam.chosen) {
                variable[class as usize] = 1.0;
            }
        }
        self.stand_on_own_rows();
        let shape = [self.particles * batch, count * classes];
        let one_hot = Tensor::from_data(TensorData::new(one_hot, shape), (&device, dtype));
        self.layers
            .push(Values::binary(variables.values_of(one_hot)));
    }

    /// Brings the layers below into the order of the beams that stand on them.
    fn stand_on_own_rows(&mut self) {
        let batch = self.data.len();
        let row = |place: usize, datum: usize| {
            let beams = &self.data[datum];
            let beam = beams.get(place).unwrap_or(&beams[0]);
            (beam.below * batch + datum) as i64
        };
        let rows: Vec<i64> = (0..self.particles * batch)
            .map(|at| row(place_of(at, batch), at % batch))
            .collect();
        for layer in &mut self.layers {
            let numbers = layer.numbers();
            let rows = TensorData::new(rows.clone(), [rows.len()]);
            let rows = Tensor::from_data(rows, &numbers.device());
            *layer = Values::binary(numbers.select(0, rows));
        }
    }
}

/// The particle of a row.
fn place_of(row: usize, batch: usize) -> usize {
    row / batch
}

/// The beams grown by a variable: the `most` with the largest numbers, those first.
fn expanded<'a>(
    beams: &[Beam],
    log_p: impl Fn(&Beam) -> &'a [f64],
    most: usize,
    noise: &mut impl Noise,
) -> Vec<Beam> {
    let mut children = Vec::new();
    for (parent, beam) in beams.iter().enumerate() {
        let log_p = log_p(beam);
        let mut uniforms = vec![0.0f32; log_p.len()];
        noise.fill(&mut uniforms);
        let numbers: Vec<f64> = log_p
            .iter()
            .zip(uniforms)
            .map(|(log_p, u)| beam.log_q + log_p + gumbel(u))
            .collect();
        let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (class, (&number, log_p)) in numbers.iter().zip(log_p).enumerate() {
            let number = given_largest(number, largest, beam.number);
            children.push((number, beam.log_q + log_p, parent, class as u32));
        }
    }
    children.sort_by(|a, b| b.0.total_cmp(&a.0));
    children.truncate(most);
    let grown = children.into_iter().map(|(number, log_q, parent, class)| {
        let Beam { chosen, below, .. } = &beams[parent];
        Beam {
            log_q,
            number,
            chosen: [&chosen[..], &[class]].concat(),
            below: *below,
        }
    });
    grown.collect()
}

/// −ln(−ln u), u clipped to [10⁻⁷, 1 − 10⁻⁷].
fn gumbel(u: f32) -> f64 {
    -(-f64::from(u).clamp(1e-7, 1.0 - 1e-7).ln()).ln()
}

/// A Gumbel number of several, whose largest is `largest`, as it is where the largest is `bound`:
/// −ln(e^−bound − e^−largest + e^−number).
fn given_largest(number: f64, largest: f64, bound: f64) -> f64 {
    if number == largest {
        return bound;
    }
    // bound − softplus(v), e^v = (e^−number − e^−largest) / e^−bound.
    let v = bound - number + (-(number - largest).exp()).ln_1p();
    bound - v.max(0.0) - (-v.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::gumbel;

    #[test]
    fn every_uniform_has_a_gumbel_number() {
        // −ln(−ln u) at the clipped ends and at 1/2.
        for (u, expected) in [
            (0.0, -2.779_942_6),
            (0.5, 0.366_512_92),
            (1.0, 16.118_095_6),
        ] {
            assert!((gumbel(u) - expected).abs() < 1e-5, "{u}: {}", gumbel(u));
        }
    }
}
