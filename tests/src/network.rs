//! A network in plain `f64`, with its gradient by hand.

/// Linear layers x W + b with leaky rectifiers or tanh between them. For each layer W `[inputs, outputs]` lies row by row among the
/// flat parameters, and b behind it.
#[derive(Clone, Debug)]
pub struct Network {
    sizes: Vec<usize>,
    between: Between,
    offset: usize,
}

/// What is between the layers.
#[derive(Clone, Copy, Debug)]
enum Between {
    Rectifier { slope: f64 },
    Tanh,
}

impl Between {
    fn value(self, sum: f64) -> f64 {
        match self {
            Self::Rectifier { slope } if sum <= 0.0 => slope * sum,
            Self::Rectifier { .. } => sum,
            Self::Tanh => sum.tanh(),
        }
    }

    /// The derivative, from the value.
    fn slope(self, value: f64) -> f64 {
        match self {
            Self::Rectifier { slope } if value <= 0.0 => slope,
            Self::Rectifier { .. } => 1.0,
            Self::Tanh => 1.0 - value * value,
        }
    }
}

impl Network {
    /// Through layers of these sizes with rectifiers of this slope, its parameters from `offset` on.
    pub fn new(sizes: &[usize], slope: f64, offset: usize) -> Self {
        Self {
            sizes: sizes.to_vec(),
            between: Between::Rectifier { slope },
            offset,
        }
    }

    /// With tanh.
    pub fn tanh(sizes: &[usize], offset: usize) -> Self {
        Self {
            sizes: sizes.to_vec(),
            between: Between::Tanh,
            offset,
        }
    }

    /// Where its parameters lie.
    pub fn range(&self) -> std::ops::Range<usize> {
        let layer = |pair: &[usize]| (pair[0] + 1) * pair[1];
        let parameters: usize = self.sizes.windows(2).map(layer).sum();
        self.offset..self.offset + parameters
    }

    /// The outputs, logits mostly.
    pub fn outputs(&self, parameters: &[f64], inputs: &[f64]) -> Vec<f64> {
        let mut values = self.values(parameters, inputs);
        values.pop().expect("a layer")
    }

    /// The inputs, the values between the layers, and the outputs.
    fn values(&self, parameters: &[f64], inputs: &[f64]) -> Vec<Vec<f64>> {
        let mut values = vec![inputs.to_vec()];
        let mut rest = &parameters[self.range()];
        for (depth, pair) in self.sizes.windows(2).enumerate() {
            let below = &values[depth];
            assert_eq!(below.len(), pair[0]);
            let (weight, after) = rest.split_at(pair[0] * pair[1]);
            let (bias, after) = after.split_at(pair[1]);
            rest = after;
            let output = |o: usize| {
                let products = below.iter().enumerate();
                let products = products.map(|(i, input)| input * weight[i * pair[1] + o]);
                let sum = products.sum::<f64>() + bias[o];
                match depth + 2 == self.sizes.len() {
                    true => sum,
                    false => self.between.value(sum),
                }
            };
            values.push((0..pair[1]).map(output).collect());
        }
        values
    }

    /// Adds to the flat `gradient` that of a function of the outputs, whose derivatives in them are `slopes`.
    pub fn differentiate(
        &self,
        parameters: &[f64],
        inputs: &[f64],
        slopes: &[f64],
        gradient: &mut [f64],
    ) {
        let values = self.values(parameters, inputs);
        let mut end = self.range().end;
        let mut slopes = slopes.to_vec();
        for (depth, pair) in self.sizes.windows(2).enumerate().rev() {
            let (bias, weight) = (end - pair[1], end - (pair[0] + 1) * pair[1]);
            end = weight;
            let mut below = vec![0.0; pair[0]];
            for (o, slope) in slopes.iter().enumerate() {
                gradient[bias + o] += slope;
                for (i, value) in values[depth].iter().enumerate() {
                    gradient[weight + i * pair[1] + o] += value * slope;
                    below[i] += parameters[weight + i * pair[1] + o] * slope;
                }
            }
            for (below, value) in below.iter_mut().zip(&values[depth]) {
                *below *= self.between.slope(*value);
            }
            slopes = below;
        }
    }

    /// The probabilities of ones of bits with the outputs as logits.
    pub fn ones(&self, parameters: &[f64], inputs: &[f64]) -> Vec<f64> {
        let logits = self.outputs(parameters, inputs);
        logits.into_iter().map(sigmoid).collect()
    }

    /// The log-probability of bits with the outputs as logits, and its gradient added to `gradient`: v − σ in a logit.
    pub fn score(
        &self,
        parameters: &[f64],
        inputs: &[f64],
        bits: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        let logits = self.outputs(parameters, inputs);
        let pairs = || logits.iter().zip(bits);
        let residuals: Vec<f64> = pairs().map(|(&a, v)| v - sigmoid(a)).collect();
        self.differentiate(parameters, inputs, &residuals, gradient);
        pairs().map(|(&a, v)| v * a - softplus(a)).sum()
    }
}

/// ln(1 + e^a).
pub fn softplus(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

/// 1 / (1 + e^−a).
pub fn sigmoid(a: f64) -> f64 {
    1.0 / (1.0 + (-a).exp())
}
