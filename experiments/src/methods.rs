//! Estimators by name.

use crate::error::HarnessError;
use crate::names::lookup;
use helmholtz_estimators::{Entry, Method};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, LazyLock};

/// Estimators by name, in the order of tables: those that come with the program, then those that a program adds.
#[derive(Clone)]
pub struct Methods(Arc<Vec<Entry>>);

static BUILT_IN: LazyLock<Methods> =
    LazyLock::new(|| Methods(Arc::new(Method::CATALOGUE.to_vec())));

/// Estimators that come with the program.
impl Default for Methods {
    fn default() -> Self {
        BUILT_IN.clone()
    }
}

/// The same if they have the same names.
impl PartialEq for Methods {
    fn eq(&self, other: &Self) -> bool {
        let names = |methods: &Self| {
            methods
                .all()
                .iter()
                .map(|entry| entry.name)
                .collect::<Vec<_>>()
        };
        Arc::ptr_eq(&self.0, &other.0) || names(self) == names(other)
    }
}

impl Debug for Methods {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.all().iter().map(|entry| entry.name);
        f.debug_list().entries(names).finish()
    }
}

impl Methods {
    /// All of them.
    pub fn all(&self) -> &[Entry] {
        &self.0
    }

    /// Returns the estimators that a program has added.
    #[cfg(feature = "cpu")]
    pub(crate) fn added(&self) -> &[Entry] {
        &self.0[Method::CATALOGUE.len()..]
    }

    /// The estimator called `name`.
    ///
    /// # Errors
    /// [`HarnessError::Unknown`].
    pub fn named(&self, name: &str) -> Result<Entry, HarnessError> {
        lookup("method", name, self.all(), |entry| entry.name).copied()
    }

    /// The same with one more.
    pub(crate) fn with(mut self, entry: Entry) -> Self {
        Arc::make_mut(&mut self.0).push(entry);
        self
    }
}
