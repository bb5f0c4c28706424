//! Input that is wrong, huge or strange.

use loggia_domain::{MessageDesk, MessageError, MessageFormat, MessageKind, MessagePatch, Opening};
use loggia_messages::limits::{MAX_FINDINGS, MAX_LINES, MAX_MESSAGE, MAX_PATCHES};
use loggia_messages::{Desk, Document};

use crate::support::{World, create, set};

#[test]
fn texts_without_a_header_are_no_messages() {
    for text in [
        " ",
        "PID|1",
        "\rMSH|^~\\&|",
        "msh|^~\\&|",
        "MSH",
        "MSH|",
        "MSH|^~\\",
        "MSH|^~\\\r&",
        "MSH|^~|A|B",
        "MSHé^~\\&é",
        "MSHabcdea",
        "MSH||||||",
        "MSH\r\r\r\r\r\r",
        "\u{b}MSH|^~\\&|",
    ] {
        let error = Document::read(text.to_owned(), MessageKind::Hl7).unwrap_err();
        assert!(matches!(error, MessageError::BadText(_)), "{text:?}: {error}");
        let message = Document::read("MSH|^~\\&|A".to_owned(), MessageKind::Hl7).unwrap();
        assert!(
            matches!(message.replaced(text, MessageFormat::Hl7), Err(MessageError::BadText(_))),
            "{text:?}"
        );
    }
    let message = Document::read("MSH|^~\\&|A".to_owned(), MessageKind::Hl7).unwrap();
    assert!(matches!(message.replaced("", MessageFormat::Hl7), Err(MessageError::BadText(_))));
}

#[test]
fn bad_paths_are_refused_by_name() {
    let message = Document::read("MSH|^~\\&|A\rPID|1".to_owned(), MessageKind::Hl7).unwrap();
    for path in ["PID.0", "PID.5[99999999999]", "XYZ[0].1.2.3.4.5", "PID.3.1xyz", "", "é", "PID.5.1.1.1"] {
        assert!(matches!(message.get(path), Err(MessageError::BadPath(_))), "{path}");
        let patched = message.patched(&[set(path, "x"), create(path, Some("x"))]).unwrap();
        assert_eq!(
            (patched.applied, patched.refused.len(), patched.text.as_str()),
            (0, 2, message.text()),
            "{path}"
        );
        assert_eq!(patched.refused[1].path, path);
    }
}

#[test]
fn mixed_separators_and_strange_characters_stay() {
    let text = "MSH|^~\\&|é€😀\u{0}\r\n\r\nPID|\u{2028}\u{85}\n\rNK1\n\n\nÄÖÜ|1\rOBX|1|\u{feff}\r\n";
    let message = Document::read(text.to_owned(), MessageKind::Hl7).unwrap();
    let patched = message.patched(&[set("OBX.1", "ß")]).unwrap();
    assert_eq!(patched.text, text.replace("OBX|1", "OBX|ß"));
    for format in [MessageFormat::Hl7, MessageFormat::Json, MessageFormat::Yaml, MessageFormat::Toml] {
        let shown = message.write(format).unwrap();
        assert_eq!(message.replaced(&shown, format).unwrap(), text, "{shown}");
    }
}

