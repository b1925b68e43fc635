//! The law of the order in which the members of a set were drawn without replacement.

/// P(s first | S) and P(t second | s first, S), of a set S of K members that were drawn one after another, each with its probability
/// q among those not yet drawn.
///
/// An order s_1, …, s_K has the probability Π q(s_i) / (1 − Σ_{j<i} q(s_j)). The product of the q is the same for all, so that the rest is
/// summed over orders by the subset T already drawn: F(T) = Σ_{s∉T} F(T ∪ s) / (1 − q(T)).
pub struct Shares {
    members: usize,
    /// F, by the bits of T.
    sums: Vec<f64>,
}

impl Shares {
    /// Of members with these ln q.
    pub fn of(log_q: &[f64]) -> Self {
        let members = log_q.len();
        let q: Vec<f64> = log_q.iter().map(|l| l.exp()).collect();
        let full = (1usize << members) - 1;
        let mut sums = vec![1.0; full + 1];
        for drawn in (0..full).rev() {
            let inside = |s: usize| drawn >> s & 1 == 1;
            let (mut taken, mut left) = (0.0, 0.0);
            for (s, q) in q.iter().enumerate() {
                *if inside(s) { &mut taken } else { &mut left } += q;
            }
            let next = (0..members).filter(|&s| !inside(s));
            let sum: f64 = next.map(|s| sums[drawn | 1 << s]).sum();
            // What is left has at least the members that are to come, whatever 1 − q(T) is rounded to.
            sums[drawn] = sum / (1.0f64 - taken).max(left).max(f64::MIN_POSITIVE);
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
        let largest = next
            .clone()
            .map(|t| self.sums[drawn | 1 << t])
            .fold(0.0, f64::max);
        let total: f64 = next.map(|t| self.sums[drawn | 1 << t] / largest).sum();
        self.sums[drawn | 1 << s] / largest / total
    }
}
