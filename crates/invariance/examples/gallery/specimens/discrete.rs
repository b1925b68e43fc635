//! Kernels on bits that are guided by what each flip would do.

use helmholtz_invariance::{InvarianceError, Law, TransitionMatrix, step_fn};
use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::{
    AutomaticCycle, BlockGibbs, DiscreteLangevin, EachChange, HammingBall, Kernel, LocallyBalanced,
    PathAuxiliary, Scale, balancing_functions, log_sum_exp,
};

use super::{Check, NO_KERNEL, Specimen};

/// Log-densities of three bits.
const LOG_P: [f64; 8] = [0.0, -1.1, 0.7, 0.2, -0.6, 1.4, -0.3, 0.9];

type Bits = Vec<bool>;

fn log_p(x: &Bits) -> f64 {
    LOG_P[x
        .iter()
        .rev()
        .fold(0, |sum, &bit| 2 * sum + usize::from(bit))]
}

fn target() -> EachChange<fn(&Bits) -> f64> {
    EachChange::new(log_p, 2)
}

pub fn specimens() -> Vec<Specimen> {
    let specimen = |defect, check| Specimen {
        defect,
        found_by: "invariance",
        check: Check::Exact(check),
    };
    vec![
        specimen(
            "Gibbs with gradients: the way back weighed at the start",
            stale_gradient,
        ),
        specimen(
            "locally balanced: g not balanced, accepted as if it were",
            unbalanced,
        ),
        specimen("discrete Langevin without its test (DULA)", unadjusted),
        specimen(
            "discrete Langevin: way back weighed at the start",
            stale_langevin,
        ),
        specimen(
            "path auxiliary: normalised over sites already changed",
            changed_sites,
        ),
        specimen("block drawn bit by bit given the old bits", in_parallel),
        specimen(
            "path auxiliary: longer paths from rarer states",
            length_by_state,
        ),
        specimen("Hamming ball without its auxiliary state", no_auxiliary),
        specimen(
            "Hamming ball: auxiliary state never the present one",
            auxiliary_elsewhere,
        ),
        specimen(
            "step size by the state, in a cycle that never ends",
            step_by_state,
        ),
        specimen(
            "cycle of scales whose exponents are still looked for",
            exponent_by_state,
        ),
    ]
}

/// max |πP - π| over three bits.
fn error(kernel: &impl Kernel<Bits, Enumerator>) -> Result<f64, InvarianceError> {
    let states: Vec<Bits> = (0..8)
        .map(|state| (0..3).map(|i| state >> i & 1 == 1).collect())
        .collect();
    let law = Law::of(&states, log_p)?;
    TransitionMatrix::of(kernel, &states)?.invariance_error(&law)
}

/// ln p of a state with bit `i` flipped, less ln p of the state.
fn differences(x: &Bits) -> Vec<f64> {
    (0..x.len())
        .map(|i| {
            let mut flipped = x.clone();
            flipped[i] = !flipped[i];
            log_p(&flipped) - log_p(x)
        })
        .collect()
}

/// max |πP - π| of a proposal that flips one bit by `log_weights`, accepted with what `log_ratio` makes of the weights
/// at both ends and the bit.
fn flips(
    log_weights: impl Fn(&Bits) -> Vec<f64>,
    log_ratio: impl Fn(&[f64], &[f64], usize) -> f64,
) -> Result<f64, InvarianceError> {
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        let here = log_weights(x);
        let i = chance.choose(&here).unwrap_or(0);
        let mut to = x.clone();
        to[i] = !to[i];
        let there = log_weights(&to);
        if chance.accept(log_p(&to) - log_p(x) + log_ratio(&here, &there, i)) {
            *x = to;
        }
    }))
}

/// The probability of the way back from the weights of the state left, with the bit's own sign turned.
fn stale_gradient(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        return error(&LocallyBalanced::gibbs_with_gradients(target()));
    }
    flips(
        |x| differences(x).iter().map(|d| 0.5 * d).collect(),
        |here, _, i| {
            let mut back = here.to_vec();
            back[i] = -back[i];
            (back[i] - log_sum_exp(&back)) - (here[i] - log_sum_exp(here))
        },
    )
}

/// g(t) = t, with the acceptance min(1, Z(x) / Z(y)) of a balanced one.
fn unbalanced(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        return error(&LocallyBalanced::new(target(), |log_t| log_t));
    }
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        let here = differences(x);
        let i = chance.choose(&here).unwrap_or(0);
        let mut to = x.clone();
        to[i] = !to[i];
        if chance.accept(log_sum_exp(&here) - log_sum_exp(differences(&to))) {
            *x = to;
        }
    }))
}

fn unadjusted(repaired: bool) -> Result<f64, InvarianceError> {
    let Ok(exact) = DiscreteLangevin::new(target(), 1.0) else {
        return Ok(NO_KERNEL);
    };
    match repaired {
        true => error(&exact),
        false => error(&exact.unadjusted()),
    }
}

