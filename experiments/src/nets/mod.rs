//! The nets by name: what a cell trains. A family of nets is a file: its names, sizes, options and what its runs keep.

/// The items of a [`NetConfig`] that the crate of the model has: the model, its check and its start.
macro_rules! of_its_crate {
    ($config:ident, $model:ident) => {
        type Model<B: Backend> = $model<Autodiff<B>>;

        fn check(&self) -> Result<(), $crate::nets::Failed> {
            Ok($config::check(self)?)
        }

        fn init<B: Backend>(
            &self,
            seed: u64,
            device: &<B as burn::tensor::backend::BackendTypes>::Device,
        ) -> Result<$model<Autodiff<B>>, $crate::nets::Failed> {
            Ok($config::init(self, seed, burn::tensor::DType::F32, device)?)
        }
    };
}

mod any;
mod categorical;
mod conditional;
mod counts;
mod feedforward;
mod gaussian;
mod mixed_sbn;
mod own;
mod sbn;

pub(crate) use any::AnyNet;
pub(crate) use own::AnyFamily;

use crate::artifacts::Artifacts;
use crate::cell::Settings;
use crate::error::HarnessError;
use burn::tensor::backend::BackendTypes;
use helmholtz_categorical_vae::CategoricalVaeConfig;
use helmholtz_conditional_sbn::{ConditionalSbnConfig, FeedforwardConfig};
use helmholtz_count_vae::CountVaeConfig;
use helmholtz_datasets::Images;
use helmholtz_estimators::{Declaration, Domain, LatentKind, Method};
use helmholtz_ops::Backend;
use helmholtz_sbn::{GaussianVaeConfig, MixedSbnConfig, SbnConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// The families of nets, in the order of tables.
pub(crate) fn families() -> Vec<AnyFamily> {
    vec![
        AnyFamily::of::<SbnConfig>(),
        AnyFamily::of::<MixedSbnConfig>(),
        AnyFamily::of::<GaussianVaeConfig>(),
        AnyFamily::of::<CategoricalVaeConfig>(),
        AnyFamily::of::<CountVaeConfig>(),
        AnyFamily::of::<ConditionalSbnConfig>(),
        AnyFamily::of::<FeedforwardConfig>(),
    ]
}

/// Error that keeps a net from being built.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Configuration of a net: what it states of itself, and how it is built.
pub trait NetConfig: Clone + Debug + Send + Sync + 'static {
    /// The model.
    type Model<B: Backend>: Artifacts<B>;

    /// Its latents.
    const LATENTS: LatentKind = LatentKind::Bits;

    /// Whether its likelihood takes any numbers; else those from 0 to 1, as bits or in their place.
    const ANY_NUMBERS: bool = false;

    /// The keys of the settings that change it.
    const OPTIONS: &'static [&'static str] = &[];

    /// The same for data of so many numbers.
    fn of_width(self, width: usize) -> Self;

    /// The same with what the settings change of it.
    fn with(self, _settings: &Settings) -> Self {
        self
    }

    /// Its stochastic layers.
    fn layers(&self) -> usize {
        1
    }

    /// The numbers of one particle: those that describe p(x | h), and latents.
    fn values(&self) -> usize;

    /// Why the method means nothing for the net, if so.
    fn objection(&self, _method: &Method) -> Option<&'static str> {
        None
    }

    /// Checks that it describes a model.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self) -> Result<(), Failed> {
        Ok(())
    }

    /// The model with parameters drawn for `seed`.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    fn init<B: Backend>(
        &self,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Result<Self::Model<B>, Failed>;
}

/// A family of nets: those that have names, and those that an experiment file describes by `family` and their sizes.
pub trait Family: NetConfig + Serialize + DeserializeOwned {
    /// Name of the family in `family` of a `[[net]]`.
    const NAME: &'static str;

    /// The sizes that follow from the data.
    const FROM_DATA: &'static [&'static str];

    /// The nets that have names. One that a file describes has what it doesn't say from the first.
    fn named() -> Vec<(&'static str, Self)>;
}

/// A net, of whichever family.
#[derive(Clone)]
pub struct Net(Arc<dyn AnyNet>);

impl Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Net {
    /// The net of this configuration.
    pub fn new(config: impl NetConfig) -> Self {
        Self(Arc::new(config))
    }

    /// Its configuration, if it is of this family.
    pub fn config<C: NetConfig>(&self) -> Option<&C> {
        let any: &dyn Any = self.0.as_any();
        any.downcast_ref()
    }

    /// [`NetConfig::layers`].
    pub fn layers(&self) -> usize {
        self.0.layers()
    }

    /// [`NetConfig::values`].
    pub fn values(&self) -> usize {
        self.0.values()
    }

    /// [`NetConfig::LATENTS`].
    pub fn latents(&self) -> LatentKind {
        self.0.latents()
    }

