//! Our operations beside their portable definitions, both on the CPU backend in f32.
//!
//! Each case is measured by criterion, and as a ratio of times taken in turns, which other work on the machine disturbs
//! less: its median is printed. One thread.

use std::hint::black_box;
use std::time::{Duration, Instant};

use burn::backend::Autodiff;
use burn::tensor::{Tensor, TensorData, activation};
use burn_flex::{Flex, FlexTensor};
use criterion::{BatchSize, Criterion};
use helmholtz_ops::{
    Activation, AdamStep, Backend, adam, bernoulli_log_prob, cat, linear, linear_splines,
    perceptron, pinned_logits, sample_bernoulli, sample_categorical,
};
use helmholtz_random::{Purpose, Stream};

const PIXELS: usize = 784;
const LATENTS: usize = 200;
const BATCH: usize = 50;
const PAIRS: usize = 201;

/// A tensor of uniforms in `[low, high)` that nobody else holds.
fn uniform(shape: [usize; 2], low: f32, high: f32) -> Tensor<Flex, 2> {
    let mut values = vec![0.0; shape[0] * shape[1]];
    Stream::new(1, Purpose::new("bench"), [0, 0]).fill_uniform_f32(&mut values);
    values.iter_mut().for_each(|u| *u = low + *u * (high - low));
    Tensor::from_data(TensorData::new(values, shape), &Default::default())
}

fn bits(shape: [usize; 2]) -> Tensor<Flex, 2> {
    uniform(shape, 0.0, 1.0).lower_elem(0.5).float()
}

fn primitive(tensor: Tensor<Flex, 2>) -> FlexTensor {
    tensor.into_primitive().tensor()
}

/// Times both forms on inputs made anew each time.
fn compare<I, F, P>(
    criterion: &mut Criterion,
    name: &str,
    inputs: impl Fn() -> I,
    fused: impl Fn(I) -> F,
    portable: impl Fn(I) -> P,
) {
    if std::env::args().any(|argument| argument == "--bench") {
        let mut ratios: Vec<f64> = (0..PAIRS)
            .map(|_| time(&inputs, &portable) / time(&inputs, &fused))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios[PAIRS / 2];
        println!("{name}: portable time / fused time = {median:.2} (median of {PAIRS} pairs)");
    }
    let mut group = criterion.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    group.bench_function("fused", |b| {
        b.iter_batched(&inputs, &fused, BatchSize::LargeInput)
    });
    group.bench_function("portable", |b| {
        b.iter_batched(&inputs, &portable, BatchSize::LargeInput)
    });
    group.finish();
}

fn time<I, O>(inputs: impl Fn() -> I, operation: impl Fn(I) -> O) -> f64 {
    let inputs = inputs();
    let start = Instant::now();
    let output = black_box(operation(black_box(inputs)));
    let elapsed = start.elapsed().as_secs_f64();
    drop(output);
    elapsed
}

fn portable_log_prob(logits: &Tensor<Flex, 2>, values: Tensor<Flex, 2>) -> Tensor<Flex, 1> {
    let softplus = logits.clone().clamp_min(0.0) + logits.clone().abs().neg().exp().log1p();
    (values * logits.clone() - softplus)
        .sum_dim(1)
        .squeeze_dim(1)
}

fn row_pass(criterion: &mut Criterion) {
    for rows in [150, 250] {
        let inputs = || (uniform([rows, PIXELS], -4.0, 4.0), bits([BATCH, PIXELS]));
        let cycle = move |values: Tensor<Flex, 2>| values.repeat_dim(0, rows / BATCH);
        compare(
            criterion,
            &format!("row value {rows}x{PIXELS}"),
            inputs,
            |(logits, values)| bernoulli_log_prob(logits, values),
            |(logits, values)| portable_log_prob(&logits, cycle(values)),
        );
        compare(
            criterion,
            &format!("row value and residual {rows}x{PIXELS}"),
            inputs,
            |(logits, values)| {
                Flex::bernoulli_log_prob_and_residual(primitive(logits), primitive(values))
            },
            |(logits, values)| {
                let values = cycle(values);
                let log_prob = portable_log_prob(&logits, values.clone());
                (log_prob, values - activation::sigmoid(logits))
            },
        );
    }
}

