//! Fields: what may be absent, what null means, and which words are known.

use loggia_jsonrpc::decode;
use loggia_protocol_hermes::{
    ConfirmButtons, EventName, GetMessageParams, InitializeResult, METHODS, MessageFormat, MessageKind,
    OpenWindowParams, SetMessageParams, ShowConfirmParams, ShowMessageParams,
};

/// Reads parameters of a method and writes them back, or says what was wrong.
fn params(method: &str, text: &str) -> String {
    let row = METHODS.iter().find(|row| row.name == method).unwrap();
    row.rewrite_params(text).unwrap_or_else(|error| error.to_string())
}

fn check(method: &str, text: &str, expected: &str) {
    assert_eq!(params(method, text), expected, "{method} {text}");
}

#[test]
fn an_initialize_result_needs_only_name_and_version() {
    let result: InitializeResult = decode(r#"{"name":"N","version":"1"}"#).unwrap();
    assert_eq!(result, InitializeResult { name: "N".into(), version: "1".into(), ..Default::default() });
    assert!(result.toolbar_buttons.is_empty() && result.capabilities.commands.is_empty());
    let nulls = r#"{"name":"N","version":"1","capabilities":null,"toolbarButtons":null,"authors":null,"schema":null}"#;
    assert_eq!(decode::<InitializeResult>(nulls).unwrap(), result);
    let missing = decode::<InitializeResult>(r#"{"name":"N"}"#).unwrap_err();
    assert_eq!(missing.to_string(), "missing field `version`");
}

#[test]
fn unknown_events_are_kept_with_whatever_options_they_have() {
    let text = r#"{"name":"N","version":"1","capabilities":{"events":[
        {"name":"cursor/moved","options":{"format":"utf-16","includeContent":7}},
        {"name":"message/opened"}]}}"#;
    let result: InitializeResult = decode(text).unwrap();
    assert_eq!(result.capabilities.events[0].name, EventName::Other("cursor/moved".into()));
    assert!(result.capabilities.subscription(&EventName::MessageOpened).is_some());
    assert!(result.capabilities.subscription(&EventName::MessageSaved).is_none());
}

#[test]
fn the_first_subscription_to_an_event_counts() {
    let text = r#"{"name":"N","version":"1","capabilities":{"events":[
        {"name":"message/changed","options":{"includeContent":true,"format":"yaml"}},
        {"name":"message/changed","options":{"includeContent":false}}]}}"#;
    let result: InitializeResult = decode(text).unwrap();
    let subscription = result.capabilities.subscription(&EventName::MessageChanged).unwrap();
    assert_eq!(subscription.content_format(), Some(MessageFormat::Yaml));
}

