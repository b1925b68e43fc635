//! Nets of one hidden layer of rectifiers on one number. Such a net is a linear spline: with its knots in order, a point costs a search
//! among them and one line, not all the hidden units.

use std::hint::select_unpredictable;

use burn::tensor::TensorData;
use burn_flex::{Flex, FlexTensor};

use super::{dispatch, elements, size, zeros};
use crate::PerceptronGradients;

/// w `[H]`, c `[C, H]`, V `[H, O]`, b `[O]` and the slope of the rectifier below zero.
struct Net<'a> {
    w: &'a [f32],
    c: &'a [f32],
    v: &'a [f32],
    b: &'a [f32],
    slope: f64,
}

impl<'a> Net<'a> {
    fn new([w, c, v, b]: &'a [FlexTensor; 4], slope: f64) -> Self {
        let [w, c, v, b] = [w, c, v, b].map(elements);
        Self { w, c, v, b, slope }
    }

    fn c(&self, curve: usize) -> &'a [f32] {
        &self.c[curve * self.w.len()..][..self.w.len()]
    }

    fn v(&self, unit: usize) -> &'a [f32] {
        &self.v[unit * self.b.len()..][..self.b.len()]
    }
}

/// A hidden unit of a curve.
struct Unit {
    /// −c / w, where it turns on or off; ∞ if it does neither.
    knot: f32,
    index: usize,
    /// The slopes of f before and behind the knot.
    slopes: [f64; 2],
}

/// One curve: the lines between its knots.
#[derive(Default)]
struct Spline {
    /// By their knots.
    units: Vec<Unit>,
    /// The knots in order, and ∞ up to one less than a power of two.
    knots: Vec<f32>,
    /// Of each of the H + 1 pieces and each output, what x is multiplied with and what is added.
    lines: Vec<[f32; 2]>,
}

impl Spline {
    fn set(&mut self, net: &Net<'_>, curve: usize) {
        let unit = |(index, (&w, &c)): (usize, (&f32, &f32))| Unit {
            knot: if w == 0.0 { f32::INFINITY } else { -c / w },
            index,
            slopes: match w < 0.0 || (w == 0.0 && c > 0.0) {
                true => [1.0, net.slope],
                false => [net.slope, 1.0],
            },
        };
        let c = net.c(curve);
        self.units.clear();
        self.units.extend(net.w.iter().zip(c).enumerate().map(unit));
        self.units
            .sort_unstable_by(|a, b| a.knot.total_cmp(&b.knot));
        self.knots.clear();
        self.knots.extend(self.units.iter().map(|unit| unit.knot));
        let full = (self.knots.len() + 1).next_power_of_two() - 1;
        self.knots.resize(full, f32::INFINITY);

        // The first line, and what changes at each knot.
        let mut line: Vec<[f64; 2]> = net.b.iter().map(|&b| [0.0, f64::from(b)]).collect();
        let add = |line: &mut [[f64; 2]], unit: &Unit, slope: f64| {
            let own = [net.w[unit.index], c[unit.index]].map(|number| slope * f64::from(number));
            for (line, &v) in line.iter_mut().zip(net.v(unit.index)) {
                *line = [0, 1].map(|of| line[of] + f64::from(v) * own[of]);
            }
        };
        for unit in &self.units {
            add(&mut line, unit, unit.slopes[0]);
        }
        self.lines.clear();
        let rounded = |line: &[f64; 2]| line.map(|number| number as f32);
        self.lines.extend(line.iter().map(rounded));
        for unit in &self.units {
            add(&mut line, unit, unit.slopes[1] - unit.slopes[0]);
            self.lines.extend(line.iter().map(rounded));
        }
    }

    /// The piece of each point.
    fn pieces(&self, points: &[f32], pieces: &mut [usize]) {
        dispatch!(search(self.knots.as_slice(), points, pieces));
    }
}

/// How many of the knots are below each point. One halving of all points after the other: they do not wait for each other.
#[inline(always)]
fn search<const FMA: bool>((knots, points, below): (&[f32], &[f32], &mut [usize])) {
    below.fill(0);
    let mut half = knots.len().div_ceil(2);
    while half > 0 {
        for (below, &x) in below.iter_mut().zip(points) {
            // Which half is in is never guessed right.
            *below += select_unpredictable(knots[*below + half - 1] < x, half, 0);
        }
        half /= 2;
    }
}

/// Calls `visit` with each curve and its rows.
fn by_curve(curves: &[usize], mut visit: impl FnMut(usize, &[usize])) {
    let mut rows: Vec<usize> = (0..curves.len()).collect();
    rows.sort_by_key(|&row| curves[row]);
    for rows in rows.chunk_by(|&a, &b| curves[a] == curves[b]) {
        visit(curves[rows[0]], rows);
    }
}

/// See [`crate::Backend::linear_splines`].
pub fn forward(
    points: &FlexTensor,
    curves: &[usize],
    sums: usize,
    weights: &[FlexTensor; 4],
    slope: f64,
) -> FlexTensor {
    let net = Net::new(weights, slope);
    let (outputs, per_row) = (net.b.len(), size(points, 1));
    let plane = sums * per_row;
    let mut output = zeros([outputs, sums, per_row]);
    let (points, y) = (elements(points), output.storage_mut::<f32>());
    let (mut spline, mut pieces) = (Spline::default(), vec![0; per_row]);
    by_curve(curves, |curve, rows| {
        spline.set(&net, curve);
        for &row in rows {
            let points = &points[row * per_row..][..per_row];
            spline.pieces(points, &mut pieces);
            for output in 0..outputs {
                let y = &mut y[output * plane + row % sums * per_row..][..per_row];
                for ((y, x), piece) in y.iter_mut().zip(points).zip(&pieces) {
                    let [a, b] = spline.lines[piece * outputs + output];
                    *y += a * x + b;
                }
            }
        }
    });
    output
}