    /// Checks that its likelihood takes these data.
    ///
    /// # Errors
    /// The first number that it does not take.
    pub(crate) fn check_data(&self, data: &Images) -> Result<(), HarnessError> {
        match data.first_outside_unit() {
            Some((row, column, x)) if !self.0.takes_any_numbers() => {
                Err(HarnessError::Unusable(format!(
                    "row {row} of the data has {x} in column {column}, but the net's likelihood is of numbers from 0 to 1. Scale or \
                     binarise them, or choose a net of such numbers"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The same for data of so many numbers.
    pub(crate) fn of_width(&self, width: usize) -> Self {
        self.0.of_width(width)
    }

    /// Why the method means nothing for the net, if so.
    pub fn objection(&self, method: &Method) -> Option<&'static str> {
        let domain = method.domain();
        if domain.takes(self.latents()) {
            return self.0.objection(method);
        }
        Some(match domain {
            Domain::Bits => {
                "the method is defined for bits alone, and not all of these latents are"
            }
            Domain::Counts => "the method is defined for counts alone, and these latents are none",
            _ => "the method is defined for bits and classes, and these latents are counts",
        })
    }

    /// The keys of the settings that change it.
    pub(crate) fn options(&self) -> &'static [&'static str] {
        self.0.options()
    }

    /// The same with what the settings change of it.
    pub(crate) fn with(&self, settings: &Settings) -> Self {
        self.0.with(settings)
    }

    /// Checks that it describes a model.
    pub(crate) fn check(&self) -> Result<(), Failed> {
        self.0.check()
    }

    /// Its configuration, of whichever type.
    pub(crate) fn any(&self) -> &dyn AnyNet {
        &*self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cell;
    use crate::cell::tests::cell;
    use crate::registry::Registry;
    use helmholtz_sbn::Initialisation;

    #[test]
    fn a_cell_that_cannot_be_run_is_refused_with_the_reason() {
        let rejection = |net: &str, method: &str, change: &dyn Fn(&mut Cell)| {
            let mut cell = cell(net, method, 1);
            change(&mut cell);
            Registry::default().trial(&cell).unwrap_err().to_string()
        };
        let as_it_is = |_: &mut Cell| {};
        let text = rejection("categorical", "arm", &as_it_is);
        assert!(
            text.contains("categorical / arm / seed 1") && text.contains("bits alone"),
            "{text}"
        );
        for (net, method, why) in [
            ("poisson-200", "arm", "bits alone"),
            ("linear", "finite-2", "counts alone"),
            ("poisson-200", "jsa", "these latents are counts"),
            ("binomial-16", "gumbel-softmax", "these latents are counts"),
        ] {
            let text = rejection(net, method, &as_it_is);
            assert!(text.contains(why), "{text}");
        }
        let text = rejection("structured", "rloo", &|cell| cell.settings.particles = 1);
        assert!(text.contains("at least 2 particles, not 1"), "{text}");
        let text = rejection("structured", "jsa", &|cell| {
            cell.settings.free_logits = true
        });
        assert!(text.contains("`free_logits`"), "{text}");
        let text = rejection("linear", "jsa", &|cell| cell.settings.released_nll = true);
        assert!(text.contains("`released_nll`"), "{text}");
        let with_kl = |cell: &mut Cell| cell.settings.analytic_kl = true;
        let text = rejection("categorical", "rloo", &with_kl);
        assert!(text.contains("not for `rloo`"), "{text}");
        let text = rejection("two-layers", "straight-through", &with_kl);
        assert!(text.contains("one stochastic layer"), "{text}");
        let text = rejection("feedforward", "concrete", &as_it_is);
        assert!(text.contains("two temperatures"), "{text}");
        let text = rejection("structured", "jsa", &|cell| {
            cell.settings.learned_prior = Some(true)
        });
        assert!(text.contains("`sbn` and `categorical-vae`"), "{text}");
        let text = rejection("structured", "jsa", &|cell| cell.settings.signed = true);
        assert!(text.contains("`signed`"), "{text}");
    }

    #[test]
    fn settings_change_a_sigmoid_belief_network() {
        let mut changed = cell("two-layers", "arm", 1);
        changed.settings.slope = Some(0.2);
        changed.settings.signed = true;
        changed.settings.tanh = true;
        changed.settings.centred = true;
        changed.settings.learned_prior = Some(true);
        changed.settings.glorot = true;
        let own = SbnConfig::named("two-layers").unwrap();
        let expected = SbnConfig {
            slope: 0.2,
            signed: true,
            tanh: true,
            centred: true,
            learned_prior: true,
            initialisation: Initialisation::Xavier { bias: 0.0 },
            ..own.clone()
        };
        assert_eq!(
            Registry::default().trial(&changed).unwrap().net.config(),
            Some(&expected)
        );
        let as_it_is = cell("two-layers", "arm", 1);
        assert_eq!(
            Registry::default().trial(&as_it_is).unwrap().net.config(),
            Some(&own)
        );
    }

    #[test]
    fn a_particle_has_the_logits_of_the_pixels_and_its_latents() {
        let registry = Registry::default();
        let values = |name: &str| registry.net(name, None).unwrap().values();
        assert_eq!(values("linear"), 784 + 200);
        assert_eq!(values("two-layers"), 784 + 200 + 200);
        assert_eq!(values("sbn-200-10c"), 784 + 200 + 10);
        assert_eq!(values("categorical"), 784 + 20 * 10);
        assert_eq!(values("binomial-16"), 784 + 16);
        assert_eq!(values("structured"), 392 + 50);
        assert_eq!(values("feedforward"), 392 + 200 + 200);
    }

    #[test]
    fn free_logits_and_a_learned_prior_reach_the_net() {
        let mut free = cell("categorical", "st-gumbel-softmax-learned", 1);
        free.settings.free_logits = true;
        free.settings.learned_prior = Some(true);
        let net = Registry::default().trial(&free).unwrap().net;
        let config = net
            .config::<CategoricalVaeConfig>()
            .expect("a categorical net");
        assert!(config.free_logits && config.learned_prior);
    }
}
