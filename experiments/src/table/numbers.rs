//! The numbers of a table: ours, the published ones, and their difference.

use crate::published::Number;
use serde::Serialize;

/// Our test NLL, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ours {
    /// The mean over seeds.
    pub mean: f64,
    /// The sample standard deviation over seeds, with two seeds and more.
    pub sd: Option<f64>,
}

/// A published test NLL, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PublishedNumber {
    /// The mean.
    pub mean: f64,
    /// The standard deviation over runs.
    pub sd: Option<f64>,
    /// Whether the authors copied it from elsewhere: shown, no target.
    pub quoted: bool,
    /// Whether it is probably a slip of the publication: shown, no target.
    pub doubtful: bool,
}

/// Ours minus published.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// Difference in nats.
    pub nats: f64,
    /// Difference in units of √(sd² published + sd² ours), where the publication has an sd.
    pub sds: Option<f64>,
}

/// The most that a publication with one decimal rounds to 0.0, in nats.
const ROUNDED: f64 = 0.05;

impl Ours {
    /// Mean and sample standard deviation of the runs' numbers.
    pub(crate) fn of(numbers: &[f64]) -> Option<Self> {
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let sd = || (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        (!numbers.is_empty()).then(|| Self {
            mean,
            sd: (numbers.len() > 1).then(sd),
        })
    }

    /// `121.32`, `105.48 ± 0.12`.
    pub(crate) fn text(self) -> String {
        let Self { mean, sd } = self;
        sd.map_or(format!("{mean:.2}"), |sd| format!("{mean:.2} ± {sd:.2}"))
    }

    /// The same with the standard error over so many seeds in place of the sd.
    pub(super) fn with_error(self, seeds: usize) -> Self {
        let sd = self.sd.map(|sd| sd / (seeds as f64).sqrt());
        Self { sd, ..self }
    }

    /// Ours minus a published target.
    pub(super) fn minus(self, published: PublishedNumber) -> Option<Difference> {
        let nats = self.mean - published.mean;
        let unit = |sd: f64| sd.max(ROUNDED).hypot(self.sd.unwrap_or(0.0));
        (!published.quoted && !published.doubtful).then_some(Difference {
            nats,
            sds: published.sd.map(|sd| nats / unit(sd)),
        })
    }
}

impl crate::published::Row {
    /// The published NLL on a net.
    pub(super) fn number(&self, net: &str) -> Option<PublishedNumber> {
        let Number { mean, sd } = *self.nll.get(net)?;
        Some(PublishedNumber {
            mean,
            sd,
            quoted: self.is_quoted(net),
            doubtful: self.is_doubtful(net),
        })
    }

    /// The published variational bound on a net.
    pub(super) fn bound_number(&self, net: &str) -> Option<PublishedNumber> {
        Some(PublishedNumber {
            mean: *self.bound.get(net)?,
            sd: None,
            quoted: self.is_quoted(net),
            doubtful: self.is_doubtful(net),
        })
    }
}

impl Difference {
    /// `+15.82`.
    pub(super) fn nats_text(&self) -> String {
        format!("{:+.2}", self.nats)
    }

    /// `+2.5`, `+158`.
    pub(super) fn sds_text(&self) -> String {
        match self.sds {
            Some(sds) if sds.abs() >= 100.0 => format!("{sds:+.0}"),
            Some(sds) => format!("{sds:+.1}"),
            None => "-".to_string(),
        }
    }
}

impl PublishedNumber {
    /// `105.5 ± 0.1`, with the decimals of the publication but for zeros at their end.
    pub(super) fn digits(&self) -> String {
        let tenths = self.mean * 10.0;
        let decimals = if (tenths - tenths.round()).abs() < 1e-6 {
            1
        } else {
            2
        };
        let mean = self.mean;
        match self.sd {
            Some(sd) => format!("{mean:.decimals$} ± {sd:.1}"),
            None => format!("{mean:.decimals$}"),
        }
    }

    /// A star when quoted, a dagger when doubtful.
    pub(super) fn marks(&self) -> String {
        let mark = |is: bool, mark| if is { mark } else { "" };
        format!("{}{}", mark(self.quoted, "*"), mark(self.doubtful, "†"))
    }
}

/// A published NLL with its bound in brackets, as far as there are any, and their marks.
pub(super) fn published_text(
    nll: Option<PublishedNumber>,
    bound: Option<PublishedNumber>,
) -> String {
    let of_nll = nll.map(|nll| nll.digits());
    let of_bound = bound.map(|bound| format!("({})", bound.digits()));
    let parts: Vec<String> = [of_nll, of_bound].into_iter().flatten().collect();
    match nll.or(bound) {
        Some(number) => format!("{}{}", parts.join(" "), number.marks()),
        None => "-".to_string(),
    }
}
