//! Nets of one hidden layer and their gradient: the hidden units of some rows are made, used and forgotten in registers.

use burn::tensor::TensorData;
use burn_flex::{Flex, FlexTensor};

use super::additive::total;
use super::exp::tanh;
use super::{LANES, dispatch, elements, multiply_add, size, zeros};
use crate::{Activation, PerceptronGradients};

/// A number of each of some rows side by side.
type Lanes = [f32; LANES];

/// Rows at a time: what is known of them stays in the first cache, while one hidden unit after the other passes over them.
const ROWS: usize = 8 * LANES;

/// W `[I, H]`, b `[H]` and V `[H, O]`, or their gradients, by hidden units: of each b, W_1 .. W_I, V_1 .. V_O.
struct Units {
    values: Vec<f32>,
    /// I, H, O.
    sizes: [usize; 3],
}

impl Units {
    fn zeros(sizes: [usize; 3]) -> Self {
        let [inputs, hidden, outputs] = sizes;
        let values = vec![0.0; hidden * (1 + inputs + outputs)];
        Self { values, sizes }
    }

    fn new([w, b, v, _]: &[FlexTensor; 4]) -> Self {
        let sizes = [size(w, 0), size(w, 1), size(v, 1)];
        let [inputs, hidden, outputs] = sizes;
        let (w, v) = (elements(w), elements(v));
        let unit = |(unit, &b): (usize, &f32)| {
            let own = (0..inputs).map(move |i| w[i * hidden + unit]);
            let own = std::iter::once(b).chain(own);
            own.chain(v[unit * outputs..][..outputs].iter().copied())
        };
        let values = elements(b).iter().enumerate().flat_map(unit).collect();
        Self { values, sizes }
    }

    /// How many numbers a unit has.
    fn stride(&self) -> usize {
        1 + self.sizes[0] + self.sizes[2]
    }

    /// W, b and V.
    fn tensors(&self) -> [FlexTensor; 3] {
        let [inputs, hidden, outputs] = self.sizes;
        let units = || self.values.chunks_exact(self.stride());
        let w = (0..inputs).flat_map(|i| units().map(move |unit| unit[1 + i]));
        let b = units().map(|unit| unit[0]);
        let v = units().flat_map(|unit| unit[1 + inputs..].iter().copied());
        let tensor = |values: Vec<f32>, shape: &[usize]| {
            FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
        };
        [
            tensor(w.collect(), &[inputs, hidden]),
            tensor(b.collect(), &[hidden]),
            tensor(v.collect(), &[hidden, outputs]),
        ]
    }
}

/// [`ROWS`] rows of a few columns, [`LANES`] rows side by side: column after column of these, then of the next.
struct Block {
    lanes: Vec<Lanes>,
    columns: usize,
}

impl Block {
    fn new(columns: usize) -> Self {
        let lanes = vec![[0.0; LANES]; ROWS / LANES * columns];
        Self { lanes, columns }
    }

    /// Where this row's first column is, and in which lane.
    #[inline(always)]
    fn at(&self, row: usize) -> (usize, usize) {
        (row / LANES * self.columns, row % LANES)
    }

    #[inline(always)]
    fn write(&mut self, row: usize, values: &[f32]) {
        let (first, lane) = self.at(row);
        let columns = self.lanes[first..].iter_mut().zip(values);
        columns.for_each(|(lanes, &value)| lanes[lane] = value);
    }

    #[inline(always)]
    fn read(&self, row: usize, values: &mut [f32]) {
        let (first, lane) = self.at(row);
        let columns = self.lanes[first..].iter().zip(values);
        columns.for_each(|(lanes, value)| *value = lanes[lane]);
    }

    /// The same numbers in all rows.
    #[inline(always)]
    fn fill(&mut self, values: &[f32]) {
        for lanes in self.lanes.chunks_exact_mut(self.columns) {
            let columns = lanes.iter_mut().zip(values);
            columns.for_each(|(lanes, &value)| *lanes = [value; LANES]);
        }
    }
}

