//! An experiment as data: the TOML file that says which nets, methods, profiles and settings there are.

use crate::cell::{Cell, Overrides, Settings};
use crate::error::HarnessError;
use crate::names::lookup;
use crate::published::Published;
use crate::source::{Kind, Source, is_folder_name};
use helmholtz_estimators::Method as Estimator;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// [`Kind::Table`].
    #[serde(default)]
    pub kind: Kind,
    /// Names the run folders.
    pub name: String,
    /// Heads the plan and the table.
    pub title: String,
    /// The data set, unless the profile or the user names another.
    pub dataset: String,
    /// The table of `published.toml` to compare with, on this data set.
    pub published: Option<String>,
    /// Such tables for other data sets.
    #[serde(default)]
    pub published_on: BTreeMap<String, String>,
    /// Whether the table shows the variational bound and the standard error over test images beside each NLL.
    #[serde(default)]
    pub bounds: bool,
    /// Whether ± is the standard error over seeds, in place of their sample sd.
    #[serde(default)]
    pub standard_error: bool,
    /// Evaluations of f an image and step that every cell makes, in all its stages: its number of particles follows from what
    /// its method declares ([`Estimator::evaluations`]).
    pub evaluations: Option<usize>,
    /// What every cell starts from.
    pub settings: Settings,
    /// The scales at which the experiment can be run.
    pub profile: BTreeMap<String, Profile>,
    /// The nets, in the table's order.
    pub net: Vec<Net>,
    /// The methods, in the table's order: those of the file, then the rest of the catalogue.
    #[serde(default)]
    pub method: Vec<Method>,
}

/// A scale at which an experiment is run: which cells, and what it changes in the settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// One line for the plan.
    pub about: String,
    /// The profile whose cells it starts from: its own settings and changes come after everything there.
    pub like: Option<String>,
    /// The profile that trains to the end where this one does not; the one that it is like, if nothing is said.
    pub whole: Option<String>,
    /// The nets that run unless the user names some.
    pub nets: Vec<String>,
    /// The methods that run unless the user names some.
    pub methods: Vec<String>,
    /// Numbers of particles K that are compared, unless the user names some; without them, each method has the K of its
    /// settings.
    #[serde(default)]
    pub particles: Vec<usize>,
    /// The seeds that run unless the user names some.
    pub seeds: Vec<u64>,
    /// The data set instead of the experiment's, unless the user names another.
    pub dataset: Option<String>,
    /// The data set that takes the place of one that cannot be had; absent: the run is refused.
    pub substitute: Option<String>,
    /// Where the profile departs from the publication: printed below the table.
    #[serde(default)]
    pub deviations: Vec<String>,
    /// Profiles that differ in what validation chooses, a learning rate say: the table shows of each net, method and number of
    /// particles the runs of that among these and this one whose mean validation NLL is the best, where the others' are finished.
    #[serde(default)]
    pub chosen_from: Vec<String>,
    /// What the profile changes.
    #[serde(default)]
    pub settings: Overrides,
    /// What it changes of single nets and methods, after what those change themselves; the later the stronger.
    #[serde(default)]
    pub change: Vec<Change>,
}

/// A change of some cells of a profile.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The nets that it is about; all if there are none.
    #[serde(default)]
    pub nets: Vec<String>,
    /// The methods that it is about; all if there are none.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The change.
    pub settings: Overrides,
}

impl Change {
    fn is_about(&self, net: &str, method: &str) -> bool {
        let among =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        among(&self.nets, net) && among(&self.methods, method)
    }
}

/// A net: what it is called. The runner knows its layers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Net {
    /// What the user types, and the runner knows.
    pub name: String,
    /// What the table prints.
    pub label: String,
}

/// A method of the catalogue of estimators, and what an experiment changes of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// What the user types: its name in the catalogue.
    pub name: String,
    /// What the table prints; the catalogue's label if absent.
    #[serde(default)]
    pub label: String,
    /// The nets on which it runs unless the user names both; all if there are none.
    #[serde(default)]
    pub nets: Vec<String>,
    /// What the method changes, after the profile.
    #[serde(default)]
    pub settings: Overrides,
}

impl Method {
    /// Whether it runs on a net unasked.
    fn runs_on(&self, net: &Net) -> bool {
        self.nets.is_empty() || self.nets.contains(&net.name)
    }
}

/// Which cells of a profile are wanted; empty lists mean the profile's own.
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
}

impl Spec {
    /// The experiment called `request`, or the file of that path when it ends in `.toml`.
    ///
    /// # Errors
    /// An unknown name; a file that cannot be read; and as [`Spec::parse`].
    pub fn load(request: &str) -> Result<Self, HarnessError> {
        Self::parse(&Source::find(request)?)
    }

    /// The experiment that a file describes.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense.
    pub fn parse(source: &Source) -> Result<Self, HarnessError> {
        let mut spec: Self = source.parse()?;
        spec.complete()?;
        match spec.problem() {
            Some(problem) => Err(HarnessError::Spec {
                file: source.file.clone(),
                problem,
            }),
            None => Ok(spec),
        }
    }