#[test]
fn changed_events_carry_content_only_on_request_and_hl7_by_default() {
    let format = |options: &str| {
        let text = format!(
            r#"{{"name":"N","version":"1","capabilities":{{"events":[{{"name":"message/changed"{options}}}]}}}}"#
        );
        let result = decode::<InitializeResult>(&text).map_err(|error| error.to_string())?;
        Ok::<_, String>(result.capabilities.events[0].content_format())
    };
    assert_eq!(format(""), Ok(None));
    assert_eq!(format(r#","options":{}"#), Ok(None));
    assert_eq!(format(r#","options":{"format":"json"}"#), Ok(None));
    assert_eq!(format(r#","options":{"includeContent":true}"#), Ok(Some(MessageFormat::Hl7)));
    assert_eq!(
        format(r#","options":{"includeContent":true,"format":"toml"}"#),
        Ok(Some(MessageFormat::Toml))
    );
    let wrong = format(r#","options":{"format":"xml"}"#).unwrap_err();
    assert!(wrong.contains("options.format") && wrong.contains("xml"), "{wrong}");
}

#[test]
fn a_set_message_without_format_is_hl7() {
    for text in
        [r#"{"message":"M"}"#, r#"{"message":"M","format":null}"#, r#"{"message":"M","format":"hl7"}"#]
    {
        let params: SetMessageParams = decode(text).unwrap();
        assert_eq!(params.format, MessageFormat::Hl7, "{text}");
    }
    check("editor/setMessage", r#"{"message":"M"}"#, r#"{"message":"M","format":"hl7"}"#);
}

#[test]
fn get_message_needs_a_known_format() {
    check("editor/getMessage", "{}", "missing field `format`");
    check(
        "editor/getMessage",
        r#"{"format":"xml"}"#,
        "format: unknown variant `xml`, expected one of `hl7`, `json`, `yaml`, `toml`",
    );
    assert!(decode::<GetMessageParams>(r#"{"format":null}"#).is_err());
}

#[test]
fn null_for_an_optional_parameter_means_absent() {
    check("ui/openFile", r#"{"title":null,"defaultPath":null,"filters":null}"#, "{}");
    check("ui/saveFile", r#"{"title":null,"defaultName":null,"filters":null}"#, "{}");
    check("ui/selectDirectory", r#"{"title":null,"defaultPath":null}"#, "{}");
    check("ui/showMessage", r#"{"message":"m","title":null,"kind":null}"#, r#"{"message":"m"}"#);
    check("ui/showConfirm", r#"{"message":"m","buttons":null}"#, r#"{"message":"m"}"#);
    check(
        "ui/openWindow",
        r#"{"url":"u","title":"t","width":null,"modal":null}"#,
        r#"{"url":"u","title":"t"}"#,
    );
    check("shutdown", r#"{"reason":null}"#, "{}");
    check(
        "editor/patchMessage",
        r#"{"patches":[{"path":"PID.5","value":null,"remove":null,"create":null}]}"#,
        r#"{"patches":[{"path":"PID.5"}]}"#,
    );
}

#[test]
fn absent_options_have_their_documented_defaults() {
    let message: ShowMessageParams = decode(r#"{"message":"m"}"#).unwrap();
    assert_eq!(message.kind.unwrap_or_default(), MessageKind::Info);
    let confirm: ShowConfirmParams = decode(r#"{"message":"m"}"#).unwrap();
    assert_eq!(confirm.buttons.unwrap_or_default(), ConfirmButtons::YesNo);
    let window: OpenWindowParams = decode(r#"{"url":"u","title":"t"}"#).unwrap();
    assert_eq!((window.width, window.height, window.modal, window.resizable), (None, None, None, None));
}

#[test]
fn a_wrong_type_or_word_names_its_field() {
    check(
        "editor/patchMessage",
        r#"{"patches":[{"path":"PID.5","value":5}]}"#,
        "patches[0].value: invalid type: integer `5`, expected a string",
    );
    check(
        "ui/showMessage",
        r#"{"message":"m","kind":"fatal"}"#,
        "kind: unknown variant `fatal`, expected one of `info`, `warning`, `error`",
    );
    check("ui/closeWindow", "{}", "missing field `windowId`");
}

#[test]
fn a_windows_size_is_never_negative() {
    let wrong = params("ui/openWindow", r#"{"url":"u","title":"t","width":-1}"#);
    assert!(wrong.starts_with("width: "), "{wrong}");
}

#[test]
fn a_cancelled_choice_is_an_explicit_null() {
    for (method, text) in [
        ("ui/openFile", r#"{"path":null}"#),
        ("ui/openFiles", r#"{"paths":null}"#),
        ("ui/saveFile", r#"{"path":null}"#),
        ("ui/selectDirectory", r#"{"path":null}"#),
    ] {
        let row = METHODS.iter().find(|row| row.name == method).unwrap();
        assert_eq!(row.rewrite_result(text).unwrap(), text, "{method}");
    }
}

#[test]
fn window_closed_is_read_without_a_reason() {
    check("window/closed", r#"{"windowId":"w"}"#, r#"{"windowId":"w"}"#);
    check("window/closed", r#"{"windowId":"w","reason":"new"}"#, r#"{"windowId":"w","reason":"new"}"#);
}
