//! Nets of one hidden layer and their gradient: the hidden units of some rows are made, used and forgotten in registers.

use burn::tensor::TensorData;
use burn_flex::{Flex, FlexTensor};

use super::activation::{Function, with_function};
use super::columns::{
    Column, Lanes, ROWS, add, add_all, add_products, total, transpose, untranspose,
};
use super::{LANES, dispatch, elements, size, zeros};
use crate::{Activation, PerceptronGradients};

/// W `[I, H]`, b `[H]` and V `[H, O]`, or their gradients, by hidden units: of each b, W_1 .. W_I, V_1 .. V_O.
struct Units {
    values: Vec<f32>,
    /// I, H, O.
    sizes: [usize; 3],
}

impl Units {
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

/// The values t of the unit with these numbers, b, W_1 .. W_I, of rows x.
#[inline(always)]
fn unit<const FMA: bool, F: Function>(f: F, own: &[f32], x: &[Column], t: &mut Column) {
    t.fill(own[0]);
    for (&w, x) in own[1..].iter().zip(x) {
        add::<FMA>(t, w, x);
    }
    t.iter_mut().for_each(|t| *t = f.value::<FMA>(*t));
}

/// See [`crate::Backend::perceptron`].
pub fn forward(x: &FlexTensor, weights: &[FlexTensor; 4], activation: Activation) -> FlexTensor {
    let units = Units::new(weights);
    let mut output = zeros([size(x, 0), units.sizes[2]]);
    let (bias, y) = (elements(&weights[3]), output.storage_mut());
    dispatch!(apply(activation, &units, bias, elements(x), y));
    output
}

#[inline(always)]
fn apply<const FMA: bool>(
    (f, units, bias, x, y): (Activation, &Units, &[f32], &[f32], &mut [f32]),
) {
    with_function!(f, apply_by::<FMA>((units, bias, x, y)));
}

#[inline(always)]
fn apply_by<const FMA: bool, F: Function>(
    f: F,
    (units, bias, x, y): (&Units, &[f32], &[f32], &mut [f32]),
) {
    let [inputs, _, outputs] = units.sizes;
    let mut t = [0.0f32; ROWS];
    let (mut xs, mut ys) = (vec![t; inputs], vec![t; outputs]);
    for (x, y) in x.chunks(ROWS * inputs).zip(y.chunks_mut(ROWS * outputs)) {
        transpose(x, &mut xs);
        for (y, &bias) in ys.iter_mut().zip(bias) {
            y.fill(bias);
        }
        for own in units.values.chunks_exact(units.stride()) {
            let (inner, outer) = own.split_at(1 + inputs);
            unit::<FMA, F>(f, inner, &xs, &mut t);
            for (y, &v) in ys.iter_mut().zip(outer) {
                add::<FMA>(y, v, &t);
            }
        }
        untranspose(&ys, y);
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
    let live = live_rows(elements(grad), outputs);
    let mut sums = Sums {
        units: vec![[0.0; LANES]; units.values.len()],
        bias: vec![[0.0; LANES]; outputs],
        input: of_input.then(|| zeros([size(x, 0), inputs])),
    };
    let data = [elements(x), elements(grad)];
    let live = live.as_slice();
    dispatch!(differentiate(activation, &units, data, live, &mut sums));
    let totals = |sums: &[Lanes]| sums.iter().map(total).collect::<Vec<f32>>();
    let of_units = Units {
        values: totals(&sums.units),
        sizes: units.sizes,
    };
    let [w, b, v] = of_units.tensors();
    let bias = TensorData::new(totals(&sums.bias), [outputs]);
    PerceptronGradients {
        input: sums.input,
        weights: [w, b, v, FlexTensor::from_data(bias)],
    }
}

/// The gradients.
struct Sums {
    /// As [`Units::values`].
    units: Vec<Lanes>,
    /// `[O]`
    bias: Vec<Lanes>,
    /// `[N, I]`
    input: Option<FlexTensor>,
}

#[inline(always)]
fn differentiate<const FMA: bool>(
    (f, units, data, live, sums): (Activation, &Units, [&[f32]; 2], &[usize], &mut Sums),
) {
    with_function!(f, differentiate_by::<FMA>((units, data, live, sums)));
}

/// Let t = f(x W + b) and d = (g Vᵀ) ∘ f'. The gradients are xᵀ d for W, Σ d for b, tᵀ g for V, Σ g for its bias, and d Wᵀ
/// for x.
#[inline(always)]
fn differentiate_by<const FMA: bool, F: Function>(
    f: F,
    (units, [x, grad], live, sums): (&Units, [&[f32]; 2], &[usize], &mut Sums),
) {
    let [inputs, _, outputs] = units.sizes;
    let stride = units.stride();
    let nothing = [0.0f32; ROWS];
    let (mut t, mut d) = (nothing, nothing);
    let [mut xs, mut gs, mut of_xs] = [inputs, outputs, inputs].map(|width| vec![nothing; width]);
    let [mut some_x, mut some_g] = [Vec::new(), Vec::new()];
    let mut of_x = sums.input.as_mut().map(FlexTensor::storage_mut::<f32>);
    for rows in live.chunks(ROWS) {
        // Beyond the last row the gradient is zero.
        gs.fill(nothing);
        transpose(gather(x, inputs, rows, &mut some_x), &mut xs);
        transpose(gather(grad, outputs, rows, &mut some_g), &mut gs);
        of_xs.fill(nothing);
        for (sum, g) in sums.bias.iter_mut().zip(&gs) {
            add_all(sum, g);
        }
        let all = units.values.chunks_exact(stride);
        for (own, sums) in all.zip(sums.units.chunks_exact_mut(stride)) {
            let (inner, outer) = own.split_at(1 + inputs);
            let (inner_sums, outer_sums) = sums.split_at_mut(1 + inputs);
            unit::<FMA, F>(f, inner, &xs, &mut t);
            d.fill(0.0);
            for ((&v, g), sum) in outer.iter().zip(&gs).zip(outer_sums) {
                add::<FMA>(&mut d, v, g);
                add_products::<FMA>(sum, &t, g);
            }
            d.iter_mut()
                .zip(&t)
                .for_each(|(d, &t)| *d *= f.slope::<FMA>(t));
            add_all(&mut inner_sums[0], &d);
            for (x, sum) in xs.iter().zip(&mut inner_sums[1..]) {
                add_products::<FMA>(sum, x, &d);
            }
            if of_x.is_some() {
                for (of_x, &w) in of_xs.iter_mut().zip(&inner[1..]) {
                    add::<FMA>(of_x, w, &d);
                }
            }
        }
        if let Some(of_x) = &mut of_x {
            some_x.resize(rows.len() * inputs, 0.0);
            untranspose(&of_xs, &mut some_x);
            for (&row, own) in rows.iter().zip(some_x.chunks_exact(inputs)) {
                of_x[row * inputs..][..inputs].copy_from_slice(own);
            }
        }
    }
}

/// These rows, one after the other: where they are, or copied to `some` if others lie between them.
#[inline(always)]
fn gather<'a>(all: &'a [f32], width: usize, rows: &[usize], some: &'a mut Vec<f32>) -> &'a [f32] {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return &[];
    };
    if last - first + 1 == rows.len() {
        return &all[first * width..(last + 1) * width];
    }
    some.clear();
    for row in rows {
        some.extend_from_slice(&all[row * width..][..width]);
    }
    some
}

/// The rows that are not zero throughout.
fn live_rows(rows: &[f32], width: usize) -> Vec<usize> {
    // As long as no number is zero, there is nothing to look for row by row.
    if rows.iter().all(|&g| g != 0.0) {
        return (0..rows.len() / width).collect();
    }
    let live = rows.chunks_exact(width).enumerate();
    let live = live.filter(|(_, row)| row.iter().any(|&g| g != 0.0));
    live.map(|(row, _)| row).collect()
}
