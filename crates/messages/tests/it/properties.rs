//! What holds for any message, compared with a model that knows nothing of bytes.

mod model;

use loggia_domain::{MessageDesk, MessageFormat, MessageKind, MessagePatch, Opening};
use loggia_messages::{Desk, Document};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use self::model::{Model, trimmed};

const TREES: [MessageFormat; 3] = [MessageFormat::Json, MessageFormat::Yaml, MessageFormat::Toml];

/// The same cases each time, unless somebody asks for others: `LOGGIA_PROPERTY_CASES`, `LOGGIA_PROPERTY_SEED`.
fn config(cases: u32) -> ProptestConfig {
    let setting = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    ProptestConfig {
        cases: setting("LOGGIA_PROPERTY_CASES").unwrap_or(cases),
        rng_seed: RngSeed::Fixed(setting("LOGGIA_PROPERTY_SEED").map_or(1, u64::from)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// What may stand between delimiters.
fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        5 => "[A-Za-z0-9 .é€😀\"'{}:#-]{1,6}",
        1 => Just(r"\T\".to_owned()),
        1 => Just(r"a\.br\b\X0D\".to_owned()),
    ]
}

/// The same, and escape characters that escape nothing.
fn any_leaf() -> impl Strategy<Value = String> {
    prop_oneof![4 => leaf(), 1 => Just(r"C:\x".to_owned()), 1 => Just("\\".to_owned())]
}

fn joined(
    part: impl Strategy<Value = String>,
    delimiter: &'static str,
    most: usize,
) -> impl Strategy<Value = String> {
    prop::collection::vec(part, 1..=most).prop_map(move |parts| parts.join(delimiter))
}

fn segment(leaf: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = String> {
    let component = joined(leaf.boxed(), "&", 2);
    let field = joined(joined(component, "^", 3), "~", 2);
    let name = prop::sample::select(vec!["PID", "OBX", "OBX", "NTE", "ZZ1"]);
    (name, joined(field, "|", 5)).prop_map(|(name, fields)| format!("{name}|{fields}"))
}

fn stray() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "", "NK1", "|", "junk é", "PI|1", "{\"a\":1}"]).prop_map(str::to_owned)
}

/// A message with lines of all kinds and any separators.
fn message() -> impl Strategy<Value = String> {
    let line = prop_oneof![4 => segment(any_leaf()), 1 => stray()];
    let separator = prop::sample::select(vec!["\r", "\n", "\r\n"]);
    let lines = prop::collection::vec((separator, line), 0..8);
    let end = prop::sample::select(vec!["", "\r", "\n", "\r\n"]);
    (lines, end).prop_map(|(lines, end)| {
        let mut text = "MSH|^~\\&|A||".to_owned();
        lines.iter().for_each(|(separator, line)| text.extend([separator, line.as_str()]));
        text + end
    })
}

/// A message with segments only, and CR between them.
fn plain_message() -> impl Strategy<Value = String> {
    prop::collection::vec(segment(leaf()), 0..6)
        .prop_map(|lines| [vec!["MSH|^~\\&|A".to_owned()], lines].concat().join("\r"))
}

fn patch() -> impl Strategy<Value = MessagePatch> {
    let name = prop::sample::select(vec!["MSH", "PID", "OBX", "OBX", "NTE", "ZZ1", "NK1", "nk1", "Q"]);
    let index = || prop_oneof![3 => Just(None), 3 => (1..4_u16).prop_map(Some), 1 => Just(Some(0))];
    let field = prop_oneof![1 => Just(None), 6 => (0..5_u16).prop_map(Some)];
    let part = || prop_oneof![3 => Just(None), 3 => (1..4_u16).prop_map(Some)];
    let value = prop_oneof![1 => Just(None), 2 => any_leaf().prop_map(Some), 1 => "[a^|~&\r\n\\\\é]{0,4}".prop_map(Some)];
    let separator = prop::sample::select(vec![".", "-", " "]);
    let flags = (prop::bool::weighted(0.3), prop::bool::weighted(0.2));
    (name, index(), field, index(), part(), part(), separator, value, flags).prop_map(
        |(
            name,
            occurrence,
            field,
            repetition,
            component,
            subcomponent,
            separator,
            value,
            (create, remove),
        )| {
            let mut path = name.to_owned();
            let bracket = |number: u16| format!("[{number}]");
            path.extend(occurrence.map(bracket));
            if let Some(field) = field {
                path.push_str(&format!("{separator}{field}"));
                path.extend(repetition.map(bracket));
                if let Some(component) = component {
                    path.push_str(&format!("{separator}{component}"));
                    path.extend(subcomponent.map(|number| format!("{separator}{number}")));
                }
            }
            MessagePatch { path, value, remove, create }
        },
    )
}

/// A tree without nulls, which TOML has not.
fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        "[a-zé 0-9:#'\"\\\\{}-]{0,6}".prop_map(serde_json::Value::from),
    ];
    let inner = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(key(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    });
    prop::collection::btree_map(key(), inner, 1..4).prop_map(|map| map.into_iter().collect())
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,3}", Just("a.b".to_owned()), Just("é \"".to_owned()), Just("no".to_owned())]
}

