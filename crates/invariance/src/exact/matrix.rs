//! The transition matrix of a kernel, from the code that runs in production.

use std::fmt::Debug;

use helmholtz_random::{Enumerator, enumerate};
use helmholtz_samplers::Kernel;

use crate::exact::Law;
use crate::{InvarianceError, Leak};

/// Rounding may add up to this in a matrix of moderate size.
pub const TOLERANCE: f64 = 1e-12;

/// P(x, y), the probability that one step of a kernel leads from state x to state y, exactly.
///
/// It is made by running the kernel once a branch of its randomness from every state
/// ([`enumerate`]), so a proof is about the very code that runs in production. It is dense: keep the states under a
/// thousand or so. All methods that take a [`Law`] take it over the same states in the same order.
///
/// ```
/// use helmholtz_invariance::{Law, TOLERANCE, TransitionMatrix, step_fn};
/// use helmholtz_random::{Chance, Enumerator};
///
/// // A random walk on a ring of five states, with the Metropolis test.
/// let log_p = [0.0, -1.0, 0.5, f64::NEG_INFINITY, 2.0];
/// let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
///     let to = if chance.accept(0.5f64.ln()) { (*x + 1) % 5 } else { (*x + 4) % 5 };
///     if chance.accept(log_p[to] - log_p[*x]) {
///         *x = to;
///     }
/// });
/// let matrix = TransitionMatrix::of(&kernel, &[0, 1, 2, 3, 4])?;
/// let law = Law::from_log_weights(&log_p)?;
/// matrix.check_invariant(&law, TOLERANCE)?;
/// matrix.check_reversible(&law, TOLERANCE)?;
/// matrix.check_irreducible(&law)?;
/// assert!(matrix.spectral_gap(&law)? > 0.01);
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionMatrix {
    names: Vec<String>,
    /// Row after row.
    entries: Vec<f64>,
}

impl TransitionMatrix {
    /// The matrix of `kernel` over `states`, which must hold every state that the kernel can reach from them.
    ///
    /// Rows of states that the target calls impossible are made too: the kernel may do there what it likes, but it
    /// must stay among the states.
    ///
    /// # Errors
    /// [`InvarianceError::NoStates`], [`InvarianceError::SameState`], [`InvarianceError::UnlistedState`].
    ///
    /// # Panics
    /// If the kernel is not a function of its state and its coins ([`enumerate`]): it must not keep anything between
    /// steps.
    pub fn of<S: Clone + PartialEq + Debug>(
        kernel: &impl Kernel<S, Enumerator>,
        states: &[S],
    ) -> Result<Self, InvarianceError> {
        if states.is_empty() {
            return Err(InvarianceError::NoStates);
        }
        for (second, state) in states.iter().enumerate() {
            if let Some(first) = states[..second].iter().position(|s| s == state) {
                let name = format!("{state:?}");
                return Err(InvarianceError::SameState {
                    first,
                    second,
                    name,
                });
            }
        }
        let n = states.len();
        let mut entries = vec![0.0; n * n];
        for (from, row) in states.iter().zip(entries.chunks_exact_mut(n)) {
            let ends = enumerate(|chance| {
                let mut state = from.clone();
                kernel.step(&mut state, chance);
                states.iter().position(|s| *s == state).ok_or(state)
            });
            for (probability, end) in ends {
                row[end.map_err(|to| InvarianceError::UnlistedState {
                    from: format!("{from:?}"),
                    to: format!("{to:?}"),
                })?] += probability;
            }
        }
        Ok(Self {
            names: states.iter().map(|s| format!("{s:?}")).collect(),
            entries,
        })
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.names.len()
    }

    /// P(`from`, ·).
    ///
    /// # Panics
    /// If there is no such state.
    pub fn row(&self, from: usize) -> &[f64] {
        let n = self.states();
        &self.entries[n * from..n * (from + 1)]
    }

    /// How the state was written when the matrix was made.
    pub(crate) fn name(&self, state: usize) -> String {
        self.names[state].clone()
    }

    /// Whether `law` is over as many states.
    pub(crate) fn fits(&self, law: &Law) -> Result<(), InvarianceError> {
        if law.probabilities().len() == self.states() {
            return Ok(());
        }
        Err(InvarianceError::Length {
            what: "the law",
            found: law.probabilities().len(),
            expected: self.states(),
        })
    }

    /// This kernel, then `next`: the product of the matrices.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if they have different numbers of states.
    pub fn then(&self, next: &Self) -> Result<Self, InvarianceError> {
        self.fits_matrix(next)?;
        Ok(Self {
            names: self.names.clone(),
            entries: product(&self.entries, &next.entries, self.states()),
        })
    }

    /// `steps` steps of this kernel: the power of the matrix.
    pub fn repeated(&self, steps: u32) -> Self {
        let n = self.states();
        let mut entries = vec![0.0; n * n];
        for x in 0..n {
            entries[n * x + x] = 1.0;
        }
        for _ in 0..steps {
            entries = product(&entries, &self.entries, n);
        }
        Self {
            names: self.names.clone(),
            entries,
        }
    }

