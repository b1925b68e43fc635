//! Equal evaluations of f: the number of particles that makes a method's as many as wanted.

use super::{Method, Net, Spec};
use crate::cell::Settings;
use crate::error::HarnessError;
use helmholtz_estimators::LatentKind;

impl Spec {
    /// The number of particles with which a method makes so many evaluations of f an image on a net, in every stage that the settings
    /// have, if there is one.
    ///
    /// # Errors
    /// A net or a method that there is not.
    pub(super) fn equal_particles(
        &self,
        net: &Net,
        method: &Method,
        settings: &Settings,
        evaluations: usize,
    ) -> Result<Option<usize>, HarnessError> {
        let net = self.registry.net(&net.name, net.own.as_ref())?;
        let entry = self.registry.method(&method.name)?;
        let method = entry.method.with_stage1_extra(settings.stage1_extra > 0);
        if method.evaluations_of_classes().is_some() && net.latents() == LatentKind::Classes {
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
}

#[cfg(test)]
mod tests {
    use super::super::tests::table1;
    use super::*;
    use crate::cell::Cell;
    use crate::registry::Registry;
    use crate::source::Source;
    use crate::spec::Selection;

    /// Returns what a cell's method declares for an image and step, in each stage that the cell goes through.
    fn declared(cell: &Cell) -> Vec<usize> {
        let s = &cell.settings;
        let trial = Registry::default().trial(cell).unwrap();
        let (method, layers) = (trial.entry.method, trial.net.layers());
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
        let spec = Spec::parse(&twin, &Registry::default()).unwrap();
        let cells = spec.cells("paper", &Selection::default(), "x").unwrap();
        let mut all: Vec<usize> = cells.iter().flat_map(declared).collect();
        all.sort_unstable();
        all.dedup();
        assert!(all.len() > 1, "{all:?}");
    }

    #[test]
    fn what_cannot_be_made_equal_is_left_out_and_refused_with_the_reason() {
        let spec = Spec::load("showdown").unwrap();
        assert_eq!(spec.excluded("paper").unwrap(), ["WS"]);
        let all = helmholtz_estimators::Method::CATALOGUE;
        let all = all.of(LatentKind::Bits).count();
        let paper = spec.profile("paper").unwrap();
        // Nor are coupled chains run, whose declared evaluations are the least.
        assert_eq!(paper.methods.len(), all - 2);
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
        assert!(table1().excluded("paper").unwrap().is_empty());
    }
}