/// All bits at once, α = 1.
fn stale_langevin(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        return match DiscreteLangevin::new(target(), 1.0) {
            Ok(kernel) => error(&kernel),
            Err(_) => Ok(NO_KERNEL),
        };
    }
    // ln of the probability to flip, and not to, of bits with these differences.
    let flip = |d: &f64| 0.5 * d - 0.5;
    let log_q = |differences: &[f64], flipped: &[bool]| -> f64 {
        (differences.iter().zip(flipped))
            .map(|(d, &flipped)| {
                let own = if flipped { flip(d) } else { 0.0 };
                own - log_sum_exp([0.0, flip(d)])
            })
            .sum()
    };
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        let here = differences(x);
        let flipped: Vec<bool> = (here.iter())
            .map(|d| chance.choose(&[0.0, flip(d)]) == Some(1))
            .collect();
        let to: Bits = x.iter().zip(&flipped).map(|(a, b)| a != b).collect();
        let there: Vec<f64> = (here.iter().zip(&flipped))
            .map(|(d, &flipped)| if flipped { -d } else { *d })
            .collect();
        let log_q_ratio = log_q(&there, &flipped) - log_q(&here, &flipped);
        if chance.accept(log_p(&to) - log_p(x) + log_q_ratio) {
            *x = to;
        }
    }))
}

/// Two flips, drawn without replacement and scored as if with.
fn changed_sites(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        return match PathAuxiliary::new(target(), balancing_functions::square_root, 2.0) {
            Ok(kernel) => error(&kernel),
            Err(_) => Ok(NO_KERNEL),
        };
    }
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        let weights = |x: &Bits| -> Vec<f64> { differences(x).iter().map(|d| 0.5 * d).collect() };
        let (mut here, mut to, mut path, mut log_q) = (weights(x), x.clone(), Vec::new(), 0.0);
        for _ in 0..2 {
            let i = chance.choose(&here).unwrap_or(0);
            log_q += here[i];
            here[i] = f64::NEG_INFINITY;
            to[i] = !to[i];
            path.push(i);
        }
        let there = weights(&to);
        let log_z = |weights: &[f64]| 2.0 * log_sum_exp(weights);
        let log_q_back = path.iter().map(|&i| there[i]).sum::<f64>() - log_z(&there);
        let log_q = log_q - log_z(&weights(x));
        if chance.accept(log_p(&to) - log_p(x) + log_q_back - log_q) {
            *x = to;
        }
    }))
}

fn in_parallel(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        return error(&BlockGibbs::new(log_p, vec![0, 1], vec![false, true]));
    }
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        let old = differences(x);
        for i in 0..2 {
            if chance.choose(&[0.0, old[i]]) == Some(1) {
                x[i] = !x[i];
            }
        }
    }))
}

/// y from the target restricted to the ball around x itself.
fn no_auxiliary(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        return error(&HammingBall::new(log_p, vec![0, 1, 2], 2, 1));
    }
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        let ball: Vec<f64> = [0.0].into_iter().chain(differences(x)).collect();
        if let Some(i) = chance.choose(&ball).unwrap_or(0).checked_sub(1) {
            x[i] = !x[i];
        }
    }))
}

/// u one change away for sure, y from the target restricted to the ball around u, u included: in the code of a published
/// benchmark the sizes of the shells, 1 and 10, are taken for their logarithms.
fn auxiliary_elsewhere(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        return error(&HammingBall::new(log_p, vec![0, 1, 2], 2, 1));
    }
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        let i = chance.choose(&[0.0; 3]).unwrap_or(0);
        x[i] = !x[i];
        let ball: Vec<f64> = [0.0].into_iter().chain(differences(x)).collect();
        if let Some(i) = chance.choose(&ball).unwrap_or(0).checked_sub(1) {
            x[i] = !x[i];
        }
    }))
}

/// A length that goes on adapting looks at where the chain is: here two changes where the density is low, one elsewhere.
fn length_by_state(repaired: bool) -> Result<f64, InvarianceError> {
    let path = |length| PathAuxiliary::new(target(), balancing_functions::square_root, length);
    let (Ok(short), Ok(long)) = (path(1.0), path(2.0)) else {
        return Ok(NO_KERNEL);
    };
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        if repaired {
            long.step(x, chance);
            short.step(x, chance);
        } else if log_p(x) < 0.0 {
            long.step(x, chance);
        } else {
            short.step(x, chance);
        }
    }))
}

/// A large step where the density is low, and a small one where it is high, instead of one and then the other.
fn step_by_state(repaired: bool) -> Result<f64, InvarianceError> {
    let kernels = [4.0, 0.3].map(|step_size| DiscreteLangevin::new(target(), step_size));
    let [Ok(large), Ok(small)] = kernels else {
        return Ok(NO_KERNEL);
    };
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        if repaired {
            large.step(x, chance);
            small.step(x, chance);
        } else if log_p(x) < 0.0 {
            large.step(x, chance);
        } else {
            small.step(x, chance);
        }
    }))
}

/// At each state the exponent whose changes look best from there, instead of the one that a warm-up froze.
fn exponent_by_state(repaired: bool) -> Result<f64, InvarianceError> {
    let of = |exponent| {
        let scale = Scale {
            step_size: 2.0,
            exponent,
        };
        AutomaticCycle::new(target(), vec![scale])
    };
    let (Ok(timid), Ok(bold)) = (of(0.5), of(0.95)) else {
        return Ok(NO_KERNEL);
    };
    error(&step_fn(|x: &mut Bits, chance: &mut Enumerator| {
        // Where many flips are liked, the bold exponent proposes more of them.
        let liked = differences(x).iter().filter(|d| **d > 0.0).count();
        match repaired || liked < 2 {
            true => timid.step(x, chance),
            false => bold.step(x, chance),
        };
    }))
}
