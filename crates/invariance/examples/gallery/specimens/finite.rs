//! Kernels on a few states.

use helmholtz_invariance::{InvarianceError, Law, TransitionMatrix, step_fn};
use helmholtz_random::{Chance, Enumerator, enumerate};
use helmholtz_samplers::coupling::choose_both;

use super::{Check, Specimen};

/// The target over five states in a row, as log-densities.
const LOG_P: [f64; 5] = [0.3, -1.1, 0.9, -0.2, 0.6];

pub fn specimens() -> Vec<Specimen> {
    let specimen = |defect, check| Specimen {
        defect,
        found_by: "invariance",
        check: Check::Exact(check),
    };
    vec![
        specimen(
            "asymmetric proposal, no reverse density",
            asymmetric_proposal,
        ),
        specimen(
            "only the forward density in the ratio (one-sided)",
            one_sided_ratio,
        ),
        specimen("acceptance ratio upside down", inverted_ratio),
        specimen("Barker's rule with old and new exchanged", inverted_barker),
        specimen("proposal clipped to the boundary", clipped_proposal),
        specimen("proposal beyond the boundary drawn again", redrawn_proposal),
        specimen(
            "tempered move accepted by the target at temperature 1",
            not_annealed,
        ),
        specimen(
            "Gibbs conditional normalised over the wrong variable",
            wrong_normaliser,
        ),
        specimen(
            "log-density cached before another block moved",
            stale_log_density,
        ),
        specimen(
            "component to update chosen by the state",
            component_by_state,
        ),
        Specimen {
            defect: "maximal coupling: refused draws replaced from the whole law",
            found_by: "the law of each chain",
            check: Check::Exact(whole_law),
        },
    ]
}

/// max |P(Y = k) - q_k| of the second of two coupled draws.
fn whole_law(repaired: bool) -> Result<f64, InvarianceError> {
    const P: [f64; 3] = [0.5, 0.3, 0.2];
    const Q: [f64; 3] = [0.1, 0.3, 0.6];
    let [log_p, log_q] = [P, Q].map(|law| law.map(f64::ln));
    let outcomes = enumerate(|chance| {
        if repaired {
            return choose_both([&log_p, &log_q], chance)[1];
        }
        let x = chance.choose(&log_p)?;
        match chance.accept(log_q[x] - log_p[x]) {
            true => Some(x),
            false => chance.choose(&log_q),
        }
    });
    let mut law = [0.0; 3];
    outcomes.iter().for_each(|(p, y)| law[y.unwrap_or(0)] += p);
    let errors = law.iter().zip(Q).map(|(found, q)| (found - q).abs());
    Ok(errors.fold(0.0, f64::max))
}

/// max |πP - π| of a Metropolis kernel over five states in a row.
fn on_a_row(
    log_p: impl Fn(usize) -> f64,
    step: impl Fn(&mut usize, &mut Enumerator),
) -> Result<f64, InvarianceError> {
    let states = [0, 1, 2, 3, 4];
    let law = Law::of(&states, |&x| log_p(x))?;
    TransitionMatrix::of(&step_fn(step), &states)?.invariance_error(&law)
}

/// Steps round the ring of five, forwards with probability 0.7.
fn drift(x: usize, chance: &mut Enumerator) -> (usize, f64, f64) {
    if chance.accept(0.7f64.ln()) {
        ((x + 1) % 5, 0.7f64.ln(), 0.3f64.ln())
    } else {
        ((x + 4) % 5, 0.3f64.ln(), 0.7f64.ln())
    }
}

fn asymmetric_proposal(repaired: bool) -> Result<f64, InvarianceError> {
    on_a_row(
        |x| LOG_P[x],
        |x, chance| {
            let (to, forward, backward) = drift(*x, chance);
            let correction = if repaired { backward - forward } else { 0.0 };
            if chance.accept(LOG_P[to] - LOG_P[*x] + correction) {
                *x = to;
            }
        },
    )
}

fn one_sided_ratio(repaired: bool) -> Result<f64, InvarianceError> {
    on_a_row(
        |x| LOG_P[x],
        |x, chance| {
            let (to, forward, backward) = drift(*x, chance);
            let backward = if repaired { backward } else { 0.0 };
            if chance.accept(LOG_P[to] + backward - LOG_P[*x] - forward) {
                *x = to;
            }
        },
    )
}

/// A fair step along the row; `None` beyond its end.
fn fair_step(x: usize, chance: &mut Enumerator) -> Option<usize> {
    if chance.accept(0.5f64.ln()) {
        x.checked_sub(1)
    } else {
        Some(x + 1).filter(|&to| to < 5)
    }
}

fn inverted_ratio(repaired: bool) -> Result<f64, InvarianceError> {
    on_a_row(
        |x| LOG_P[x],
        |x, chance| {
            let Some(to) = fair_step(*x, chance) else {
                return;
            };
            let log_ratio = LOG_P[to] - LOG_P[*x];
            if chance.accept(if repaired { log_ratio } else { -log_ratio }) {
                *x = to;
            }
        },
    )
}