    /// max |P(x, y) - P'(x, y)|.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if they have different numbers of states.
    pub fn max_difference(&self, other: &Self) -> Result<f64, InvarianceError> {
        self.fits_matrix(other)?;
        Ok((self.entries.iter().zip(&other.entries))
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max))
    }

    /// max |(π P)(x) - π(x)|: zero, up to rounding, exactly if `law` is invariant.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if the law does not fit.
    pub fn invariance_error(&self, law: &Law) -> Result<f64, InvarianceError> {
        let after = law.after(self)?;
        Ok((after.probabilities().iter().zip(law.probabilities()))
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max))
    }

    /// The certificate of invariance: [`invariance_error`](Self::invariance_error) is at most `tolerance` (as a rule
    /// [`TOLERANCE`]).
    ///
    /// # Errors
    /// [`InvarianceError::NotInvariant`], which says which states leak how much, and to where;
    /// [`InvarianceError::Length`] if the law does not fit.
    pub fn check_invariant(&self, law: &Law, tolerance: f64) -> Result<(), InvarianceError> {
        let after = law.after(self)?;
        let leak = |x: usize| (after.probabilities()[x] - law.probabilities()[x]).abs();
        let mut worst: Vec<usize> = (0..self.states()).collect();
        worst.sort_by(|&a, &b| leak(b).total_cmp(&leak(a)));
        let error = leak(worst[0]);
        if error <= tolerance {
            return Ok(());
        }
        let leaks = (worst.into_iter().filter(|&x| leak(x) > tolerance).take(3))
            .map(|x| {
                let lost = after.probabilities()[x] < law.probabilities()[x];
                let net = |y: usize| self.flow(law, x, y) - self.flow(law, y, x);
                let partner = (0..self.states())
                    .max_by(|&a, &b| {
                        let (a, b) = (net(a), net(b));
                        if lost {
                            a.total_cmp(&b)
                        } else {
                            b.total_cmp(&a)
                        }
                    })
                    .unwrap_or(x);
                Leak {
                    state: self.name(x),
                    before: law.probabilities()[x],
                    after: after.probabilities()[x],
                    partner: self.name(partner),
                    net_flow: net(partner),
                }
            })
            .collect();
        Err(InvarianceError::NotInvariant {
            error,
            tolerance,
            leaks,
        })
    }

    /// max |π(x) P(x, y) - π(y) P(y, x)|: zero, up to rounding, exactly if the kernel is reversible with respect to
    /// `law`.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if the law does not fit.
    pub fn balance_error(&self, law: &Law) -> Result<f64, InvarianceError> {
        let (x, y) = self.least_balanced(law)?;
        Ok((self.flow(law, x, y) - self.flow(law, y, x)).abs())
    }

    /// The certificate of detailed balance: [`balance_error`](Self::balance_error) is at most `tolerance`. It implies
    /// invariance; many good kernels (a systematic sweep, say) are invariant without it.
    ///
    /// # Errors
    /// [`InvarianceError::NotReversible`] with the worst pair; [`InvarianceError::Length`] if the law does not fit.
    pub fn check_reversible(&self, law: &Law, tolerance: f64) -> Result<(), InvarianceError> {
        let (x, y) = self.least_balanced(law)?;
        let (forward, backward) = (self.flow(law, x, y), self.flow(law, y, x));
        if (forward - backward).abs() <= tolerance {
            return Ok(());
        }
        Err(InvarianceError::NotReversible {
            from: self.name(x),
            to: self.name(y),
            forward,
            backward,
            tolerance,
        })
    }

    /// π(x) P(x, y).
    pub(crate) fn flow(&self, law: &Law, x: usize, y: usize) -> f64 {
        law.probabilities()[x] * self.row(x)[y]
    }

    /// The pair of states between which the net flow is largest, with the net flow from the first to the second.
    fn least_balanced(&self, law: &Law) -> Result<(usize, usize), InvarianceError> {
        self.fits(law)?;
        let n = self.states();
        let net = |&(x, y): &(usize, usize)| self.flow(law, x, y) - self.flow(law, y, x);
        let pairs = (0..n).flat_map(|x| (0..n).map(move |y| (x, y)));
        Ok(pairs
            .max_by(|a, b| net(a).total_cmp(&net(b)))
            .unwrap_or((0, 0)))
    }

    pub(crate) fn fits_matrix(&self, other: &Self) -> Result<(), InvarianceError> {
        if other.states() == self.states() {
            return Ok(());
        }
        Err(InvarianceError::Length {
            what: "the other matrix",
            found: other.states(),
            expected: self.states(),
        })
    }
}

/// The product of two n-by-n matrices.
pub(crate) fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut product = vec![0.0; n * n];
    for (row, out) in a.chunks_exact(n).zip(product.chunks_exact_mut(n)) {
        for (entry, other) in row.iter().zip(b.chunks_exact(n)) {
            for (sum, o) in out.iter_mut().zip(other) {
                *sum += entry * o;
            }
        }
    }
    product
}

