//! The nets by name: what a cell trains.

use crate::cell::{Cell, Settings};
use crate::error::HarnessError;
use crate::kept::Keeps;
use crate::likelihood::runner::failed;
use crate::names::unknown;
use burn::backend::Autodiff;
use burn::tensor::DType;
use burn::tensor::backend::BackendTypes;
use helmholtz_categorical_vae::CategoricalVaeConfig;
use helmholtz_conditional_sbn::{ConditionalSbnConfig, FeedforwardConfig};
use helmholtz_estimators::{Method, OfBits};
use helmholtz_ops::Backend;
use helmholtz_sbn::{Initialisation, MixedSbnConfig, SbnConfig};

/// The net of table 2.
const CATEGORICAL: &str = "categorical";
/// The net of table 3.
const STRUCTURED: &str = "structured";

/// What a net is built from.
#[derive(Debug, Clone, PartialEq)]
pub enum Net {
    /// `linear`, `nonlinear`, `two-layers`, `sbn-200` …: a sigmoid belief network.
    Sbn(SbnConfig),
    /// `sbn-200-10c` …: one with a categorical variable on top.
    MixedSbn(MixedSbnConfig),
    /// `categorical`: an autoencoder with categorical latents.
    Categorical(CategoricalVaeConfig),
    /// `structured`: the lower half of an image given the upper one.
    Structured(ConditionalSbnConfig),
    /// `feedforward`, `feedforward-linear`: the same without an inference net.
    Feedforward(FeedforwardConfig),
}

/// Work that is done with a model, of whichever net.
pub trait OnModel<B: Backend> {
    /// What comes of it.
    type Output;

    /// Does it.
    ///
    /// # Errors
    /// The work's own.
    fn on<M: Keeps<B>>(self, model: M) -> Result<Self::Output, HarnessError>;
}

