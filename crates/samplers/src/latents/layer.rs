//! What a layer of a latent state is made of.

use std::fmt;

/// A layer of a latent state: variables of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// So many Bernoulli variables, of 1 bit each.
    Bernoulli(usize),
    /// Categorical variables, coded 0 to `classes` - 1 in ceil(log2 `classes`) bits each.
    Categorical {
        /// How many.
        variables: usize,
        /// Classes of each, 2 or more.
        classes: u32,
    },
    /// So many real variables in single precision, kept bit for bit.
    F32(usize),
    /// So many real variables in double precision, kept bit for bit.
    F64(usize),
}

impl Layer {
    /// How many variables.
    pub fn variables(&self) -> usize {
        match *self {
            Self::Bernoulli(variables)
            | Self::Categorical { variables, .. }
            | Self::F32(variables)
            | Self::F64(variables) => variables,
        }
    }

    /// Bits a variable; 0 for what cannot be stored.
    pub(crate) fn width(&self) -> u32 {
        match *self {
            Self::Bernoulli(_) => 1,
            Self::Categorical { classes, .. } => {
                u32::BITS - classes.saturating_sub(1).leading_zeros()
            }
            Self::F32(_) => 32,
            Self::F64(_) => 64,
        }
    }

    /// Classes of a variable whose bits can hold codes that name none.
    pub(crate) fn classes_with_gaps(&self) -> Option<u32> {
        match *self {
            Self::Categorical { classes, .. } if !classes.is_power_of_two() => Some(classes),
            _ => None,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bernoulli(variables) => write!(f, "{variables} bits"),
            Self::Categorical { variables, classes } => {
                write!(f, "{variables} of {classes} classes")
            }
            Self::F32(variables) => write!(f, "{variables} f32"),
            Self::F64(variables) => write!(f, "{variables} f64"),
        }
    }
}