#[test]
fn sizes_have_limits() {
    let hl7 = |text: String| Document::read(text, MessageKind::Hl7);
    assert!(hl7(format!("MSH|^~\\&|{}", "x".repeat(MAX_MESSAGE))).is_err());
    assert!(hl7(format!("MSH|^~\\&|{}", "\r".repeat(MAX_LINES + 1))).is_err());
    assert!(hl7(format!("MSH|^~\\&|{}", "\r".repeat(MAX_LINES))).is_ok());
    for kind in [MessageKind::Json, MessageKind::Yaml, MessageKind::Toml] {
        assert!(Document::read(" ".repeat(MAX_MESSAGE + 1), kind).is_err());
    }
    let message = hl7("MSH|^~\\&|A".to_owned()).unwrap();
    let patches = vec![MessagePatch::default(); MAX_PATCHES + 1];
    assert!(matches!(message.patched(&patches), Err(MessageError::BadFormat(_))));
    // Few characters that ask for many.
    let segment = r#"{"segment":"PID","fields":{"9999":[{"9999":{"9999":"x"}}]}}"#;
    let segments = vec![segment; 2_000].join(",");
    let json = format!(r#"{{"segments":[{{"segment":"MSH"}},{segments}]}}"#);
    let error = message.replaced(&json, MessageFormat::Json).unwrap_err();
    assert!(error.to_string().contains("would have more than"), "{error}");
    let patches: Vec<_> =
        (1..=2_000).map(|number| create(&format!("OBX[{number}].9999[9999].9999.9999"), Some("x"))).collect();
    let patched = message.patched(&patches).unwrap();
    assert!(patched.text.len() <= MAX_MESSAGE && !patched.refused.is_empty());
}

#[test]
fn a_field_of_countless_parts_is_refused_and_stays() {
    let text = format!("MSH|^~\\&|A\rOBX|1|{}|x", "&".repeat(1_000_000));
    let message = Document::read(text.clone(), MessageKind::Hl7).unwrap();
    assert!(matches!(message.write(MessageFormat::Json), Err(MessageError::BadFormat(_))));
    assert!(message.get("OBX.2.1.5").is_err());
    let patched = message.patched(&[set("OBX.2.1.5", "y"), set("OBX.3", "z")]).unwrap();
    assert_eq!((patched.applied, patched.refused.len()), (1, 1));
    assert_eq!(patched.text, text.replace("|x", "|z"));
}

/// Five megabytes in twenty thousand segments.
fn large() -> String {
    let mut text = "MSH|^~\\&|APP|FAC|APP|FAC|20240131235959||ORU^R01|1|P|2.5.1".to_owned();
    for number in 1..20_000 {
        let value = "value é \\T\\ ".repeat(15);
        let id = number % 10_000;
        text.push_str(&format!("\r\nOBX|{id}|ST|718-7^Hemoglobin^LN~x^y&z||{value}|g/dL^^UCUM|12-16|N|||F|"));
    }
    text
}

#[tokio::test]
async fn a_message_of_twenty_thousand_segments_is_worked_on() {
    let text = large();
    assert!(text.len() > 4_500_000, "{}", text.len());
    let world = World::with("large.hl7", &text).await;
    let patches: Vec<_> =
        (1..20_000).map(|number| set(&format!("OBX[{number}].11"), "C")).take(9_999).collect();
    let patched = world.desk.patch(patches).await.unwrap();
    assert_eq!((patched.applied, patched.refused.len()), (9_999, 0));
    assert_eq!(world.desk.get("OBX[9999].11".to_owned()).await.unwrap().as_deref(), Some("C"));
    world.desk.undo().await.unwrap();
    assert!(!world.current().await.unsaved);
    let json = world.read(MessageFormat::Json).await;
    world.desk.replace(json, MessageFormat::Json).await.unwrap();
    assert_eq!(world.current().await.revision, 3, "nothing to change");
    assert_eq!(world.desk.validate().await.unwrap().len(), 0);
}

#[tokio::test]
async fn findings_end_somewhere() {
    let desk = Desk::new(std::env::temp_dir());
    let text = format!("MSH|^~\\&|A{}", "\rOBX|".repeat(5_000));
    desk.open(Opening::New { text, format: MessageFormat::Hl7 }).await.unwrap();
    assert_eq!(desk.validate().await.unwrap().len(), MAX_FINDINGS);
}

#[tokio::test]
async fn files_that_are_no_text_are_refused_in_words() {
    let world = World::new();
    world.write("a.json", b"{\"a\":\"\xff\"}");
    world.write("b.txt", "words");
    world.write("c.hl7", "PID|1");
    world.write("d.yaml", "a: [");
    std::fs::create_dir(world.path("e.hl7")).unwrap();
    for (path, words) in [
        ("a.json", "is no UTF-8 from byte 6 on"),
        ("b.txt", "does not begin with `MSH`"),
        ("c.hl7", "does not begin with `MSH`"),
        ("d.yaml", "it is no YAML"),
        ("e.hl7", "is a directory"),
    ] {
        let error = world.desk.open(Opening::File(path.to_owned())).await.unwrap_err().to_string();
        assert!(error.contains(words), "{path}: {error}");
    }
    assert_eq!(world.desk.current().await, None);
}
