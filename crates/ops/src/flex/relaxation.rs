//! What relaxed categorical variables take: log-probabilities of all classes, and the class of the largest entry.

use burn_flex::FlexTensor;

use super::categorical::Row;
use super::exp::{EXP_IS_ZERO, exp};
use super::{dispatch, elements, size, zeros};
use crate::threads::{block, each, threads};

/// How long an element takes, in multiplications of a product.
const COST: usize = 256;

/// Variables whose probabilities are made at a time.
const VARIABLES: usize = 64;

/// See [`crate::Backend::categorical_log_probabilities`].
pub fn log_probabilities(logits: &FlexTensor, classes: usize) -> FlexTensor {
    let (rows, free) = (size(logits, 0), size(logits, 1));
    let all = free / (classes - 1) * classes;
    let mut output = zeros([rows, all]);
    let out = output.storage_mut::<f32>();
    by_rows(
        rows,
        [(elements(logits), free)],
        (out, all),
        |[logits], out| {
            dispatch!(normalised(classes, free, logits, out));
        },
    );
    output
}

#[inline(always)]
fn normalised<const FMA: bool>((classes, free, logits, out): (usize, usize, &[f32], &mut [f32])) {
    let variables = free / (classes - 1);
    let mut row = Row::new(variables, classes);
    let rows = logits.chunks_exact(free);
    for (logits, out) in rows.zip(out.chunks_exact_mut(variables * classes)) {
        row.set::<FMA>(logits);
        row.log_probabilities(out);
    }
}

/// See [`crate::Backend::categorical_log_probabilities_backward`].
pub fn backward(output: &FlexTensor, grad: &FlexTensor, classes: usize) -> FlexTensor {
    let (rows, all) = (size(output, 0), size(output, 1));
    let free = all / classes * (classes - 1);
    let mut gradient = zeros([rows, free]);
    let given = [(elements(output), all), (elements(grad), all)];
    let out = (gradient.storage_mut::<f32>(), free);
    by_rows(rows, given, out, |[output, grad], out| {
        dispatch!(centred(classes, output, grad, out));
    });
    gradient
}

#[inline(always)]
fn centred<const FMA: bool>((classes, output, grad, out): (usize, &[f32], &[f32], &mut [f32])) {
    // Many variables at a time: a loop over the classes of one would be one exponential after the other.
    let mut probabilities = vec![0.0; VARIABLES * classes];
    let blocks = output.chunks(VARIABLES * classes);
    let blocks = blocks.zip(grad.chunks(VARIABLES * classes));
    for ((output, grad), out) in blocks.zip(out.chunks_mut(VARIABLES * (classes - 1))) {
        for (p, &log_p) in probabilities.iter_mut().zip(output) {
            let e = exp::<FMA>(log_p);
            *p = if log_p < EXP_IS_ZERO { 0.0 } else { e };
        }
        let variables = probabilities.chunks_exact(classes);
        let variables = variables.zip(grad.chunks_exact(classes));
        for ((p, grad), out) in variables.zip(out.chunks_exact_mut(classes - 1)) {
            let sum: f32 = grad.iter().sum();
            for ((out, &p), &g) in out.iter_mut().zip(&p[1..]).zip(&grad[1..]) {
                *out = g - p * sum;
            }
        }
    }
}

/// See [`crate::Backend::largest_classes`].
pub fn largest(entries: &FlexTensor, classes: usize) -> FlexTensor {
    let (rows, all) = (size(entries, 0), size(entries, 1));
    let mut values = zeros([rows, all]);
    let out = (values.storage_mut::<f32>(), all);
    by_rows(rows, [(elements(entries), all)], out, |[entries], out| {
        let variables = entries.chunks_exact(classes);
        for (entries, out) in variables.zip(out.chunks_exact_mut(classes)) {
            // Selected, not branched to: no processor foresees the class.
            let (mut first, mut most) = (0, entries[0]);
            for (class, &entry) in entries.iter().enumerate() {
                let more = entry > most;
                first = if more { class } else { first };
                most = if more { entry } else { most };
            }
            out[first] = 1.0;
        }
    });
    values
}

/// Does `of` for blocks of rows of what is given and of what is made, each with its number of columns, which share the threads.
fn by_rows<const N: usize>(
    rows: usize,
    given: [(&[f32], usize); N],
    (out, width): (&mut [f32], usize),
    of: impl Fn([&[f32]; N], &mut [f32]) + Sync,
) {
    let threads = threads(rows * width * COST);
    let block = block(rows, threads);
    let blocks = out.chunks_mut((block * width).max(1));
    each(threads, blocks, |number, out| {
        let rows = number * block..(number * block + out.len() / width);
        of(
            given.map(|(all, width)| &all[rows.start * width..rows.end * width]),
            out,
        );
    });
}
