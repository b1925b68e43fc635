//! Gibbs sampling of a component with finitely many values.

use helmholtz_random::Chance;

use crate::{Info, Kernel, Target};

/// Draws component i of a vector from its conditional, found by trying all its values:
/// p(x_i = v | rest) ∝ p(x with x_i = v).
///
/// A step costs one log-density a value. The target may leave out all terms in which x_i does not occur, since they
/// cancel; on a field it is then a sum over the neighbours of site i. (Geman and Geman, 1984.)
///
/// Values whose log-density is not finite are never drawn, and are counted; if none is finite, the state is left as it
/// is.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{FiniteGibbs, Kernel, Mixture};
///
/// // A ring of spins -1 and 1 with coupling 0.4.
/// let local = |i: usize| move |x: &Vec<i8>| {
///     0.4 * f64::from(x[i] * (x[(i + 1) % x.len()] + x[(i + x.len() - 1) % x.len()]))
/// };
/// let sites = (0..10).map(|i| FiniteGibbs::new(local(i), i, vec![-1, 1])).collect();
/// let kernel = Mixture::uniform(sites)?; // random scan
/// let mut spins = vec![1; 10];
/// kernel.step(&mut spins, &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FiniteGibbs<T, V> {
    target: T,
    component: usize,
    values: Vec<V>,
}

impl<T, V> FiniteGibbs<T, V> {
    /// The kernel that draws `component` among `values`, which should hold every possible value once.
    pub fn new(target: T, component: usize, values: Vec<V>) -> Self {
        Self {
            target,
            component,
            values,
        }
    }
}

impl<V: Clone, C: Chance + ?Sized, T: Target<Vec<V>>> Kernel<Vec<V>, C> for FiniteGibbs<T, V> {
    type Info = Info;

    /// # Panics
    /// If the state has no such component, as indexing does.
    fn step(&self, state: &mut Vec<V>, chance: &mut C) -> Info {
        let current = state[self.component].clone();
        let log_p: Vec<f64> = self
            .values
            .iter()
            .map(|value| {
                state[self.component] = value.clone();
                self.target.log_density(state)
            })
            .collect();
        let chosen = chance.choose(&log_p);
        state[self.component] = chosen.map_or(current, |v| self.values[v].clone());
        let non_finite = log_p.iter().filter(|l| !l.is_finite()).count();
        Info::of_move(chosen.is_some(), non_finite as u64)
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Enumerator, enumerate};

    use super::*;

    /// The state, what was accepted and what was not finite.
    type End = (Vec<usize>, u64, u64);

    /// Every end of one step on component 1 of [7, 0], whose values 0, 1, 2 have these log-densities.
    fn law(log_p: [f64; 3]) -> Vec<(f64, End)> {
        let kernel = FiniteGibbs::new(|x: &Vec<usize>| log_p[x[1]], 1, vec![0, 1, 2]);
        enumerate(|chance: &mut Enumerator| {
            let mut state = vec![7, 0];
            let info = kernel.step(&mut state, chance);
            (state, info.accepted, info.non_finite)
        })
    }

    #[test]
    fn impossible_values_are_never_drawn_and_counted() {
        let ninf = f64::NEG_INFINITY;
        assert_eq!(law([ninf, -800.0, f64::NAN]), [(1.0, (vec![7, 1], 1, 2))]);
    }

    #[test]
    fn without_a_possible_value_the_state_is_left_as_it_is() {
        assert_eq!(law([f64::NAN; 3]), [(1.0, (vec![7, 0], 0, 3))]);
    }
}