/// sum + a · row.
#[inline(always)]
fn add<const FMA: bool>(sum: &mut Lanes, a: f32, row: &Lanes) {
    for lane in 0..LANES {
        sum[lane] = multiply_add::<FMA>(a, row[lane], sum[lane]);
    }
}

/// sum + a ∘ b.
#[inline(always)]
fn add_product<const FMA: bool>(sum: &mut Lanes, a: &Lanes, b: &Lanes) {
    for lane in 0..LANES {
        sum[lane] = multiply_add::<FMA>(a[lane], b[lane], sum[lane]);
    }
}

/// The unit with these numbers, b, W_1 .. W_I, of rows x.
#[inline(always)]
fn unit<const FMA: bool>(own: &[f32], x: &[Lanes], activation: Activation) -> Lanes {
    let mut sum = [own[0]; LANES];
    for (&w, x) in own[1..].iter().zip(x) {
        add::<FMA>(&mut sum, w, x);
    }
    match activation {
        Activation::Tanh => sum.iter_mut().for_each(|h| *h = tanh::<FMA>(*h)),
        Activation::LeakyRelu(slope) => {
            let slope = slope as f32;
            let rectify = |h: &mut f32| *h = if *h > 0.0 { *h } else { *h * slope };
            sum.iter_mut().for_each(rectify);
        }
    }
    sum
}

/// `gradients` · f', from the unit's values t = f.
#[inline(always)]
fn times_slope<const FMA: bool>(activation: Activation, t: &Lanes, gradients: &mut Lanes) {
    let pairs = gradients.iter_mut().zip(t);
    match activation {
        Activation::Tanh => pairs.for_each(|(g, &t)| *g *= multiply_add::<FMA>(-t, t, 1.0)),
        Activation::LeakyRelu(slope) => {
            let slope = slope as f32;
            pairs.for_each(|(g, &t)| *g = if t > 0.0 { *g } else { *g * slope });
        }
    }
}

/// See [`crate::Backend::perceptron`].
pub fn forward(x: &FlexTensor, weights: &[FlexTensor; 4], activation: Activation) -> FlexTensor {
    let units = Units::new(weights);
    let mut output = zeros([size(x, 0), units.sizes[2]]);
    let (bias, y) = (elements(&weights[3]), output.storage_mut());
    dispatch!(apply(&units, activation, bias, elements(x), y));
    output
}

#[inline(always)]
fn apply<const FMA: bool>(
    (units, activation, bias, x, y): (&Units, Activation, &[f32], &[f32], &mut [f32]),
) {
    let [inputs, _, outputs] = units.sizes;
    let (mut xs, mut ys) = (Block::new(inputs), Block::new(outputs));
    let groups = x.chunks(ROWS * inputs).zip(y.chunks_mut(ROWS * outputs));
    for (x, y) in groups {
        for (row, x) in x.chunks_exact(inputs).enumerate() {
            xs.write(row, x);
        }
        ys.fill(bias);
        let used = (x.len() / inputs).div_ceil(LANES);
        for own in units.values.chunks_exact(units.stride()) {
            let (inner, outer) = own.split_at(1 + inputs);
            let pairs = xs
                .lanes
                .chunks_exact(inputs)
                .zip(ys.lanes.chunks_exact_mut(outputs));
            for (x, y) in pairs.take(used) {
                let t = unit::<FMA>(inner, x, activation);
                for (y, &v) in y.iter_mut().zip(outer) {
                    add::<FMA>(y, v, &t);
                }
            }
        }
        for (row, y) in y.chunks_exact_mut(outputs).enumerate() {
            ys.read(row, y);
        }
    }
}

