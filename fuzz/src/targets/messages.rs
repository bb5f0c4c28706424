//! Documents in the four formats: what reads is kept to the byte, is shown in the other formats, and comes back from them.
//!
//! The first byte of an input chooses the format, the rest is the text.

use loggia_domain::{MessageFormat, MessageKind, MessagePatch};
use loggia_messages::Document;

const KINDS: [MessageKind; 4] = [MessageKind::Hl7, MessageKind::Json, MessageKind::Yaml, MessageKind::Toml];

const FORMATS: [MessageFormat; 4] =
    [MessageFormat::Hl7, MessageFormat::Json, MessageFormat::Yaml, MessageFormat::Toml];

/// Tries one input.
pub fn target(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else { return };
    let choice = usize::from(*choice) % KINDS.len();
    let text = String::from_utf8_lossy(text).into_owned();
    // As what somebody puts in the place of a message.
    let message = Document::read("MSH|^~\\&|A|\nPID|1|".to_owned(), MessageKind::Hl7).expect("a message");
    if let Ok(replaced) = message.replaced(&text, FORMATS[choice]) {
        message.with_text(replaced).expect("what replaces a message is one");
    }
    let Ok(document) = Document::read(text.clone(), KINDS[choice]) else { return };
    assert_eq!(document.text(), text, "a document is not its text");
    assert_eq!(document.patched(&[]).map(|patched| patched.text), same_or_none(&document, &text));
    match KINDS[choice] {
        MessageKind::Hl7 => check_message(&document, &text),
        _ => check_tree(&document),
    }
}

fn same_or_none(document: &Document, text: &str) -> Result<String, loggia_domain::MessageError> {
    match (document.kind(), text) {
        (MessageKind::Hl7, "") => Err(loggia_domain::MessageError::Empty),
        _ => Ok(text.to_owned()),
    }
}

/// An open message comes back from every format to the byte.
fn check_message(document: &Document, text: &str) {
    for format in FORMATS {
        let Ok(shown) = document.write(format) else { continue };
        if text.is_empty() {
            continue;
        }
        let replaced = document.replaced(&shown, format).expect("what is shown can be read");
        assert_eq!(replaced, text, "through {format:?}, as {shown:?}");
    }
    let patch =
        MessagePatch { path: "NTE.3[2].2".into(), value: Some("v".into()), create: true, remove: false };
    if let Ok(patched) = document.patched(&[patch]) {
        let after = document.with_text(patched.text).expect("what was patched is a message");
        assert!(patched.applied == 0 || after.get("NTE.3[2].2") == Ok(Some("v".to_owned())));
    }
}

/// What a tree says in JSON it says in YAML, too.
fn check_tree(document: &Document) {
    let json = document.write(MessageFormat::Json).expect("every tree can be JSON");
    let in_json = Document::read(json.clone(), MessageKind::Json).expect("what was written is JSON");
    let yaml = in_json.write(MessageFormat::Yaml).expect("every tree can be YAML");
    let in_yaml = Document::read(yaml.clone(), MessageKind::Yaml)
        .unwrap_or_else(|error| panic!("what was written is no YAML: {error} in {yaml:?}"));
    let canonical = in_json.replaced(&yaml, MessageFormat::Yaml).expect("what is YAML can be JSON");
    assert_eq!(in_yaml.write(MessageFormat::Json).as_ref(), Ok(&canonical));
    if document.kind() != MessageKind::Json {
        assert_eq!(canonical, json, "through {yaml:?}");
    }
    if let Ok(toml) = document.write(MessageFormat::Toml) {
        Document::read(toml.clone(), MessageKind::Toml)
            .unwrap_or_else(|error| panic!("what was written is no TOML: {error} in {toml:?}"));
    }
}
