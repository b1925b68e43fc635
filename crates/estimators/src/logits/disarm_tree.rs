//! DisARM for classes: each variable as bits of a tree of decisions (Dong, Mnih & Tucker 2021).

use burn::module::AutodiffModule;
use burn::tensor::{Tensor, TensorData, activation};
use helmholtz_distributions::{Classes, Noise};
use helmholtz_ops::{AutodiffBackend, Backend, Values, cat, pinned_logits, repeat_rows};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::logits::swaps::without_pinned;
use crate::{
    Batch, Declaration, Description, Estimate, EstimateError, Estimator, Factored, Joint, Layered,
    Learned, LogitGradient, Objective, Race, Target, estimate_logits,
};

/// A class is found by decisions, one a node of a binary tree. At node n the class is among those of its left branch L with the
/// probability σ(a_n), a_n = logsumexp_L φ − logsumexp_R φ. The C − 1 decisions of every variable are independent bits, drawn
/// twice, from u and from 1 − u. That gives two classes z, z' of each variable and two values of f, whatever C is (Dong, Mnih &
/// Tucker 2021, sections 3.2 and 3.3).
///
/// G_n = ½ (f(z) − f(z')) g_n, then G_φ = Σ_n G_n ∂a_n/∂φ. Where both classes lie below node n, g_n = (b_n − b'_n) σ(|a_n|) as in
/// [`Disarm`](crate::Disarm). Where only one does, the other's decision moved nothing, and g_n is the mean over it:
/// b_n − σ(a_n), or −(b'_n − σ(a_n)). Where neither does g_n is 0.
///
/// Unbiased: without these means it is DisARM for the decisions, of which f is a function. Two classes have one node, and the
/// estimator is [`Disarm`](crate::Disarm).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DisarmTree {
    /// Whether each node halves its classes; else it is one class against those after it: stick breaking.
    pub balanced: bool,
}

impl Declaration for DisarmTree {
    fn description(&self) -> Description {
        match self.balanced {
            false => Description {
                name: "disarm-sb",
                label: "DisARM-SB",
                idea: "DisARM on the decisions of stick breaking",
                target: Target::Elbo,
            },
            true => Description {
                name: "disarm-tree",
                label: "DisARM-Tree",
                idea: "DisARM on the decisions of a balanced tree of classes",
                target: Target::Elbo,
            },
        }
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        2 * particles * layers
    }
}

impl<B, V, M> Estimator<B, M> for DisarmTree
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

impl<V: Race> LogitGradient<V> for DisarmTree {
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
        let nodes = Node::of(classes, self.balanced);
        let decisions = decisions(&nodes, &logits);
        let p = activation::sigmoid(decisions.clone());
        let pair = antithetic(objective, &p, noise);
        let sides = pair.map(|bits| {
            let class = classes_of(&nodes, &bits, classes);
            Side {
                live: live(&nodes, &class),
                bits,
                class,
            }
        });
        let classes = [&sides[0].class, &sides[1].class];
        let half = half_difference(objective, below, classes, noise);
        let gradient = factor(&sides, &p, decisions) * half;
        without_pinned(in_classes(&nodes, gradient, &logits))
    }
}

/// φ with the pinned class, a copy of it for each row: `[rows, V, C]`.
pub(crate) fn row_logits<B, M>(
    objective: &Objective<B, M>,
    below: &[Values<B>],
    rows: usize,
) -> Tensor<B, 3>
where
    B: Backend,
    M: Layered<B> + Joint<B>,
    M::Variables: Race,
{
    let Classes { variables, classes } = objective.layers()[below.len()].classes();
    let logits = pinned_logits(objective.logits(below), classes).flatten::<2>(1, 2);
    repeat_rows(logits, rows).reshape([rows, variables, classes])
}

