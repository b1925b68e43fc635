//! A figure as data: the TOML file that says which runs are drawn.

use super::curves::{Against, Quantity};
use crate::error::HarnessError;
use crate::names::lookup;
use crate::registry::Registry;
use crate::source::{Kind, Source};
use crate::spec::{Profile, Spec};
use serde::Deserialize;

/// A figure of runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::Curves`].
    pub kind: Kind,
    /// Names its files and their folder.
    pub name: String,
    /// Heads it.
    pub title: String,
    /// The experiment whose runs are drawn.
    pub table: String,
    /// The methods that are drawn unless the user names some.
    pub methods: Vec<String>,
    /// Quantity on the vertical axes of panels that name none.
    #[serde(default)]
    pub quantity: Quantity,
    /// The share of the epochs that the vertical axes leave out: they span the checks after it.
    #[serde(default)]
    pub from: f64,
    /// Panels in a row.
    pub columns: usize,
    /// The panels.
    pub panel: Vec<Panel>,
}

/// A panel.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Heads it.
    pub title: String,
    /// The net whose runs are drawn.
    pub net: String,
    /// K, where the experiment compares numbers of particles.
    #[serde(default)]
    pub particles: Option<usize>,
    /// Quantity on the horizontal axis.
    pub against: Against,
    /// Quantity on the vertical axis, if another than the figure's.
    #[serde(default)]
    pub quantity: Option<Quantity>,
}

impl Settings {
    /// The figure that a file describes, and the experiment whose runs it draws.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense; an unknown experiment, net or method.
    pub fn parse(source: &Source, registry: &Registry) -> Result<(Self, Spec), HarnessError> {
        let settings: Self = source.parse()?;
        let empty = settings.panel.is_empty() || settings.methods.is_empty();
        source.check(empty.then_some("a figure has at least one panel and one method"))?;
        let spec = Spec::parse(&Source::find(&settings.table)?, registry)?;
        for (index, method) in settings.methods.iter().enumerate() {
            lookup("method", method, &spec.method, |m| &m.name)?;
            let twice = settings.methods[..index].contains(method);
            source.check(twice.then(|| format!("`methods` names `{method}` twice")))?;
        }
        for panel in &settings.panel {
            lookup("net", &panel.net, &spec.net, |net| &net.name)?;
        }
        source.check(settings.particles_problem(&spec))?;
        Ok((settings, spec))
    }

    /// Returns what is wrong with the panels' numbers of particles, if anything. Where the experiment compares some, any other
    /// can be asked for as well.
    fn particles_problem(&self, spec: &Spec) -> Option<String> {
        let compares = |profile: &Profile| !profile.particles.is_empty();
        let some = spec.profile.values().any(compares);
        let all = spec.profile.values().all(compares);
        self.panel.iter().find_map(|panel| {
            let (title, table) = (&panel.title, &self.table);
            match panel.particles {
                Some(_) if !some => Some(format!(
                    "panel `{title}` names `particles`, and {table} compares no numbers of particles: leave it out"
                )),
                None if all => Some(format!(
                    "panel `{title}` needs `particles`: {table} compares numbers of particles"
                )),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Selection;

    #[test]
    fn every_figure_that_comes_with_the_program_draws_cells_that_its_table_has() {
        let mut figures = 0;
        for name in Source::bundled() {
            let source = Source::find(name).unwrap();
            if source.kind().unwrap() != Kind::Curves {
                continue;
            }
            let (settings, spec) = Settings::parse(&source, &Registry::default()).unwrap();
            for panel in &settings.panel {
                let selection = Selection {
                    nets: vec![panel.net.clone()],
                    methods: settings.methods.clone(),
                    ..Selection::default()
                };
                let cells = spec.cells("paper", &selection, &spec.dataset).unwrap();
                assert!(cells.len() >= settings.methods.len());
            }
            figures += 1;
        }
        assert_eq!(figures, 8);
    }

    #[test]
    fn a_figure_without_panels_or_of_an_unknown_table_is_refused() {
        let rejection = |from: &str, to: &str| {
            let mut source = Source::find("fig1").unwrap();
            source.text = source.text.replace(from, to);
            Settings::parse(&source, &Registry::default())
                .unwrap_err()
                .to_string()
        };
        assert!(rejection("columns = 2", "columns = 0").contains("`columns` is 0"));
        assert!(
            rejection("from = 0.05", "from = 5")
                .contains("`from` is 5, but must be from 0 to below 1")
        );
        assert!(rejection("\"rws\"", "\"jsa\"").contains("`jsa` twice"));
        assert!(rejection("\"table1\"", "\"tabel1\"").contains("Did you mean `table1`?"));
        assert!(rejection("against = \"epochs\"", "against = \"epoch\"").contains("`epochs`"));
    }

    #[test]
    fn a_figure_of_nets_methods_or_particles_that_there_are_not_is_refused() {
        let rejection = |figure: &str, from: &str, to: &str| {
            let mut source = Source::find(figure).unwrap();
            assert!(source.text.contains(from), "{from}");
            source.text = source.text.replace(from, to);
            Settings::parse(&source, &Registry::default())
                .unwrap_err()
                .to_string()
        };
        let text = rejection("fig1", "\"nonlinear\"", "\"nonlinaer\"");
        assert!(text.contains("Did you mean `nonlinear`?"), "{text}");
        let text = rejection("fig1", "\"rloo\"", "\"rlo\"");
        assert!(text.contains("Did you mean `rloo`?"), "{text}");
        let net = "net = \"linear\"";
        let text = rejection("fig1", net, &format!("{net}\nparticles = 5"));
        assert!(text.contains("table1 compares no numbers"), "{text}");
        let text = rejection("fig-table3", "particles = 20\n", "");
        assert!(text.contains("needs `particles`"), "{text}");
        let text = rejection("fig-table3", "particles = 20", "particles = 0");
        assert!(text.contains("at least 1"), "{text}");
    }
}
