//! The whole experiment.

use super::ascent::{ascend, exact};
use super::outcome::Ends;
use super::{Numbers, Settings, figures, t1, variance};
use crate::error::HarnessError;
use crate::plot::Figure;
use helmholtz_ops::AutodiffBackend;

/// What a run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The numbers.
    pub numbers: Numbers,
    /// The figures, by the names of their files.
    pub figures: [(&'static str, Figure); 3],
}

/// Runs the experiment on a backend's default device; `going_on` hears what is done next, and may stop it.
///
/// # Errors
/// What `going_on` returns.
pub fn run<B: AutodiffBackend>(
    settings: &Settings,
    going_on: &dyn Fn(&str) -> Result<(), HarnessError>,
) -> Result<Report, HarnessError> {
    let (seed, device) = (settings.seed, Default::default());
    let mut ascents = Vec::new();
    for (i, &samples) in settings.ascent.samples.iter().enumerate() {
        for (j, &estimator) in settings.ascent.estimators.iter().enumerate() {
            let label = format!("ascending by {}, K = {samples}", estimator.label());
            let stream = (seed, (i << 32 | j) as u64);
            let go_on = || going_on(&label);
            let kind = (estimator, samples);
            ascents.extend(ascend::<B>(
                &settings.ascent,
                kind,
                stream,
                &device,
                &go_on,
            )?);
        }
    }
    let go_on = || going_on("sampling variances");
    let variances = variance::sample::<B>(&settings.variance, seed, &device, &go_on)?;
    let go_on = || going_on("sampling variances on T1");
    let t1 = t1::sample::<B>(&settings.t1, seed, &device, &go_on)?;

    let figures = [
        ("trajectories", figures::trajectories(settings, &ascents)),
        ("gradients", figures::gradients(settings, &ascents)),
        ("variance", figures::variances(settings, &variances)),
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
    Ok(Report {
        numbers: Numbers {
            ascents: ends.collect(),
            variances,
            t1,
        },
        figures,
    })
}
