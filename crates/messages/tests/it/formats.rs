//! HL7 messages in other formats, and back.

use loggia_domain::{MessageError, MessageFormat, MessageKind};
use loggia_messages::Document;

const SAMPLE: &str = "MSH|^~\\&|A\rPID|1||77^^^CLINIC&9.8&ISO~88||ROE^ANN";

fn hl7(text: &str) -> Document {
    Document::read(text.to_owned(), MessageKind::Hl7).unwrap()
}

/// What a message in another format is in HL7.
fn imported(text: &str, format: MessageFormat) -> Result<String, MessageError> {
    hl7("").replaced(text, format)
}

fn in_json(segments: &str) -> String {
    let header = r#"{"segment":"MSH","fields":{"1":"|","2":"^~\\&"}}"#;
    format!(r#"{{"segments":[{header},{segments}]}}"#)
}

/// What these segments are, without the header.
fn check_import(segments: &str, expected: &str) {
    let text = imported(&in_json(segments), MessageFormat::Json).unwrap();
    assert_eq!(text.strip_prefix("MSH|^~\\&\r"), Some(expected), "{segments}");
}

fn check_refused(json: &str, words: &str) {
    let error = imported(json, MessageFormat::Json).unwrap_err();
    assert!(matches!(error, MessageError::BadText(_)), "{json}: {error}");
    assert!(error.to_string().contains(words), "{json}: {error}");
}

#[test]
fn a_message_is_shown_in_json() {
    let json = hl7(SAMPLE).write(MessageFormat::Json).unwrap();
    let compact: String = json.lines().map(str::trim_start).collect::<String>().replace("\": ", "\":");
    assert_eq!(
        compact,
        concat!(
            r#"{"segments":[{"segment":"MSH","fields":{"1":"|","2":"^~\\&","3":"A"}},"#,
            r#"{"segment":"PID","fields":{"1":"1","3":[{"1":"77","4":{"1":"CLINIC","2":"9.8","3":"ISO"}},"88"],"#,
            r#""5":{"1":"ROE","2":"ANN"}}}]}"#
        )
    );
    assert!(json.starts_with("{\n  \"segments\": [\n    {\n      \"segment\": \"MSH\","), "{json}");
}

#[test]
fn a_message_is_shown_in_yaml_with_everything_quoted() {
    let yaml = hl7("MSH|^~\\&|no\rPID|1||0x1F~~2024-01-01").write(MessageFormat::Yaml).unwrap();
    let expected = r#"segments:
  - segment: "MSH"
    fields:
      "1": "|"
      "2": "^~\\&"
      "3": "no"
  - segment: "PID"
    fields:
      "1": "1"
      "3":
        - "0x1F"
        - null
        - "2024-01-01"
"#;
    assert_eq!(yaml, expected);
}

#[test]
fn a_message_is_shown_in_toml_with_empty_repetitions_as_empty_text() {
    let toml = hl7("MSH|^~\\&\rPID|1||77^^^CLINIC&9.8~~88||ROE^ANN").write(MessageFormat::Toml).unwrap();
    let expected = r#"[[segments]]
segment = "MSH"

[segments.fields]
1 = "|"
2 = '^~\&'

[[segments]]
segment = "PID"

[segments.fields]
1 = "1"
3 = [{ 1 = "77", 4 = { 1 = "CLINIC", 2 = "9.8" } }, "", "88"]
5 = { 1 = "ROE", 2 = "ANN" }
"#;
    assert_eq!(toml, expected);
    assert_eq!(
        imported(&toml, MessageFormat::Toml).unwrap(),
        "MSH|^~\\&\rPID|1||77^^^CLINIC&9.8~~88||ROE^ANN"
    );
}

#[test]
fn keys_are_in_the_order_of_numbers() {
    let json = hl7("MSH|^~\\&\rPID|||||||||9|10|11").write(MessageFormat::Json).unwrap();
    let keys: Vec<_> = ["\"9\"", "\"10\"", "\"11\""].iter().map(|key| json.find(key).unwrap()).collect();
    assert!(keys.is_sorted());
}

#[test]
fn sub_components_alone_are_not_taken_for_components() {
    let text = "MSH|^~\\&\rPID|a&b|&c|d&|~e&f";
    let json = hl7(text).write(MessageFormat::Json).unwrap();
    assert_eq!(imported(&json, MessageFormat::Json).unwrap(), "MSH|^~\\&\rPID|a&b|&c|d|~e&f");
}

#[test]
fn a_segment_without_data_has_no_fields() {
    let json = hl7("MSH|^~\\&\rNK1|\rPID|||").write(MessageFormat::Json).unwrap();
    assert_eq!(json.matches("\"fields\": {}").count(), 2);
    check_import(
        r#"{"segment":"NK1"},{"segment":"PID","fields":{}},{"segment":"NTE","fields":null}"#,
        "NK1|\rPID|\rNTE|",
    );
}

#[test]
fn leaves_may_be_anything_that_is_no_list() {
    check_import(
        r#"{"segment":"PID","fields":{"1":1.50,"2":true,"3":null,"4":["a",null,12345678901234567890123],"5":{"2":7,"1":null}}}"#,
        "PID|1.50|true||a~~12345678901234567890123|^7",
    );
}

#[test]
fn keys_of_fields_that_are_no_numbers_are_notes() {
    check_import(r#"{"segment":"PID","fields":{"note":"x","0":"y","2":"z","-1":"w"},"comment":1}"#, "PID||z");
}

#[test]
fn the_order_of_keys_means_nothing() {
    check_import(r#"{"fields":{"10":"j","2":{"2":"b","1":"a"}},"segment":"PID"}"#, "PID||a^b||||||||j");
}

#[test]
fn delimiters_in_leaves_are_escaped_once() {
    let escaped = r"a\S\b\F\c\R\d\T\e\X0D\f\X0A\g\T\h\.br\i\E\j";
    check_import(
        r#"{"segment":"NTE","fields":{"3":"a^b|c~d&e\rf\ng\\T\\h\\.br\\i\\j"}}"#,
        &format!("NTE|||{escaped}"),
    );
    let json = hl7(&format!("MSH|^~\\&\rNTE|||{escaped}")).write(MessageFormat::Json).unwrap();
    assert_eq!(imported(&json, MessageFormat::Json).unwrap(), format!("MSH|^~\\&\rNTE|||{escaped}"));
}

#[test]
fn the_header_names_the_delimiters() {
    let json = r##"{"segments":[{"segment":"MSH","fields":{"1":"#","2":"!*?+","3":"a#b"}},{"segment":"PID","fields":{"1":{"2":"x"}}}]}"##;
    assert_eq!(imported(json, MessageFormat::Json).unwrap(), "MSH#!*?+#a?F?b\rPID#!x");
    let json = r#"{"segments":[{"segment":"MSH","fields":{"3":"a"}}]}"#;
    assert_eq!(imported(json, MessageFormat::Json).unwrap(), "MSH|^~\\&|a");
    let five = "MSH|^~\\&#|A|B";
    let json = hl7(five).write(MessageFormat::Json).unwrap();
    assert_eq!(imported(&json, MessageFormat::Json).unwrap(), five);
}

#[test]
fn trees_that_are_no_messages_are_refused() {
    check_refused("[]", "no list `segments`");
    check_refused(r#"{"MSH":{}}"#, "no list `segments`");
    check_refused(r#"{"segments":[]}"#, "first segment is not `MSH`");
    check_refused(r#"{"segments":[{"segment":"PID"}]}"#, "first segment is not `MSH`");
    check_refused(&in_json("7"), "segment 2 is a number");
    check_refused(&in_json(r#"{"segment":"PI"}"#), "segment 2 has no name");
    check_refused(&in_json(r#"{"segment":"PIÄ"}"#), "segment 2 has no name");
    check_refused(&in_json(r#"{"segment":"PID","fields":[1]}"#), "PID has a list as `fields`");
    check_refused(&in_json(r#"{"segment":"PID","fields":{"1":[["a"]]}}"#), "PID.1[1] has a list");
    check_refused(&in_json(r#"{"segment":"PID","fields":{"1":{"1":["a"]}}}"#), "PID.1.1 has a list");
    check_refused(
        &in_json(r#"{"segment":"PID","fields":{"1":{"1":{"1":{"1":"a"}}}}}"#),
        "PID.1.1.1 has an object",
    );
    check_refused(&in_json(r#"{"segment":"PID","fields":{"1":{"x":"a"}}}"#), "PID.1 has the key `x`");
    check_refused(&in_json(r#"{"segment":"PID","fields":{"1":{"0":"a"}}}"#), "PID.1 has the key `0`");
    check_refused(
        &in_json(r#"{"segment":"PID","fields":{"99999999999":"a"}}"#),
        "PID has the key `99999999999`",
    );
    check_refused(
        &in_json(r#"{"segment":"PID","fields":{"99999999999999999999999":"a"}}"#),
        "PID has the key",
    );
    check_refused(&in_json(r#"{"segment":"PID","fields":{"1":{"+2":"a"}}}"#), "PID.1 has the key `+2`");
    check_refused(&in_json(r#"{"segment":"PID","fields":{"1":"a","01":"b"}}"#), "PID.01 is there twice");
    check_refused(r#"{"segments":[{"segment":"MSH","fields":{"2":"^^^^"}}]}"#, "there twice");
    check_refused("{", "no JSON");
}

#[test]
fn a_message_changed_in_another_format_keeps_what_that_does_not_show() {
    let text = "MSH|^~\\&|A||\nPID|1||x^^|C:\\dir\\|\r\nstray\nOBX|1|\n\nOBX|2||\nNK1\n";
    let message = hl7(text);
    for format in [MessageFormat::Json, MessageFormat::Yaml, MessageFormat::Toml] {
        let shown = message.write(format).unwrap();
        assert_eq!(message.replaced(&shown, format).unwrap(), text, "{shown}");
    }
    let json = message.write(MessageFormat::Json).unwrap();
    let changed = json.replace("\"A\"", "\"B\"").replace("\"x\"", "\"y\"");
    let expected = text.replace("|A|", "|B|").replace("x^^", "y");
    assert_eq!(message.replaced(&changed, MessageFormat::Json).unwrap(), expected);
}

#[test]
fn segments_that_come_and_go_in_another_format_move_nothing_else() {
    let text = "MSH|^~\\&|A|\nPID|1|\nstray one\nOBX|1|a|\nOBX|2|b|\nstray two\nNTE|1|";
    let message = hl7(text);
    let json = message.write(MessageFormat::Json).unwrap();
    let mut tree: serde_json::Value = serde_json::from_str(&json).unwrap();
    let segments = tree["segments"].as_array_mut().unwrap();
    segments.remove(2);
    segments.insert(1, serde_json::json!({"segment": "EVN", "fields": {"2": "x"}}));
    let replaced = message.replaced(&tree.to_string(), MessageFormat::Json).unwrap();
    assert_eq!(replaced, "MSH|^~\\&|A|\nEVN||x\nPID|1|\nstray one\nOBX|2|b|\nstray two\nNTE|1|");
}

#[test]
fn a_text_in_hl7_keeps_the_separators_of_its_lines() {
    let message = hl7("MSH|^~\\&|A\nPID|1\r\nOBX|1\rNTE|1");
    let check = |text: &str, expected: &str| {
        assert_eq!(message.replaced(text, MessageFormat::Hl7).unwrap(), expected);
    };
    check("MSH|^~\\&|A\rPID|1\rOBX|1\rNTE|1", "MSH|^~\\&|A\nPID|1\r\nOBX|1\rNTE|1");
    check("MSH|^~\\&|A\rPID|2\rOBX|1\rNTE|1\r", "MSH|^~\\&|A\nPID|2\r\nOBX|1\rNTE|1\r");
    check("MSH|^~\\&|A\nOBX|1\nNTE|1", "MSH|^~\\&|A\nOBX|1\rNTE|1");
    let lines = hl7("MSH|^~\\&|A\r\nPID|1\r\n");
    assert_eq!(
        lines.replaced("MSH|^~\\&|B\rEVN|1\rPID|1", MessageFormat::Hl7).unwrap(),
        "MSH|^~\\&|B\r\nEVN|1\r\nPID|1"
    );
    let empty = hl7("");
    assert_eq!(empty.replaced("MSH|^~\\&|B\nEVN|1\n", MessageFormat::Hl7).unwrap(), "MSH|^~\\&|B\rEVN|1\r");
}

#[test]
fn a_message_can_be_opened_from_another_format() {
    let json = hl7(SAMPLE).write(MessageFormat::Json).unwrap();
    let document = Document::read_format(json, MessageFormat::Json).unwrap();
    assert_eq!((document.kind(), document.text()), (MessageKind::Hl7, SAMPLE));
    let document =
        Document::read_format(r#"{"segments":"of an orange"}"#.to_owned(), MessageFormat::Json).unwrap();
    assert_eq!(document.kind(), MessageKind::Json);
}
