//! The models a daemon has: one that plays a script, or none.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{Model, ModelCatalogue, ModelError, ModelErrorKind, ModelName};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};

use super::DaemonError;
use crate::config::endpoints::Endpoint;

/// What the name of a model that plays a script begins with.
const SCRIPTED: &str = "scripted:";

/// The models behind a name; without one, none.
pub(crate) fn find(
    name: Option<&str>,
    endpoints: &[Endpoint],
) -> Result<Arc<dyn ModelCatalogue>, DaemonError> {
    for endpoint in endpoints {
        tracing::debug!(?endpoint, "configured");
    }
    let Some(name) = name else { return Ok(Arc::new(NoModel)) };
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

/// No model: everything works but prompts, and those say what to do.
#[derive(Debug)]
struct NoModel;

impl ModelCatalogue for NoModel {
    fn find(&self, _: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        let message =
            "no model is configured; start the server with `--model scripted:FILE`, or set `model.default`";
        Err(ModelError { kind: ModelErrorKind::NotConfigured, message: message.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        find(Some(name), &[]).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_name_leads_to_a_script_or_to_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("script.toml");
        std::fs::write(&path, "[[reply]]\nparts = [{ text = \"hello\" }]\n").unwrap();
        let name = format!("scripted:{}", path.display());
        let found = find(Some(&name), &[]).unwrap().find(None).unwrap();
        assert_eq!(found.info().name, ModelName(name));
        assert_eq!(error("nobody:model"), "there is no model `nobody:model`");
        assert_eq!(error("scripted:"), "there is no model `scripted:`");
        assert!(error("scripted:/absent").starts_with("cannot read the script"));
        std::fs::write(&path, "[[reply]]\nprats = []\n").unwrap();
        assert!(error(&format!("scripted:{}", path.display())).ends_with("cannot be understood"));
    }

    #[test]
    fn the_sample_can_be_played() {
        find(Some(concat!("scripted:", env!("CARGO_MANIFEST_DIR"), "/samples/demo.toml")), &[]).unwrap();
    }

    #[test]
    fn without_a_model_prompts_say_what_to_do() {
        let error = find(None, &[]).unwrap().find(None).err().unwrap();
        assert_eq!(error.kind, ModelErrorKind::NotConfigured);
        assert!(error.message.contains("--model scripted:FILE"), "{error}");
    }
}