/// See [`crate::Backend::perceptron_backward`]. Rows of g that are zero throughout cost nothing.
pub fn backward(
    x: &FlexTensor,
    weights: &[FlexTensor; 4],
    activation: Activation,
    grad: &FlexTensor,
    of_input: bool,
) -> PerceptronGradients<Flex> {
    let units = Units::new(weights);
    let [inputs, _, outputs] = units.sizes;
    let live = elements(grad).chunks_exact(outputs).enumerate();
    let live = live.filter(|(_, row)| row.iter().any(|&g| g != 0.0));
    let live: Vec<usize> = live.map(|(row, _)| row).collect();
    let mut sums = Sums {
        units: Units::zeros(units.sizes),
        bias: zeros([outputs]),
        input: of_input.then(|| zeros([size(x, 0), inputs])),
    };
    let data = [elements(x), elements(grad)];
    dispatch!(differentiate(
        &units,
        activation,
        data,
        live.as_slice(),
        &mut sums
    ));
    let [w, b, v] = sums.units.tensors();
    PerceptronGradients {
        input: sums.input,
        weights: [w, b, v, sums.bias],
    }
}

/// The gradients.
struct Sums {
    units: Units,
    /// `[O]`
    bias: FlexTensor,
    /// `[N, I]`
    input: Option<FlexTensor>,
}

/// With t = f(x W + b) and d = (g Vᵀ) ∘ f': xᵀ d for W, Σ d for b, tᵀ g for V, Σ g for its bias, and d Wᵀ for x.
#[inline(always)]
fn differentiate<const FMA: bool>(
    (units, activation, [x, grad], live, sums): (
        &Units,
        Activation,
        [&[f32]; 2],
        &[usize],
        &mut Sums,
    ),
) {
    let [inputs, _, outputs] = units.sizes;
    let (mut xs, mut gs) = (Block::new(inputs), Block::new(outputs));
    let mut of_xs = Block::new(inputs);
    let mut own_sums = vec![[0.0f32; LANES]; units.stride()];
    let (bias, mut of_x) = (
        sums.bias.storage_mut::<f32>(),
        sums.input.as_mut().map(FlexTensor::storage_mut::<f32>),
    );
    for rows in live.chunks(ROWS) {
        // Beyond the last row the gradient is zero.
        gs.fill(&vec![0.0; outputs]);
        of_xs.fill(&vec![0.0; inputs]);
        for (at, &row) in rows.iter().enumerate() {
            let grad = &grad[row * outputs..][..outputs];
            xs.write(at, &x[row * inputs..][..inputs]);
            gs.write(at, grad);
            bias.iter_mut().zip(grad).for_each(|(s, g)| *s += g);
        }
        let used = rows.len().div_ceil(LANES);
        let all = units.values.chunks_exact(units.stride());
        for (own, totals) in all.zip(sums.units.values.chunks_exact_mut(units.stride())) {
            let (inner, outer) = own.split_at(1 + inputs);
            own_sums.fill([0.0; LANES]);
            let (inner_sums, outer_sums) = own_sums.split_at_mut(1 + inputs);
            let blocks = xs
                .lanes
                .chunks_exact(inputs)
                .zip(gs.lanes.chunks_exact(outputs));
            let blocks = blocks.zip(of_xs.lanes.chunks_exact_mut(inputs));
            for ((x, g), of_x_block) in blocks.take(used) {
                let t = unit::<FMA>(inner, x, activation);
                let mut d = [0.0f32; LANES];
                for ((&v, g), sum) in outer.iter().zip(g).zip(&mut *outer_sums) {
                    add::<FMA>(&mut d, v, g);
                    add_product::<FMA>(sum, &t, g);
                }
                times_slope::<FMA>(activation, &t, &mut d);
                add::<FMA>(&mut inner_sums[0], 1.0, &d);
                for (x, sum) in x.iter().zip(&mut inner_sums[1..]) {
                    add_product::<FMA>(sum, x, &d);
                }
                if of_x.is_some() {
                    for (&w, of_x) in inner[1..].iter().zip(of_x_block) {
                        add::<FMA>(of_x, w, &d);
                    }
                }
            }
            let pairs = totals.iter_mut().zip(&own_sums);
            pairs.for_each(|(sum, own)| *sum += total(own));
        }
        if let Some(of_x) = &mut of_x {
            for (at, &row) in rows.iter().enumerate() {
                of_xs.read(at, &mut of_x[row * inputs..][..inputs]);
            }
        }
    }
}
