//! Reads recorded tensors from bytes of which nothing is believed.
//!
//! The format is that of burn's binary recorder. The fields of a struct stand one after the other, integers have variable length, and
//! a length stands before each sequence, map, text and array of bytes. A length that is larger than what is left ends the reading
//! before anything is allocated, and so does a tensor whose shape does not fit its bytes. What kinds of [`Item`] were met is
//! kept, so that parameters can be compared with those of the net that they are for.

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::{Deserialize, Deserializer};

/// Dimensions of a tensor at most.
const RANKS: u64 = 8;

/// Item met while reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A text, such as the id of a parameter.
    Text(String),
    /// The shape of a tensor.
    Tensor(Vec<usize>),
    /// The rank that the state of an optimiser says it has.
    Rank(usize),
}

/// Wrapper that burn writes around a record.
#[derive(Deserialize)]
struct Around<T> {
    #[serde(rename = "metadata")]
    _metadata: Metadata,
    item: T,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(rename = "float")]
    _float: String,
    #[serde(rename = "int")]
    _int: String,
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: String,
    #[serde(rename = "settings")]
    _settings: String,
}

/// The record in `bytes`, all of them, and the items met in it.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, Vec<Item>), Unreadable> {
    let mut reader = Reader {
        left: bytes,
        items: Vec::new(),
    };
    let around: Around<T> = Around::deserialize(&mut reader)?;
    if !reader.left.is_empty() {
        return Err(Unreadable("it goes on after its end".into()));
    }
    // Those of the metadata are none of the record's.
    let items = reader.items.split_off(5);
    Ok((around.item, items))
}

/// Why bytes are no record.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unreadable(String);

impl de::Error for Unreadable {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct Reader<'de> {
    left: &'de [u8],
    items: Vec<Item>,
}

impl<'de> Reader<'de> {
    fn take(&mut self, length: usize) -> Result<&'de [u8], Unreadable> {
        let taken = self.left.split_at_checked(length);
        let (taken, left) = taken.ok_or_else(|| {
            let left = self.left.len();
            Unreadable(format!("it says that {length} bytes follow, but {left} do"))
        })?;
        self.left = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let taken = self.take(N)?;
        taken
            .try_into()
            .map_err(|_| Unreadable("it ends too early".into()))
    }

    /// An integer of variable length.
    fn unsigned(&mut self) -> Result<u64, Unreadable> {
        match self.array::<1>()?[0] {
            byte @ 0..=250 => Ok(u64::from(byte)),
            251 => Ok(u64::from(u16::from_le_bytes(self.array()?))),
            252 => Ok(u64::from(u32::from_le_bytes(self.array()?))),
            253 => Ok(u64::from_le_bytes(self.array()?)),
            byte => Err(Unreadable(format!("{byte} begins no integer"))),
        }
    }

    fn signed(&mut self) -> Result<i64, Unreadable> {
        let zigzag = self.unsigned()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// The number of things that follow, each of a byte or more.
    fn length(&mut self) -> Result<usize, Unreadable> {
        let length = self.unsigned()?;
        match usize::try_from(length) {
            Ok(length) if length <= self.left.len() => Ok(length),
            _ => {
                let left = self.left.len();
                Err(Unreadable(format!(
                    "it says that {length} items follow in {left} bytes"
                )))
            }
        }
    }

    fn bytes(&mut self) -> Result<&'de [u8], Unreadable> {
        let length = self.length()?;
        self.take(length)
    }

    fn text(&mut self) -> Result<&'de str, Unreadable> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|error| Unreadable(error.to_string()))
    }

    /// Looks ahead at a tensor: bytes, shape, type.
    fn check_tensor(&mut self) -> Result<(), Unreadable> {
        let begin = self.left;
        let bytes = self.bytes()?.len();
        let ranks = self.unsigned()?;
        if ranks > RANKS {
            return Err(Unreadable(format!("a tensor has {ranks} dimensions")));
        }
        let mut shape = Vec::new();
        for _ in 0..ranks {
            let width = usize::try_from(self.unsigned()?);
            shape.push(width.map_err(|error| Unreadable(error.to_string()))?);
        }
        let size = match self.unsigned()? {
            0 => 8,
            1 => 4,
            other => return Err(Unreadable(format!("a tensor has numbers of type {other}"))),
        };
        let elements = shape
            .iter()
            .try_fold(size, |total: usize, &width| total.checked_mul(width));
        if elements != Some(bytes) {
            return Err(Unreadable(format!(
                "a tensor of shape {shape:?} has {bytes} bytes"
            )));
        }
        self.items.push(Item::Tensor(shape));
        self.left = begin;
        Ok(())
    }
}

macro_rules! unsigned {
    ($($name:ident $visit:ident $type:ty),*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
            let value = <$type>::try_from(self.unsigned()?);
            visitor.$visit(value.map_err(|error| Unreadable(error.to_string()))?)
        }
    )*};
}

