//! Plain documents in JSON, YAML and TOML, read and patched by path.

use loggia_domain::{MessageError, MessageFormat, MessageKind, MessagePatch};
use loggia_messages::Document;

use crate::support::{World, create, remove, set};

fn check(kind: MessageKind, text: &str, patches: &[MessagePatch], expected: &str) {
    let document = Document::read(text.to_owned(), kind).unwrap();
    let patched = document.patched(patches).unwrap();
    assert_eq!(patched.refused, [], "{text} {patches:?}");
    assert_eq!(patched.text, expected, "{patches:?}");
}

fn check_refused(kind: MessageKind, text: &str, patch: MessagePatch, words: &str) {
    let document = Document::read(text.to_owned(), kind).unwrap();
    let patched = document.patched(&[patch]).unwrap();
    assert_eq!((patched.text.as_str(), patched.applied), (text, 0));
    assert!(patched.refused[0].why.contains(words), "{}", patched.refused[0].why);
}

fn clear(path: &str) -> MessagePatch {
    MessagePatch { path: path.to_owned(), ..MessagePatch::default() }
}

const JSON: &str = "{\n    \"b\": 1.50,\n    \"a\": {\"x\": \"é\", \"y\": [1,2 , 3]},\n    \"c\": \"1\",\n    \"e\": {}\n}\n";

#[test]
fn json_is_changed_in_place() {
    let check = |patches: &[MessagePatch], old: &str, new: &str| {
        assert!(JSON.contains(old));
        check(MessageKind::Json, JSON, patches, &JSON.replacen(old, new, 1));
    };
    check(&[set("b", "2")], "1.50", "2");
    check(&[set("b", "two")], "1.50", "\"two\"");
    check(&[set("c", "2")], "\"1\"", "\"2\"");
    check(&[set("a.x", "a\"b")], "\"é\"", "\"a\\\"b\"");
    check(&[set("a.y[1]", "null")], "1,2 ,", "1,null ,");
    check(&[set("a.z", "9")], "3]}", "3], \"z\": 9}");
    check(&[set("d", "new")], "{}\n}", "{},\n    \"d\": \"new\"\n}");
    check(&[set("e.f", "true")], "{}", "{\n        \"f\": true\n    }");
    check(&[create("a.y[3]", Some("4"))], "3]", "3 , 4]".replace(" ,", ",").as_str());
    check(&[remove("a.y[0]")], "[1,2 ,", "[2 ,");
    check(&[remove("a.y[2]")], "2 , 3]", "2]");
    check(&[remove("b")], "\"b\": 1.50,\n    ", "");
    check(&[remove("e")], ",\n    \"e\": {}", "");
    check(
        &[clear("a.x"), clear("a.y"), clear("b")],
        "1.50,\n    \"a\": {\"x\": \"é\", \"y\": [1,2 , 3]}",
        "null,\n    \"a\": {\"x\": \"\", \"y\": []}",
    );
    check(&[remove("nowhere.at.all")], "1.50", "1.50");
}

#[test]
fn missing_ways_are_made_only_if_that_is_meant() {
    check_refused(MessageKind::Json, JSON, set("a.q.r", "1"), "`a.q` is not in the document");
    check_refused(MessageKind::Json, JSON, set("a.y[3]", "1"), "`a.y[3]` is not in the document");
    check_refused(MessageKind::Json, JSON, create("a.y[9]", Some("1")), "`a.y[9]` is not in the document");
    check_refused(MessageKind::Json, JSON, set("c.d", "1"), "`c` is a text, which has no `d`");
    check_refused(MessageKind::Json, JSON, set("", "1"), "a path is missing");
    check_refused(MessageKind::Json, JSON, set("a..b", "1"), "is no path from");
    check(MessageKind::Json, "{}", &[create("a.b[0].c", Some("1"))], "{\"a\":{\"b\":[{\"c\":1}]}}");
    check(MessageKind::Json, "{\"a\":null}", &[create("a.b", Some("1"))], "{\"a\":{\"b\":1}}");
}

#[test]
fn values_are_json_where_no_text_stands() {
    check(MessageKind::Json, "[0]", &[set("[0]", "{\"a\":[1]}")], "[{\"a\":[1]}]");
    check(MessageKind::Json, "[\"\"]", &[set("[0]", "{\"a\":[1]}")], "[\"{\\\"a\\\":[1]}\"]");
    check(MessageKind::Json, "[0]", &[set("[0]", "\"5\"")], "[\"5\"]");
}

const YAML: &str = "# head\nname: Bob # who\nports:\n  - 80\n  - 443   # tls\nempty:\nnested:\n  deep: {a: 1, b: [x, y]}\n  quoted: 'it''s'\ntext: |\n  one\n  two\nlast: 1\n";

#[test]
fn yaml_is_changed_in_place_and_keeps_its_notes() {
    let check = |patch: MessagePatch, old: &str, new: &str| {
        assert!(YAML.contains(old));
        check(MessageKind::Yaml, YAML, &[patch], &YAML.replacen(old, new, 1));
    };
    check(set("name", "Alice"), "Bob", "Alice");
    check(set("name", "yes"), "Bob", "\"yes\"");
    check(set("name", "a: b # c"), "Bob", "\"a: b # c\"");
    check(set("ports[1]", "8443"), "443 ", "8443 ");
    check(create("ports[2]", Some("22")), "# tls", "# tls\n  - 22");
    check(remove("ports[0]"), "- 80\n  ", "");
    check(remove("ports[1]"), "  - 443   # tls\n", "");
    check(set("empty", "5"), "empty:", "empty: 5");
    check(set("nested.deep.a", "2"), "a: 1", "a: 2");
    check(set("nested.deep.c", "z"), "[x, y]", "[x, y], c: z");
    check(remove("nested.deep.b[0]"), "[x, y]", "[y]");
    check(remove("nested.deep.b"), ", b: [x, y]", "");
    check(set("nested.quoted", "é"), "'it''s'", "\"é\"");
    check(set("nested.more", "1"), "'it''s'", "'it''s'\n  more: 1");
    check(set("new", "é"), "last: 1", "last: 1\nnew: \"é\"");
    check(remove("last"), "last: 1\n", "");
    check(set("text", "x"), "|\n  one\n  two", "\"x\"");
}

