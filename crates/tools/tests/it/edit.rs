//! `edit_file`, `write_file` and `delete_file`.

use serde_json::json;

use crate::support::Workspace;

fn edit(content: &str, old: &str, new: &str) -> String {
    let workspace = Workspace::new(&[("x", content)]);
    workspace.call("edit_file", json!({"path": "x", "old": old, "new": new}))
}

#[test]
fn one_text_is_replaced() {
    for (content, old, new, expected) in [
        ("one two\n", "two", "three", r#"x: "one two\n" -> "one three\n""#),
        ("a\r\nb\r\nc\r\n", "b\r\n", "", r#"x: "a\r\nb\r\nc\r\n" -> "a\r\nc\r\n""#),
        ("no end", "end", "END", r#"x: "no end" -> "no END""#),
        ("größe 漢字", "漢", "汉", r#"x: "größe 漢字" -> "größe 汉字""#),
        ("a\nb\nc\n", "a\nb", "A\nB", r#"x: "a\nb\nc\n" -> "A\nB\nc\n""#),
    ] {
        assert_eq!(edit(content, old, new), expected);
    }
}

#[test]
fn text_that_is_not_utf_8_keeps_its_bytes() {
    let workspace = Workspace::new(&[]);
    workspace.write("x", b"caf\xe9 one\n");
    let effect = workspace.run("edit_file", &json!({"path": "x", "old": "one", "new": "two"})).unwrap();
    let loggia_domain::ToolEffect::Edits(edits) = effect else { panic!("no edits") };
    assert_eq!(edits[0].after.as_deref(), Some(&b"caf\xe9 two\n"[..]));
}

#[test]
fn several_matches_are_told_with_their_lines() {
    assert_eq!(
        edit("a\nb a\n\na\n", "a", "x"),
        "failed: `x`: `old` is in the file 3 times, at lines 1, 2, 4; add lines around it so that it matches once"
    );
    let many = edit(&"a\n".repeat(12), "a", "x");
    assert!(many.contains("12 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more;"), "{many}");
}

#[test]
fn near_misses_are_explained() {
    let hint = |content: &str, old: &str| {
        let text = edit(content, old, "y");
        let prefix = "failed: `x`: `old` is not in the file (0 matches); ";
        text.strip_prefix(prefix).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert_eq!(hint("a\nb\n", "zzz"), "read the file again and copy the text exactly");
    assert_eq!(hint("a\r\nb\r\n", "a\nb"), "the file's lines end in CRLF (\\r\\n) and those of `old` do not");
    assert_eq!(hint("a\nb\n", "a\r\nb"), "`old` has CRLF line ends where the file has LF");
    assert_eq!(
        hint("a\r\nb\nc\n", "a\nb"),
        "some of the file's lines end in CRLF (\\r\\n), some in LF, and `old` differs in that"
    );
    assert_eq!(
        hint("x\n\tif a  {\n\t}\n", "    if a {\n    }\n"),
        "lines 2-3 differ in white space only; the file has there:\n\tif a  {\n\t}"
    );
    assert_eq!(hint("Hello\n", "hello"), "line 1 differs in upper and lower case only");
    assert_eq!(
        hint("a\nb\n", "1\ta\n2\tb"),
        "`old` holds the line numbers that read_file shows; leave them out"
    );
    assert_eq!(
        hint("x\nfn a() {\n    b();\n}\n", "fn a() {\n    c();\n}\n"),
        "its first line is line 2, but line 3 is\n    b();\nwhere `old` has\nc();"
    );
    assert_eq!(hint("a\nb\n", "b\nc\n"), "its first line is line 2, but the file ends before `old` does");
}

#[test]
fn an_edit_sees_what_was_changed_before() {
    let mut workspace = Workspace::new(&[("x", "disk\n")]);
    workspace.overlay("x", Some("overlay\n"));
    let call = |old: &str| workspace.call("edit_file", json!({"path": "x", "old": old, "new": "new"}));
    assert_eq!(call("overlay"), r#"x: "overlay\n" -> "new\n""#);
    assert!(call("disk").starts_with("failed: `x`: `old` is not in the file"));
}

#[test]
fn a_file_is_written_whole() {
    let mut workspace = Workspace::new(&[("there", "old\n"), ("same", "same\n")]);
    workspace.overlay("gone", None);
    let write =
        |path: &str, content: &str| workspace.call("write_file", json!({"path": path, "content": content}));
    assert_eq!(write("new/deep/file", "a\n"), r#"new/deep/file: nothing -> "a\n""#);
    assert_eq!(write("there", "new\r\n"), r#"there: "old\n" -> "new\r\n""#);
    assert_eq!(write("empty", ""), r#"empty: nothing -> """#);
    assert_eq!(write("gone", "back"), r#"gone: nothing -> "back""#);
    assert_eq!(write("same", "same\n"), "nothing to change: the files already are like this");
}

#[test]
fn a_file_is_deleted() {
    let mut workspace = Workspace::new(&[("there", "old\n"), ("directory/x", "")]);
    workspace.write("picture", b"\0\x01");
    workspace.overlay("gone", None);
    workspace.overlay("made", Some("made\n"));
    let delete = |path: &str| workspace.call("delete_file", json!({"path": path, "reason": "why"}));
    assert_eq!(delete("there"), r#"there: "old\n" -> nothing"#);
    assert_eq!(delete("made"), r#"made: "made\n" -> nothing"#);
    assert_eq!(delete("picture"), "picture: \"\\0\\u{1}\" -> nothing");
    assert!(delete("gone").starts_with("failed: `gone` does not exist"));
    assert!(delete("theer").contains("did you mean `there`?"));
    assert!(delete("directory").starts_with("failed: `directory` is a directory"));
    assert_eq!(delete(".").split(';').next().unwrap(), "failed: `.` is a directory, not a file");
}

#[test]
fn what_cannot_be_edited_is_told() {
    let mut workspace = Workspace::new(&[("x", "text\n"), ("directory/y", "")]);
    workspace.write("binary", b"a\0b");
    workspace.link("link", "x");
    workspace.link("to_directory", "directory");
    workspace.overlay("made", Some("a file\n"));
    let write = |path: &str| workspace.call("write_file", json!({"path": path, "content": "new\n"}));
    assert_eq!(
        write("binary"),
        "failed: `binary` is not text but binary data of 3 bytes, and cannot be edited"
    );
    assert_eq!(write("link"), "failed: `link` goes through a link; its real path is `x`: use that");
    assert_eq!(
        write("to_directory/new"),
        "failed: `to_directory/new` goes through a link; its real path is `directory/new`: use that"
    );
    assert!(write("directory").starts_with("failed: `directory` is a directory"));
    assert!(write("x/below").starts_with("failed: `x/below` is not a directory or goes through"));
    assert_eq!(write("made/below"), "failed: `made` is a file, so `made/below` cannot be made");
    assert!(write("").starts_with("failed: `.` is a directory"));
    let edit = workspace.call("edit_file", json!({"path": "binary", "old": "a", "new": "b"}));
    assert_eq!(edit, "failed: `binary` is not text but binary data of 3 bytes, and cannot be edited");
}

#[test]
fn large_files_are_not_edited() {
    let workspace = Workspace::new(&[]);
    workspace.write("large", "x\n".repeat(5 * 1024 * 1024).as_bytes());
    let edit = workspace.call("edit_file", json!({"path": "large", "old": "y", "new": "z"}));
    assert_eq!(edit, "failed: `large` has 10485760 bytes and at most 8388608 are read");
    let written = workspace.call("write_file", json!({"path": "x", "content": "x".repeat(9 * 1024 * 1024)}));
    assert_eq!(written, "failed: `x` has 9437184 bytes and at most 8388608 are read");
}

#[test]
fn demands_say_what_is_touched() {
    let workspace = Workspace::new(&[]);
    let edit = workspace.demand("edit_file", &json!({"path": "./a", "old": "x", "new": "y"}));
    assert_eq!((edit.reads, edit.writes), (vec!["a".to_owned()], vec!["a".to_owned()]));
    let write = workspace.demand("write_file", &json!({"path": "a", "content": ""}));
    assert_eq!((write.reads.len(), write.writes), (0, vec!["a".to_owned()]));
    let delete = workspace.demand("delete_file", &json!({"path": "../a"}));
    assert_eq!(delete.deletes, ["../a"]);
    assert!(!delete.only_reads());
}