/// Decisions with the probabilities p `[rows, V, nodes]`, from 1 − u and from u.
pub(crate) fn antithetic<B, M>(
    objective: &Objective<B, M>,
    p: &Tensor<B, 3>,
    noise: &mut impl Noise,
) -> [Tensor<B, 3>; 2]
where
    B: Backend,
    M: Layered<B> + Joint<B>,
{
    let [rows, variables, nodes] = p.dims();
    let u = objective.uniforms(rows, variables * nodes, noise);
    let u = u.reshape(p.dims());
    let below_p = |u: Tensor<B, 3>| u.lower(p.clone()).float().cast(p.dtype());
    [below_p(u.clone().neg().add_scalar(1.0)), below_p(u)]
}

/// ½ (f(z) − f(z')) `[rows, 1, 1]` of two layers of classes, one-hot `[rows, V, C]`, the layers above drawn for each.
pub(crate) fn half_difference<B, M>(
    objective: &Objective<B, M>,
    below: &[Values<B>],
    pair: [&Tensor<B, 3>; 2],
    noise: &mut impl Noise,
) -> Tensor<B, 3>
where
    B: Backend,
    M: Layered<B> + Joint<B>,
    M::Variables: Race,
{
    let variables = objective.layers()[below.len()];
    let rows = pair[0].dims()[0];
    let [one, other] = pair.map(|class| {
        let layer = variables.values_of(class.clone().flatten(1, 2));
        let layers = [below, &[Values::binary(layer)]].concat();
        objective.value(&objective.complete(layers, rows, noise))
    });
    (one - other).reshape([rows, 1, 1]).mul_scalar(0.5)
}

/// One of the two draws.
struct Side<B: Backend> {
    /// Decisions b `[rows, V, nodes]`: 1 is left.
    bits: Tensor<B, 3>,
    /// Classes, one-hot `[rows, V, C]`.
    class: Tensor<B, 3>,
    /// Whether the class is below the node `[rows, V, nodes]`.
    live: Tensor<B, 3>,
}

/// g_n `[rows, V, nodes]`.
fn factor<B: Backend>(
    [one, other]: &[Side<B>; 2],
    p: &Tensor<B, 3>,
    decisions: Tensor<B, 3>,
) -> Tensor<B, 3> {
    let both = one.live.clone() * other.live.clone();
    let (alone, other_alone) = (
        one.live.clone() - both.clone(),
        other.live.clone() - both.clone(),
    );
    let certainty = activation::sigmoid(decisions.abs());
    let apart = (one.bits.clone() - other.bits.clone()) * certainty;
    both * apart + alone * (one.bits.clone() - p.clone())
        - other_alone * (other.bits.clone() - p.clone())
}

/// A decision between the classes from `start` to below `middle`, the left branch, and those to below `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    start: usize,
    middle: usize,
    end: usize,
}

impl Node {
    /// The tree of C classes.
    pub(crate) fn of(classes: usize, balanced: bool) -> Vec<Self> {
        let mut nodes = Vec::new();
        let mut open = vec![(0, classes)];
        while let Some((start, end)) = open.pop() {
            if end - start < 2 {
                continue;
            }
            let middle = match balanced {
                true => start + (end - start) / 2,
                false => start + 1,
            };
            nodes.push(Self { start, middle, end });
            open.extend([(middle, end), (start, middle)]);
        }
        nodes
    }

    /// The left and the right branch of entries `[rows, V, C]`.
    fn branches<B: Backend>(self, entries: &Tensor<B, 3>) -> [Tensor<B, 3>; 2] {
        let Self { start, middle, end } = self;
        [(start, middle), (middle, end)]
            .map(|(from, to)| entries.clone().narrow(2, from, to - from))
    }
}

/// a `[rows, V, nodes]`.
pub(crate) fn decisions<B: Backend>(nodes: &[Node], logits: &Tensor<B, 3>) -> Tensor<B, 3> {
    let each = nodes.iter().map(|node| {
        let [left, right] = node.branches(logits).map(log_sum);
        left - right
    });
    cat(each.collect(), 2)
}

