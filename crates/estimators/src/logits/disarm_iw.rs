//! DisARM for classes by importance weights (Dong, Mnih & Tucker 2021).

use burn::module::AutodiffModule;
use burn::tensor::{Tensor, activation};
use helmholtz_distributions::Noise;
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::logits::disarm_tree::{
    Node, antithetic, classes_of, decisions, half_difference, live, row_logits,
};
use crate::logits::swaps::without_pinned;
use crate::{
    Batch, Declaration, Description, Estimate, EstimateError, Estimator, Factored, Joint, Layered,
    Learned, LogitGradient, Objective, Race, Target, estimate_logits,
};

/// Two classes z, z' of every variable from one law of pairs p(z, z') with q for either's law, and two values of f:
///
/// G_v = ½ (f(z) − f(z')) w_v (e_{z_v} − e_{z'_v}),  w_v = q(z_v) q(z'_v) / p(z_v, z'_v),
///
/// e one-hot (Dong, Mnih & Tucker 2021). The pairs are those of stick breaking from u and from 1 − u, the least likely class
/// first. With σ(a_i) the probability to stop at the i-th class, n the first at which one stops:
///
/// w = (1 − σ(a_n)) Π_{i<n} (1 − σ(a_i))² / (1 − 2 σ(a_i)).
///
/// Unbiased: under independent pairs ½ (f(z) − f(z')) (e_z − e_{z'}) is, and w changes the law of one variable's pair to them, whatever law the
/// others have. That needs p > 0 for every two classes that differ. In ascending order σ(a_i) ≤ 1/3 while three classes are left or more, so
/// that both pass with a probability of 1/3 at least. In another order a class that is likelier than one half would bar those
/// after it from being a pair. Two classes make it [`Disarm`](crate::Disarm) in law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DisarmIw;

impl Declaration for DisarmIw {
    fn description(&self) -> Description {
        Description {
            name: "disarm-iw",
            label: "DisARM-IW",
            idea: "antithetic pairs of classes, weighted as independent ones",
            target: Target::Elbo,
        }
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        2 * particles * layers
    }
}

impl<B, V, M> Estimator<B, M> for DisarmIw
where
    B: AutodiffBackend,
    V: Race,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Factored<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = V> + Factored<B::InnerBackend>,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        _learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        _chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        estimate_logits(self, model, batch.x, batch.particles, noise)
    }
}

impl<V: Race> LogitGradient<V> for DisarmIw {
    fn layer<B, M>(
        &self,
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        _particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2>
    where
        B: Backend,
        M: Layered<B, Variables = V> + Joint<B>,
    {
        let logits = row_logits(objective, below, rows);
        let classes = logits.dims()[2];
        let nodes = Node::of(classes, false);
        let (ascending, order) = logits.sort_with_indices(2);
        let back = order.argsort(2);
        let p = activation::sigmoid(decisions(&nodes, &ascending));
        let bits = antithetic(objective, &p, noise);
        let sorted = bits.clone().map(|bits| classes_of(&nodes, &bits, classes));
        let weight = weight(&nodes, &bits, &sorted, &p);
        let pair = sorted.map(|class| class.gather(2, back.clone()));

        let half = half_difference(objective, below, [&pair[0], &pair[1]], noise);
        let [one, other] = pair;
        without_pinned((one - other) * weight * half)
    }
}

/// w `[rows, V, 1]`, of pairs that differ; of the others any number.
fn weight<B: Backend>(
    nodes: &[Node],
    [one, other]: &[Tensor<B, 3>; 2],
    [class, other_class]: &[Tensor<B, 3>; 2],
    p: &Tensor<B, 3>,
) -> Tensor<B, 3> {
    let both = live(nodes, class) * live(nodes, other_class);
    let pass = p.clone().neg().add_scalar(1.0);
    // Where both pass a node before they part; the probability that they do is 1 − 2 p.
    let passed = (one.clone() + other.clone()).lower_elem(0.5).float();
    let passed = passed.cast(p.dtype()) * both.clone();
    let parted = (one.clone() - other.clone()).abs() * both;
    let together = (p.clone() * -2.0).add_scalar(1.0).clamp_min(1e-12).log();
    let log_pass = pass.log();
    let log_weight = passed * (log_pass.clone() * 2.0 - together) + parted * log_pass;
    log_weight.sum_dim(2).exp()
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::{DType, TensorData};
    use helmholtz_ops::Flex;

    use super::*;

    /// Three classes in ascending order: the law of pairs by areas of (u₀, u₁), against q(z) q(z').
    #[test]
    fn the_weight_of_a_pair_is_the_ratio_of_its_laws() {
        let q: [f64; 3] = [0.15, 0.25, 0.6];
        let stop = [q[0], q[1] / (q[1] + q[2])];
        let nodes = Node::of(3, false);
        let tensor = |v: &[f64]| {
            let data = TensorData::new(v.to_vec(), [1, 1, v.len()]);
            Tensor::<Flex, 3>::from_data(data, (&Default::default(), DType::F64))
        };
        let p = tensor(&stop);
        // Decisions that lead to each class; the second of the first class is free.
        let decisions = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        // The probability that u < p and 1 − u < p alike or unlike.
        let joint = |n: usize, m: usize| match (n.min(m), n.max(m)) {
            // One stops at the first class, the other by its own second decision.
            (0, m) => stop[0] * if m == 1 { stop[1] } else { 1.0 - stop[1] },
            _ => (1.0 - 2.0 * stop[0]) * stop[1],
        };
        for (n, m) in [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)] {
            let bits = [n, m].map(|c: usize| tensor(&decisions[c]));
            let class = bits.clone().map(|bits| classes_of(&nodes, &bits, 3));
            let found = weight(&nodes, &bits, &class, &p).into_data();
            let found: f64 = found.iter::<f64>().next().unwrap();
            let exact = q[n] * q[m] / joint(n, m);
            assert!(
                (found / exact - 1.0).abs() < 1e-12,
                "{n}, {m}: {found}, {exact}"
            );
        }
    }
}
