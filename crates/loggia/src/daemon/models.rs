//! The models a daemon has: one that plays a script, or none; then a search answers.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{ModelCatalogue, ModelName};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel, SearchingCatalogue};

use super::DaemonError;

/// What the name of a model that plays a script begins with.
const SCRIPTED: &str = "scripted:";

/// The models behind a name; without one, a search of the workspace, which says that no model is set.
pub(crate) fn find(name: Option<&str>) -> Result<Arc<dyn ModelCatalogue>, DaemonError> {
    let Some(name) = name else { return Ok(Arc::new(SearchingCatalogue::alone())) };
    let Some(path) = name.strip_prefix(SCRIPTED).filter(|path| !path.is_empty()).map(Path::new) else {
        return Err(DaemonError::UnknownModel { name: name.to_owned() });
    };
    let text = std::fs::read_to_string(path)
        .map_err(|source| DaemonError::ReadScript { path: path.to_owned(), source })?;
    let script =
        Script::parse(&text).map_err(|source| DaemonError::Script { path: path.to_owned(), source })?;
    let model = ScriptedModel::named(ModelName(name.to_owned()), script);
    Ok(Arc::new(ScriptedCatalogue::single(Arc::new(model))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        find(Some(name)).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_name_leads_to_a_script_or_to_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("script.toml");
        std::fs::write(&path, "[[reply]]\nparts = [{ text = \"hello\" }]\n").unwrap();
        let name = format!("scripted:{}", path.display());
        let found = find(Some(&name)).unwrap().find(None).unwrap();
        assert_eq!(found.info().name, ModelName(name));
        assert_eq!(error("nobody:model"), "there is no model `nobody:model`");
        assert_eq!(error("scripted:"), "there is no model `scripted:`");
        assert!(error("scripted:/absent").starts_with("cannot read the script"));
        std::fs::write(&path, "[[reply]]\nprats = []\n").unwrap();
        assert!(error(&format!("scripted:{}", path.display())).ends_with("cannot be understood"));
    }

    #[test]
    fn the_sample_can_be_played() {
        find(Some(concat!("scripted:", env!("CARGO_MANIFEST_DIR"), "/samples/demo.toml"))).unwrap();
    }

    #[test]
    fn without_a_model_a_search_answers() {
        let models = find(None).unwrap();
        assert!(models.find(None).unwrap().info().name.is_none());
        assert!(models.find(Some(&ModelName("openai:gpt".to_owned()))).is_err());
    }
}
