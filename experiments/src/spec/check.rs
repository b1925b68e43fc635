//! Check of an experiment's file as a whole.

use super::{Net, Profile, Spec};

impl Spec {
    /// Returns what is wrong with the file as a whole, if anything.
    pub(super) fn problem(&self) -> Option<String> {
        let nets: Vec<&str> = self.net.iter().map(|n| n.name.as_str()).collect();
        let methods: Vec<&str> = self.method.iter().map(|m| m.name.as_str()).collect();
        let of_profile = |(name, profile): (&String, &Profile)| {
            let problem = listed(profile, &nets, &methods)
                .or_else(|| self.others(name, profile))
                .or_else(|| repeated(profile))
                .map(|problem| format!("profile `{name}` {problem}"));
            problem.or_else(|| self.settings_problem(name, profile))
        };
        let again = |what: &str, names: &[&str]| {
            let again = twice(names)?;
            Some(format!("the {what} `{again}` is there twice"))
        };
        again("net", &nets)
            .or_else(|| again("method", &methods))
            .or_else(|| self.net.iter().find_map(|net| self.bad_net(net)))
            .or_else(|| self.profile.iter().find_map(of_profile))
            .or_else(|| {
                let mut of_methods = self.method.iter().flat_map(|method| &method.nets);
                let stranger = of_methods.find(|name| !nets.contains(&name.as_str()))?;
                Some(format!(
                    "a method names the net `{stranger}`, which is not defined"
                ))
            })
    }

    fn bad_net(&self, net: &Net) -> Option<String> {
        let own = net.own.as_ref()?;
        let mut added = self.registry.added_nets();
        let known = self.registry.net_names().any(|known| known == net.name);
        if known && !added.any(|(name, config)| name == net.name && config == *own) {
            return Some(format!(
                "the net `{}` is one that the program knows: give yours another name",
                net.name
            ));
        }
        let made = self.registry.net(&net.name, Some(own));
        made.err().map(|error| error.to_string())
    }

    /// Other profiles that it names.
    fn others(&self, name: &str, profile: &Profile) -> Option<String> {
        if let Some(of) = &profile.like
            && self
                .profile
                .get(of)
                .is_none_or(|known| known.like.is_some())
        {
            return Some(format!(
                "is like `{of}`, which is no profile, or like another itself"
            ));
        }
        if let Some(whole) = &profile.whole
            && !self.profile.contains_key(whole)
        {
            return Some(format!("has `{whole}` for its whole, which is no profile"));
        }
        let stranger = |other: &&String| *other == name || !self.profile.contains_key(*other);
        let other = profile.chosen_from.iter().find(stranger)?;
        Some(format!(
            "is chosen from `{other}`, which is no other profile"
        ))
    }

    fn settings_problem(&self, name: &str, profile: &Profile) -> Option<String> {
        let of_method = |method| self.net.iter().map(move |net| (net, method));
        let mut pairs = self.method.iter().flat_map(of_method);
        pairs.find_map(|(net, method)| {
            let problem = self.settings_of(profile, net, method, None).problem()?;
            Some(format!(
                "profile `{name}`, net `{}`, method `{}`: {problem}",
                net.name, method.name
            ))
        })
    }
}

/// Nets and methods that it lists and nobody defines.
fn listed(profile: &Profile, nets: &[&str], methods: &[&str]) -> Option<String> {
    let stranger = |what: &str, wanted: &[String], known: &[&str]| {
        let stranger = wanted.iter().find(|w| !known.contains(&w.as_str()))?;
        Some(format!(
            "lists the {what} `{stranger}`, which is not defined"
        ))
    };
    let either = |own: &[String], of: &[String]| {
        stranger("net", own, nets).or_else(|| stranger("method", of, methods))
    };
    let mut changes = profile.change.iter();
    either(&profile.nets, &profile.methods)
        .or_else(|| changes.find_map(|change| either(&change.nets, &change.methods)))
}

/// Lists with nothing, or with something twice.
fn repeated(profile: &Profile) -> Option<String> {
    if profile.nets.is_empty() || profile.methods.is_empty() || profile.seeds.is_empty() {
        return Some("needs at least one net, one method and one seed".into());
    }
    let all = [
        ("net", twice(&profile.nets).cloned()),
        ("method", twice(&profile.methods).cloned()),
        ("seed", twice(&profile.seeds).map(u64::to_string)),
    ];
    let (what, again) = all
        .iter()
        .find_map(|(what, again)| Some((what, again.as_ref()?)))?;
    Some(format!("lists the {what} `{again}` twice"))
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
        let rejection = |from: &str, to: &str| {
            Spec::parse(&mine(from, to), &Registry::default())
                .unwrap_err()
                .to_string()
        };
        assert!(rejection("switch = 0.6", "switch = 600.0").contains("`switch` is 600"));
        assert!(
            rejection("methods = [\"jsa\", \"rws\"", "methods = [\"jsb\", \"rws\"")
                .contains("`jsb`, which is not defined")
        );
        assert!(rejection("name = \"nonlinear\"", "name = \"linear\"").contains("there twice"));
        assert!(rejection("name = \"table1\"", "name = \"../table1\"").contains("names a folder"));
        assert!(rejection("seeds = [1]", "seeds = []").contains("at least one net"));
        assert!(rejection("seeds = [1]", "seeds = [1, 2, 1]").contains("lists the seed `1` twice"));
        assert!(
            rejection(
                "methods = [\"jsa\", \"rws\"",
                "methods = [\"jsa\", \"rws\", \"jsa\""
            )
            .contains("lists the method `jsa` twice")
        );
        assert!(
            rejection(
                "methods = [\"jsa\", \"rws\"",
                "methods = [\"all\", \"-jsb\""
            )
            .contains("`-jsb`, which is not defined")
        );
        assert!(rejection("scan = \"shuffled\"", "scan = \"random\"").contains("with-replacement"));
        let change = "[[profile.yin-zhou.change]]\nnets = [\"linear\"]";
        assert!(rejection(change, &change.replace("linear", "lineer")).contains("`lineer`"));
        let about = "about = \"a few epochs";
        let like = format!("like = \"papers\"\n{about}");
        assert!(rejection(about, &like).contains("like `papers`, which is no profile"));
        let whole = format!("whole = \"papers\"\n{about}");
        assert!(
            rejection(about, &whole).contains("has `papers` for its whole, which is no profile")
        );
        let nets = "name = \"jsa\"";
        assert!(rejection(nets, "name = \"jsa\"\nnets = [\"x\"]").contains("the net `x`"));
    }
}
