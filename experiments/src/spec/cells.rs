//! The cells of a profile that are wanted.

use super::{Method, Net, Profile, Spec};
use crate::cell::Cell;
use crate::error::HarnessError;
use crate::names::lookup;
use helmholtz_datasets::DatasetName;

/// Selection of the cells of a profile; empty lists mean the profile's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The nets.
    pub nets: Vec<String>,
    /// The methods.
    pub methods: Vec<String>,
    /// The numbers of particles, of a profile that compares some.
    pub particles: Vec<usize>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Epochs instead of the profile's.
    pub epochs: Option<u64>,
    /// The training images, of data that the program does not know by their name.
    pub images: Option<usize>,
}

impl Method {
    /// Whether it runs on a net unasked.
    fn runs_on(&self, net: &Net) -> bool {
        self.nets.is_empty() || self.nets.contains(&net.name)
    }
}

impl Spec {
    /// The cells of a profile that the selection wants, on `dataset`: nets, then numbers of particles, methods and seeds, in
    /// the order of the file.
    ///
    /// # Errors
    /// Unknown profile, net or method; numbers of particles where none are compared; settings that make no sense.
    pub fn cells(
        &self,
        profile: &str,
        selection: &Selection,
        dataset: &str,
    ) -> Result<Vec<Cell>, HarnessError> {
        let profile = self.profile(profile)?;
        let columns = self.columns(profile, selection)?;
        let nets = or_default(&selection.nets, &profile.nets);
        let methods = or_default(&selection.methods, &profile.methods);
        let seeds = or_default(&selection.seeds, &profile.seeds);
        for net in nets {
            lookup("net", net, &self.net, |n| &n.name)?;
        }
        for method in methods {
            lookup("method", method, &self.method, |m| &m.name)?;
        }
        let mut cells = Vec::new();
        for net in self.net.iter().filter(|n| nets.contains(&n.name)) {
            let asked = !selection.nets.is_empty() && !selection.methods.is_empty();
            let wanted = |m: &&Method| methods.contains(&m.name) && (asked || m.runs_on(net));
            for particles in &columns {
                for method in self.method.iter().filter(wanted) {
                    let mut settings = self.settings_of(profile, net, method, selection.epochs);
                    settings.particles = particles.unwrap_or(settings.particles);
                    if selection.epochs.is_none() && settings.steps.is_some() {
                        settings = settings.with_steps_of(images_of(dataset, selection)?);
                    }
                    if let Some(wanted) = self.evaluations {
                        settings.particles = self
                            .equal_particles(net, method, &settings, wanted)?
                            .ok_or_else(|| self.unequal(method, net, wanted))?;
                    }
                    if let Some(problem) = settings.problem() {
                        return Err(self.of_method(method, problem));
                    }
                    cells.extend(seeds.iter().map(|&seed| Cell {
                        experiment: self.name.clone(),
                        dataset: dataset.to_string(),
                        net: net.name.clone(),
                        method: method.name.clone(),
                        seed,
                        by_particles: particles.is_some(),
                        fingerprint: None,
                        own_net: net.own.clone(),
                        width: None,
                        settings: settings.clone(),
                    }));
                }
            }
        }
        if cells.is_empty() {
            return Err(HarnessError::Spec {
                file: self.name.clone(),
                problem: "none of these methods runs on these nets unasked; name both, with --net and --method".into(),
            });
        }
        Ok(cells)
    }

    /// The numbers of particles that a profile compares; `None` where each method has its own.
    fn columns(
        &self,
        profile: &Profile,
        selection: &Selection,
    ) -> Result<Vec<Option<usize>>, HarnessError> {
        if profile.particles.is_empty() {
            return match selection.particles.is_empty() {
                true => Ok(vec![None]),
                false => Err(HarnessError::Flag {
                    experiment: self.name.clone(),
                    flag: "--particles",
                    remedy: "it compares no numbers of particles; change `particles` in a copy of its file".into(),
                }),
            };
        }
        let wanted = or_default(&selection.particles, &profile.particles);
        let mut columns: Vec<Option<usize>> = wanted.iter().copied().map(Some).collect();
        columns.sort_unstable();
        columns.dedup();
        Ok(columns)
    }

    /// The names of the methods that can be run on a net: with equal evaluations, those that can make as many.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn methods_on(&self, profile: &str, net: &str) -> Result<Vec<String>, HarnessError> {
        let profile = self.profile(profile)?;
        let net = lookup("net", net, &self.net, |n| &n.name)?;
        let mut names = Vec::new();
        for method in &self.method {
            let settings = self.settings_of(profile, net, method, None);
            let particles = match self.evaluations {
                Some(wanted) => self.equal_particles(net, method, &settings, wanted)?,
                None => Some(settings.particles),
            };
            names.extend(particles.map(|_| method.name.clone()));
        }
        Ok(names)
    }

    /// The labels of the methods that can't make as many evaluations as the others on some net of a profile.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn excluded(&self, profile: &str) -> Result<Vec<&str>, HarnessError> {
        let nets = &self.profile(profile)?.nets;
        let on: Vec<_> = nets
            .iter()
            .map(|net| self.methods_on(profile, net))
            .collect::<Result<_, _>>()?;
        let out = |method: &&Method| on.iter().any(|names| !names.contains(&method.name));
        Ok(self
            .method
            .iter()
            .filter(out)
            .map(|m| m.label.as_str())
            .collect())
    }

    fn unequal(&self, method: &Method, net: &Net, wanted: usize) -> HarnessError {
        let problem = format!(
            "no number of particles gives {wanted} evaluations of f an image on `{}`, and every method here makes as many",
            net.name
        );
        self.of_method(method, problem)
    }

    fn of_method(&self, method: &Method, problem: String) -> HarnessError {
        let file = format!("{}, method {}", self.name, method.name);
        HarnessError::Spec { file, problem }
    }
}

