//! Profiles: the scales at which an experiment is run, and the settings that come of them.

use super::{Method, Net, Spec};
use crate::cell::{Overrides, Settings};
use crate::error::HarnessError;
use crate::profiles::named;
use serde::Deserialize;

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
    /// The methods that run unless the user names some. In a file `"all"` stands first for every estimator that is defined for the
    /// latents of all these nets, and `"-ws"` after it leaves one out.
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
    /// Departures of the profile from the publication: printed below the table.
    #[serde(default)]
    pub deviations: Vec<String>,
    /// Profiles that differ in what validation chooses, a learning rate say. Of each net, method and number of particles the
    /// table shows the runs of one among these and this one. It is the one whose mean validation NLL is the best, where the
    /// others' runs are finished.
    #[serde(default)]
    pub chosen_from: Vec<String>,
    /// Settings that the profile changes.
    #[serde(default)]
    pub settings: Overrides,
    /// Changes to single nets and methods, after what those change themselves; the later the stronger.
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

impl Spec {
    /// The profile called `name`.
    ///
    /// # Errors
    /// [`HarnessError::Unknown`].
    pub fn profile(&self, name: &str) -> Result<&Profile, HarnessError> {
        named("profile", name, &self.profile)
    }

    /// The data set of a profile.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn dataset_of(&self, profile: &str) -> Result<&str, HarnessError> {
        let own = self.profile(profile)?.dataset.as_deref();
        Ok(own.unwrap_or(&self.dataset))
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

    /// Lists where a profile departs from the publication, and where the one that it is like does.
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

    /// This profile, and those like it that differ in when they look and in nothing that they train or estimate. When they look
    /// is how often they check, and whether training or test images are evaluated too. Their runs stand for one another in a
    /// figure.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn training_as(&self, name: &str) -> Result<Vec<&str>, HarnessError> {
        let own = self.profile(name)?;
        let dataset = self.dataset_of(name)?;
        let trains = |profile: &Profile, net: &Net, method: &Method| Settings {
            check_every: 0,
            train_images: None,
            test_at_checks: None,
            gradient_beta: None,
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

    pub(super) fn settings_of(
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

    /// The profile that a profile is like.
    fn like(&self, profile: &Profile) -> Option<&Profile> {
        self.profile.get(profile.like.as_ref()?)
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::Spec;

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
}