fn sampling(criterion: &mut Criterion) {
    let particles = 3;
    compare(
        criterion,
        &format!("sampling {}x{LATENTS}", particles * BATCH),
        || {
            (
                uniform([BATCH, LATENTS], -4.0, 4.0),
                uniform([particles * BATCH, LATENTS], 0.0, 1.0),
            )
        },
        |(logits, uniforms)| sample_bernoulli(logits, uniforms),
        |(logits, uniforms)| {
            let sigma = activation::sigmoid(logits).repeat_dim(0, particles);
            let ones = uniforms.ones_like();
            uniforms
                .zeros_like()
                .mask_where(uniforms.lower(sigma), ones)
        },
    );
}

/// The latents of the net of table 2 of Ou & Song (2020), 20 variables of 10 classes, with 20 particles a datum.
fn categorical(criterion: &mut Criterion) {
    const VARIABLES: usize = 20;
    const CLASSES: usize = 10;
    let rows = 20 * BATCH;
    let logits = || uniform([BATCH, VARIABLES * (CLASSES - 1)], -4.0, 4.0);
    let log_softmax = |logits| {
        let all = activation::log_softmax(pinned_logits(logits, CLASSES), 2);
        all.flatten::<2>(1, 2).repeat_dim(0, rows / BATCH)
    };
    compare(
        criterion,
        &format!("categorical row value and residual {rows}x{VARIABLES}x{CLASSES}"),
        || (logits(), bits([rows, VARIABLES * CLASSES])),
        |(logits, values)| {
            Flex::categorical_log_prob_and_residual(primitive(logits), primitive(values), CLASSES)
        },
        |(logits, values)| {
            let log_softmax = log_softmax(logits);
            let residual = (values.clone() - log_softmax.clone().exp())
                .reshape([rows, VARIABLES, CLASSES])
                .narrow(2, 1, CLASSES - 1)
                .flatten::<2>(1, 2);
            ((values * log_softmax).sum_dim(1), residual)
        },
    );
    compare(
        criterion,
        &format!("categorical sampling {rows}x{VARIABLES}x{CLASSES}"),
        || (logits(), uniform([rows, VARIABLES], 0.0, 1.0)),
        |(logits, uniforms)| sample_categorical(logits, uniforms, CLASSES),
        |(logits, uniforms)| {
            let shape = [rows, VARIABLES, CLASSES];
            let cumulative = log_softmax(logits).exp().reshape(shape).cumsum(2);
            let uniforms = uniforms.reshape([rows, VARIABLES, 1]).expand(shape);
            let reached = cumulative.lower_equal(uniforms).int().sum_dim(2);
            reached.squeeze_dim::<2>(2).one_hot::<3>(CLASSES).float()
        },
    );
}

fn linear_backward(criterion: &mut Criterion) {
    let rows = 150;
    for live in [50, 100, 150] {
        compare(
            criterion,
            &format!("linear backward {rows}x{LATENTS}x{PIXELS}, {live} rows with a gradient"),
            || {
                let dead = Tensor::zeros([rows - live, PIXELS], &Default::default());
                let grad = uniform([live, PIXELS], -1.0, 1.0);
                let grad = if live == rows {
                    grad
                } else {
                    cat(vec![grad, dead], 0)
                };
                (
                    bits([rows, LATENTS]),
                    uniform([LATENTS, PIXELS], -0.1, 0.1),
                    grad,
                )
            },
            |(x, weight, grad)| {
                let gradients = Flex::fused_linear_backward(
                    Some(primitive(x)),
                    Some(primitive(weight)),
                    primitive(grad),
                );
                (gradients.input, gradients.parameters)
            },
            |(x, weight, grad)| {
                let in_bias = grad.clone().sum_dim(0);
                let in_x = grad.clone().matmul(weight.transpose());
                (in_x, x.transpose().matmul(grad), in_bias)
            },
        );
    }
}