fn inverted_barker(repaired: bool) -> Result<f64, InvarianceError> {
    on_a_row(
        |x| LOG_P[x],
        |x, chance| {
            let Some(to) = fair_step(*x, chance) else {
                return;
            };
            let pair = if repaired {
                [LOG_P[*x], LOG_P[to]]
            } else {
                [LOG_P[to], LOG_P[*x]]
            };
            if chance.choose(&pair) == Some(1) {
                *x = to;
            }
        },
    )
}

fn clipped_proposal(repaired: bool) -> Result<f64, InvarianceError> {
    on_a_row(
        |x| LOG_P[x],
        |x, chance| {
            let offset = [-2, -1, 1, 2][chance.choose(&[0.0; 4]).unwrap_or(0)];
            let to = *x as i32 + offset;
            if repaired && !(0..5).contains(&to) {
                return;
            }
            let to = to.clamp(0, 4) as usize;
            if chance.accept(LOG_P[to] - LOG_P[*x]) {
                *x = to;
            }
        },
    )
}

fn redrawn_proposal(repaired: bool) -> Result<f64, InvarianceError> {
    on_a_row(
        |x| LOG_P[x],
        |x, chance| {
            // Drawing until a neighbour exists is choosing among those that do.
            let neighbours = |x: usize| -> Vec<usize> {
                (x.saturating_sub(1)..=(x + 1).min(4))
                    .filter(|&y| y != x)
                    .collect()
            };
            let near = neighbours(*x);
            let to = near[chance.choose(&vec![0.0; near.len()]).unwrap_or(0)];
            let correction = if repaired {
                (near.len() as f64 / neighbours(to).len() as f64).ln()
            } else {
                0.0
            };
            if chance.accept(LOG_P[to] - LOG_P[*x] + correction) {
                *x = to;
            }
        },
    )
}

/// A move that should keep p^β, β = 0.4, between two temperatures.
fn not_annealed(repaired: bool) -> Result<f64, InvarianceError> {
    let beta = 0.4;
    on_a_row(
        |x| beta * LOG_P[x],
        |x, chance| {
            let Some(to) = fair_step(*x, chance) else {
                return;
            };
            let power = if repaired { beta } else { 1.0 };
            if chance.accept(power * (LOG_P[to] - LOG_P[*x])) {
                *x = to;
            }
        },
    )
}

/// Log-densities of pairs (a, b), a in 0..3, b in 0..2.
const LOG_JOINT: [[f64; 2]; 3] = [[0.0, 1.2], [-0.7, 0.4], [0.8, -1.5]];

/// max |πP - π| of a kernel on pairs.
fn on_pairs(step: impl Fn(&mut (usize, usize), &mut Enumerator)) -> Result<f64, InvarianceError> {
    let states: Vec<(usize, usize)> = (0..3).flat_map(|a| [(a, 0), (a, 1)]).collect();
    let law = Law::of(&states, |&(a, b)| LOG_JOINT[a][b])?;
    TransitionMatrix::of(&step_fn(step), &states)?.invariance_error(&law)
}

/// Draws a given b from a table of conditionals, normalised over a or, wrongly, over b before the draw.
fn wrong_normaliser(repaired: bool) -> Result<f64, InvarianceError> {
    on_pairs(|(a, b), chance| {
        let conditional: Vec<f64> = (LOG_JOINT.iter())
            .map(|row| {
                let over_b = (row[0].exp() + row[1].exp()).ln();
                row[*b] - if repaired { 0.0 } else { over_b }
            })
            .collect();
        *a = chance.choose(&conditional).unwrap_or(*a);
    })
}

/// Metropolis within Gibbs; the second move compares with the log-density from before the first.
fn stale_log_density(repaired: bool) -> Result<f64, InvarianceError> {
    on_pairs(|(a, b), chance| {
        let mut cached = LOG_JOINT[*a][*b];
        let to = (*a + 1 + usize::from(chance.accept(0.5f64.ln()))) % 3;
        if chance.accept(LOG_JOINT[to][*b] - cached) {
            *a = to;
            if repaired {
                cached = LOG_JOINT[*a][*b];
            }
        }
        if chance.accept(LOG_JOINT[*a][1 - *b] - cached) {
            *b = 1 - *b;
        }
    })
}

/// Exact conditionals, but which of the two is drawn depends on what is drawn.
fn component_by_state(repaired: bool) -> Result<f64, InvarianceError> {
    on_pairs(|(a, b), chance| {
        let first = if repaired {
            chance.accept(0.5f64.ln())
        } else {
            *a == *b
        };
        if first {
            let conditional = LOG_JOINT.map(|row| row[*b]);
            *a = chance.choose(&conditional).unwrap_or(*a);
        } else {
            *b = chance.choose(&LOG_JOINT[*a]).unwrap_or(*b);
        }
    })
}
