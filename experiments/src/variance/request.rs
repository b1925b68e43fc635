//! What is measured.

use crate::error::HarnessError;
use crate::names::unknown;
use crate::nets::Net;
use crate::registry::Registry;
use crate::trained::Run;
use helmholtz_estimators::{Entry, Method};
use helmholtz_evaluation::Replication;

/// What is measured: methods, on a mini-batch, at the same parameters.
#[derive(Debug, Clone)]
pub struct Request {
    /// What the names mean.
    pub registry: Registry,
    /// The net's name.
    pub net: String,
    /// The estimators.
    pub methods: Vec<Entry>,
    /// Particles K for each image.
    pub particles: usize,
    /// Images of the mini-batch: the first of the training set.
    pub images: usize,
    /// Whether the methods that keep a chain an image use it: their stage II.
    pub chains: bool,
    /// Whether the methods that [take it](Method::takes_analytic_kl) are given KL(q ‖ p(h)) in closed form.
    pub analytic_kl: bool,
    /// How often, and what names the draws. Fresh parameters come from the same seed.
    pub replication: Replication,
    /// Where the parameters come from; fresh ones without.
    pub run: Option<Run>,
}

impl Request {
    /// Estimators by name, each once; `all` is every one.
    ///
    /// # Errors
    /// An unknown name, with the nearest.
    pub fn methods(registry: &Registry, names: &[String]) -> Result<Vec<Entry>, HarnessError> {
        let mut methods: Vec<Entry> = Vec::new();
        for name in names {
            let asked = |entry: &&Entry| name == "all" || entry.name == name;
            let found: Vec<&Entry> = registry.methods().iter().filter(asked).collect();
            if found.is_empty() {
                let known = registry.methods().iter().map(|entry| entry.name);
                let choices = known.chain(["all"]).map(String::from);
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

    /// The net: a run's own, if there is one.
    ///
    /// # Errors
    /// An unknown name.
    pub fn net(&self) -> Result<Net, HarnessError> {
        match &self.run {
            Some(run) => Net::of(&run.cell),
            None => self.registry.net(&self.net, None),
        }
    }

    /// That every method means something for the net.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check_latents(&self) -> Result<(), HarnessError> {
        let net = self.net()?;
        let mut objections = self.methods.iter().filter_map(|entry| {
            let why = net.objection(&entry.method)?;
            Some(format!("`{}` on `{}`: {why}", entry.name, self.net))
        });
        objections
            .next()
            .map_or(Ok(()), |text| Err(HarnessError::Unusable(text)))
    }

    /// Whether `method` is measured with a chain an image.
    pub fn retains(&self, method: &Method) -> bool {
        self.chains && method.keeps_chains()
    }

    /// That every method is defined for so many particles.
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

    fn names(of: &[&str]) -> Vec<String> {
        let of: Vec<String> = of.iter().map(|name| name.to_string()).collect();
        let methods = Request::methods(&Registry::default(), &of).unwrap();
        methods.iter().map(|entry| entry.name.into()).collect()
    }

    #[test]
    fn methods_come_once_in_the_order_given_and_all_is_every_one() {
        assert_eq!(names(&["rloo", "jsa", "rloo"]), ["rloo", "jsa"]);
        let all = names(&["vimco", "all"]);
        assert_eq!(all[0], "vimco");
        assert_eq!(all.len(), Method::CATALOGUE.len());
        let error = Request::methods(&Registry::default(), &["rlo".into()])
            .unwrap_err()
            .to_string();
        assert!(error.contains("Did you mean `rloo`?"), "{error}");
        assert!(error.ends_with("all"), "{error}");
    }
}