impl Net {
    /// The names of all nets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SbnConfig::NAMES
            .into_iter()
            .chain(MixedSbnConfig::NAMES)
            .chain([CATEGORICAL, STRUCTURED])
            .chain(FeedforwardConfig::NAMES)
    }

    /// The net called `name`.
    ///
    /// # Errors
    /// [`HarnessError::Unknown`].
    pub fn named(name: &str) -> Result<Self, HarnessError> {
        match name {
            CATEGORICAL => Ok(Self::Categorical(CategoricalVaeConfig::table_2())),
            STRUCTURED => Ok(Self::Structured(ConditionalSbnConfig::table_3())),
            _ => {
                let sbn = SbnConfig::named(name).ok().map(Self::Sbn);
                let mixed = || MixedSbnConfig::named(name).ok().map(Self::MixedSbn);
                let feedforward = || FeedforwardConfig::named(name).map(Self::Feedforward);
                let known = sbn.or_else(mixed).or_else(feedforward);
                known.ok_or_else(|| unknown("net", name, Self::names().map(String::from)))
            }
        }
    }

    /// Its stochastic layers.
    pub fn layers(&self) -> usize {
        match self {
            Self::Sbn(config) => config.latent.len(),
            Self::MixedSbn(config) => config.bits.latent.len() + 1,
            Self::Categorical(_) | Self::Structured(_) => 1,
            Self::Feedforward(config) => config.latent.len(),
        }
    }

    /// The numbers of one particle: logits of what is seen, and latents.
    pub fn values(&self) -> usize {
        match self {
            Self::Sbn(config) => config.visible + config.latent.iter().sum::<usize>(),
            Self::MixedSbn(config) => {
                let bits = &config.bits;
                bits.visible + bits.latent.iter().sum::<usize>() + config.classes
            }
            Self::Categorical(config) => {
                config.visible + config.variables * config.classes as usize
            }
            Self::Structured(config) => config.target + config.latent,
            Self::Feedforward(config) => config.target + config.latent.iter().sum::<usize>(),
        }
    }

    /// Whether its latents are bits, all of them.
    pub fn is_of_bits(&self) -> bool {
        !matches!(self, Self::Categorical(_) | Self::MixedSbn(_))
    }

    /// The net that a cell trains.
    ///
    /// # Errors
    /// A cell that cannot be run, whatever the data and the device: a net or a method that there is not, a method or a
    /// setting that the net has no use for, too few particles.
    pub fn of(cell: &Cell) -> Result<Self, HarnessError> {
        let refused = |problem: String| {
            let file = cell.label();
            Err(HarnessError::Spec { file, problem })
        };
        let settings = &cell.settings;
        let method: Method = cell.method.parse().map_err(failed)?;
        let method = method.with_stage1_extra(settings.stage1_extra > 0);
        let retains = method.keeps_chains() && settings.switch_epoch() == 0;
        let least = method.least_particles(retains);
        if settings.particles < least {
            return refused(format!(
                "`{}` needs at least {least} particles, not {}",
                cell.method, settings.particles
            ));
        }
        let net = match Self::named(&cell.net)? {
            Self::Categorical(config) => Self::Categorical(CategoricalVaeConfig {
                free_logits: settings.free_logits,
                learned_prior: settings.learned_prior.unwrap_or(config.learned_prior),
                slope: settings.slope.unwrap_or(config.slope),
                ..config
            }),
            net => net,
        };
        let categorical = matches!(net, Self::Categorical(_));
        let of_bits = [
            ("slope", settings.slope.is_some() && !categorical),
            (
                "learned_prior",
                settings.learned_prior.is_some() && !categorical,
            ),
            ("signed", settings.signed),
            ("tanh", settings.tanh),
            ("centred", settings.centred),
            ("glorot", settings.glorot),
        ];
        let net = match (net, of_bits.into_iter().find(|(_, set)| *set)) {
            (Self::Sbn(config), _) => Self::Sbn(changed(config, settings)),
            (_, Some((key, _))) => {
                let too = match key {
                    "slope" | "learned_prior" => format!(" and the net `{CATEGORICAL}`"),
                    _ => String::new(),
                };
                return refused(format!(
                    "`{key}` is for sigmoid belief networks of bits{too} alone"
                ));
            }
            (net, None) => net,
        };
        if let Some(why) = net.objection(&method) {
            return refused(format!("`{}` on `{}`: {why}", cell.method, cell.net));
        }
        if settings.analytic_kl && !method.takes_analytic_kl() {
            return refused(format!(
                "`analytic_kl` is for the pathwise estimators, AR, ARS and ARSM, not for `{}`",
                cell.method
            ));
        }
        if settings.analytic_kl && net.layers() > 1 {
            return refused(format!(
                "`analytic_kl` is for nets of one stochastic layer, and `{}` has {}",
                cell.net,
                net.layers()
            ));
        }
        for (key, set) in [
            ("free_logits", settings.free_logits),
            ("released_nll", settings.released_nll),
        ] {
            if set && !categorical {
                return refused(format!("`{key}` is for the net `{CATEGORICAL}` alone"));
            }
        }
        Ok(net)
    }

    /// Why the method means nothing for the net, if so.
    pub fn objection(&self, method: &Method) -> Option<&'static str> {
        match (self, method) {
            (Self::Feedforward(_), Method::OfBits(OfBits::Concrete(_))) => Some(
                "the method relaxes prior and proposal at two temperatures; without an inference net they are the same law, whose \
                 ratio would no longer be 1",
            ),
            (_, Method::OfBits(_)) if !self.is_of_bits() => {
                Some("the method is defined for bits alone, and not all of these latents are")
            }
            _ => None,
        }
    }

    /// Does `work` with the model of this net whose parameters are drawn for `seed`.
    ///
    /// # Errors
    /// The work's own.
    pub fn build<B: Backend, W: OnModel<B>>(
        &self,
        seed: u64,
        device: &<B as BackendTypes>::Device,
        work: W,
    ) -> Result<W::Output, HarnessError> {
        match self {
            Self::Sbn(net) => {
                let model = net.init::<Autodiff<B>>(seed, DType::F32, device);
                work.on(model.map_err(failed)?)
            }
            Self::MixedSbn(net) => {
                let model = net.init::<Autodiff<B>>(seed, DType::F32, device);
                work.on(model.map_err(failed)?)
            }
            Self::Categorical(net) => {
                let model = net.init::<Autodiff<B>>(seed, DType::F32, device);
                work.on(model.map_err(failed)?)
            }
            Self::Feedforward(net) => {
                let model = net.init::<Autodiff<B>>(seed, DType::F32, device);
                work.on(model.map_err(failed)?)
            }
            Self::Structured(net) => {
                let model = net.init::<Autodiff<B>>(seed, DType::F32, device);
                work.on(model.map_err(failed)?)
            }
        }
    }
}

