//! A model's name in the two parts the wire has it in.
//!
//! What always holds: taking a name apart and putting it together again gives the same name.

use loggia_domain::ModelName;

/// Who serves a model, and its name there. One without a provider has an empty one.
pub(crate) fn split(ModelName(name): &ModelName) -> (String, String) {
    let (provider, model_name) = name.split_once(':').unwrap_or(("", name));
    (provider.to_owned(), model_name.to_owned())
}

/// The name of both.
pub(crate) fn join(provider: &str, model_name: &str) -> ModelName {
    ModelName(if provider.is_empty() { model_name.to_owned() } else { format!("{provider}:{model_name}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_taken_apart_is_put_together_again() {
        for (name, parts) in [
            ("scripted:model", ("scripted", "model")),
            ("ollama:codellama:13b", ("ollama", "codellama:13b")),
            ("alone", ("", "alone")),
        ] {
            let name = ModelName(name.to_owned());
            let (provider, model_name) = split(&name);
            assert_eq!((provider.as_str(), model_name.as_str()), parts);
            assert_eq!(join(&provider, &model_name), name);
        }
    }
}
