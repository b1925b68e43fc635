//! Request for a measurement.

use crate::error::HarnessError;
use crate::names::unknown;
use crate::nets::Net;
use crate::registry::Registry;
use helmholtz_estimators::{Declaration, Entry, LatentKind};

pub use crate::works::variance::Request;

impl Request {
    /// Estimators by name, each once; `all` is every one that is defined for these latents.
    ///
    /// # Errors
    /// An unknown name, with the nearest.
    pub fn methods(
        registry: &Registry,
        names: &[String],
        latents: LatentKind,
    ) -> Result<Vec<Entry>, HarnessError> {
        let mut methods: Vec<Entry> = Vec::new();
        for name in names {
            let defined = |entry: &Entry| entry.method.domain().takes(latents);
            let asked = |entry: &&Entry| entry.name == name || (name == "all" && defined(entry));
            let found: Vec<&Entry> = registry.methods().iter().filter(asked).collect();
            if found.is_empty() {
                let choices = registry.method_names().chain(["all"]).map(String::from);
                return Err(unknown("method", name, choices));
            }
            for entry in found {
                if methods.iter().all(|known| known.name != entry.name) {
                    methods.push(*entry);
                }
            }
        }
        Ok(methods)
    }

    /// Checks that every method means something for its net.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check_latents(&self, net: &Net) -> Result<(), HarnessError> {
        let mut objections = self.methods.iter().filter_map(|entry| {
            let why = net.objection(&entry.method)?;
            Some(format!("`{}` on `{}`: {why}", entry.name, self.net))
        });
        objections
            .next()
            .map_or(Ok(()), |text| Err(HarnessError::Unusable(text)))
    }

    /// Checks that every method is defined for so many particles.
    ///
    /// # Errors
    /// The first that is not, with what it needs.
    pub fn check_particles(&self) -> Result<(), HarnessError> {
        for Entry { name, method, .. } in &self.methods {
            let least = method.least_particles(self.retains(method));
            if self.particles < least {
                let given = self.particles;
                return Err(HarnessError::Unusable(format!(
                    "`{name}` needs at least {least} particles, not {given}: give `--particles {least}` or leave it out"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use helmholtz_estimators::Method;

    fn names(of: &[&str]) -> Vec<String> {
        let of: Vec<String> = of.iter().map(|name| name.to_string()).collect();
        let methods = Request::methods(&Registry::default(), &of, LatentKind::Bits).unwrap();
        methods.iter().map(|entry| entry.name.into()).collect()
    }

    #[test]
    fn methods_come_once_in_the_order_given_and_all_is_every_one() {
        assert_eq!(names(&["rloo", "jsa", "rloo"]), ["rloo", "jsa"]);
        let all = names(&["vimco", "all"]);
        assert_eq!(all[0], "vimco");
        assert_eq!(all.len(), Method::CATALOGUE.of(LatentKind::Bits).count());
        let error = Request::methods(&Registry::default(), &["rlo".into()], LatentKind::Bits)
            .unwrap_err()
            .to_string();
        assert!(error.contains("Did you mean `rloo`?"), "{error}");
        assert!(error.ends_with("all"), "{error}");
    }
}
