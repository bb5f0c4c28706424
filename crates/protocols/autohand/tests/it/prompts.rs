//! Prompts, pictures and the reading of history.

use loggia_jsonrpc::Method;
use loggia_protocol_autohand::{
    GetHistoryParams, GetMessagesParams, ImageAttachment, MaxThinkingTokensSetParams,
    PermissionModeSetParams, Prompt, PromptParams, Selection, limits,
};

use crate::{params, rewritten};

#[test]
fn a_prompt_needs_words() {
    assert_eq!(rewritten(Prompt::NAME, "{}"), "error: missing field `message`");
    let empty: PromptParams = params(r#"{"message":""}"#);
    assert_eq!(empty.check().unwrap_err().to_string(), "message: must not be empty");
    assert!(params::<PromptParams>(r#"{"message":"Go"}"#).check().is_ok());
}

#[test]
fn a_wrong_field_deep_in_a_prompt_is_named() {
    let text =
        r#"{"message":"Go","context":{"selection":{"file":"a","startLine":"x","endLine":2,"text":""}}}"#;
    assert_eq!(
        rewritten(Prompt::NAME, text),
        "error: context.selection.startLine: invalid type: string \"x\", expected a whole number that is not negative"
    );
}

#[test]
fn null_counts_as_absent_and_is_never_written() {
    let text = r#"{"message":"Go","context":null,"images":null,"thinkingLevel":null,"stopWhen":null}"#;
    assert_eq!(rewritten(Prompt::NAME, text), r#"{"message":"Go"}"#);
    let text = r#"{"message":"Go","context":{"files":null,"selection":null}}"#;
    assert_eq!(rewritten(Prompt::NAME, text), r#"{"message":"Go","context":{}}"#);
}

fn image(mime_type: &str, data: String) -> ImageAttachment {
    ImageAttachment { data, mime_type: mime_type.to_owned(), filename: None }
}

#[test]
fn the_four_listed_kinds_of_image_are_accepted_and_no_other() {
    for mime_type in ["image/png", "image/jpeg", "image/gif", "image/webp"] {
        assert_eq!(image(mime_type, String::new()).check(), Ok(()));
    }
    let fault = image("image/bmp", String::new()).check().unwrap_err();
    assert_eq!(
        fault.to_string(),
        "`image/bmp` is not a supported image type; supported are png, jpeg, gif and webp"
    );
}

#[test]
fn image_size_is_counted_after_base64_is_undone() {
    for (data, bytes) in
        [("", 0), ("QQ==", 1), ("QUI=", 2), ("QUJD", 3), ("QQ", 1), ("data:image/png;base64,QUJD", 3)]
    {
        assert_eq!(image("image/png", data.to_owned()).decoded_size(), bytes, "for {data}");
    }
    // 10 MiB is not a multiple of three: its last group holds one byte.
    assert_eq!(limits::MAX_IMAGE_BYTES % 3, 1);
    let whole_groups = "AAAA".repeat(limits::MAX_IMAGE_BYTES / 3);
    assert_eq!(image("image/png", format!("{whole_groups}AA==")).check(), Ok(()));
    let fault = image("image/png", format!("{whole_groups}AAA=")).check().unwrap_err();
    assert_eq!(fault.to_string(), "the image has 10485761 bytes; the limit is 10485760");
}

#[test]
fn a_limit_counts_from_the_end_and_zero_means_all() {
    for (text, expected) in
        [("{}", None), (r#"{"limit":3}"#, Some(3)), (r#"{"limit":0}"#, None), (r#"{"limit":-1}"#, None)]
    {
        assert_eq!(params::<GetMessagesParams>(text).last(), expected, "for {text}");
    }
}

/// Some languages write every number with a fraction.
#[test]
fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
    assert_eq!(params::<GetMessagesParams>(r#"{"limit":2.0}"#).last(), Some(2));
    assert_eq!(params::<GetMessagesParams>(r#"{"limit":-1.0}"#).last(), None);
    assert_eq!(params::<GetHistoryParams>(r#"{"page":2.0,"pageSize":5e0}"#).page_and_size(), (2, 5));
    assert_eq!(params::<MaxThinkingTokensSetParams>("{}").max_thinking_tokens, None);
    let selected: Selection = params(r#"{"file":"a","startLine":1.0,"endLine":2,"text":"x"}"#);
    assert_eq!((selected.start_line, selected.end_line), (1, 2));
    for (limit, said) in [
        ("2.5", "invalid value: floating point `2.5`, expected a whole number"),
        ("1e300", "expected a whole number"),
        ("\"2\"", "invalid type: string \"2\", expected a whole number"),
    ] {
        let error =
            serde_json::from_str::<GetMessagesParams>(&format!(r#"{{"limit":{limit}}}"#)).unwrap_err();
        assert!(error.to_string().contains(said), "{limit}: {error}");
    }
    let error = serde_json::from_str::<GetHistoryParams>(r#"{"page":-3}"#).unwrap_err().to_string();
    assert!(error.contains("must be a whole number from 0 to"), "{error}");
}

/// What is wrong is said in words, not in those of our language.
#[test]
fn a_mode_that_is_no_name_is_told_as_such() {
    let error = serde_json::from_str::<PermissionModeSetParams>(r#"{"mode":1}"#).unwrap_err().to_string();
    assert!(error.starts_with("must be the name of a mode"), "{error}");
}

#[test]
fn history_pages_have_defaults() {
    for (text, expected) in
        [("{}", (1, 20)), (r#"{"page":3,"pageSize":5}"#, (3, 5)), (r#"{"page":0,"pageSize":0}"#, (1, 20))]
    {
        assert_eq!(params::<GetHistoryParams>(text).page_and_size(), expected, "for {text}");
    }
}
