//! The toy experiment of the ARM slides (Yin & Zhou 2018): one Bernoulli variable, gradients of small size and large
//! variance.
//!
//! Maximise E f(z), f(z) = (z − p₀)², z ~ Bernoulli(σ(a)), by gradient ascent on the logit a. The exact gradient
//! (1 − 2p₀) σ(1 − σ) is small when p₀ is near ½, and the noise of REINFORCE does not shrink with it. What is estimated is
//! estimated by the library's own estimators, on a model ([`OneVariable`]) whose f is a table. The same for one variable of C classes is
//! of ARSM's released code (Yin, Yue & Zhou 2019).
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`] | `experiments/arm-toy.toml` |
//! | [`OneVariable`] | independent copies of one bit or one categorical variable, each with its own logits and f |
//! | [`Estimator`] | the estimators by name |
//! | [`law`] | variances in closed form |
//! | [`ascent`] | trajectories |
//! | [`variance`] | sampled variances against the logit |
//! | [`classes`] | trajectories of a categorical variable, and variances along them |
//! | [`t1`] | variances on a small Helmholtz machine |
//! | [`Outcome`] | the numbers of a run, and its table |
//! | [`figures`] | the figures of a run |

pub mod ascent;
pub mod classes;
mod estimator;
mod experiment;
pub mod figures;
pub mod law;
mod model;
mod outcome;
mod run;
mod settings;
pub mod t1;
pub mod variance;

pub use estimator::Estimator;
pub use experiment::{Toy, open};
pub use model::{OneBit, OneClass, OneVariable};
pub use outcome::{Numbers, Outcome, READER};
pub use run::{Report, Run};
pub use settings::{AscentSettings, ClassesSettings, Settings, T1Settings, VarianceSettings};

/// f of z = 0 and of z = 1, where f(z) = (z − p₀)².
pub fn table(target: f64) -> [f64; 2] {
    [target.powi(2), (1.0 - target).powi(2)]
}

/// σ(a).
pub fn sigmoid(a: f64) -> f64 {
    1.0 / (1.0 + (-a).exp())
}