fn adam_step(criterion: &mut Criterion) {
    // The parameters of the Linear net, as one row.
    let parameters = 2 * LATENTS * PIXELS + PIXELS + LATENTS;
    let step = AdamStep {
        learning_rate: 3e-4,
        beta_1: 0.9,
        beta_2: 0.999,
        epsilon: 1e-8,
        time: 10,
    };
    compare(
        criterion,
        &format!("adam {parameters}"),
        || [-1.0, -0.5, -0.1, 0.0].map(|low| uniform([1, parameters], low, 1.0)),
        |[parameter, grad, m, v]| adam(parameter, grad, m, v, step),
        |[parameter, grad, m, v]| {
            let first = 1.0 - step.beta_1.powf(step.time as f64);
            let second = 1.0 - step.beta_2.powf(step.time as f64);
            let m = m * step.beta_1 + grad.clone() * (1.0 - step.beta_1);
            let v = v * step.beta_2 + grad.clone() * grad * (1.0 - step.beta_2);
            let denominator = (v.clone() / second).sqrt() + step.epsilon;
            let update = m.clone() / first / denominator * step.learning_rate;
            (parameter - update, m, v)
        },
    );
}

/// RODEO's surrogates, two numbers to two by 100 rectified units, and the gradient of their squares: as splines along the first number, and
/// unit by unit. For K = 2 and 3 with batches of 100 and K = 12 with batches of 50; the bits are 200.
fn surrogates(criterion: &mut Criterion) {
    type Tape = Autodiff<Flex>;
    const UNITS: usize = 100;
    const POINTS: usize = 201;
    for [particles, batch] in [[2, 100], [3, 100], [12, 50]] {
        let tracked = |shape| Tensor::<Tape, 2>::from_inner(uniform(shape, -1.0, 1.0));
        let curves = particles * batch;
        let rows = (particles - 1) * curves;
        let inputs = || {
            let weights = [[2, UNITS], [1, UNITS], [UNITS, 2], [1, 2]].map(tracked);
            let (points, others) = (tracked([rows, POINTS]), tracked([curves, 1]));
            (points, others, weights.map(Tensor::require_grad))
        };
        let flat = |bias: Tensor<Tape, 2>| bias.flatten::<1>(0, 1);
        let of: Vec<usize> = (0..rows).map(|row| row % curves).collect();
        compare(
            criterion,
            &format!("surrogates and their gradient, {rows} rows of {POINTS} points"),
            inputs,
            |(x, others, [w, b, v, c])| {
                let first = w.clone().narrow(0, 0, 1).flatten::<1>(0, 1);
                let offsets = linear(others, w.narrow(0, 1, 1), flat(b));
                let y = linear_splines(x, &of, curves, (first, offsets), (v, flat(c)), 0.3);
                y.square().sum().backward()
            },
            |(x, others, [w, b, v, c])| {
                let others = others.repeat_dim(0, rows / curves).expand([rows, POINTS]);
                let x = cat(vec![x.unsqueeze_dim::<3>(2), others.unsqueeze_dim(2)], 2);
                let units = Activation::LeakyRelu(0.3);
                let y = perceptron(x.reshape([-1, 2]), (w, flat(b)), (v, flat(c)), units);
                y.square().sum().backward()
            },
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    row_pass(&mut criterion);
    sampling(&mut criterion);
    categorical(&mut criterion);
    linear_backward(&mut criterion);
    adam_step(&mut criterion);
    surrogates(&mut criterion);
    criterion.final_summary();
}