/// Every place in a tree: as a path of ours, and as a pointer.
fn places(value: &serde_json::Value, path: &str, pointer: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let children: Vec<(String, String, &serde_json::Value)> = match value {
        serde_json::Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                (
                    format!("{path}{dot}{}", serde_json::Value::from(key.as_str())),
                    format!("{pointer}/{key}"),
                    value,
                )
            })
            .collect(),
        serde_json::Value::Array(list) => (0..)
            .zip(list)
            .map(|(index, value)| (format!("{path}[{index}]"), format!("{pointer}/{index}"), value))
            .collect(),
        _ => Vec::new(),
    };
    for (path, pointer, child) in children {
        found.extend(places(child, &path, &pointer));
        found.push((path, pointer));
    }
    found
}

fn hl7(text: &str) -> Document {
    Document::read(text.to_owned(), MessageKind::Hl7).unwrap()
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn hl7_in_is_hl7_out_to_the_byte(text in message()) {
        let document = hl7(&text);
        prop_assert_eq!(document.text(), &text);
        prop_assert_eq!(document.patched(&[]).unwrap().text, text.clone());
        let shown = document.write(MessageFormat::Hl7).unwrap();
        prop_assert_eq!(&shown, &text.replace("\r\n", "\r").replace('\n', "\r"));
        prop_assert_eq!(document.replaced(&shown, MessageFormat::Hl7).unwrap(), text);
    }

    #[test]
    fn through_other_formats_an_open_message_stays_to_the_byte(text in message()) {
        let document = hl7(&text);
        for format in TREES {
            let shown = document.write(format).unwrap();
            prop_assert_eq!(document.replaced(&shown, format).unwrap(), text.clone(), "{}", shown);
        }
    }

    #[test]
    fn through_other_formats_a_new_message_loses_empty_ends_only(text in plain_message()) {
        let document = hl7(&text);
        for format in TREES {
            let shown = document.write(format).unwrap();
            let again = Document::read_format(shown.clone(), format).unwrap();
            prop_assert_eq!(again.text(), trimmed(&text), "{}", shown);
            let twice = Document::read_format(again.write(format).unwrap(), format).unwrap();
            prop_assert_eq!(twice.text(), again.text());
        }
    }

    #[test]
    fn patches_do_what_the_model_says(text in message(), patches in prop::collection::vec(patch(), 0..12)) {
        // The model knows one separator.
        let text = text.replace("\r\n", "\r").replace('\n', "\r");
        let mut model = Model::read(&text);
        let expected: Vec<bool> = patches.iter().map(|patch| model.apply(patch)).collect();
        let patched = hl7(&text).patched(&patches).unwrap();
        prop_assert_eq!(&patched.text, &model.write(), "{:?}", patches);
        let refused: Vec<usize> = patched.refused.iter().map(|refused| refused.index).collect();
        let expected: Vec<usize> = (0..).zip(expected).filter(|(_, applied)| !applied).map(|(index, _)| index).collect();
        prop_assert_eq!(refused, expected, "{:?}", patches);
        // What is patched is a message again, and says so.
        prop_assert_eq!(hl7(&patched.text).text().to_owned(), patched.text);
    }

    #[test]
    fn places_of_trees_are_set_and_removed_in_every_format(
        tree in tree(),
        value in tree(),
        place in any::<prop::sample::Index>(),
    ) {
        let places = places(&tree, "", "");
        let (path, pointer) = &places[place.index(places.len())];
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let mut expected = tree.clone();
        let target = expected.pointer_mut(pointer).unwrap();
        *target = if target.is_string() { value.to_string().into() } else { value.clone() };
        for (format, kind) in TREES.into_iter().zip([MessageKind::Json, MessageKind::Yaml, MessageKind::Toml]) {
            let source = Document::read(serde_json::to_string_pretty(&tree).unwrap(), MessageKind::Json).unwrap();
            let document = Document::read(source.write(format).unwrap(), kind).unwrap();
            let set = MessagePatch { path: path.clone(), value: Some(value.to_string()), ..MessagePatch::default() };
            let patched = document.patched(&[set]).unwrap();
            prop_assert_eq!(&patched.refused, &[], "{}", document.text());
            let after = document.with_text(patched.text).unwrap();
            prop_assert_eq!(json(&after.write(MessageFormat::Json).unwrap()), expected.clone(), "{}", after.text());
            let remove = MessagePatch { path: path.clone(), remove: true, ..MessagePatch::default() };
            let patched = document.patched(&[remove]).unwrap();
            prop_assert_eq!(&patched.refused, &[], "{} in {}", path, document.text());
            let is_element = path.ends_with(']');
            let left = document.with_text(patched.text).unwrap().get(path).unwrap();
            prop_assert!(is_element || left.is_none());
        }
    }

    #[test]
    fn patches_keep_the_separators_of_lines_that_stay(text in message(), value in leaf()) {
        let document = hl7(&text);
        let patch = MessagePatch { path: "MSH.5".into(), value: Some(value), ..MessagePatch::default() };
        let patched = document.patched(&[patch]).unwrap();
        let rest = |text: &str| text.split_once(['\r', '\n']).map(|(_, rest)| rest.to_owned());
        prop_assert_eq!(rest(&patched.text), rest(&text));
    }

    #[test]
    fn patched_places_read_back_as_what_was_written(text in message(), value in leaf()) {
        let patch = MessagePatch { path: "NTE.3[2].2.2".into(), value: Some(value.clone()), create: true, remove: false };
        let patched = hl7(&text).patched(&[patch]).unwrap();
        let found = hl7(&patched.text).get("NTE.3[2].2.2").unwrap();
        prop_assert_eq!(found.unwrap_or_default(), value);
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn patches_taken_back_leave_the_bytes(
        text in message(),
        calls in prop::collection::vec(prop::collection::vec(patch(), 1..5), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let directory = tempfile::tempdir().unwrap();
            std::fs::write(directory.path().join("a.hl7"), &text).unwrap();
            let desk = Desk::new(directory.path());
            desk.open(Opening::File("a.hl7".to_owned())).await.unwrap();
            for call in calls {
                desk.patch(call).await.unwrap();
            }
            while desk.current().await.unwrap().can_undo {
                desk.undo().await.unwrap();
            }
            assert!(!desk.current().await.unwrap().unsaved);
            desk.save(Some("b.hl7".to_owned())).await.unwrap();
            assert_eq!(std::fs::read(directory.path().join("b.hl7")).unwrap(), text.as_bytes());
        });
    }
}
