//! How a family registers its estimators: a line each, from which everything that is chosen at run time is made.

/// A family, chosen at run time. A line is `Variant(Type): latents, settings;`, the settings an array of what the catalogue has of
/// the type, in the order of tables.
///
/// | latents | models for which the estimator compiles |
/// |---|---|
/// | `weights` | all: it is a [`Weighting`](crate::Weighting) |
/// | `any` | all |
/// | `discrete` | of bits and classes, which can be relaxed and exchanged |
/// | `bits`, `counts` | of these alone |
macro_rules! family {
    ($(#[$doc:meta])* $family:ident { $($variant:ident($own:ty): $latents:ident, $settings:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $family {
            $(
                #[doc = concat!("[`", stringify!($variant), "`](", stringify!($own), ").")]
                $variant($own),
            )*
        }

        $(
            impl crate::family::Member for $own {
                type Family = $family;

                fn in_family(self) -> $family {
                    $family::$variant(self)
                }
            }
        )*

        impl $family {
            /// All of the family, in the order of tables.
            pub(crate) fn all() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($settings.map(Self::$variant));)*
                all
            }

            /// What the estimator states of itself.
            pub(crate) fn declared(&self) -> &dyn crate::Declaration {
                match self {
                    $(Self::$variant(own) => own,)*
                }
            }

            /// [`Method::weighting`](crate::Method::weighting).
            pub(crate) fn weighting(&self) -> Option<&dyn crate::Weighting> {
                match self {
                    $(Self::$variant(_own) => weighting_of!($latents, _own),)*
                }
            }

            /// [`Declaration::awake`](crate::Declaration::awake).
            pub(crate) fn awake(self) -> Self {
                match self {
                    $(Self::$variant(own) => Self::$variant(crate::Declaration::awake(own)),)*
                }
            }

            /// [`Declaration::claimed`](crate::Declaration::claimed).
            pub(crate) fn claimed(self) -> Self {
                match self {
                    $(Self::$variant(own) => Self::$variant(crate::Declaration::claimed(own)),)*
                }
            }

            /// [`Declaration::with_stage1_extra`](crate::Declaration::with_stage1_extra).
            pub(crate) fn with_stage1_extra(self, extra: bool) -> Self {
                match self {
                    $(Self::$variant(own) => {
                        Self::$variant(crate::Declaration::with_stage1_extra(own, extra))
                    })*
                }
            }
        }

        impl crate::Chosen for $family {
            estimates!($family { $($variant: $latents),* } of_discrete
                (M::Variables: helmholtz_distributions::Relaxable + crate::Race));
            estimates!($family { $($variant: $latents),* } of_bits
                (M: crate::Layered<B, Variables = helmholtz_distributions::Bits>));
            estimates!($family { $($variant: $latents),* } of_counts
                (M: crate::Layered<B, Variables = helmholtz_distributions::Counts>));
        }
    };
}

/// The same estimate of whichever estimator of a family it is, for models of some latents.
macro_rules! estimates {
    ($family:ident { $($variant:ident: $latents:ident),* } $of:ident ($($bound:tt)*)) => {
        crate::latent::estimate_fn!($of($($bound)*), (self, _model, _learned, _batch, _noise, _chance) => {
            match self {
                $(Self::$variant(_own) => {
                    $of!($latents, self, _own(_model, _learned, _batch, _noise, _chance))
                })*
            }
        });
    };
}

/// An estimator as a [`Weighting`](crate::Weighting), if it is one.
macro_rules! weighting_of {
    (weights, $own:ident) => {
        Some($own)
    };
    ($other:ident, $own:ident) => {
        None
    };
}

/// An estimate for latents that can be relaxed and exchanged.
macro_rules! of_discrete {
    (weights, $family:ident, $own:ident($($argument:expr),*)) => {{
        let own: &dyn crate::Weighting = $own;
        crate::Estimator::<B, M>::estimate(own, $($argument),*)
    }};
    (any, $family:ident, $own:ident($($argument:expr),*)) => {
        crate::Estimator::<B, M>::estimate($own, $($argument),*)
    };
    (discrete, $($call:tt)*) => {
        of_discrete!(any, $($call)*)
    };
    ($other:ident, $family:ident, $own:ident($model:expr, $($argument:expr),*)) => {
        crate::family::not_defined::<B, _>($family.declared(), $model)
    };
}

/// An estimate for bits.
macro_rules! of_bits {
    (bits, $($call:tt)*) => {
        of_discrete!(any, $($call)*)
    };
    ($($call:tt)*) => {
        of_discrete!($($call)*)
    };
}

/// An estimate for counts.
macro_rules! of_counts {
    (counts, $($call:tt)*) => {
        of_discrete!(any, $($call)*)
    };
    (discrete, $($call:tt)*) => {
        of_discrete!(bits, $($call)*)
    };
    ($($call:tt)*) => {
        of_discrete!($($call)*)
    };
}

pub(crate) use {estimates, family, of_bits, of_counts, of_discrete, weighting_of};

/// An estimator that stands in the list of its family.
pub trait Member {
    /// The family.
    type Family;

    /// The same as one of the family.
    fn in_family(self) -> Self::Family;
}

use helmholtz_ops::Backend;

use crate::{Declaration, EstimateError, Propose};

/// That an estimator is defined for other latents than the model's.
pub(crate) fn not_defined<B: Backend, T>(
    declared: &dyn Declaration,
    model: &impl Propose<B>,
) -> Result<T, EstimateError> {
    Err(EstimateError::NotDefined {
        domain: declared.domain(),
        model: model.latents(),
    })
}