/// Those of the profile, where none are wanted.
fn or_default<'a, T>(wanted: &'a [T], default: &'a [T]) -> &'a [T] {
    match wanted {
        [] => default,
        wanted => wanted,
    }
}

/// The training images that steps are counted in epochs of.
fn images_of(dataset: &str, selection: &Selection) -> Result<usize, HarnessError> {
    match selection.images {
        Some(images) => Ok(images),
        None => Ok(dataset.parse::<DatasetName>()?.train_images()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::table1;
    use super::*;
    use crate::registry::Registry;
    use crate::source::Source;

    #[test]
    fn a_method_runs_on_its_own_nets_unless_both_are_named() {
        let spec = Spec::load("arm-table2").unwrap();
        let cells = |nets: &[&str], methods: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
            let selection = Selection {
                nets: names(nets),
                methods: names(methods),
                ..Selection::default()
            };
            spec.cells("paper", &selection, "x")
        };
        assert_eq!(cells(&[], &["arm"]).unwrap().len(), 3);
        assert_eq!(cells(&["categorical"], &[]).unwrap().len(), 3);
        assert_eq!(cells(&["linear"], &["arsm"]).unwrap().len(), 1);
        let mut spec = spec.clone();
        spec.method
            .iter_mut()
            .for_each(|method| method.nets = vec!["linear".into()]);
        let selection = Selection {
            nets: vec!["categorical".into()],
            ..Selection::default()
        };
        let error = spec
            .cells("paper", &selection, "x")
            .unwrap_err()
            .to_string();
        assert!(error.contains("--net and --method"), "{error}");
    }

    #[test]
    fn numbers_of_particles_are_chosen_where_some_are_compared_and_refused_elsewhere() {
        let selection = Selection {
            particles: vec![7, 2, 7],
            methods: vec!["jsa".into()],
            ..Selection::default()
        };
        let table3 = Spec::load("table3").unwrap();
        let cells = table3.cells("quick", &selection, "glyphs").unwrap();
        let particles: Vec<_> = cells.iter().map(Cell::particles).collect();
        assert_eq!(particles, [Some(2), Some(7)]);
        let error = table1().cells("quick", &selection, "glyphs").unwrap_err();
        assert!(
            error.to_string().contains("no use for `--particles`"),
            "{error}"
        );
        let none = Source {
            file: "my.toml".into(),
            text: Source::find("table3")
                .unwrap()
                .text
                .replace("particles = [5, 20]", "particles = [5, 0]"),
        };
        let error = Spec::parse(&none, &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("`particles` is 0"), "{error}");
    }

    #[test]
    fn a_selection_narrows_and_widens_a_profile() {
        let selection = Selection {
            nets: vec!["two-layers".into()],
            methods: vec!["vimco".into(), "jsa".into()],
            seeds: vec![7],
            epochs: Some(3),
            ..Selection::default()
        };
        let cells = table1().cells("quick", &selection, "glyphs").unwrap();
        let named: Vec<_> = cells
            .iter()
            .map(|c| (c.net.as_str(), c.method.as_str(), c.seed))
            .collect();
        assert_eq!(
            named,
            [("two-layers", "jsa", 7), ("two-layers", "vimco", 7)]
        );
        assert_eq!(
            (cells[0].settings.epochs, cells[0].dataset.as_str()),
            (3, "glyphs")
        );
    }

    #[test]
    fn unknown_names_are_refused_with_the_choices() {
        let spec = table1();
        let error = |selection| {
            spec.cells("quick", &selection, "glyphs")
                .unwrap_err()
                .to_string()
        };
        let text = error(Selection {
            methods: vec!["jsb".into()],
            ..Selection::default()
        });
        assert!(
            text.contains("unknown method `jsb`. Did you mean `jsa`?")
                && text.contains("rws-wake-sleep"),
            "{text}"
        );
        let text = error(Selection {
            nets: vec!["lineer".into()],
            ..Selection::default()
        });
        assert!(
            text.contains("unknown net `lineer`. Did you mean `linear`?"),
            "{text}"
        );
        assert!(
            spec.profile("papers")
                .unwrap_err()
                .to_string()
                .contains("quick")
        );
        assert!(
            Spec::load("table9")
                .unwrap_err()
                .to_string()
                .contains("table1")
        );
        assert!(
            Spec::load("nowhere.toml")
                .unwrap_err()
                .to_string()
                .contains("nowhere.toml")
        );
    }
}
