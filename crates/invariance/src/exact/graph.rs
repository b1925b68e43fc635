//! Where a chain can go: irreducibility and period.

use std::collections::VecDeque;

use crate::InvarianceError;
use crate::exact::{Law, TransitionMatrix};

impl TransitionMatrix {
    /// The certificate of irreducibility: between any two states of positive probability there is a sequence of steps.
    /// Without it, averages along a chain need not converge to the law however invariant it is. Breadth-first search.
    ///
    /// # Errors
    /// [`InvarianceError::NotIrreducible`] with a pair of states; [`InvarianceError::Length`] if the law does not fit.
    pub fn check_irreducible(&self, law: &Law) -> Result<(), InvarianceError> {
        self.fits(law)?;
        let support = law.support();
        let root = support[0];
        let forward = self.distances(root, |x, y| self.row(x)[y] > 0.0);
        let backward = self.distances(root, |x, y| self.row(y)[x] > 0.0);
        for &x in &support {
            let (from, to) = match (forward[x], backward[x]) {
                (None, _) => (root, x),
                (_, None) => (x, root),
                _ => continue,
            };
            return Err(InvarianceError::NotIrreducible {
                from: self.name(from),
                to: self.name(to),
            });
        }
        Ok(())
    }

    /// The period of an irreducible kernel: the greatest common divisor of the numbers of steps in which it can return
    /// to a state. It is the greatest common divisor of d(x) + 1 - d(y) over all possible steps x → y, where d is the
    /// distance from one state (Denardo, 1977).
    ///
    /// # Errors
    /// As [`check_irreducible`](Self::check_irreducible).
    pub fn period(&self, law: &Law) -> Result<usize, InvarianceError> {
        self.check_irreducible(law)?;
        let distance = self.distances(law.support()[0], |x, y| self.row(x)[y] > 0.0);
        let mut period = 0;
        for (x, d) in distance.iter().enumerate() {
            for (y, e) in distance.iter().enumerate() {
                if let (Some(d), Some(e), true) = (d, e, self.row(x)[y] > 0.0) {
                    period = gcd(period, (d + 1).abs_diff(*e));
                }
            }
        }
        Ok(period)
    }

    /// The certificate that an irreducible kernel is aperiodic, so that the law of the chain converges.
    ///
    /// # Errors
    /// [`InvarianceError::Periodic`]; and as [`check_irreducible`](Self::check_irreducible).
    pub fn check_aperiodic(&self, law: &Law) -> Result<(), InvarianceError> {
        match self.period(law)? {
            1 => Ok(()),
            period => Err(InvarianceError::Periodic { period }),
        }
    }

    /// The number of steps, where `edge` allows a step, from `root` to each state.
    fn distances(&self, root: usize, edge: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
        let mut distance = vec![None; self.states()];
        distance[root] = Some(0);
        let mut queue = VecDeque::from([(root, 0)]);
        while let Some((x, d)) = queue.pop_front() {
            for (y, known) in distance.iter_mut().enumerate() {
                if known.is_none() && edge(x, y) {
                    *known = Some(d + 1);
                    queue.push_back((y, d + 1));
                }
            }
        }
        distance
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Chance, Enumerator};

    use super::*;
    use crate::step_fn;

    /// Goes to one of `next[x]`, each equally likely.
    fn walk(next: &[&[usize]]) -> TransitionMatrix {
        let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
            *x = next[*x][chance.choose(&vec![0.0; next[*x].len()]).unwrap()];
        });
        TransitionMatrix::of(&kernel, &(0..next.len()).collect::<Vec<_>>()).unwrap()
    }

    fn uniform(n: usize) -> Law {
        Law::from_weights(&vec![1.0; n]).unwrap()
    }

    #[test]
    fn a_cycle_has_its_length_as_period_and_one_lazy_state_makes_it_aperiodic() {
        for n in 1..6 {
            let next: Vec<Vec<usize>> = (0..n).map(|x| vec![(x + 1) % n]).collect();
            let next: Vec<&[usize]> = next.iter().map(Vec::as_slice).collect();
            assert_eq!(walk(&next).period(&uniform(n)).unwrap(), n);
        }
        assert_eq!(walk(&[&[1], &[2], &[0, 2]]).period(&uniform(3)).unwrap(), 1);
        // Cycles of length 4 and 6 through state 0.
        let both = walk(&[&[1, 4], &[2], &[3], &[0], &[5], &[6], &[7], &[8], &[0]]);
        assert_eq!(both.period(&uniform(9)).unwrap(), 2);
        assert!(matches!(
            both.check_aperiodic(&uniform(9)),
            Err(InvarianceError::Periodic { period: 2 })
        ));
    }

    #[test]
    fn a_trap_is_found_in_either_direction() {
        let text = |m: TransitionMatrix| m.check_irreducible(&uniform(3)).unwrap_err().to_string();
        assert!(text(walk(&[&[1], &[0], &[0]])).contains("from 0 no sequence of steps leads to 2"));
        assert!(
            text(walk(&[&[1], &[2], &[2, 1]])).contains("from 1 no sequence of steps leads to 0")
        );
    }

    #[test]
    fn impossible_states_do_not_count() {
        let law = Law::from_weights(&[0.0, 1.0, 1.0]).unwrap();
        let matrix = walk(&[&[1], &[2, 1], &[1]]);
        matrix.check_irreducible(&law).unwrap();
        matrix.check_aperiodic(&law).unwrap();
    }
}
