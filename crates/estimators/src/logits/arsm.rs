//! AR, ARS and ARSM: augment, REINFORCE, swap, merge (Yin, Yue & Zhou 2019).

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::Noise;
use helmholtz_ops::{AutodiffBackend, Backend, Values, cat};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::logits::swaps::{Swaps, without_pinned};
use crate::{
    Batch, Declaration, Description, Estimate, EstimateError, Estimator, Factored, Joint, Layered,
    Learned, LogitGradient, Objective, Race, Target, estimate_logits, estimate_logits_with_kl,
};

/// G_{v,c} = f(z) (1 − C π_{v,c}), z_v = argmin_i (ln π_{v,i} − φ_{v,i}), π_v ~ Dirichlet(1, …, 1): augment and REINFORCE (Yin,
/// Yue & Zhou 2019, equation 4). One value of f a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ar;

/// G_{v,c} = (f(z^{c⇆r}) − mean_m f(z^{m⇆r})) (1 − C π_{v,r}) with a reference class r, z^{c⇆r} drawn with π_c and π_r swapped in
/// every variable (Yin, Yue & Zhou 2019, equation 6). C values of f a layer.
///
/// # Panics
/// An estimate does, if r is not less than the number of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ars {
    /// r, less than the number of classes.
    pub reference: usize,
}

/// G_{v,c} = Σ_j (F_{cj} − mean_m F_{mj}) (1/C − π_{v,j}), F_{cj} = f(z^{c⇆j}): the mean of [`Ars`] over reference classes (Yin, Yue &
/// Zhou 2019, equation 8).
///
/// Unbiased. F is symmetric and its diagonal is one value, f without a swap: C (C − 1)/2 + 1 values of f a layer. For bits it
/// is [`Arm`](crate::Arm), draw for draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arsm;

impl Declaration for Ar {
    fn description(&self) -> Description {
        Description {
            name: "ar",
            label: "AR",
            idea: "exponential races: augment and REINFORCE",
            target: Target::Elbo,
        }
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        particles * layers
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, V, M> Estimator<B, M> for Ar
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
        let Batch { x, particles, .. } = batch;
        match batch.analytic_kl {
            true => estimate_logits_with_kl(self, model, x, particles, noise),
            false => estimate_logits(self, model, x, particles, noise),
        }
    }
}

impl<V: Race> LogitGradient<V> for Ar {
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
        let swaps = Swaps::draw(objective, below, rows, noise);
        let f = swaps.values(&[(0, 0)], noise).reshape([rows, 1, 1]);
        let weight = swaps.simplex() * -(swaps.classes() as f64) + 1.0;
        without_pinned(weight * f)
    }
}

impl Declaration for Ars {
    fn description(&self) -> Description {
        Description {
            name: "ars",
            label: "ARS",
            idea: "races compared with one class swapped for each other",
            target: Target::Elbo,
        }
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        2 * particles * layers
    }

    fn evaluations_of_classes(&self) -> Option<&'static str> {
        Some("C K")
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, V, M> Estimator<B, M> for Ars
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
        let Batch { x, particles, .. } = batch;
        match batch.analytic_kl {
            true => estimate_logits_with_kl(self, model, x, particles, noise),
            false => estimate_logits(self, model, x, particles, noise),
        }
    }
}

impl<V: Race> LogitGradient<V> for Ars {
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
        let swaps = Swaps::draw(objective, below, rows, noise);
        let (classes, reference) = (swaps.classes(), self.reference);
        assert!(reference < classes, "there is no class {reference}");
        let pairs: Vec<_> = (0..classes).map(|c| (c, reference)).collect();
        let f = swaps.values(&pairs, noise);
        let centred = (f.clone() - f.mean_dim(0)).transpose();
        let weight = swaps.simplex().narrow(2, reference, 1) * -(classes as f64) + 1.0;
        without_pinned(weight * centred.reshape([rows, 1, classes]))
    }
}

impl Declaration for Arsm {
    fn description(&self) -> Description {
        Description {
            name: "arsm",
            label: "ARSM",
            idea: "races compared with every pair of classes swapped",
            target: Target::Elbo,
        }
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        2 * particles * layers
    }

    fn evaluations_of_classes(&self) -> Option<&'static str> {
        Some("(C (C − 1)/2 + 1) K")
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, V, M> Estimator<B, M> for Arsm
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
        let Batch { x, particles, .. } = batch;
        match batch.analytic_kl {
            true => estimate_logits_with_kl(self, model, x, particles, noise),
            false => estimate_logits(self, model, x, particles, noise),
        }
    }
}

impl<V: Race> LogitGradient<V> for Arsm {
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
        let swaps = Swaps::draw(objective, below, rows, noise);
        let classes = swaps.classes();
        let mut pairs = vec![(0, 0)];
        pairs.extend((0..classes).flat_map(|c| (0..c).map(move |j| (j, c))));
        let values = swaps.values(&pairs, noise);
        let value = |c: usize, j: usize| {
            let pair = match c == j {
                true => (0, 0),
                false => (c.min(j), c.max(j)),
            };
            let place = pairs.iter().position(|&p| p == pair);
            values.clone().narrow(0, place.expect("every pair"), 1)
        };
        let all = (0..classes).flat_map(|j| (0..classes).map(move |c| (c, j)));
        let f = cat(all.map(|(c, j)| value(c, j)).collect(), 0);
        let f = f.transpose().reshape([rows, classes, classes]); // [rows, j, c]
        let centred = f.clone() - f.mean_dim(2);
        let weight = swaps.simplex().neg() + 1.0 / classes as f64; // [rows, V, j]
        without_pinned(weight.matmul(centred))
    }
}
