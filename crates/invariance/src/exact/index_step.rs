//! The transition matrices of index kernels.

use helmholtz_random::Chance;
use helmholtz_samplers::{IndexKernel, Info, Kernel, Visits};

use crate::InvarianceError;
use crate::exact::{Law, TransitionMatrix};

impl TransitionMatrix {
    /// The matrix over the states 0..n of one run of an index kernel with `proposals` independent proposals from `q`.
    /// It leads from the current state to the state in which the run ends. State x has log-weight
    /// `log_w[x]` = ln p - ln q (nats, up to a constant). All n^K tuples of proposals are enumerated, each with every
    /// branch of the kernel.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if `log_w` and `q` differ in length.
    ///
    /// ```
    /// use helmholtz_invariance::{Law, TOLERANCE, TransitionMatrix};
    /// use helmholtz_invariance::samplers::Mis;
    ///
    /// let (p, q) = ([0.5f64, 0.3, 0.2], [0.2f64, 0.2, 0.6]);
    /// let log_w: Vec<f64> = p.iter().zip(q).map(|(p, q)| p.ln() - q.ln()).collect();
    /// let matrix = TransitionMatrix::of_index_kernel(&Mis, &Law::from_weights(&q)?, &log_w, 2)?;
    /// matrix.check_invariant(&Law::from_weights(&p)?, TOLERANCE)?;
    /// # Ok::<(), helmholtz_invariance::InvarianceError>(())
    /// ```
    pub fn of_index_kernel(
        kernel: &impl IndexKernel,
        q: &Law,
        log_w: &[f64],
        proposals: usize,
    ) -> Result<Self, InvarianceError> {
        of_index_step(kernel, q, log_w, proposals, usize::MAX)
    }

    /// As [`of_index_kernel`](Self::of_index_kernel), but to the state after the first `moves` transitions of the run,
    /// as it recorded them. It serves to prove the visits on the way, which weight the states in a gradient. A run that
    /// is shorter counts to its end.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if `log_w` and `q` differ in length.
    pub fn of_index_kernel_after(
        kernel: &impl IndexKernel,
        q: &Law,
        log_w: &[f64],
        proposals: usize,
        moves: usize,
    ) -> Result<Self, InvarianceError> {
        of_index_step(kernel, q, log_w, proposals, moves)
    }
}

fn of_index_step(
    kernel: &impl IndexKernel,
    q: &Law,
    log_w: &[f64],
    proposals: usize,
    moves: usize,
) -> Result<TransitionMatrix, InvarianceError> {
    if log_w.len() != q.probabilities().len() {
        return Err(InvarianceError::Length {
            what: "the array of log-weights",
            found: log_w.len(),
            expected: q.probabilities().len(),
        });
    }
    let step = IndexStep {
        kernel,
        log_q: q.probabilities().iter().map(|q| q.ln()).collect(),
        log_w,
        proposals,
        moves,
    };
    TransitionMatrix::of(&step, &(0..log_w.len()).collect::<Vec<_>>())
}

/// One run as a kernel on states that are numbers.
struct IndexStep<'a, I> {
    kernel: &'a I,
    log_q: Vec<f64>,
    log_w: &'a [f64],
    proposals: usize,
    moves: usize,
}

impl<I: IndexKernel, C: Chance> Kernel<usize, C> for IndexStep<'_, I> {
    type Info = Info;

    fn step(&self, state: &mut usize, chance: &mut C) -> Info {
        // A law has a state of positive probability, so something is chosen.
        let proposals: Vec<usize> = (0..self.proposals)
            .map(|_| chance.choose(&self.log_q).unwrap_or(*state))
            .collect();
        let log_w: Vec<f64> = proposals.iter().map(|&h| self.log_w[h]).collect();
        let mut visits = Vec::new();
        let info = (self.kernel).run(self.log_w[*state], &log_w, chance, &mut visits);
        visits.truncate(self.moves);
        if let Some(taken) = Visits::new(&visits).last().checked_sub(1) {
            *state = proposals[taken];
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_samplers::Mis;

    use super::*;

    #[test]
    fn log_weights_of_another_length_are_refused() {
        let q = Law::from_weights(&[1.0, 1.0]).unwrap();
        assert!(TransitionMatrix::of_index_kernel(&Mis, &q, &[0.0], 1).is_err());
    }

    #[test]
    fn no_moves_is_the_identity() {
        let q = Law::from_weights(&[1.0, 2.0]).unwrap();
        let log_w = [0.0, 1.0];
        let still = TransitionMatrix::of_index_kernel_after(&Mis, &q, &log_w, 2, 0).unwrap();
        assert_eq!((still.row(0)[0], still.row(1)[1]), (1.0, 1.0));
    }
}
