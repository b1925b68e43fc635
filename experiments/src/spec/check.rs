//! What is wrong with an experiment's file as a whole.

use super::Spec;
use crate::source::is_folder_name;

impl Spec {
    /// What is wrong with the file as a whole, if anything.
    pub(super) fn problem(&self) -> Option<String> {
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
        for net in &self.net {
            let added = || {
                self.registry
                    .added_nets()
                    .any(|(name, own)| name == net.name && Some(&own) == net.own.as_ref())
            };
            let known = || self.registry.net_names().any(|known| known == net.name);
            if net.own.is_some() && known() && !added() {
                return Some(format!(
                    "the net `{}` is one that the program knows: give yours another name",
                    net.name
                ));
            }
            if let Some(Err(error)) =
                (net.own.as_ref()).map(|own| self.registry.net(&net.name, Some(own)))
            {
                return Some(error.to_string());
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

#[cfg(test)]
mod tests {
    use super::super::tests::mine;
    use crate::registry::Registry;
    use crate::spec::Spec;

    #[test]
    fn a_file_that_makes_no_sense_is_refused() {
        let refusal = |from: &str, to: &str| {
            Spec::parse(&mine(from, to), &Registry::default())
                .unwrap_err()
                .to_string()
        };
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
