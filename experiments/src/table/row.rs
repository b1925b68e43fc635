//! A row of a table: a net trained by a method, over its seeds.

use super::Table;
use super::numbers::{Difference, Ours, PublishedNumber, published_text};
use crate::cell::Cell;
use crate::cell_runner::CellResult;
use helmholtz_harness::names::format_seeds;
use helmholtz_report::{self as report, Kind};
use serde::Serialize;
use std::collections::BTreeMap;

/// A net trained by a method, over all seeds that have a run folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The net's name.
    pub net: String,
    /// The net's label.
    pub net_label: String,
    /// K, where the experiment compares numbers of particles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub particles: Option<usize>,
    /// The method's name.
    pub method: String,
    /// The method's label.
    pub method_label: String,
    /// Our number; absent while no seed is finished.
    pub ours: Option<Ours>,
    /// Our variational bound, where the table shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Ours>,
    /// The published number.
    pub published: Option<PublishedNumber>,
    /// The published variational bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_bound: Option<PublishedNumber>,
    /// Ours minus published, where the published number is a target; of the bounds where no NLL is published.
    pub difference: Option<Difference>,
    /// Number that released code reports for the same parameters, where the settings ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub released: Option<Ours>,
    /// Seeds that are not finished, with what there is of them.
    pub unfinished: Vec<(u64, String)>,
    /// The results behind the number, by seed.
    pub results: BTreeMap<u64, CellResult>,
}

impl Row {
    /// Whether the cell belongs to this row.
    pub(super) fn holds(&self, cell: &Cell) -> bool {
        (&self.net, self.particles, &self.method) == (&cell.net, cell.particles(), &cell.method)
    }

    /// The row of what released code reports for the same parameters, where the settings ask for it.
    pub(crate) fn by_released(&self) -> Option<Self> {
        let released = self.released?;
        Some(Self {
            method_label: format!("{}, by the released formula", self.method_label),
            ours: Some(released),
            bound: None,
            difference: self.published.and_then(|number| released.minus(number)),
            released: None,
            ..self.clone()
        })
    }

    /// `Linear`, or `Structured, K = 5`: what the rows of a group have in common.
    pub(crate) fn group_label(&self) -> String {
        match self.particles {
            Some(particles) => format!("{}, K = {particles}", self.net_label),
            None => self.net_label.clone(),
        }
    }

    /// [`ours_of`](Self::ours_of) in this table.
    pub(super) fn ours_in(&self, table: &Table) -> report::Cell {
        self.ours_of(&table.dataset, table.synthetic, table.standard_error)
    }

    /// `121.32`, `105.48 ± 0.12`, `103.51 (112.70)` with the bound, and the mark of generated images; ± is the standard error over
    /// seeds where that is asked for, else their sd.
    pub(crate) fn ours_of(
        &self,
        dataset: &str,
        synthetic: bool,
        standard_error: bool,
    ) -> report::Cell {
        let mark = match synthetic {
            true => format!(" [{dataset}]"),
            false => String::new(),
        };
        let ours = self.ours.map(|ours| match standard_error {
            true => ours.with_error(self.results.len()),
            false => ours,
        });
        let bound = self.bound.map(|bound| format!(" ({:.2})", bound.mean));
        let bound = bound.unwrap_or_default();
        ours.map_or(report::Cell::of(Kind::Ours, "-"), |ours| {
            let text = format!("{}{bound}{mark}", ours.text());
            report::Cell::number(Kind::Ours, text, ours.mean).with_spread(ours.sd)
        })
    }

    /// The standard error over test images of each seed's number.
    pub(super) fn errors_text(&self) -> String {
        let errors = self
            .results
            .values()
            .map(|r| format!("{:.2}", r.reported_se()));
        match self.results.is_empty() {
            true => "-".to_string(),
            false => errors.collect::<Vec<_>>().join(", "),
        }
    }

    /// `105.5 ± 0.1`, `106.9 (109.4)*` with the bound.
    pub(crate) fn published_text(&self) -> String {
        published_text(self.published, self.published_bound)
    }

    /// The published number, or bound, as a cell.
    pub(crate) fn published_cell(&self) -> report::Cell {
        let text = self.published_text();
        match self.published.or(self.published_bound) {
            Some(number) => {
                let kind = match number.quoted {
                    true => Kind::Quoted,
                    false => Kind::Published,
                };
                report::Cell::number(kind, text, number.mean).with_spread(number.sd)
            }
            None => report::Cell::of(Kind::Published, text),
        }
    }

    /// `seeds 1-5`.
    pub(crate) fn seeds_text(&self) -> String {
        let seeds: Vec<u64> = self.results.keys().copied().collect();
        match seeds.is_empty() {
            true => "-".to_string(),
            false => format_seeds(&seeds),
        }
    }

    /// `+15.82 (+158 sd)`.
    pub(crate) fn difference_text(&self) -> String {
        self.difference.map_or("-".to_string(), |d| match d.sds {
            Some(_) => format!("{} ({} sd)", d.nats_text(), d.sds_text()),
            None => d.nats_text(),
        })
    }

    /// The selected epoch of those done: `5 of 5`, `620-655 of 1000`, `85 of 100/1000` when cut short.
    pub(crate) fn epoch_text(&self) -> String {
        let range = |of: fn(&CellResult) -> u64| {
            let first = self.results.values().map(of).min()?;
            let last = self.results.values().map(of).max()?;
            Some(if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            })
        };
        let (Some(selected), Some(done), Some(planned)) = (
            range(|r| r.selected_epoch),
            range(|r| r.epochs_done),
            range(|r| r.epochs_planned),
        ) else {
            return self
                .unfinished
                .first()
                .map_or(String::new(), |(_, text)| text.clone());
        };
        let of = if done == planned {
            done
        } else {
            format!("{done}/{planned}")
        };
        format!("{selected} of {of}")
    }
}
