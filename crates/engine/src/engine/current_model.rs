//! The model of new sessions, when somebody has chosen one.
//!
//! Kept in a file of our own. Without a choice new sessions have no model of their own and use the catalogue's default.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_domain::ModelName;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::files::{read_bounded, replace};

/// The choice, and where it is kept.
#[derive(Debug)]
pub(super) struct CurrentModel {
    path: PathBuf,
    held: Mutex<Option<ModelName>>,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelText {
    name: String,
}

impl CurrentModel {
    /// Reads the choice.
    pub(super) fn open(path: PathBuf) -> Result<Self, EngineError> {
        let refused = |reason: String| EngineError::CurrentModel { path: path.clone(), reason };
        let text = read_bounded(&path).map_err(|error| refused(error.to_string()))?;
        let parsed = text.map(|text| toml::from_str::<ModelText>(&text)).transpose();
        let held = parsed.map_err(|error| refused(error.message().to_owned()))?;
        let held = Mutex::new(held.map(|text| ModelName(text.name)));
        Ok(Self { path, held })
    }

    fn held(&self) -> MutexGuard<'_, Option<ModelName>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// The model new sessions get, if somebody has chosen one.
    pub fn default_model(&self) -> Option<ModelName> {
        self.shared.current_model.held().clone()
    }

    /// Chooses the model of new sessions. Sessions there are keep theirs. Touches a disk.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn set_default_model(&self, model: ModelName) -> Result<(), EngineError> {
        let current = &self.shared.current_model;
        let refused = |reason: String| EngineError::CurrentModel { path: current.path.clone(), reason };
        let text = toml::to_string(&ModelText { name: model.0.clone() });
        let text = text.map_err(|error| refused(error.to_string()))?;
        let mut held = current.held();
        replace::replace(&current.path, text.as_bytes()).map_err(|error| refused(error.to_string()))?;
        *held = Some(model);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_an_error_that_names_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.toml");
        assert_eq!(*CurrentModel::open(path.clone()).unwrap().held(), None);
        std::fs::write(&path, "nmae = 1").unwrap();
        let error = CurrentModel::open(path).unwrap_err().to_string();
        assert!(error.contains("model.toml") && error.contains("nmae"), "{error}");
    }
}
