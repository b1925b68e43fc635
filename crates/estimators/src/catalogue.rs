//! The list of estimators, with what each states of itself: help texts, tables and certificates are made from it.

use std::fmt;
use std::iter::Copied;
use std::ops::Deref;
use std::slice::Iter;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::{Declaration, Description, LatentKind, Method, Target};

/// An estimator under its name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As `--method` takes it.
    pub name: &'static str,
    /// As tables print it.
    pub label: &'static str,
    /// What it does, in a line.
    pub idea: &'static str,
    /// What its estimate is unbiased for.
    pub target: Target,
    /// The estimator.
    pub method: Method,
}

impl From<Method> for Entry {
    /// As the estimator describes itself.
    fn from(method: Method) -> Self {
        let Description {
            name,
            label,
            idea,
            target,
        } = method.description();
        Self {
            name,
            label,
            idea,
            target,
            method,
        }
    }
}

impl Entry {
    /// The least number of particles, outside of a chain.
    pub fn least_particles(&self) -> usize {
        self.method.least_particles(false)
    }

    /// Evaluations of f a datum and layer as a formula in K, such as `2 K` or `K + 1`, in the second stage of a method that has one. For
    /// latents of C classes where that matters.
    pub fn evaluations(&self) -> String {
        let retained = self.method.keeps_chains();
        let count = |particles| self.method.evaluations(particles, 1, retained);
        if let Some(formula) = self.method.evaluations_of_classes() {
            return formula.into();
        }
        let (two, three) = (count(2), count(3));
        let slope = three - two;
        let each = match slope {
            0 => return two.to_string(),
            1 => "K".to_string(),
            _ => format!("{slope} K"),
        };
        match two - 2 * slope {
            0 => each,
            more => format!("{each} + {more}"),
        }
    }

    /// What it learns beside the model, or nothing.
    pub fn learns(&self) -> String {
        let controls = self.method.controls();
        let parts = [
            (controls.baselines, "baselines"),
            (controls.temperature.is_some(), "τ"),
            (controls.scales > 0, "η"),
            (controls.critics, "r"),
            (controls.coefficients > 0, "coefficients"),
            (controls.surrogates, "surrogates"),
        ];
        let named: Vec<_> = parts.iter().filter(|(has, _)| *has).map(|p| p.1).collect();
        named.join(", ")
    }

    /// The kinds of latents it is defined for.
    pub fn latents(&self) -> String {
        self.method.domain().to_string()
    }
}

/// The catalogue as a Markdown table.
pub fn markdown() -> String {
    let mut table = String::from(
        "| `--method` | idea | unbiased for | latents | least K | evaluations of f | learns beside the model |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for entry in Method::CATALOGUE {
        let row = [
            format!("`{}`", entry.name),
            entry.idea.into(),
            entry.target.to_string(),
            entry.latents(),
            entry.least_particles().to_string(),
            entry.evaluations(),
            entry.learns(),
        ];
        table.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    table
}

/// Every estimator, as a slice of entries in the order of tables.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue;

static ENTRIES: LazyLock<Vec<Entry>> =
    LazyLock::new(|| Method::all().into_iter().map(Entry::from).collect());

impl Catalogue {
    /// The entries.
    pub fn iter(&self) -> Iter<'static, Entry> {
        ENTRIES.iter()
    }

    /// Those that are defined for these latents.
    pub fn of(&self, latents: LatentKind) -> impl Iterator<Item = Entry> {
        let defined = move |entry: &Entry| entry.method.domain().takes(latents);
        self.iter().copied().filter(defined)
    }
}

impl Deref for Catalogue {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &ENTRIES
    }
}

impl IntoIterator for Catalogue {
    type Item = Entry;
    type IntoIter = Copied<Iter<'static, Entry>>;

    fn into_iter(self) -> Self::IntoIter {
        ENTRIES.iter().copied()
    }
}

impl Method {
    /// Every estimator, in the order of tables.
    pub const CATALOGUE: Catalogue = Catalogue;
}

/// A name that no estimator has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}`; choose one of {}", Names)]
pub struct UnknownMethod {
    /// The name that was asked for.
    pub name: String,
}

struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Method::CATALOGUE.iter().map(|entry| entry.name).collect();
        f.write_str(&names.join(", "))
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Self::CATALOGUE.iter().find(|entry| entry.name == name);
        found
            .map(|entry| entry.method)
            .ok_or_else(|| UnknownMethod { name: name.into() })
    }
}
