//! Nets of one hidden layer and their gradient: the hidden units of some rows are made, used and forgotten in registers.

use burn::tensor::TensorData;
use burn_flex::{Flex, FlexTensor};

use super::activation::{Function, with_function};
use super::additive::total;
use super::{LANES, dispatch, elements, multiply_add, size, zeros};
use crate::{Activation, PerceptronGradients};

/// Rows at a time: what is known of them stays in the first cache, while one hidden unit after the other passes over them.
const ROWS: usize = 8 * LANES;

/// A number of each of these rows. Every loop is one along columns, which becomes vector instructions whatever I and O are.
type Column = [f32; ROWS];

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

/// Rows as columns.
#[inline(always)]
fn transpose<'a>(rows: impl Iterator<Item = &'a [f32]>, columns: &mut [Column]) {
    for (at, row) in rows.enumerate() {
        let pairs = columns.iter_mut().zip(row);
        pairs.for_each(|(column, &value)| column[at] = value);
    }
}

/// sum + a · column.
#[inline(always)]
fn add<const FMA: bool>(sum: &mut Column, a: f32, column: &Column) {
    let pairs = sum.iter_mut().zip(column);
    pairs.for_each(|(sum, &value)| *sum = multiply_add::<FMA>(a, value, *sum));
}

/// Σ a ∘ b.
#[inline(always)]
fn dot<const FMA: bool>(a: &Column, b: &Column) -> f32 {
    let ((a, _), (b, _)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] = multiply_add::<FMA>(a[lane], b[lane], sums[lane]);
        }
    }
    total(&sums)
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
        transpose(x.chunks_exact(inputs), &mut xs);
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
        for (at, y) in y.chunks_exact_mut(outputs).enumerate() {
            y.iter_mut()
                .zip(&ys)
                .for_each(|(y, column)| *y = column[at]);
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
    let live = live.as_slice();
    dispatch!(differentiate(activation, &units, data, live, &mut sums));
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

#[inline(always)]
fn differentiate<const FMA: bool>(
    (f, units, data, live, sums): (Activation, &Units, [&[f32]; 2], &[usize], &mut Sums),
) {
    with_function!(f, differentiate_by::<FMA>((units, data, live, sums)));
}

/// With t = f(x W + b) and d = (g Vᵀ) ∘ f': xᵀ d for W, Σ d for b, tᵀ g for V, Σ g for its bias, and d Wᵀ for x.
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
    let bias = sums.bias.storage_mut::<f32>();
    let mut of_x = sums.input.as_mut().map(FlexTensor::storage_mut::<f32>);
    for rows in live.chunks(ROWS) {
        // Beyond the last row the gradient is zero.
        gs.fill(nothing);
        transpose(rows.iter().map(|row| &x[row * inputs..][..inputs]), &mut xs);
        transpose(
            rows.iter().map(|row| &grad[row * outputs..][..outputs]),
            &mut gs,
        );
        of_xs.fill(nothing);
        for (sum, g) in bias.iter_mut().zip(&gs) {
            *sum += g.iter().sum::<f32>();
        }
        let all = units.values.chunks_exact(stride);
        for (own, sums) in all.zip(sums.units.values.chunks_exact_mut(stride)) {
            let (inner, outer) = own.split_at(1 + inputs);
            let (inner_sums, outer_sums) = sums.split_at_mut(1 + inputs);
            unit::<FMA, F>(f, inner, &xs, &mut t);
            d.fill(0.0);
            for ((&v, g), sum) in outer.iter().zip(&gs).zip(outer_sums) {
                add::<FMA>(&mut d, v, g);
                *sum += dot::<FMA>(&t, g);
            }
            d.iter_mut()
                .zip(&t)
                .for_each(|(d, &t)| *d *= f.slope::<FMA>(t));
            inner_sums[0] += dot::<FMA>(&[1.0; ROWS], &d);
            for (x, sum) in xs.iter().zip(&mut inner_sums[1..]) {
                *sum += dot::<FMA>(x, &d);
            }
            if of_x.is_some() {
                for (of_x, &w) in of_xs.iter_mut().zip(&inner[1..]) {
                    add::<FMA>(of_x, w, &d);
                }
            }
        }
        if let Some(of_x) = &mut of_x {
            for (at, &row) in rows.iter().enumerate() {
                let of_x = of_x[row * inputs..][..inputs].iter_mut();
                of_x.zip(&of_xs)
                    .for_each(|(of_x, column)| *of_x = column[at]);
            }
        }
    }
}
