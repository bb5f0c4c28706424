//! Prompts as the engine takes them.
//!
//! Pure. Files and selection go to the model as JSON with the protocol's own names. Images are judged here.

use loggia_domain::{Instruction, JsonText, Timestamp};
use loggia_protocol_autohand::{ErrorParams, PromptContext, PromptParams, codes};
use serde_json::Value;

use crate::tell::moment::moment;

/// A prompt as an instruction, and what the user must know of what was left out of it.
pub(crate) fn instruction(
    params: PromptParams,
    preview: bool,
    model_sees: bool,
    now: Timestamp,
) -> (Instruction, Vec<ErrorParams>) {
    let errors = left_out(&params, model_sees, now);
    let context = params.context.as_ref().and_then(context);
    (Instruction { text: params.message, context, aim: None, preview }, errors)
}

/// What the user was looking at; nothing if that is nothing.
fn context(context: &PromptContext) -> Option<JsonText> {
    if *context == PromptContext::default() {
        return None;
    }
    serde_json::to_string(context).ok().map(JsonText)
}

/// What is wrong with the images, one by one, and that the others cannot be shown to anybody.
fn left_out(params: &PromptParams, model_sees: bool, now: Timestamp) -> Vec<ErrorParams> {
    let images = params.images.as_deref().unwrap_or_default();
    let error = |code: i64, message: String| ErrorParams {
        code,
        message,
        recoverable: true,
        error_type: None,
        timestamp: moment(now),
    };
    let mut errors = Vec::new();
    for (place, image) in images.iter().enumerate() {
        if let Err(fault) = image.check() {
            errors.push(error(codes::INVALID_PARAMS, format!("image {} was left out: {fault}", place + 1)));
        }
    }
    if errors.len() < images.len() {
        let why = match model_sees {
            true => "images cannot be handed to a model yet",
            false => "the model cannot look at images",
        };
        errors.push(error(codes::EXECUTION_ERROR, format!("{why}; the text is worked on without them")));
    }
    errors
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
    use loggia_protocol_autohand::{ImageAttachment, Selection};

    use super::*;

    fn params(context: Option<PromptContext>, images: Vec<ImageAttachment>) -> PromptParams {
        PromptParams {
            message: "look".to_owned(),
            context,
            images: Some(images).filter(|images| !images.is_empty()),
            thinking_level: None,
            stop_when: None,
        }
    }

    fn image(mime_type: &str) -> ImageAttachment {
        ImageAttachment { data: "AAAA".to_owned(), mime_type: mime_type.to_owned(), filename: None }
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
        let (instruction, errors) =
            instruction(params(Some(context), Vec::new()), false, false, Timestamp(0));
        let told = instruction.context.as_ref().unwrap();
        assert_eq!(
            told.0,
            r#"{"files":["a.rs","b.rs"],"selection":{"file":"a.rs","startLine":1,"endLine":2,"text":"x"}}"#
        );
        assert_eq!(mentioned_files(&instruction), ["a.rs", "b.rs"]);
        assert!(errors.is_empty());
    }

    #[test]
    fn an_empty_context_is_none() {
        let (instruction, _) =
            instruction(params(Some(PromptContext::default()), Vec::new()), true, false, Timestamp(0));
        assert!(instruction.context.is_none() && instruction.preview);
        assert!(mentioned_files(&instruction).is_empty());
    }

    #[test]
    fn images_that_cannot_be_used_are_told_one_by_one() {
        let images = vec![image("image/png"), image("image/bmp")];
        let (_, errors) = instruction(params(None, images), false, false, Timestamp(0));
        let told: Vec<(i64, bool)> = errors.iter().map(|error| (error.code, error.recoverable)).collect();
        assert_eq!(told, [(codes::INVALID_PARAMS, true), (codes::EXECUTION_ERROR, true)]);
        assert!(errors[0].message.contains("image 2"), "{}", errors[0].message);
    }
}
