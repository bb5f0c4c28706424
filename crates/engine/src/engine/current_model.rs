//! The model of new sessions, when somebody has chosen one.
//!
//! Kept in a file of our own. Without a choice new sessions have no model of their own and use the catalogue's default. A
//! server that was started with a model of its own neither follows a choice nor takes one; the file stays as it is.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_domain::ModelName;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::files::{read_bounded, replace};

/// Its name in the engine's data directory.
const FILE: &str = "model.toml";

/// The choice, and where it is kept.
#[derive(Debug)]
pub(super) struct CurrentModel {
    path: PathBuf,
    /// Whether the catalogue's default counts before every choice.
    pinned: bool,
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
    pub(super) fn open(data: &Path, pinned: bool) -> Result<Self, EngineError> {
        let path = data.join(FILE);
        let refused = |reason: String| EngineError::CurrentModel { path: path.clone(), reason };
        let text = read_bounded(&path).map_err(|error| refused(error.to_string()))?;
        let parsed = text.map(|text| toml::from_str::<ModelText>(&text)).transpose();
        let held = parsed.map_err(|error| refused(error.message().to_owned()))?;
        let held = Mutex::new(held.map(|text| ModelName(text.name)));
        Ok(Self { path, pinned, held })
    }

    fn held(&self) -> MutexGuard<'_, Option<ModelName>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The model that was chosen for new sessions of the engine that keeps its data there. Touches a disk.
///
/// # Errors
/// If that cannot be read.
pub fn chosen_model(data: &Path) -> Result<Option<ModelName>, EngineError> {
    Ok(CurrentModel::open(data, false)?.held().clone())
}

impl Engine {
    /// The model new sessions get, if somebody has chosen one and that counts.
    pub fn default_model(&self) -> Option<ModelName> {
        let current = &self.shared.current_model;
        if current.pinned { None } else { current.held().clone() }
    }

    /// Forgets what was chosen; sessions there are keep theirs. Touches a disk.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn forget_default_model(&self) -> Result<(), EngineError> {
        let current = &self.shared.current_model;
        let mut held = current.held();
        match std::fs::remove_file(&current.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let reason = error.to_string();
                return Err(EngineError::CurrentModel { path: current.path.clone(), reason });
            }
        }
        *held = None;
        Ok(())
    }

    /// Chooses the model of new sessions. Sessions there are keep theirs. Touches a disk.
    ///
    /// # Errors
    /// If that cannot be written down, or would not count.
    pub fn set_default_model(&self, model: ModelName) -> Result<(), EngineError> {
        let current = &self.shared.current_model;
        if current.pinned {
            return Err(EngineError::PinnedModel);
        }
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
        assert_eq!(chosen_model(directory.path()).unwrap(), None);
        std::fs::write(directory.path().join("model.toml"), "nmae = 1").unwrap();
        let error = chosen_model(directory.path()).unwrap_err().to_string();
        assert!(error.contains("model.toml") && error.contains("nmae"), "{error}");
    }
}
