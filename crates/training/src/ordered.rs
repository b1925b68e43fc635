//! The state of an optimiser in the order of its parameters, so that equal states are equal bytes.

use std::fmt;

use burn::module::ParamId;
use burn::record::{PrecisionSettings, Record};
use burn::tensor::backend::Backend;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values that belong to the parameters, in the order in which the parameters were made. They are recorded as a map.
#[derive(Clone, Debug)]
pub(crate) struct Ordered<T>(Vec<(ParamId, T)>);

impl<T> Ordered<T> {
    /// Sorts the entries of a map, whatever its order.
    pub fn new(map: impl IntoIterator<Item = (ParamId, T)>) -> Self {
        let mut entries: Vec<_> = map.into_iter().collect();
        entries.sort_by_key(|(id, _)| id.val());
        Self(entries)
    }
}

impl<B: Backend, T: Record<B>> Record<B> for Ordered<T> {
    type Item<S: PrecisionSettings> = OrderedItem<T::Item<S>>;

    fn into_item<S: PrecisionSettings>(self) -> Self::Item<S> {
        let entries = self.0.into_iter();
        let entries = entries.map(|(id, value)| (id.serialize(), value.into_item::<S>()));
        OrderedItem(entries.collect())
    }

    fn from_item<S: PrecisionSettings>(item: Self::Item<S>, device: &B::Device) -> Self {
        let entries = item.0.into_iter();
        Self::new(
            entries
                .map(|(id, value)| (ParamId::deserialize(&id), T::from_item::<S>(value, device))),
        )
    }
}

/// The entries as they are written.
#[derive(Clone, Debug)]
pub(crate) struct OrderedItem<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for OrderedItem<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, value)| (id, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedItem<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = OrderedItem<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from ids to states")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OrderedItem(entries))
            }
        }

        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_map_is_an_error_that_says_what_was_expected() {
        let error = serde_json::from_str::<OrderedItem<u8>>("3").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("a map from ids to states"), "{text}");
        let found = serde_json::from_str::<OrderedItem<u8>>(r#"{"b": 1, "a": 2}"#).unwrap();
        assert_eq!(found.0, [("b".to_owned(), 1), ("a".to_owned(), 2)]);
    }
}
