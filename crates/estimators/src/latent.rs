//! What a model is to an estimator that is chosen at run time: which estimates are defined for its latents.

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, HasAutodiffModule};
use helmholtz_distributions::{Bits, Classes, Counts, Mixed, Noise, Relaxable, Variables};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Layer};

use crate::{Batch, Dream, Estimate, EstimateError, Factored, Layered, Learned, Race};

/// A model with every capability that a [`Method`](crate::Method), chosen at run time, may ask for.
pub trait Model<B: AutodiffBackend>:
    Layered<B, Variables: Latent>
    + Factored<B>
    + Dream<B>
    + AutodiffModule<
        B,
        InnerModule: Layered<B::InnerBackend, Variables = <Self as Layered<B>>::Variables>
                         + Factored<B::InnerBackend>
                         + Dream<B::InnerBackend>,
    > + HasAutodiffModule<
        Autodiff<B>,
        TrainModule: Layered<Autodiff<B>, Variables = <Self as Layered<B>>::Variables>
                         + Factored<Autodiff<B>>
                         + Dream<Autodiff<B>>,
    > + 'static
{
}

impl<B, M> Model<B> for M
where
    B: AutodiffBackend,
    M: Layered<B, Variables: Latent>
        + Factored<B>
        + Dream<B>
        + AutodiffModule<
            B,
            InnerModule: Layered<B::InnerBackend, Variables = <M as Layered<B>>::Variables>
                             + Factored<B::InnerBackend>
                             + Dream<B::InnerBackend>,
        > + HasAutodiffModule<
            Autodiff<B>,
            TrainModule: Layered<Autodiff<B>, Variables = <M as Layered<B>>::Variables>
                             + Factored<Autodiff<B>>
                             + Dream<Autodiff<B>>,
        > + 'static,
{
}

/// A function that gives an estimate for a model with a bound of its own: its head, and its body if it has one.
macro_rules! estimate_fn {
    ($(#[$doc:meta])* $of:ident($($bound:tt)*), ($self:ident, $model:ident, $learned:ident, $batch:ident, $noise:ident, $chance:ident) => $body:tt) => {
        $(#[$doc])*
        fn $of<B, M, S>(
            &$self,
            $model: &M,
            $learned: &mut crate::Learned<B>,
            $batch: crate::Batch<'_, B, S>,
            $noise: &mut impl helmholtz_distributions::Noise,
            $chance: &mut impl helmholtz_random::Chance,
        ) -> Result<crate::Estimate<B>, crate::EstimateError>
        where
            B: helmholtz_ops::AutodiffBackend,
            M: crate::Model<B>,
            $($bound)*,
            S: helmholtz_samplers::ChainStore + ?Sized,
        $body
    };
}

pub(crate) use estimate_fn;

/// An estimator that is chosen at run time, with the estimate that it has for each kind of latents.
pub trait Chosen {
    estimate_fn!(
        /// One gradient estimate for latents that can be relaxed and exchanged.
        ///
        /// # Errors
        /// [`EstimateError::NotDefined`] of an estimator for others, and what the estimator reports.
        of_discrete(M::Variables: Relaxable + Race),
        (self, model, learned, batch, noise, chance) => ;);

    estimate_fn!(
        /// One gradient estimate for bits.
        ///
        /// # Errors
        /// [`EstimateError::NotDefined`] of an estimator for others, and what the estimator reports.
        of_bits(M: Layered<B, Variables = Bits>),
        (self, model, learned, batch, noise, chance) => ;);

    estimate_fn!(
        /// One gradient estimate for counts.
        ///
        /// # Errors
        /// [`EstimateError::NotDefined`] of an estimator for others, and what the estimator reports.
        of_counts(M: Layered<B, Variables = Counts>),
        (self, model, learned, batch, noise, chance) => ;);
}

/// Latents of models for which an estimator may be chosen at run time.
pub trait Latent: Variables {
    /// The layout of a state of the layer.
    fn layer(&self) -> Layer;

    /// One gradient estimate, that which the estimator has for these latents.
    ///
    /// # Errors
    /// [`EstimateError::NotDefined`] by any other, and what the estimator reports.
    fn estimate<B, M, S>(
        chosen: &impl Chosen,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Model<B> + Layered<B, Variables = Self>,
        S: ChainStore + ?Sized;
}

/// [`Latent::estimate`], by the estimate that it is.
macro_rules! estimated_by {
    ($of:ident) => {
        fn estimate<B, M, S>(
            chosen: &impl Chosen,
            model: &M,
            learned: &mut Learned<B>,
            batch: Batch<'_, B, S>,
            noise: &mut impl Noise,
            chance: &mut impl Chance,
        ) -> Result<Estimate<B>, EstimateError>
        where
            B: AutodiffBackend,
            M: Model<B> + Layered<B, Variables = Self>,
            S: ChainStore + ?Sized,
        {
            chosen.$of(model, learned, batch, noise, chance)
        }
    };
}

impl Latent for Bits {
    fn layer(&self) -> Layer {
        Layer::Bernoulli(self.0)
    }

    estimated_by!(of_bits);
}

impl Latent for Classes {
    fn layer(&self) -> Layer {
        Layer::Categorical {
            variables: self.variables,
            classes: self.classes as u32,
        }
    }

    estimated_by!(of_discrete);
}

impl Latent for Mixed {
    fn layer(&self) -> Layer {
        match self {
            Self::Bits(bits) => bits.layer(),
            Self::Classes(classes) => classes.layer(),
        }
    }

    estimated_by!(of_discrete);
}

impl Latent for Counts {
    /// Counts as numbers: a chain cannot hold them.
    fn layer(&self) -> Layer {
        Layer::F32(self.variables())
    }

    estimated_by!(of_counts);
}
