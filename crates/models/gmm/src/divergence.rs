//! How far the proposals are from the exact conditionals, on instances whose latents are known.

use burn::tensor::{Tensor, activation::log_softmax};
use helmholtz_apg::least_cost;
use helmholtz_distributions::NormalGamma;
use helmholtz_ops::{Backend, cat};

use crate::gmm::total;
use crate::{Gmm, GmmState};

impl<B: Backend> Gmm<B> {
    /// The inclusive divergence KL(p‖q) of the conditional proposal for (μ, τ), given the true assignments `[1, B, N, M]`, in
    /// nats, summed over clusters and dimensions: `[B]`. Published figures divide it by M.
    pub fn kl(&self, x: &Tensor<B, 3>, assignment: &Tensor<B, 4>) -> Tensor<B, 1> {
        let q = self.conditional_law(x, assignment);
        let kl = total(self.exact_law(x, assignment).kl(&q));
        kl.flatten(0, 2)
    }

    /// The inclusive divergence KL(p‖q) of the one-shot proposal q(μ, τ | x) from p(μ, τ | x, c), given the true assignments
    /// `[1, B, N, M]`. It is in nats, summed over clusters and dimensions, an entry an instance.
    ///
    /// q does not read c, so that none reaches 0. Its mean over the posterior of c exceeds KL(p(μ, τ | x)‖q) by the mutual
    /// information of (μ, τ) and c given x, which no parameter changes. The names of the clusters mean nothing to q: they are
    /// matched to its own, to the least divergence.
    ///
    /// # Panics
    /// If there are more than 8 clusters: all M! matchings are tried.
    pub fn one_shot_kl(&self, x: &Tensor<B, 3>, assignment: &Tensor<B, 4>) -> Vec<f64> {
        let (p, q) = (self.exact_law(x, assignment), self.one_shot_law(x));
        let m = self.clusters();
        let turned = |by: usize| {
            // Cluster i + by where i was.
            let turn = |t: &Tensor<B, 4>| {
                let part = |from, count| t.clone().narrow(2, from, count);
                match by {
                    0 => t.clone(),
                    _ => cat(vec![part(by, m - by), part(0, by)], 2),
                }
            };
            let q = NormalGamma {
                mean: turn(&q.mean),
                nu: turn(&q.nu),
                alpha: turn(&q.alpha),
                beta: turn(&q.beta),
            };
            let kl = p.kl(&q).sum_dim(3).into_data();
            kl.iter::<f64>().collect::<Vec<f64>>()
        };
        // Of cluster i to the proposal's i + turn.
        let turns: Vec<Vec<f64>> = (0..m).map(turned).collect();
        let instance = |b: usize| {
            let cost = |i: usize, j: usize| turns[(j + m - i) % m][b * m + i];
            let row = |i| (0..m).map(|j| cost(i, j)).collect();
            let costs: Vec<Vec<f64>> = (0..m).map(row).collect();
            least_cost(&costs)
        };
        (0..x.dims()[0]).map(instance).collect()
    }

    /// The inclusive divergence KL(p‖q) = Σ_n Σ_m p_nm (ln p_nm − ln q_nm) `[B]`, nats, of the proposal q for c from its exact
    /// conditional p, given the true (μ, τ) `[1, B, M, D]`.
    pub fn assignment_kl(&self, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 1> {
        let (mean, precision) = (&z.mean, &z.precision);
        let p = log_softmax(self.exact_choices(x, mean, precision).logits().clone(), 3);
        let q = log_softmax(self.choices(x, mean, precision).logits().clone(), 3);
        // Below the least logarithm p is zero, and 0 · −∞ would be NaN.
        let kl = p.clone().exp() * (p.clamp_min(-1e4) - q.clamp_min(-1e4));
        total(kl).flatten(0, 2)
    }

    /// The least weight of a learned value on its own coordinate, of the one-shot proposal and of the conditional one: below
    /// zero a value is mirrored.
    pub fn least_slopes(&self) -> [f64; 2] {
        let m = self.clusters();
        [(&self.one_shot, 0), (&self.conditional, m)].map(|(statistics, extra)| {
            let values = statistics.values().layers();
            let [features, columns] = values[0].weight.dims();
            let d = features - extra;
            let entries: Vec<f64> = values[0].weight.val().into_data().iter().collect();
            let own = (0..columns).map(|value| entries[(value % d) * columns + value]);
            own.fold(f64::INFINITY, f64::min)
        })
    }
}