#[test]
fn yaml_behind_an_alias_is_changed_where_it_stands() {
    let text = "a: &x {b: 1}\nc: *x\n";
    check_refused(MessageKind::Yaml, text, set("c.b", "2"), "`c` stands for something elsewhere");
    check_refused(MessageKind::Yaml, text, set("c", "2"), "`c` stands for something elsewhere");
    check_refused(
        MessageKind::Yaml,
        text,
        set("a.b", "2"),
        "cannot be changed without writing the document anew",
    );
    check(MessageKind::Yaml, text, &[remove("c")], "a: &x {b: 1}\n");
}

const TOML: &str = "# head\nname = \"Bob\" # who\nports = [80, 443] # both\nat = 1979-05-27\n\n[server]\nhost = 'h' # here\n\n[[user]]\nid = 1\n\n[[user]]\nid = 2\n";

#[test]
fn toml_is_changed_in_place_and_keeps_its_notes() {
    let check = |patch: MessagePatch, old: &str, new: &str| {
        assert!(TOML.contains(old));
        check(MessageKind::Toml, TOML, &[patch], &TOML.replacen(old, new, 1));
    };
    check(set("name", "é"), "\"Bob\"", "\"é\"");
    check(set("ports[1]", "8443"), "443", "8443");
    check(create("ports[2]", Some("22")), "443]", "443, 22]");
    check(remove("ports[0]"), "80, 443", " 443".trim_start());
    check(set("at", "1980-01-01"), "1979-05-27", "1980-01-01");
    check(set("server.host", "x"), "'h'", "\"x\"");
    check(set("server.port", "80"), "'h' # here\n", "'h' # here\nport = 80\n");
    check(set("user[1].id", "3"), "id = 2", "id = 3");
    check(remove("user[0]"), "[[user]]\nid = 1\n\n", "");
    check(set("ports[0]", "1E5"), "80", "1E5");
    check(set("ports[0]", "{\"a\":[1.50]}"), "80", "{ a = [1.50] }");
    check(remove("server.host"), "host = 'h' # here\n", "");
    check_refused(MessageKind::Toml, TOML, set("new", "null"), "TOML has no empty value");
}

#[test]
fn what_stands_in_a_tree_is_told() {
    let get =
        |kind, text: &str, path: &str| Document::read(text.to_owned(), kind).unwrap().get(path).unwrap();
    let json = |path| get(MessageKind::Json, JSON, path);
    assert_eq!(json("b").as_deref(), Some("1.50"));
    assert_eq!(json("a.x").as_deref(), Some("é"));
    assert_eq!(json("a.y").as_deref(), Some("[1,2,3]"));
    assert_eq!(json("a.y[2]").as_deref(), Some("3"));
    assert_eq!(json("a.y[3]"), None);
    assert_eq!(json("b.c"), None);
    assert_eq!(get(MessageKind::Yaml, YAML, "text").as_deref(), Some("one\ntwo\n"));
    assert_eq!(get(MessageKind::Yaml, YAML, "empty").as_deref(), Some("null"));
    assert_eq!(get(MessageKind::Toml, TOML, "user[1].id").as_deref(), Some("2"));
    assert_eq!(get(MessageKind::Toml, TOML, "at").as_deref(), Some("1979-05-27"));
}

#[test]
fn trees_are_shown_in_each_others_formats_but_not_as_hl7() {
    let document = Document::read("a = 1\n[b]\nc = [true, 1_000]\n".to_owned(), MessageKind::Toml).unwrap();
    assert_eq!(document.write(MessageFormat::Yaml).unwrap(), "a: 1\nb:\n  c:\n    - true\n    - 1000\n");
    assert_eq!(document.replaced("b: 2\na: x\n", MessageFormat::Yaml).unwrap(), "b = 2\na = \"x\"\n");
    assert!(matches!(document.write(MessageFormat::Hl7), Err(MessageError::BadFormat(_))));
    assert!(matches!(document.replaced("MSH|^~\\&|", MessageFormat::Hl7), Err(MessageError::BadFormat(_))));
    let document = Document::read("{\"a\":null}".to_owned(), MessageKind::Json).unwrap();
    assert!(matches!(document.write(MessageFormat::Toml), Err(MessageError::BadFormat(_))));
    assert!(matches!(document.replaced("a: [", MessageFormat::Yaml), Err(MessageError::BadText(_))));
}

#[tokio::test]
async fn a_tree_is_opened_changed_taken_back_and_saved() {
    use loggia_domain::MessageDesk;
    let world = World::with("conf/a.yml", YAML).await;
    assert_eq!(world.current().await.kind, MessageKind::Yaml);
    world.desk.patch(vec![set("name", "Alice"), set("no.way", "x")]).await.unwrap();
    assert_eq!(world.read(MessageFormat::Yaml).await, YAML.replace("Bob", "Alice"));
    world.desk.undo().await.unwrap();
    assert_eq!(world.read(MessageFormat::Yaml).await, YAML);
    world.desk.redo().await.unwrap();
    world.desk.save(None).await.unwrap();
    assert_eq!(world.read_file("conf/a.yml"), YAML.replace("Bob", "Alice"));
    assert_eq!(world.desk.validate().await.unwrap(), []);
}