macro_rules! signed {
    ($($name:ident $visit:ident $type:ty),*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
            let value = <$type>::try_from(self.signed()?);
            visitor.$visit(value.map_err(|error| Unreadable(error.to_string()))?)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unreadable> {
        Err(Unreadable("a record does not say what follows".into()))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.array::<1>()?[0] {
            0 => visitor.visit_bool(false),
            1 => visitor.visit_bool(true),
            byte => Err(Unreadable(format!("{byte} is neither true nor false"))),
        }
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_u8(self.array::<1>()?[0])
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_i8(self.array::<1>()?[0] as i8)
    }

    unsigned!(deserialize_u16 visit_u16 u16, deserialize_u32 visit_u32 u32, deserialize_u64 visit_u64 u64);
    signed!(deserialize_i16 visit_i16 i16, deserialize_i32 visit_i32 i32, deserialize_i64 visit_i64 i64);

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_f32(f32::from_le_bytes(self.array()?))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_f64(f64::from_le_bytes(self.array()?))
    }

    fn deserialize_char<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unreadable> {
        Err(Unreadable("a record holds no single characters".into()))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        let text = self.text()?;
        self.items.push(Item::Text(text.into()));
        visitor.visit_borrowed_str(text)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_borrowed_bytes(self.bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.array::<1>()?[0] {
            0 => visitor.visit_none(),
            1 => visitor.visit_some(self),
            byte => Err(Unreadable(format!(
                "{byte} is neither something nor nothing"
            ))),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        let left = self.length()?;
        visitor.visit_seq(Several { reader: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(Several { reader: self, left })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_tuple(left, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        let left = self.length()?;
        visitor.visit_map(Several { reader: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        if name == "TensorData" {
            self.check_tensor()?;
        }
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_enum(Choice {
            reader: self,
            variants,
        })
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unreadable> {
        Err(Unreadable("a record holds no names of fields".into()))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unreadable> {
        Err(Unreadable("a record does not say what is left out".into()))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// So many things, one after the other.
struct Several<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Several<'_, 'de> {
    type Error = Unreadable;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> MapAccess<'de> for Several<'_, 'de> {
    type Error = Unreadable;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unreadable> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Unreadable> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

struct Choice<'a, 'de> {
    reader: &'a mut Reader<'de>,
    variants: &'static [&'static str],
}

impl<'de> EnumAccess<'de> for Choice<'_, 'de> {
    type Error = Unreadable;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), Unreadable> {
        let index = self.reader.unsigned()?;
        let name = usize::try_from(index).ok();
        let name = name.and_then(|index| self.variants.get(index));
        if let Some(rank) = name.and_then(|name| name.strip_prefix("Rank")?.parse().ok()) {
            self.reader.items.push(Item::Rank(rank));
        }
        let index = u32::try_from(index).map_err(|error| Unreadable(error.to_string()))?;
        let index = de::value::U32Deserializer::<Unreadable>::new(index);
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_, 'de> {
    type Error = Unreadable;

    fn unit_variant(self) -> Result<(), Unreadable> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, Unreadable> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.reader.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.reader.deserialize_tuple(fields.len(), visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(bytes: &[u8]) -> Reader<'_> {
        Reader {
            left: bytes,
            items: Vec::new(),
        }
    }

    /// By the format: small numbers take a byte, others a mark and the bytes of the type; signs are folded in.
    #[test]
    fn integers_have_variable_length_and_signs_take_turns() {
        let unsigned = |bytes: &[u8]| reader(bytes).unsigned().unwrap();
        assert_eq!(unsigned(&[250]), 250);
        assert_eq!(unsigned(&[251, 1, 1]), 257);
        assert_eq!(unsigned(&[252, 1, 0, 1, 0]), 65_537);
        assert_eq!(unsigned(&[253, 1, 0, 0, 0, 1, 0, 0, 0]), (1 << 32) + 1);
        assert!(reader(&[254]).unsigned().is_err() && reader(&[251, 1]).unsigned().is_err());
        let signed = |byte: u8| reader(&[byte]).signed().unwrap();
        assert_eq!(
            [0, 1, 2, 3, 4, 249, 250].map(signed),
            [0, -1, 1, -2, 2, -125, 125]
        );
    }

    #[test]
    fn a_length_is_of_what_is_left_at_most() {
        assert_eq!(reader(&[2, 0, 0]).length().unwrap(), 2);
        assert!(reader(&[2, 0]).length().is_err());
    }

    /// A number of four bytes in a tensor of so many dimensions of one.
    #[test]
    fn a_tensor_has_eight_dimensions_at_most() {
        let tensor = |ranks: u8| {
            let shape = vec![1; usize::from(ranks)];
            [&[4, 0, 0, 0, 0, ranks], &shape[..], &[1]].concat()
        };
        reader(&tensor(8)).check_tensor().unwrap();
        let refused = reader(&tensor(9)).check_tensor().unwrap_err();
        assert!(refused.to_string().contains("9 dimensions"), "{refused}");
    }

    #[test]
    fn a_record_is_not_for_people() {
        assert!(!Deserializer::is_human_readable(&&mut reader(&[])));
    }
}