/// The network with what the settings change of it.
fn changed(config: SbnConfig, settings: &Settings) -> SbnConfig {
    SbnConfig {
        slope: settings.slope.unwrap_or(config.slope),
        signed: settings.signed || config.signed,
        tanh: settings.tanh || config.tanh,
        centred: settings.centred || config.centred,
        learned_prior: settings.learned_prior.unwrap_or(config.learned_prior),
        initialisation: match settings.glorot {
            true => Initialisation::Xavier { bias: 0.0 },
            false => config.initialisation,
        },
        ..config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;

    #[test]
    fn every_name_is_a_net_and_others_are_answered_with_the_nearest() {
        for name in Net::names() {
            assert!(Net::named(name).is_ok(), "{name}");
        }
        let error = Net::named("structure").unwrap_err().to_string();
        assert!(
            error.contains("Did you mean `structured`?") && error.contains("two-layers"),
            "{error}"
        );
    }

    #[test]
    fn a_cell_that_cannot_be_run_is_refused_with_the_reason() {
        let refusal = |net: &str, method: &str, change: &dyn Fn(&mut Cell)| {
            let mut cell = cell(net, method, 1);
            change(&mut cell);
            Net::of(&cell).unwrap_err().to_string()
        };
        let as_it_is = |_: &mut Cell| {};
        let text = refusal("categorical", "arm", &as_it_is);
        assert!(
            text.contains("categorical / arm / seed 1") && text.contains("bits alone"),
            "{text}"
        );
        let text = refusal("structured", "rloo", &|cell| cell.settings.particles = 1);
        assert!(text.contains("at least 2 particles, not 1"), "{text}");
        let text = refusal("structured", "jsa", &|cell| {
            cell.settings.free_logits = true
        });
        assert!(text.contains("`free_logits`"), "{text}");
        let text = refusal("linear", "jsa", &|cell| cell.settings.released_nll = true);
        assert!(text.contains("`released_nll`"), "{text}");
        let with_kl = |cell: &mut Cell| cell.settings.analytic_kl = true;
        let text = refusal("categorical", "rloo", &with_kl);
        assert!(text.contains("not for `rloo`"), "{text}");
        let text = refusal("two-layers", "straight-through", &with_kl);
        assert!(text.contains("one stochastic layer"), "{text}");
        let text = refusal("feedforward", "concrete", &as_it_is);
        assert!(text.contains("two temperatures"), "{text}");
        let text = refusal("structured", "jsa", &|cell| {
            cell.settings.learned_prior = Some(true)
        });
        assert!(text.contains("and the net `categorical`"), "{text}");
        let text = refusal("structured", "jsa", &|cell| cell.settings.signed = true);
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
        assert_eq!(Net::of(&changed).unwrap(), Net::Sbn(expected));
        let as_it_is = cell("two-layers", "arm", 1);
        assert_eq!(Net::of(&as_it_is).unwrap(), Net::Sbn(own));
    }

    #[test]
    fn a_particle_has_the_logits_of_the_pixels_and_its_latents() {
        let values = |name: &str| Net::named(name).unwrap().values();
        assert_eq!(values("linear"), 784 + 200);
        assert_eq!(values("two-layers"), 784 + 200 + 200);
        assert_eq!(values("sbn-200-10c"), 784 + 200 + 10);
        assert_eq!(values("categorical"), 784 + 20 * 10);
        assert_eq!(values("structured"), 392 + 50);
        assert_eq!(values("feedforward"), 392 + 200 + 200);
    }

    #[test]
    fn free_logits_and_a_learned_prior_reach_the_net() {
        let mut free = cell("categorical", "st-gumbel-softmax-learned", 1);
        free.settings.free_logits = true;
        free.settings.learned_prior = Some(true);
        let Net::Categorical(config) = Net::of(&free).unwrap() else {
            panic!("a categorical net")
        };
        assert!(config.free_logits && config.learned_prior);
    }
}
