//! The law of the order in which the members of a set were drawn without replacement.

use helmholtz_samplers::log_sum_exp;

/// P(s first | S) and P(t second | s first, S), of a set S of K members. These were drawn one after another, each with its
/// probability q among those not yet drawn.
///
/// An order s_1, …, s_K has the probability Π q(s_i) / (1 − Σ_{j<i} q(s_j)). The product of the q is the same for all orders. So
/// the rest is summed over orders by the subset T already drawn: F(T) = Σ_{s∉T} F(T ∪ s) / (1 − q(T)), in logarithms.
pub struct Shares {
    members: usize,
    /// ln F, by the bits of T.
    sums: Vec<f64>,
}

impl Shares {
    /// Of members with these ln q.
    pub fn of(log_q: &[f64]) -> Self {
        let members = log_q.len();
        let full = (1usize << members) - 1;
        let mut sums = vec![0.0; full + 1];
        for drawn in (0..full).rev() {
            let inside = |s: usize| drawn >> s & 1 == 1;
            let taken: f64 = (0..members)
                .filter(|&s| inside(s))
                .map(|s| log_q[s].exp())
                .sum();
            let next = || (0..members).filter(|&s| !inside(s));
            // What is left has at least the members that are to come, whatever 1 − q(T) is rounded to.
            let left = log_sum_exp(next().map(|s| log_q[s]));
            let left = left.max((1.0 - taken).max(0.0).ln());
            sums[drawn] = log_sum_exp(next().map(|s| sums[drawn | 1 << s])) - left;
        }
        Self { members, sums }
    }

    /// P(s first | S).
    pub fn first(&self, s: usize) -> f64 {
        self.among(0, s)
    }

    /// P(t second | s first, S) of each t; 0 of s.
    pub fn second(&self, s: usize) -> Vec<f64> {
        let share = |t: usize| if t == s { 0.0 } else { self.among(1 << s, t) };
        (0..self.members).map(share).collect()
    }

    /// The share of s among what may follow those drawn.
    fn among(&self, drawn: usize, s: usize) -> f64 {
        let next = (0..self.members).filter(|t| drawn >> t & 1 == 0);
        let total = log_sum_exp(next.map(|t| self.sums[drawn | 1 << t]));
        (self.sums[drawn | 1 << s] - total).exp()
    }
}