impl Law {
    /// π P: the law after one step from this law.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if the matrix has another number of states.
    pub fn after(&self, matrix: &TransitionMatrix) -> Result<Self, InvarianceError> {
        matrix.fits(self)?;
        let probabilities = self.probabilities();
        let mut after = vec![0.0; probabilities.len()];
        for (x, p) in probabilities.iter().enumerate() {
            for (sum, entry) in after.iter_mut().zip(matrix.row(x)) {
                *sum += p * entry;
            }
        }
        Ok(Self::of_probabilities(after))
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::Chance;

    use super::*;
    use crate::step_fn;

    /// Goes from x to each state with the given probabilities.
    fn matrix(rows: &[&[f64]]) -> TransitionMatrix {
        let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
            let log_p: Vec<f64> = rows[*x].iter().map(|p| p.ln()).collect();
            *x = chance.choose(&log_p).unwrap();
        });
        TransitionMatrix::of(&kernel, &(0..rows.len()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_matrix_is_that_of_the_coins() {
        let rows: [&[f64]; 2] = [&[0.25, 0.75], &[1.0, 0.0]];
        let matrix = matrix(&rows);
        assert!((matrix.row(0)[1] - 0.75).abs() < 1e-15);
        assert_eq!(matrix.row(1), [1.0, 0.0]);
        let twice = matrix.then(&matrix).unwrap();
        assert!((twice.row(0)[0] - 0.8125).abs() < 1e-15);
        assert_eq!(twice, matrix.repeated(2));
        assert_eq!(matrix.repeated(0).row(0), [1.0, 0.0]);
    }

    #[test]
    fn a_state_that_leaks_is_named_with_its_loss() {
        // The law (1/2, 1/4, 1/4) would be kept if a's exits to b and c were 1/4 each; the way to c is too wide.
        let kernel = step_fn(|x: &mut char, chance: &mut Enumerator| {
            let row: &[f64] = match *x {
                'a' => &[0.4, 0.25, 0.35],
                'b' => &[0.5, 0.5, 0.0],
                _ => &[0.5, 0.0, 0.5],
            };
            let log_p: Vec<f64> = row.iter().map(|p| p.ln()).collect();
            *x = ['a', 'b', 'c'][chance.choose(&log_p).unwrap()];
        });
        let matrix = TransitionMatrix::of(&kernel, &['a', 'b', 'c']).unwrap();
        let law = Law::from_weights(&[2.0, 1.0, 1.0]).unwrap();
        let InvarianceError::NotInvariant { error, leaks, .. } =
            matrix.check_invariant(&law, TOLERANCE).unwrap_err()
        else {
            panic!("not invariant")
        };
        assert!((error - 0.05).abs() < 1e-15);
        assert_eq!(leaks.len(), 2, "b keeps its probability");
        for leak in &leaks {
            let other = if leak.state == "'a'" { "'c'" } else { "'a'" };
            assert_eq!(leak.partner, other);
            assert!((leak.net_flow.abs() - 0.05).abs() < 1e-15);
        }
        let text = matrix
            .check_invariant(&law, TOLERANCE)
            .unwrap_err()
            .to_string();
        assert!(text.contains("'a' loses 5.000e-2: it has 5.000000e-1 and after one step 4.500000e-1; the largest net flow is 5.000e-2 to 'c'"), "{text}");
        let text = matrix
            .check_reversible(&law, TOLERANCE)
            .unwrap_err()
            .to_string();
        assert!(text.contains("from 'a' to 'c'"), "{text}");
    }

    #[test]
    fn a_rotation_is_invariant_but_not_reversible() {
        let matrix = matrix(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[1.0, 0.0, 0.0]]);
        let law = Law::from_weights(&[1.0; 3]).unwrap();
        matrix.check_invariant(&law, TOLERANCE).unwrap();
        assert!((matrix.balance_error(&law).unwrap() - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn lists_of_states_that_will_not_do_are_refused() {
        let up = step_fn(|x: &mut i32, _: &mut Enumerator| *x += 1);
        assert!(matches!(
            TransitionMatrix::of(&up, &[]),
            Err(InvarianceError::NoStates)
        ));
        assert!(matches!(
            TransitionMatrix::of(&up, &[4, 5, 4]),
            Err(InvarianceError::SameState {
                first: 0,
                second: 2,
                ..
            })
        ));
        let text = TransitionMatrix::of(&up, &[4, 5]).unwrap_err().to_string();
        assert!(text.contains("from 5 the kernel steps to 6"), "{text}");
        let one = matrix(&[&[1.0]]);
        let law = Law::from_weights(&[1.0, 1.0]).unwrap();
        assert!(one.invariance_error(&law).is_err());
        assert!(
            one.max_difference(&matrix(&[&[1.0, 0.0], &[1.0, 0.0]]))
                .is_err()
        );
    }
}
