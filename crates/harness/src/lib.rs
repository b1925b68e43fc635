//! From an experiment to its outcome: plan, run, watch, resume, show. It knows no tensors: what a run computes is the experiment's.
//!
//! An [`Experiment`](experiment::Experiment) names its *units*, what can run alone in a folder of its own. [`reproduce`](reproduce::reproduce)
//! looks at their folders, measures what is left, drives several at once with live progress, and shows what has come of it:
//!
//! | step | module |
//! |---|---|
//! | what an experiment is | [`experiment`], [`unit`](mod@unit) |
//! | what its folders hold | [`status`] |
//! | what is left, how long it takes, what it needs | [`plan`], [`work`], [`schedule`], [`machine`], [`plan_text`] |
//! | running units, what they tell, and stopping | [`driver`], [`event`], [`cancel`] |
//! | handing them to a cluster, and running there | [`engine`] |
//! | watching them | [`progress`], [`overview`] |
//! | where a command writes | [`streams`], [`loading`] |
//! | names that a user types, profiles of a file | [`names`], [`profiles`] |
//! | what can go wrong | [`error`] |
//! | the whole | [`reproduce`](mod@reproduce) |

pub mod cancel;
pub mod driver;
pub mod engine;
pub mod error;
pub mod event;
pub mod experiment;
#[cfg(test)]
mod fake;
pub mod loading;
pub mod machine;
pub mod names;
pub mod overview;
pub mod plan;
pub mod plan_text;
pub mod profiles;
pub mod progress;
pub mod reproduce;
pub mod schedule;
pub mod status;
pub mod streams;
pub mod unit;
pub mod work;