/// logsumexp over the classes: `[rows, V, 1]`.
fn log_sum<B: Backend>(logits: Tensor<B, 3>) -> Tensor<B, 3> {
    let max = logits.clone().max_dim(2);
    let shape = logits.dims();
    (logits - max.clone().expand(shape)).exp().sum_dim(2).log() + max
}

/// The class that decisions lead to: `[rows, V, C]`.
pub(crate) fn classes_of<B: Backend>(
    nodes: &[Node],
    bits: &Tensor<B, 3>,
    classes: usize,
) -> Tensor<B, 3> {
    let [rows, count, _] = bits.dims();
    let shape = [rows, count, classes];
    let (device, dtype) = (bits.device(), bits.dtype());
    let start = Tensor::<B, 3>::ones(shape, (&device, dtype));
    nodes.iter().enumerate().fold(start, |reached, (n, node)| {
        let entry = |on: &dyn Fn(usize) -> bool| {
            let row: Vec<f64> = (0..classes).map(|c| f64::from(u8::from(on(c)))).collect();
            let row = TensorData::new(row, [1, 1, classes]);
            Tensor::<B, 3>::from_data(row, (&device, dtype)).expand(shape)
        };
        let left = entry(&|c| (node.start..node.middle).contains(&c));
        let right = entry(&|c| (node.middle..node.end).contains(&c));
        let bit = bits.clone().narrow(2, n, 1).expand(shape);
        let other = (left.clone() + right.clone()).neg().add_scalar(1.0);
        reached * (bit.clone() * left + bit.neg().add_scalar(1.0) * right + other)
    })
}

/// Whether a class is below each node: `[rows, V, nodes]`.
pub(crate) fn live<B: Backend>(nodes: &[Node], class: &Tensor<B, 3>) -> Tensor<B, 3> {
    let each = nodes.iter().map(|node| {
        let below = class.clone().narrow(2, node.start, node.end - node.start);
        below.sum_dim(2)
    });
    cat(each.collect(), 2)
}

/// Σ_n G_n ∂a_n/∂φ: `[rows, V, nodes]` to `[rows, V, C]`. ∂a_n/∂φ is softmax over the left branch, and minus softmax over the right.
fn in_classes<B: Backend>(
    nodes: &[Node],
    gradient: Tensor<B, 3>,
    logits: &Tensor<B, 3>,
) -> Tensor<B, 3> {
    let mut sum = logits.zeros_like();
    let [rows, count, _] = logits.dims();
    for (n, node) in nodes.iter().enumerate() {
        let [left, right] = node
            .branches(logits)
            .map(|branch| activation::softmax(branch, 2));
        let slopes = cat(vec![left, right.neg()], 2);
        let of_node = gradient.clone().narrow(2, n, 1).expand(slopes.dims()) * slopes;
        let places = [0..rows, 0..count, node.start..node.end];
        let before = sum.clone().slice(places.clone());
        sum = sum.slice_assign(places, before + of_node);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_a_node_less_than_classes_and_every_class_its_own_path() {
        for balanced in [false, true] {
            for classes in [2, 3, 5, 8, 10] {
                let nodes = Node::of(classes, balanced);
                assert_eq!(nodes.len(), classes - 1);
                let path = |c: usize| -> Vec<(usize, bool)> {
                    let at = |(n, node): (usize, &Node)| {
                        (node.start..node.end)
                            .contains(&c)
                            .then_some((n, c < node.middle))
                    };
                    nodes.iter().enumerate().filter_map(at).collect()
                };
                let paths: std::collections::HashSet<_> = (0..classes).map(path).collect();
                assert_eq!(paths.len(), classes);
            }
        }
        let longest = |nodes: Vec<Node>| {
            let below = |c: usize| {
                nodes
                    .iter()
                    .filter(|n| (n.start..n.end).contains(&c))
                    .count()
            };
            (0..8).map(below).max()
        };
        assert_eq!(longest(Node::of(8, true)), Some(3));
        assert_eq!(longest(Node::of(8, false)), Some(7));
    }
}
