//! The whole experiment.

use super::ascent::{Ascent, ascend, exact};
use super::classes::{Climb, climb};
use super::outcome::Ends;
use super::t1::GradientVariance;
use super::variance::Variance;
use super::{Numbers, Settings, figures, t1, variance};
use crate::backend::OnBackend;
use crate::error::HarnessError;
use burn::backend::Autodiff;
use helmholtz_ops::Backend;
use helmholtz_report::figure::Figure;
use helmholtz_runs::Pieces;

/// Report of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The numbers.
    pub numbers: Numbers,
    /// The figures, by the names of their files.
    pub figures: [(&'static str, Figure); 4],
}

/// The experiment, on any backend that computes in f64.
pub struct Run<'a> {
    /// Settings of the run.
    pub settings: &'a Settings,
    /// Hears what is done next, and may stop it with an error.
    pub before: &'a dyn Fn(&str) -> Result<(), HarnessError>,
    /// Hears how many parts are done.
    pub after: &'a dyn Fn(u64),
    /// Pieces in which finished work is kept.
    pub pieces: &'a Pieces,
}

impl OnBackend for Run<'_> {
    type Output = Report;

    fn on<B: Backend>(self) -> Result<Report, HarnessError> {
        let Self {
            settings,
            before,
            after,
            pieces,
        } = self;
        let mut done = 0;
        let mut part_done = || {
            done += 1;
            after(done);
        };
        let (seed, device) = (settings.seed, Default::default());
        let mut ascents = Vec::new();
        for (i, &samples) in settings.ascent.samples.iter().enumerate() {
            for (j, &estimator) in settings.ascent.estimators.iter().enumerate() {
                let label = format!("ascending by {}, K = {samples}", estimator.label());
                let go_on = || before(&label);
                let stream = (seed, (i << 32 | j) as u64);
                let ascend = || {
                    let who = (estimator, samples);
                    ascend::<Autodiff<B>>(&settings.ascent, who, stream, &device, &go_on)
                };
                let piece = format!("ascent {i}, {j}");
                ascents.extend(pieces.get::<Vec<Ascent>, _>(&piece, ascend)?);
                part_done();
            }
        }
        let go_on = || before("sampling variances");
        let variances = pieces.get("variances", || {
            variance::sample::<Autodiff<B>>(&settings.variance, seed, &device, &go_on)
        })?;
        part_done();
        let mut climbs = Vec::new();
        let estimators = settings.classes.estimators.iter().copied().map(Some);
        for (index, estimator) in [None].into_iter().chain(estimators).enumerate() {
            let go_on = || before("ascending with classes");
            let stream = (seed, index as u64);
            let all = &settings.classes;
            climbs.push(pieces.get(&format!("climb {index}"), || {
                climb::<Autodiff<B>>(all, estimator, stream, &device, &go_on)
            })?);
            part_done();
        }
        let go_on = || before("sampling variances on T1");
        let t1 = pieces.get("T1", || {
            t1::sample::<Autodiff<B>>(&settings.t1, seed, &device, &go_on)
        })?;
        part_done();
        Ok(report(settings, ascents, variances, climbs, t1))
    }
}

fn report(
    settings: &Settings,
    mut ascents: Vec<Ascent>,
    variances: Vec<Variance>,
    classes: Vec<Climb>,
    t1: Vec<GradientVariance>,
) -> Report {
    let figures = [
        ("trajectories", figures::trajectories(settings, &ascents)),
        ("gradients", figures::gradients(settings, &ascents)),
        ("variance", figures::variances(settings, &variances)),
        ("classes", figures::classes(settings, &classes)),
    ];
    ascents.sort_by(|a, b| {
        a.target
            .total_cmp(&b.target)
            .then(a.samples.cmp(&b.samples))
    });
    let ends = ascents.iter().map(|ascent| {
        let exact = exact(&settings.ascent, ascent.target);
        let last = *exact.last().expect("it begins somewhere");
        Ends::new(ascent, last, settings.ascent.start)
    });
    Report {
        numbers: Numbers {
            ascents: ends.collect(),
            variances,
            classes,
            t1,
        },
        figures,
    }
}
