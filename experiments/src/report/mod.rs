//! Every recorded result as one report: tables, figures and pictures, each number beside the run that it comes from.
//!
//! * [`group`]: runs that make a table, and the published numbers that they are compared with.
//! * [`build`]: from runs to a document, with [`results`], the table of a group, and [`curves`], its figures.
//! * [`part`]: runs of other kinds that are one section: [`evaluations`], and [`variance_curve`], which measure gradients.
//!
//! A number of ours comes from the `result.json` of a run, or is the mean over those of several seeds; a published one from
//! `published.toml`. They never share a column.

pub mod build;
pub mod curves;
pub mod evaluations;
pub mod group;
pub mod part;
pub mod results;
#[cfg(test)]
pub(crate) mod testing;
pub mod variance_curve;