/// See [`crate::Backend::linear_splines_backward`].
pub fn backward(
    points: &FlexTensor,
    curves: &[usize],
    sums: usize,
    weights: &[FlexTensor; 4],
    slope: f64,
    grad: &FlexTensor,
    of_points: bool,
) -> PerceptronGradients<Flex> {
    let net = Net::new(weights, slope);
    let (outputs, per_row) = (net.b.len(), size(points, 1));
    let plane = sums * per_row;
    let mut input = of_points.then(|| zeros([curves.len(), per_row]));
    let mut of_x = input.as_mut().map(FlexTensor::storage_mut::<f32>);
    let (points, grad) = (elements(points), elements(grad));
    let mut totals = Totals::new(&net);
    let (mut spline, mut pieces) = (Spline::default(), vec![0; per_row]);
    by_curve(curves, |curve, rows| {
        spline.set(&net, curve);
        totals.pieces.clear();
        totals.pieces.resize(spline.lines.len(), [0.0; 2]);
        for &row in rows {
            let points = &points[row * per_row..][..per_row];
            spline.pieces(points, &mut pieces);
            for output in 0..outputs {
                let grad = &grad[output * plane + row % sums * per_row..][..per_row];
                for ((&g, &x), piece) in grad.iter().zip(points).zip(&pieces) {
                    let [sum, moment] = &mut totals.pieces[piece * outputs + output];
                    *sum += f64::from(g);
                    *moment += f64::from(g) * f64::from(x);
                }
                if let Some(of_x) = &mut of_x {
                    let of_x = &mut of_x[row * per_row..][..per_row];
                    for ((of_x, g), piece) in of_x.iter_mut().zip(grad).zip(&pieces) {
                        *of_x += g * spline.lines[piece * outputs + output][0];
                    }
                }
            }
        }
        totals.add(&net, curve, &spline);
    });
    PerceptronGradients {
        input,
        weights: totals.tensors(),
    }
}

/// The gradients.
struct Totals {
    /// Of the pieces of one curve and each output, Σ g and Σ g x.
    pieces: Vec<[f64; 2]>,
    /// As the arrays of [`Net`].
    w: Vec<f64>,
    c: Vec<f32>,
    v: Vec<f64>,
    b: Vec<f64>,
}

impl Totals {
    fn new(net: &Net<'_>) -> Self {
        Self {
            pieces: Vec::new(),
            w: vec![0.0; net.w.len()],
            c: vec![0.0; net.c.len()],
            v: vec![0.0; net.v.len()],
            b: vec![0.0; net.b.len()],
        }
    }

    /// Adds those of a curve. With S and M the sums of g and g x, each times the slope of f there: Σ_o V_o S_o is the gradient in c,
    /// Σ_o V_o M_o that in w, and w M_o + c S_o that in V_o.
    fn add(&mut self, net: &Net<'_>, curve: usize, spline: &Spline) {
        let outputs = net.b.len();
        let mut above = vec![[0.0f64; 2]; outputs];
        let add = |sums: &mut [[f64; 2]], piece: &[[f64; 2]]| {
            for (sum, piece) in sums.iter_mut().zip(piece) {
                *sum = [sum[0] + piece[0], sum[1] + piece[1]];
            }
        };
        let mut all = above.clone();
        for piece in self.pieces.chunks_exact(outputs) {
            add(&mut all, piece);
        }
        for (sum, all) in self.b.iter_mut().zip(&all) {
            *sum += all[0];
        }
        let pieces = self.pieces.chunks_exact(outputs).rev();
        for (unit, piece) in spline.units.iter().rev().zip(pieces) {
            add(&mut above, piece);
            let [before, behind] = unit.slopes;
            let (w, c) = (net.w[unit.index], net.c(curve)[unit.index]);
            let (mut of_w, mut of_c) = (0.0, 0.0);
            let of_v = &mut self.v[unit.index * outputs..][..outputs];
            for (output, (&v, of_v)) in net.v(unit.index).iter().zip(of_v).enumerate() {
                let (above, all) = (above[output], all[output]);
                let [s, m] = [0, 1].map(|of| behind * above[of] + before * (all[of] - above[of]));
                of_c += f64::from(v) * s;
                of_w += f64::from(v) * m;
                *of_v += f64::from(w) * m + f64::from(c) * s;
            }
            self.w[unit.index] += of_w;
            self.c[curve * net.w.len() + unit.index] += of_c as f32;
        }
    }

    fn tensors(self) -> [FlexTensor; 4] {
        let (hidden, outputs) = (self.w.len(), self.b.len());
        let tensor = |values: Vec<f32>, shape: &[usize]| {
            FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
        };
        let rounded = |sums: Vec<f64>| sums.into_iter().map(|sum| sum as f32).collect();
        let curves = self.c.len() / hidden;
        [
            tensor(rounded(self.w), &[hidden]),
            tensor(self.c, &[curves, hidden]),
            tensor(rounded(self.v), &[hidden, outputs]),
            tensor(rounded(self.b), &[outputs]),
        ]
    }
}
