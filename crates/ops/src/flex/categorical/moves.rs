//! Moves from one class to another: draws and both densities out of one softmax.

use burn_flex::FlexTensor;

use crate::flex::columns::{Column, ROWS, transpose, untranspose};
use crate::flex::exp::{EXP_IS_ZERO, exp, ln};
use crate::flex::{dispatch, elements, multiply_add, size, zeros};

/// Where the results go, row by row.
struct Results<'a> {
    drawn: &'a mut [f32],
    log_prob: &'a mut [f32],
    reverse: &'a mut [f32],
    residual: Option<&'a mut [f32]>,
}

/// See [`crate::Backend::categorical_move`]; the derivative goes to `residual` if given.
pub fn moves(
    logits: &FlexTensor,
    uniforms: &FlexTensor,
    from: &FlexTensor,
    residual: Option<&mut [f32]>,
) -> [FlexTensor; 3] {
    let [rows, classes] = [0, 1].map(|at| size(logits, at));
    let mut drawn = zeros([rows, classes]);
    let [mut log_prob, mut reverse] = [(); 2].map(|()| zeros([rows]));
    let results = Results {
        drawn: drawn.storage_mut(),
        log_prob: log_prob.storage_mut(),
        reverse: reverse.storage_mut(),
        residual,
    };
    let parts = [logits, uniforms, from].map(elements);
    dispatch!(make(classes, parts, results));
    [drawn, log_prob, reverse]
}

#[inline(always)]
fn make<const FMA: bool>(
    (classes, [logits, uniforms, from], mut results): (usize, [&[f32]; 3], Results<'_>),
) {
    let nothing = [0.0f32; ROWS];
    let [mut phi, mut weights, mut of_old] = [(); 3].map(|()| vec![nothing; classes]);
    for (block, uniforms) in uniforms.chunks(ROWS).enumerate() {
        let first = block * ROWS;
        let own = first * classes..(first + uniforms.len()) * classes;
        transpose(&logits[own.clone()], &mut phi);
        transpose(&from[own.clone()], &mut of_old);
        // Shifted logits, the weights' sum, and its logarithm.
        let norm = exponentials::<FMA>(&mut phi, &mut weights);
        let logarithm = norm.map(ln::<FMA>);
        let class = draw(&weights, &norm, uniforms);
        let (mut log_prob, mut reverse) = (nothing, nothing);
        for (number, (phi, old)) in phi.iter().zip(&of_old).enumerate() {
            for at in 0..ROWS {
                let log_p = phi[at] - logarithm[at];
                let drawn = class[at] == number as u32;
                log_prob[at] = if drawn { log_p } else { log_prob[at] };
                let term = multiply_add::<FMA>(old[at], log_p, reverse[at]);
                // What is not taken counts for nothing, whatever its density.
                reverse[at] = if old[at] == 0.0 { reverse[at] } else { term };
            }
        }
        let rows = first..first + uniforms.len();
        results.log_prob[rows.clone()].copy_from_slice(&log_prob[..uniforms.len()]);
        results.reverse[rows].copy_from_slice(&reverse[..uniforms.len()]);
        for (number, one_hot) in of_old.iter_mut().enumerate() {
            for at in 0..ROWS {
                one_hot[at] = f32::from(u8::from(class[at] == number as u32));
            }
        }
        untranspose(&of_old, &mut results.drawn[own.clone()]);
        if let Some(residual) = &mut results.residual {
            for (weight, one_hot) in weights.iter_mut().zip(&of_old) {
                for at in 0..ROWS {
                    weight[at] = one_hot[at] - weight[at] / norm[at];
                }
            }
            untranspose(&weights, &mut residual[own]);
        }
    }
}

/// φ becomes φ − max φ, and the weights its exponentials; returns their sum.
#[inline(always)]
fn exponentials<const FMA: bool>(phi: &mut [Column], weights: &mut [Column]) -> Column {
    let mut greatest = phi[0];
    for column in &phi[1..] {
        let pairs = greatest.iter_mut().zip(column);
        pairs.for_each(|(most, &logit)| *most = if logit > *most { logit } else { *most });
    }
    let mut norm = [0.0f32; ROWS];
    for (phi, weights) in phi.iter_mut().zip(weights) {
        for at in 0..ROWS {
            phi[at] -= greatest[at];
            let e = exp::<FMA>(phi[at]);
            weights[at] = if phi[at] < EXP_IS_ZERO { 0.0 } else { e };
            norm[at] += weights[at];
        }
    }
    norm
}

/// The class of each uniform: the number of cumulative weights that it reaches.
#[inline(always)]
fn draw(weights: &[Column], norm: &Column, uniforms: &[f32]) -> [u32; ROWS] {
    let (mut scaled, mut cumulative) = ([0.0f32; ROWS], [0.0f32; ROWS]);
    let pairs = scaled.iter_mut().zip(uniforms).zip(norm);
    pairs.for_each(|((scaled, &u), norm)| *scaled = u * norm);
    let mut class = [0u32; ROWS];
    for weights in &weights[..weights.len() - 1] {
        for at in 0..ROWS {
            cumulative[at] += weights[at];
            // Those below, and not those reached: with logits that are no numbers it is the last class.
            class[at] += 1 - u32::from(scaled[at] < cumulative[at]);
        }
    }
    class
}
