//! Prompts as the engine takes them.
//!
//! Pure. Files and selection go to the model as JSON with the protocol's own names. Images are looked at elsewhere.

use loggia_domain::{CodeContext, Image, Instruction, JsonText, Restraint};
use loggia_protocol_autohand::{PromptContext, PromptParams, StopMode};
use serde_json::Value;

/// A prompt as an instruction.
pub(crate) fn instruction(
    params: PromptParams,
    preview: bool,
    images: Vec<Image>,
    restraint: Restraint,
) -> Instruction {
    let nearby = params.context.as_ref().map(nearby).unwrap_or_default();
    let context = params.context.as_ref().and_then(context);
    let step_by_step = params.stop_when.is_some_and(|stop| stop.mode == StopMode::Host);
    let text = params.message;
    Instruction { text, context, aim: None, nearby, preview, images, step_by_step, restraint }
}

/// What the user was looking at; nothing if that is nothing.
fn context(context: &PromptContext) -> Option<JsonText> {
    if *context == PromptContext::default() {
        return None;
    }
    serde_json::to_string(context).ok().map(JsonText)
}

/// The files that matter to the user.
fn nearby(context: &PromptContext) -> CodeContext {
    let mentions = context.files.iter().flatten().take(CodeContext::MAX_EACH).cloned().collect();
    let open_files = context.selection.iter().map(|selection| selection.file.clone()).collect();
    CodeContext { mentions, open_files, ..CodeContext::default() }
}

/// The files an instruction names, whoever gave it and through whichever door.
pub(crate) fn mentioned_files(instruction: &Instruction) -> Vec<String> {
    let context = instruction.context.as_ref().and_then(|JsonText(text)| serde_json::from_str(text).ok());
    let Some(Value::Object(context)) = context else { return Vec::new() };
    let Some(Value::Array(files)) = context.get("files") else { return Vec::new() };
    files.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use loggia_protocol_autohand::{Selection, StopWhen};

    use super::*;

    fn params(context: Option<PromptContext>) -> PromptParams {
        let message = "look".to_owned();
        PromptParams { message, context, images: None, thinking_level: None, stop_when: None }
    }

    #[test]
    fn files_and_selection_reach_the_model_and_the_hook() {
        let selection =
            Selection { file: "a.rs".to_owned(), start_line: 1, end_line: 2, text: "x".to_owned() };
        let context = PromptContext {
            files: Some(vec!["a.rs".to_owned(), "b.rs".to_owned()]),
            selection: Some(selection),
            agents_md: None,
        };
        let instruction = instruction(params(Some(context)), false, Vec::new(), Restraint::default());
        let told = instruction.context.as_ref().unwrap();
        assert_eq!(
            told.0,
            r#"{"files":["a.rs","b.rs"],"selection":{"file":"a.rs","startLine":1,"endLine":2,"text":"x"}}"#
        );
        assert_eq!(mentioned_files(&instruction), ["a.rs", "b.rs"]);
        assert_eq!(instruction.nearby.mentions, ["a.rs", "b.rs"]);
        assert_eq!(instruction.nearby.open_files, ["a.rs"]);
        assert!(!instruction.step_by_step);
    }

    #[test]
    fn an_empty_context_is_none() {
        let instruction =
            instruction(params(Some(PromptContext::default())), true, Vec::new(), Restraint::default());
        assert!(instruction.context.is_none() && instruction.preview);
        assert!(mentioned_files(&instruction).is_empty() && instruction.nearby.is_empty());
    }

    #[test]
    fn only_a_host_that_decides_takes_a_turn_step_by_step() {
        let with = |mode| {
            let params = PromptParams { stop_when: Some(StopWhen { mode }), ..params(None) };
            instruction(params, false, Vec::new(), Restraint::default()).step_by_step
        };
        assert!(with(StopMode::Host));
        assert!(!with(StopMode::Other("model".to_owned())));
    }
}