    /// Labels the methods, and adds those of the catalogue that the file says nothing of.
    fn complete(&mut self) -> Result<(), HarnessError> {
        for method in &mut self.method {
            let entry = lookup("method", &method.name, &Estimator::CATALOGUE, |e| e.name)?;
            if method.label.is_empty() {
                method.label = entry.label.into();
            }
        }
        for entry in Estimator::CATALOGUE {
            if self.method.iter().all(|method| method.name != entry.name) {
                self.method.push(Method {
                    name: entry.name.into(),
                    label: entry.label.into(),
                    nets: Vec::new(),
                    settings: Overrides::default(),
                });
            }
        }
        Ok(())
    }

    /// The profile called `name`.
    ///
    /// # Errors
    /// [`HarnessError::Unknown`].
    pub fn profile(&self, name: &str) -> Result<&Profile, HarnessError> {
        let names: Vec<&String> = self.profile.keys().collect();
        let found = lookup("profile", name, &names, |n| n)?;
        Ok(&self.profile[*found])
    }

    /// This profile, and those like it that differ in when they look (how often they check, whether training images are evaluated
    /// too) and in nothing that they train or estimate: their runs stand for one another in a figure.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn training_as(&self, name: &str) -> Result<Vec<&str>, HarnessError> {
        let own = self.profile(name)?;
        let dataset = self.dataset_of(name)?;
        let trains = |profile: &Profile, net: &Net, method: &Method| Settings {
            check_every: 0,
            train_images: None,
            checkpoint_seconds: 0,
            ..self.settings_of(profile, net, method, None)
        };
        let same = |(other, profile): &(&String, &Profile)| {
            let same_cell = |net, method| trains(profile, net, method) == trains(own, net, method);
            profile.like.as_deref() == Some(name)
                && self.dataset_of(other).ok() == Some(dataset)
                && self
                    .net
                    .iter()
                    .all(|net| self.method.iter().all(|method| same_cell(net, method)))
        };
        let (own, _) = self.profile.get_key_value(name).expect("it was found");
        let others = self
            .profile
            .iter()
            .filter(same)
            .map(|(name, _)| name.as_str());
        Ok([own.as_str()].into_iter().chain(others).collect())
    }

    /// The data set of a profile.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn dataset_of(&self, profile: &str) -> Result<&str, HarnessError> {
        let own = self.profile(profile)?.dataset.as_deref();
        Ok(own.unwrap_or(&self.dataset))
    }

    /// The published table to compare with on a data set, if there is one.
    ///
    /// # Errors
    /// A table that is not in `published.toml`.
    pub fn published_for(&self, dataset: &str) -> Result<Option<Published>, HarnessError> {
        let name = match &self.published {
            Some(name) if self.dataset == dataset => Some(name),
            _ => self.published_on.get(dataset),
        };
        name.map(|name| Published::load(name)).transpose()
    }

    /// The label of the net called `name`, or the name itself.
    pub fn net_label<'a>(&'a self, name: &'a str) -> &'a str {
        self.net
            .iter()
            .find(|n| n.name == name)
            .map_or(name, |n| &n.label)
    }

    /// The label of the method called `name`, or the name itself.
    pub fn method_label<'a>(&'a self, name: &'a str) -> &'a str {
        self.method
            .iter()
            .find(|m| m.name == name)
            .map_or(name, |m| &m.label)
    }

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
        let or_default = |wanted: &[String], default: &[String]| -> Vec<String> {
            if wanted.is_empty() {
                default.to_vec()
            } else {
                wanted.to_vec()
            }
        };
        let nets = or_default(&selection.nets, &profile.nets);
        let methods = or_default(&selection.methods, &profile.methods);
        let seeds = if selection.seeds.is_empty() {
            &profile.seeds
        } else {
            &selection.seeds
        };
        for net in &nets {
            lookup("net", net, &self.net, |n| &n.name)?;
        }
        for method in &methods {
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
                    if let Some(wanted) = self.evaluations {
                        settings.particles =
                            equal_particles(&net.name, &method.name, &settings, wanted)?
                                .ok_or_else(|| self.unequal(method, net, wanted))?;
                    }
                    if let Some(problem) = settings.problem() {
                        return Err(HarnessError::Spec {
                            file: format!("{}, method {}", self.name, method.name),
                            problem,
                        });
                    }
                    cells.extend(seeds.iter().map(|&seed| Cell {
                        experiment: self.name.clone(),
                        dataset: dataset.to_string(),
                        net: net.name.clone(),
                        method: method.name.clone(),
                        seed,
                        by_particles: particles.is_some(),
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
        let wanted = match selection.particles.is_empty() {
            true => &profile.particles,
            false => &selection.particles,
        };
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
                Some(wanted) => equal_particles(&net.name, &method.name, &settings, wanted)?,
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
    pub fn left_out(&self, profile: &str) -> Result<Vec<&str>, HarnessError> {
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
        HarnessError::Spec {
            file: format!("{}, method {}", self.name, method.name),
            problem: format!(
                "no number of particles gives {wanted} evaluations of f an image on `{}`, and every method here makes as many",
                net.name
            ),
        }
    }

    /// The epochs of a profile, before any method changes them.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn epochs(&self, profile: &str) -> Result<u64, HarnessError> {
        let profile = self.profile(profile)?;
        let of_profiles = [Some(profile), self.like(profile)].into_iter().flatten();
        let mut epochs = of_profiles.filter_map(|profile| profile.settings.epochs);
        Ok(epochs.next().unwrap_or(self.settings.epochs))
    }

    /// Where a profile departs from the publication, and where the one that it is like does.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn deviations(&self, profile: &str) -> Result<Vec<String>, HarnessError> {
        let profile = self.profile(profile)?;
        let like = self.like(profile).zip(profile.like.as_ref());
        let of_like = like.into_iter().flat_map(|(like, name)| {
            let all = like.deviations.iter();
            all.map(move |text| format!("Of `{name}`, which this profile is like: {text}"))
        });
        Ok(profile.deviations.iter().cloned().chain(of_like).collect())
    }

    /// The epochs of this net and method in the profile that trains to the end, which may be this one.
    pub fn whole(&self, profile: &str, net: &str, method: &str) -> Option<u64> {
        let profile = self.profile.get(profile)?;
        let whole = profile.whole.as_ref().or(profile.like.as_ref());
        let whole = whole.map_or(Some(profile), |name| self.profile.get(name))?;
        let net = self.net.iter().find(|own| own.name == net)?;
        let method = self.method.iter().find(|own| own.name == method)?;
        Some(self.settings_of(whole, net, method, None).epochs)
    }

    /// The profile that a profile is like.
    fn like(&self, profile: &Profile) -> Option<&Profile> {
        self.profile.get(profile.like.as_ref()?)
    }

    fn settings_of(
        &self,
        profile: &Profile,
        net: &Net,
        method: &Method,
        epochs: Option<u64>,
    ) -> Settings {
        let mut settings = self.settings.clone();
        let changes = |settings: &mut Settings, profile: &Profile| {
            let changes = profile.change.iter();
            changes
                .filter(|change| change.is_about(&net.name, &method.name))
                .for_each(|change| change.settings.apply(settings));
        };
        match self.like(profile) {
            Some(like) => {
                like.settings.apply(&mut settings);
                method.settings.apply(&mut settings);
                changes(&mut settings, like);
                profile.settings.apply(&mut settings);
            }
            None => {
                profile.settings.apply(&mut settings);
                method.settings.apply(&mut settings);
            }
        }
        changes(&mut settings, profile);
        if let Some(epochs) = epochs {
            settings.epochs = epochs;
        }
        settings
    }

    /// What is wrong with the file as a whole, if anything.
    fn problem(&self) -> Option<String> {
        let nets: Vec<&str> = self.net.iter().map(|n| n.name.as_str()).collect();
        let methods: Vec<&str> = self.method.iter().map(|m| m.name.as_str()).collect();
        if let Some(name) = [self.name.as_str()]
            .into_iter()
            .chain(nets.iter().copied())
            .chain(methods.iter().copied())
            .chain(self.profile.keys().map(String::as_str))
            .find(|name| !is_folder_name(name))
        {
            return Some(format!(
                "`{name}` names a folder: use lower-case letters, digits and hyphens"
            ));
        }
        for (what, names) in [("net", &nets), ("method", &methods)] {
            if let Some(name) = twice(names) {
                return Some(format!("the {what} `{name}` is there twice"));
            }
        }
        for (name, profile) in &self.profile {
            let listed = |what: &str, wanted: &[String], known: &[&str]| {
                let stranger = wanted.iter().find(|w| !known.contains(&w.as_str()))?;
                Some(format!(
                    "profile `{name}` lists the {what} `{stranger}`, which is not defined"
                ))
            };
            let mut problem = listed("net", &profile.nets, &nets)
                .or_else(|| listed("method", &profile.methods, &methods));
            for change in &profile.change {
                problem = problem
                    .or_else(|| listed("net", &change.nets, &nets))
                    .or_else(|| listed("method", &change.methods, &methods));
            }
            if problem.is_some() {
                return problem;
            }
            let like = profile
                .like
                .as_ref()
                .map(|name| (name, self.profile.get(name)));
            if let Some((of, known)) = like
                && known.is_none_or(|known| known.like.is_some())
            {
                return Some(format!(
                    "profile `{name}` is like `{of}`, which is no profile, or like another itself"
                ));
            }
            if let Some(whole) = &profile.whole
                && !self.profile.contains_key(whole)
            {
                return Some(format!(
                    "profile `{name}` has `{whole}` for its whole, which is no profile"
                ));
            }
            let stranger = |other: &&String| *other == name || !self.profile.contains_key(*other);
            if let Some(other) = profile.chosen_from.iter().find(stranger) {
                return Some(format!(
                    "profile `{name}` is chosen from `{other}`, which is no other profile"
                ));
            }
            if profile.nets.is_empty() || profile.methods.is_empty() || profile.seeds.is_empty() {
                return Some(format!(
                    "profile `{name}` needs at least one net, one method and one seed"
                ));
            }
            let repeated = [
                ("net", twice(&profile.nets).cloned()),
                ("method", twice(&profile.methods).cloned()),
                ("seed", twice(&profile.seeds).map(u64::to_string)),
            ];
            if let Some((what, Some(again))) = repeated.iter().find(|(_, again)| again.is_some()) {
                return Some(format!("profile `{name}` lists the {what} `{again}` twice"));
            }
            if profile.particles.contains(&0) {
                return Some(format!(
                    "profile `{name}`: every number in `particles` must be at least 1"
                ));
            }
            let pairs = self
                .net
                .iter()
                .flat_map(|net| self.method.iter().map(move |method| (net, method)));
            for (net, method) in pairs {
                if let Some(problem) = self.settings_of(profile, net, method, None).problem() {
                    return Some(format!(
                        "profile `{name}`, net `{}`, method `{}`: {problem}",
                        net.name, method.name
                    ));
                }
            }
        }
        let of_methods = self.method.iter().flat_map(|method| &method.nets);
        if let Some(stranger) = of_methods
            .into_iter()
            .find(|name| !nets.contains(&name.as_str()))
        {
            return Some(format!(
                "a method names the net `{stranger}`, which is not defined"
            ));
        }
        None
    }
}

/// The first of these that is there before.
fn twice<T: PartialEq>(items: &[T]) -> Option<&T> {
    let mut pairs = items.iter().enumerate();
    pairs
        .find(|(i, item)| items[..*i].contains(item))
        .map(|(_, item)| item)
}

/// The number of particles with which a method makes so many evaluations of f an image on a net, in every stage that the settings
/// have, if there is one.
///
/// # Errors
/// A net or a method that there is not.
fn equal_particles(
    net: &str,
    method: &str,
    settings: &Settings,
    evaluations: usize,
) -> Result<Option<usize>, HarnessError> {
    let net = crate::nets::Net::named(net)?;
    let entry = lookup("method", method, &Estimator::CATALOGUE, |e| e.name)?;
    let method = entry.method.with_stage1_extra(settings.stage1_extra > 0);
    if method.evaluations_of_classes().is_some() && !net.is_of_bits() {
        return Ok(None);
    }
    let switch = settings.switch_epoch();
    let stages: &[bool] = match method.keeps_chains() {
        false => &[false],
        true if switch == 0 => &[true],
        true if switch == settings.epochs => &[false],
        true => &[false, true],
    };
    let fits = |&particles: &usize| {
        stages.iter().all(|&retained| {
            particles >= method.least_particles(retained)
                && method.evaluations(particles, net.layers(), retained) == evaluations
        })
    };
    let mut particles = (1..=evaluations).filter(fits);
    let first = particles.next();
    // A method whose evaluations don't depend on K has none of its own.
    Ok(first.filter(|_| particles.next().is_none()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::nets::Net;
    use helmholtz_training::Optimizer;

    pub(crate) fn table1() -> Spec {
        Spec::load("table1").unwrap()
    }

    /// Table 1, edited, as a file of the user's.
    fn mine(from: &str, to: &str) -> Source {
        let source = Source::find("table1").unwrap();
        Source {
            file: "my.toml".into(),
            text: source.text.replace(from, to),
        }
    }

    #[test]
    fn table1_holds_the_papers_protocol() {
        let cells = table1()
            .cells("paper", &Selection::default(), "binarized-mnist")
            .unwrap();
        assert_eq!(cells.len(), 3 * 8 * 5);
        for cell in cells {
            // The three rows of the paper's own runs, and the five that it quotes.
            let own = ["jsa", "rws", "rloo"].contains(&cell.method.as_str());
            let s = cell.settings;
            assert_eq!(
                (s.epochs, s.switch_epoch(), s.batch, s.particles),
                (1000, 600, 50, if own { 2 } else { 1 })
            );
            assert_eq!(
                (s.learning_rate, s.check_every, s.stage1_extra),
                (3e-4, 5, 0)
            );
            assert_eq!(
                (s.valid_samples, s.test_samples, s.final_samples),
                (1000, 1000, Some(1000))
            );
            assert_eq!((s.valid_images, s.test_images), (Some(1000), Some(1000)));
            assert!((1..=5).contains(&cell.seed));
        }
    }

    #[test]
    fn the_quoted_rows_are_also_run_as_their_source_runs_them() {
        let cells = table1()
            .cells("yin-zhou", &Selection::default(), "binarized-mnist")
            .unwrap();
        assert_eq!(cells.len(), 3 * 5 * 5);
        for cell in cells {
            let s = &cell.settings;
            assert_eq!(
                (s.epochs, s.batch, s.learning_rate, s.particles),
                (1200, 50, 1e-4, 1)
            );
            let Net::Sbn(net) = Net::of(&cell).unwrap() else {
                panic!("{}", cell.label())
            };
            let (learned, signed) = match cell.net.as_str() {
                "linear" => (true, true),
                "two-layers" => (true, false),
                _ => (false, false),
            };
            assert_eq!((net.learned_prior, net.signed), (learned, signed));
            assert_eq!(net.slope, 0.1);
        }
    }

    #[test]
    fn the_helmholtz_machines_hold_the_protocol_of_the_rws_code() {
        let spec = Spec::load("helmholtz").unwrap();
        for (profile, optimizer, rate) in [
            ("paper", Optimizer::Momentum, 1e-3),
            ("paper-adam", Optimizer::Adam, 3e-4),
        ] {
            let cells = spec
                .cells(profile, &Selection::default(), &spec.dataset)
                .unwrap();
            assert_eq!(cells.len(), 6 * 6);
            for cell in cells {
                let method: Estimator = cell.method.parse().unwrap();
                assert!(Net::of(&cell).is_ok(), "{}", cell.label());
                let s = &cell.settings;
                assert_eq!((s.optimizer, s.learning_rate), (optimizer, rate));
                assert_eq!((s.batch, s.sleep_every), (100, Some(2)));
                assert_eq!((s.patience, s.check_every), (Some(10), 1));
                assert_eq!((s.valid_samples, s.valid_images), (100, None));
                assert_eq!(s.final_samples, Some(100_000));
                assert_eq!(s.switch_epoch(), 0);
                let many = ["rws-wake-sleep", "jsa-mtmis"].contains(&cell.method.as_str());
                assert_eq!(s.particles, if many { 10 } else { 1 });
                assert!(method.least_particles(true) <= s.particles);
            }
        }
    }

    /// What a cell's method declares for an image and step, in each stage that the cell goes through.
    fn declared(cell: &Cell) -> Vec<usize> {
        let s = &cell.settings;
        let method: Estimator = cell.method.parse().unwrap();
        let method = method.with_stage1_extra(s.stage1_extra > 0);
        let layers = Net::of(cell).unwrap().layers();
        let stages = (0..s.epochs).map(|epoch| method.keeps_chains() && epoch >= s.switch_epoch());
        stages
            .map(|retained| method.evaluations(s.particles, layers, retained))
            .collect()
    }

    #[test]
    fn every_cell_of_the_showdown_makes_as_many_evaluations_in_every_epoch() {
        let spec = Spec::load("showdown").unwrap();
        for profile in ["quick", "paper"] {
            let cells = spec
                .cells(profile, &Selection::default(), &spec.dataset)
                .unwrap();
            for cell in &cells {
                let declared = declared(cell);
                assert!(declared.iter().all(|&n| n == 12), "{}", cell.label());
                let s = &cell.settings;
                assert_eq!((s.learning_rate, s.batch), (3e-4, 50));
            }
        }
        let cells = spec
            .cells("paper", &Selection::default(), &spec.dataset)
            .unwrap();
        let particles = |method: &str| {
            let of = |net: &str| {
                let mut of_net = cells.iter().filter(|c| c.net == net);
                of_net
                    .find(|c| c.method == method)
                    .unwrap()
                    .settings
                    .particles
            };
            ["nonlinear", "two-layers"].map(of)
        };
        assert_eq!(particles("jsa"), [11, 11], "and the chain state");
        assert_eq!(particles("msc"), [12, 12]);
        assert_eq!(particles("rloo"), [12, 12]);
        assert_eq!(particles("arm"), [6, 3]);
        assert_eq!(particles("rebar"), [4, 2]);
    }

    /// The broken twin: the number of particles that every method has in table 1 is not equal work.
    #[test]
    fn equal_particles_are_not_equal_evaluations() {
        let source = Source::find("showdown").unwrap();
        let twin = Source {
            file: "my.toml".into(),
            text: source
                .text
                .replace("\nevaluations = 12", "")
                .replace("\nparticles = 1 ", "\nparticles = 2 "),
        };
        let spec = Spec::parse(&twin).unwrap();
        let cells = spec.cells("paper", &Selection::default(), "x").unwrap();
        let mut all: Vec<usize> = cells.iter().flat_map(declared).collect();
        all.sort_unstable();
        all.dedup();
        assert!(all.len() > 1, "{all:?}");
    }

    #[test]
    fn what_cannot_be_made_equal_is_left_out_and_refused_with_the_reason() {
        let spec = Spec::load("showdown").unwrap();
        assert_eq!(spec.left_out("paper").unwrap(), ["WS"]);
        let all = Estimator::CATALOGUE.len();
        let paper = spec.profile("paper").unwrap();
        assert_eq!(paper.methods.len(), all - 1);
        let selection = Selection {
            methods: vec!["ws".into()],
            ..Selection::default()
        };
        let error = spec
            .cells("quick", &selection, "x")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("showdown, method ws") && error.contains("12 evaluations"),
            "{error}"
        );
        // Elsewhere nothing is left out.
        assert!(table1().left_out("paper").unwrap().is_empty());
    }

    #[test]
    fn profiles_that_only_look_at_other_times_stand_for_one_another() {
        let profiles = |table: &str, name: &str| -> Vec<String> {
            let spec = Spec::load(table).unwrap();
            let found = spec.training_as(name).unwrap().into_iter();
            found.map(String::from).collect()
        };
        assert_eq!(
            profiles("table1", "paper"),
            ["paper", "figures", "paper-coarse"]
        );
        assert_eq!(profiles("table1", "figures"), ["figures"]);
        // Another divergence in training, and other data.
        assert_eq!(profiles("table2", "paper"), ["paper", "figures"]);
        assert_eq!(profiles("arm-table2", "paper"), ["paper"]);
    }

    #[test]
    fn table2_holds_the_papers_protocol() {
        let spec = Spec::load("table2").unwrap();
        assert_eq!(spec.dataset, "threshold-mnist");
        let cells = spec
            .cells("paper", &Selection::default(), &spec.dataset)
            .unwrap();
        assert_eq!(cells.len(), 6 * 5);
        for cell in cells {
            assert!(Net::of(&cell).is_ok(), "{}", cell.label());
            let s = &cell.settings;
            assert_eq!((s.epochs, s.switch_epoch(), s.batch), (500, 300, 200));
            assert_eq!((s.learning_rate, s.stage1_extra), (3e-4, 1));
            let races = cell.method == "arsm";
            assert_eq!(s.particles, if races { 1 } else { 20 });
            let straight_through = cell.method == "st-gumbel-softmax-learned";
            assert_eq!(
                [s.free_logits, s.analytic_kl, s.released_nll],
                [straight_through; 3]
            );
        }
    }

    #[test]
    fn table3_holds_the_papers_protocol_for_every_number_of_particles() {
        let spec = Spec::load("table3").unwrap();
        let cells = spec
            .cells("paper", &Selection::default(), "binarized-mnist")
            .unwrap();
        assert_eq!(cells.len(), 5 * 4 * 5);
        let order: Vec<_> = cells.iter().step_by(20).map(Cell::particles).collect();
        assert_eq!(order, [5, 10, 20, 40, 80].map(Some));
        for cell in cells {
            assert!(Net::of(&cell).is_ok(), "{}", cell.label());
            let s = &cell.settings;
            assert_eq!((s.epochs, s.switch_epoch(), s.batch), (200, 60, 100));
            assert_eq!((s.learning_rate, s.stage1_extra), (3e-4, 0));
            assert_eq!((s.check_every, s.final_samples), (5, Some(1000)));
        }
    }

    fn of_profile(spec: &Spec, profile: &str) -> Vec<Cell> {
        let dataset = spec.dataset_of(profile).unwrap();
        spec.cells(profile, &Selection::default(), dataset).unwrap()
    }

    #[test]
    fn arm_table2_holds_the_settings_of_both_revisions() {
        let spec = Spec::load("arm-table2").unwrap();
        let find = |profile: &str, net: &str, method: &str| {
            let mut cells = of_profile(&spec, profile).into_iter();
            let cell =
                cells.find(|cell| (cell.net.as_str(), cell.method.as_str()) == (net, method));
            let cell = cell.unwrap();
            let net = Net::of(&cell).unwrap();
            (cell, net)
        };
        let plain = [0.9, 0.999];
        let (slow, of_q) = ([0.9, 0.99999], [0.5, 0.99999]);
        // Profile, net, method: data set, epochs, batch, rate, β of p and of q, inputs as 2x - 1, learned prior, slope.
        for (profile, net, method, data, numbers, betas, signed, learned, slope) in [
            (
                "paper",
                "linear",
                "arm",
                "threshold-mnist",
                (400, 25, 1e-4),
                [plain; 2],
                true,
                false,
                0.01,
            ),
            (
                "paper",
                "nonlinear",
                "disarm",
                "threshold-mnist",
                (400, 25, 1e-4),
                [plain; 2],
                false,
                false,
                0.2,
            ),
            (
                "paper",
                "two-layers",
                "arm",
                "threshold-mnist",
                (1500, 25, 1e-4),
                [plain; 2],
                true,
                false,
                0.01,
            ),
            (
                "paper",
                "linear",
                "rebar",
                "threshold-mnist",
                (363, 25, 1e-4),
                [slow; 2],
                true,
                true,
                0.01,
            ),
            (
                "paper",
                "two-layers",
                "relax",
                "threshold-mnist",
                (2272, 25, 1e-4),
                [slow; 2],
                true,
                true,
                0.01,
            ),
            (
                "paper",
                "linear",
                "st-gumbel-softmax",
                "threshold-mnist",
                (1000, 100, 1e-4),
                [plain; 2],
                true,
                false,
                0.01,
            ),
            (
                "grey",
                "nonlinear",
                "rebar",
                "grey-mnist",
                (363, 25, 1e-4),
                [slow; 2],
                true,
                true,
                0.2,
            ),
            (
                "paper-omniglot",
                "nonlinear",
                "relax",
                "omniglot",
                (869, 25, 1e-4),
                [slow; 2],
                true,
                true,
                0.0,
            ),
            (
                "paper-omniglot",
                "linear",
                "arm",
                "omniglot",
                (1500, 25, 1e-4),
                [plain, of_q],
                false,
                true,
                0.01,
            ),
            (
                "paper-omniglot",
                "nonlinear",
                "arm",
                "omniglot",
                (5000, 25, 1e-4),
                [plain, of_q],
                false,
                false,
                0.2,
            ),
            (
                "paper-omniglot",
                "two-layers",
                "arm",
                "omniglot",
                (3000, 25, 1e-4),
                [plain; 2],
                false,
                true,
                0.01,
            ),
            (
                "head",
                "linear",
                "arm",
                "binarized-mnist",
                (1200, 50, 1e-4),
                [plain; 2],
                true,
                true,
                0.01,
            ),
            (
                "head",
                "nonlinear",
                "arm",
                "binarized-mnist",
                (1200, 50, 1e-4),
                [plain; 2],
                false,
                false,
                0.1,
            ),
            (
                "head",
                "two-layers",
                "arm",
                "binarized-mnist",
                (1200, 50, 1e-4),
                [plain; 2],
                false,
                true,
                0.01,
            ),
            (
                "head-omniglot",
                "linear",
                "arm",
                "omniglot",
                (1500, 25, 1e-4),
                [plain, of_q],
                false,
                true,
                0.01,
            ),
            (
                "head-omniglot",
                "nonlinear",
                "arm",
                "omniglot",
                (800, 20, 5e-5),
                [plain, of_q],
                false,
                false,
                0.3,
            ),
            (
                "head-omniglot",
                "two-layers",
                "arm",
                "omniglot",
                (1200, 25, 1e-4),
                [plain; 2],
                false,
                true,
                0.01,
            ),
        ] {
            let (cell, config) = find(profile, net, method);
            let s = &cell.settings;
            let label = format!("{profile}: {}", cell.label());
            assert_eq!(cell.dataset, data, "{label}");
            assert_eq!((s.epochs, s.batch, s.learning_rate), numbers, "{label}");
            assert_eq!(
                [s.betas().generative, s.betas().inference],
                betas,
                "{label}"
            );
            assert_eq!(
                (s.valid_samples, s.final_samples, s.particles),
                (1, Some(1000), 1),
                "{label}"
            );
            let Net::Sbn(config) = config else {
                panic!("{label}")
            };
            assert_eq!(
                (config.signed, config.learned_prior, config.slope),
                (signed, learned, slope),
                "{label}"
            );
            // REBAR's and RELAX's own nets.
            let own = matches!(method, "rebar" | "relax");
            let tanh = (net, method) == ("nonlinear", "rebar");
            assert_eq!((config.centred, config.tanh), (own, tanh), "{label}");
            let start = helmholtz_sbn::Initialisation::Xavier { bias: 0.0 };
            assert_eq!(config.initialisation, start, "{label}");
        }
        let (cell, _) = find("paper", "categorical", "ars");
        assert_eq!((cell.settings.epochs, cell.settings.batch), (1000, 100));
        // KL in closed form, the prior learned, the slope of rectifiers.
        for (net, method, kl, learned, slope) in [
            ("linear", "arm", false, false, 0.01),
            ("linear", "st-gumbel-softmax", true, false, 0.01),
            ("nonlinear", "st-gumbel-softmax", true, false, 0.0),
            ("two-layers", "st-gumbel-softmax", false, false, 0.01),
            ("categorical", "st-gumbel-softmax", true, false, 0.0),
            ("categorical", "ars", true, true, 0.2),
        ] {
            for profile in ["paper", "paper-omniglot"] {
                let (cell, config) = find(profile, net, method);
                let (prior, rectifiers) = match config {
                    Net::Sbn(config) => (config.learned_prior, config.slope),
                    Net::Categorical(config) => (config.learned_prior, config.slope),
                    _ => panic!("{}", cell.label()),
                };
                let found = (cell.settings.analytic_kl, rectifiers);
                assert_eq!(found, (kl, slope), "{profile}: {}", cell.label());
                // ARM's own prior is learned on OMNIGLOT.
                if (profile, method) != ("paper-omniglot", "arm") {
                    assert_eq!(prior, learned, "{profile}: {}", cell.label());
                }
            }
        }
        let (cell, _) = find("head-categorical", "categorical", "arsm");
        assert_eq!(
            (cell.settings.batch, cell.settings.learning_rate),
            (200, 3e-4)
        );
        let (cell, _) = find(
            "head-categorical",
            "categorical",
            "st-gumbel-softmax-learned",
        );
        assert!(cell.settings.free_logits && cell.settings.analytic_kl);
    }

    #[test]
    fn the_profiles_of_arm_table2_run_what_is_defined_and_are_compared_on_their_data() {
        let spec = Spec::load("arm-table2").unwrap();
        for (profile, runs, published) in [
            ("quick", 3 * 5 + 3, Some("MNIST")),
            ("quick-omniglot", 2 * 5, Some("OMNIGLOT")),
            ("paper", 3 * 5 + 3, Some("MNIST")),
            ("paper-omniglot", 3 * 5 + 3, Some("OMNIGLOT")),
            ("head", 3 * 5, Some("as Ou & Song 2020")),
            ("head-omniglot", 3 * 5, Some("OMNIGLOT")),
            ("head-categorical", 3, Some("MNIST")),
            ("grey", 3 * 3, Some("MNIST")),
            ("quick-grey", 2 * 3, Some("MNIST")),
        ] {
            let cells = of_profile(&spec, profile);
            assert_eq!(cells.len(), runs, "{profile}");
            assert!(cells.iter().all(|cell| Net::of(cell).is_ok()), "{profile}");
            let dataset = spec.dataset_of(profile).unwrap();
            let table = spec.published_for(dataset).unwrap();
            let source = table.map(|table| table.source);
            assert!(source.unwrap().contains(published.unwrap()), "{profile}");
        }
        assert!(spec.published_for("omniglot-105-to-28").unwrap().is_none());
        assert!(spec.published_for("glyphs").unwrap().is_none());
        assert_eq!(spec.profile.len(), 9);
        assert_eq!(spec.epochs("quick").unwrap(), 2);
        let quick = of_profile(&spec, "quick");
        assert!(quick.iter().all(|cell| cell.settings.epochs == 2));
    }

    #[test]
    fn arm_table3_holds_the_slides_protocol_for_both_nets() {
        let spec = Spec::load("arm-table3").unwrap();
        let cells = of_profile(&spec, "paper");
        assert_eq!(cells.len(), 2 * 7);
        for cell in cells {
            assert!(Net::of(&cell).is_ok(), "{}", cell.label());
            let s = &cell.settings;
            assert_eq!((s.epochs, s.batch, s.learning_rate), (2000, 100, 1e-4));
            assert_eq!((s.particles, s.valid_samples, s.check_every), (1, 1, 20));
            assert_eq!((s.valid_images, s.final_samples), (None, Some(1000)));
        }
        for (profile, rate) in [("rate-3e-4", 3e-4), ("rate-1e-3", 1e-3)] {
            let cells = of_profile(&spec, profile);
            assert_eq!(cells.len(), 2 * 6);
            assert!(cells.iter().all(|cell| cell.settings.learning_rate == rate));
            assert!(cells.iter().all(|cell| cell.settings.epochs == 2000));
        }
    }

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
        let error = Spec::parse(&none).unwrap_err().to_string();
        assert!(error.contains("`particles` must be at least 1"), "{error}");
    }

    #[test]
    fn quick_is_nine_cells_of_one_seed_with_the_switch_at_60_percent() {
        let cells = table1()
            .cells("quick", &Selection::default(), "binarized-mnist")
            .unwrap();
        assert_eq!(cells.len(), 9);
        assert!(cells.iter().all(|c| c.seed == 1
            && c.settings.switch == 0.6
            && c.settings.final_samples.is_none()));
        assert!(cells.iter().all(|c| c.settings.test_images == Some(1000)));
    }

    #[test]
    fn the_experiment_of_all_estimators_has_the_whole_catalogue() {
        let spec = Spec::load("estimators").unwrap();
        let named = &spec.profile("quick").unwrap().methods;
        let all = Estimator::CATALOGUE.map(|entry| entry.name);
        assert_eq!(*named, all);
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

    #[test]
    fn an_unknown_key_is_named_with_file_line_and_the_known_keys() {
        let source = mine("batch = 50", "batch_size = 50");
        let line = 1 + source
            .text
            .lines()
            .position(|l| l.starts_with("batch_size"))
            .unwrap();
        let error = Spec::parse(&source).unwrap_err().to_string();
        assert!(error.contains("my.toml"), "{error}");
        assert!(error.contains(&format!("line {line}")), "{error}");
        assert!(
            error.contains("unknown field `batch_size`") && error.contains("`batch`"),
            "{error}"
        );

        let source = mine("valid_images = 1000", "valid_image = 1000");
        let error = Spec::parse(&source).unwrap_err().to_string();
        assert!(
            error.contains("unknown field `valid_image`") && error.contains("`valid_images`"),
            "{error}"
        );
    }

    #[test]
    fn a_profile_that_is_cut_short_knows_the_epochs_of_the_whole() {
        for (table, profile, cell, epochs) in [
            ("arm-table2", "quick", ("linear", "arm"), 400),
            ("arm-table2", "quick-omniglot", ("linear", "arm"), 1500),
            ("arm-table2", "paper", ("linear", "arm"), 400),
            ("arm-table3", "quick", ("feedforward", "half"), 2000),
            ("showdown", "quick", ("nonlinear", "jsa"), 200),
        ] {
            let (spec, (net, method)) = (Spec::load(table).unwrap(), cell);
            assert_eq!(spec.whole(profile, net, method), Some(epochs), "{table}");
        }
    }

    #[test]
    fn a_file_that_makes_no_sense_is_refused() {
        let refusal = |from: &str, to: &str| Spec::parse(&mine(from, to)).unwrap_err().to_string();
        assert!(refusal("switch = 0.6", "switch = 600.0").contains("`switch` is a fraction"));
        assert!(
            refusal("methods = [\"jsa\", \"rws\"", "methods = [\"jsb\", \"rws\"")
                .contains("`jsb`, which is not defined")
        );
        assert!(refusal("name = \"nonlinear\"", "name = \"linear\"").contains("there twice"));
        assert!(refusal("name = \"table1\"", "name = \"../table1\"").contains("names a folder"));
        assert!(refusal("seeds = [1]", "seeds = []").contains("at least one net"));
        assert!(refusal("seeds = [1]", "seeds = [1, 2, 1]").contains("lists the seed `1` twice"));
        assert!(
            refusal(
                "methods = [\"jsa\", \"rws\"",
                "methods = [\"jsa\", \"rws\", \"jsa\""
            )
            .contains("lists the method `jsa` twice")
        );
        assert!(refusal("scan = \"shuffled\"", "scan = \"random\"").contains("with-replacement"));
        let change = "[[profile.yin-zhou.change]]\nnets = [\"linear\"]";
        assert!(refusal(change, &change.replace("linear", "lineer")).contains("`lineer`"));
        let about = "about = \"a few epochs";
        let like = format!("like = \"papers\"\n{about}");
        assert!(refusal(about, &like).contains("like `papers`, which is no profile"));
        let whole = format!("whole = \"papers\"\n{about}");
        assert!(refusal(about, &whole).contains("has `papers` for its whole, which is no profile"));
        let nets = "name = \"jsa\"";
        assert!(refusal(nets, "name = \"jsa\"\nnets = [\"x\"]").contains("the net `x`"));
    }
}
