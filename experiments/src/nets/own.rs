//! Nets that an experiment file describes: a family, and sizes.

use super::{Family, Net};
use serde_json::{Map, Value, json};

/// A [`Family`] of whichever type.
#[derive(Clone, Copy)]
pub(crate) struct AnyFamily {
    pub(crate) name: &'static str,
    pub(crate) options: &'static [&'static str],
    pub(crate) named: fn() -> Vec<(&'static str, Net)>,
    pub(crate) describe: fn(&Map<String, Value>) -> Result<Net, String>,
}

impl AnyFamily {
    pub(crate) fn of<F: Family>() -> Self {
        Self {
            name: F::NAME,
            options: F::OPTIONS,
            named: || {
                let all = F::named().into_iter();
                all.map(|(name, net)| (name, Net::new(net))).collect()
            },
            describe: described::<F>,
        }
    }
}

/// The net of these sizes.
fn described<F: Family>(sizes: &Map<String, Value>) -> Result<Net, String> {
    let own = hyphenated(Value::Object(sizes.clone()));
    let given = |path: &&&str| {
        own.pointer(&format!("/{}", path.replace('.', "/")))
            .is_some()
    };
    if let Some(key) = F::FROM_DATA.iter().find(given) {
        return Err(format!("`{key}` follows from the data: leave it out"));
    }
    let net: F = laid_over(&own).map_err(|error| {
        let all = own.as_object().into_iter().flatten();
        let mut each = all.map(|(key, value)| (key, json!({key: value})));
        match each.find(|(_, alone)| laid_over::<F>(alone).is_err()) {
            Some((key, _)) if !error.contains(&format!("`{key}`")) => format!("`{key}`: {error}"),
            _ => error,
        }
    })?;
    net.check().map_err(|error| error.to_string())?;
    Ok(Net::new(net))
}

/// The first net of the family, with what `own` holds in place of its own.
fn laid_over<F: Family>(own: &Value) -> Result<F, String> {
    let (_, base) = F::named().swap_remove(0);
    let whole = serde_json::to_value(base).and_then(|mut whole| {
        overlay(&mut whole, own.clone());
        serde_json::from_value(whole)
    });
    whole.map_err(|error| error.to_string())
}

/// Keys as configurations write them: files may have underscores, as in settings.
fn hyphenated(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let keys = map.into_iter();
            keys.map(|(key, value)| (key.replace('_', "-"), hyphenated(value)))
                .collect()
        }
        other => other,
    }
}

/// Replaces what `own` holds, key by key; a map of one key is a choice, and replaced as a whole.
fn overlay(base: &mut Value, own: Value) {
    match (base, own) {
        (Value::Object(base), Value::Object(own)) if base.len() > 1 => {
            for (key, value) in own {
                overlay(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, own) => *base = own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::OwnNet;
    use crate::registry::Registry;
    use helmholtz_sbn::{Initialisation, MixedSbnConfig, SbnConfig};

    fn net(value: Value) -> Result<Net, String> {
        let own: OwnNet = serde_json::from_value(value).unwrap();
        let net = Registry::default().net("mine", Some(&own));
        net.map_err(|error| error.to_string())
    }

    #[test]
    fn a_net_has_its_sizes_and_the_rest_of_its_family() {
        let three = net(json!({
            "family": "sbn", "latent": [100, 100, 100], "learned_prior": true,
            "initialisation": {"xavier-over-fan-in": {"bias": 0.5}}
        }));
        let three = three.unwrap().of_width(12);
        let expected = SbnConfig {
            visible: 12,
            latent: vec![100; 3],
            learned_prior: true,
            initialisation: Initialisation::XavierOverFanIn { bias: 0.5 },
            ..SbnConfig::named("linear").unwrap()
        };
        assert_eq!(three.config::<SbnConfig>(), Some(&expected));
        assert_eq!((three.layers(), three.values()), (3, 312));
        let mixed = net(json!({"family": "mixed-sbn", "bits": {"latent": [7]}, "classes": 3}));
        let mixed = mixed.unwrap();
        let mixed = mixed.config::<MixedSbnConfig>().unwrap();
        assert_eq!((&mixed.bits.latent[..], mixed.classes), (&[7][..], 3));
        assert!(mixed.bits.learned_prior, "as of sbn-200-10c");
        for family in ["categorical-vae", "conditional-sbn", "feedforward"] {
            net(json!({"family": family, "hidden": [5]})).unwrap();
        }
    }

    #[test]
    fn what_no_net_has_is_refused_with_what_it_would_have() {
        for (own, parts) in [
            (
                json!({"family": "mixed-sbm"}),
                ["`mixed-sbm`", "Did you mean `mixed-sbn`?"],
            ),
            (
                json!({"family": "sbn", "visible": 9}),
                ["`visible`", "leave it out"],
            ),
            (
                json!({"family": "mixed-sbn", "bits": {"visible": 9}}),
                ["`bits.visible`", "leave it out"],
            ),
            (
                json!({"family": "sbn", "latents": [9]}),
                ["`latents`", "`latent`"],
            ),
            (
                json!({"family": "sbn", "latent": [9, 0]}),
                ["`latent`", "0 units"],
            ),
            (
                json!({"family": "sbn", "latent": 9}),
                ["`latent`: invalid type", "sequence"],
            ),
            (
                json!({"family": "sbn", "slope": -1.0}),
                ["`slope`", "not negative"],
            ),
            (
                json!({"family": "feedforward", "latent": []}),
                ["`latent`", "0 units"],
            ),
        ] {
            let error = net(own).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
