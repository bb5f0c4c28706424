//! `read_file`.

use serde_json::json;

use crate::support::{Workspace, numbered};

fn read(content: &str) -> String {
    Workspace::new(&[("x", content)]).call("read_file", json!({"path": "x"}))
}

#[test]
fn lines_come_with_their_numbers() {
    assert_eq!(read("one\n\n\tthree\n"), "1\tone\n2\t\n3\t\tthree");
}

#[test]
fn what_lines_do_not_show_is_remarked() {
    assert_eq!(read(""), "[the file is empty]");
    assert_eq!(read("one"), "1\tone\n[no line end after the last line]");
    assert_eq!(read("one\r\ntwo\r\n"), "1\tone\n2\ttwo\n[lines end in CRLF]");
    assert_eq!(read("one\r\ntwo\n"), "1\tone\n2\ttwo\n[some lines end in CRLF, some in LF]");
    assert_eq!(read("\u{feff}one\n"), "1\tone\n[the file begins with a byte order mark]");
    assert_eq!(read("größe 漢字 🦀\n"), "1\tgröße 漢字 🦀");
}

#[test]
fn text_that_is_not_utf_8_is_shown_as_far_as_it_can_be() {
    let workspace = Workspace::new(&[]);
    workspace.write("x", b"caf\xe9\n");
    assert_eq!(
        workspace.call("read_file", json!({"path": "x"})),
        "1\tcaf\u{fffd}\n[the file is not UTF-8; what could not be read is shown as \u{fffd}]"
    );
}

#[test]
fn a_range_of_lines_is_shown_with_its_place() {
    let workspace = Workspace::new(&[("x", &numbered(10))]);
    let read = |start: usize, end: usize| {
        workspace.call("read_file", json!({"path": "x", "start_line": start, "end_line": end}))
    };
    assert_eq!(read(4, 5), "4\tline 4\n5\tline 5\n[lines 4-5 of 10]");
    assert_eq!(read(10, 99), "10\tline 10\n[lines 10-10 of 10]");
    assert_eq!(read(11, 99), "failed: `x` has 10 lines; there is no line 11");
    assert_eq!(read(1, 10).lines().count(), 10);
}

#[test]
fn a_long_file_comes_in_pieces() {
    let workspace = Workspace::new(&[("x", &numbered(4500))]);
    let first = workspace.call("read_file", json!({"path": "x"}));
    assert_eq!(first.lines().count(), 2001);
    assert!(first.ends_with("2000\tline 2000\n[lines 1-2000 of 4500; read on with start_line 2001]"));
    let last = workspace.call("read_file", json!({"path": "x", "start_line": 4001}));
    assert!(last.ends_with("4500\tline 4500\n[lines 4001-4500 of 4500]"), "{last}");
}

#[test]
fn a_wide_file_is_cut_by_bytes_and_long_lines_by_characters() {
    let wide = format!("{}\n", "ä".repeat(1500)).repeat(1000);
    let shown = read(&wide);
    assert!(shown.len() <= 256 * 1024 + 100);
    assert!(shown.ends_with("of 1000; read on with start_line 88]"), "{}", &shown[shown.len() - 100..]);
    assert_eq!(
        read(&"ä".repeat(2005)).lines().next().unwrap(),
        format!("1\t{}… [5 more characters]", "ä".repeat(2000))
    );
}

#[test]
fn binary_files_are_told_by_kind_and_size() {
    let workspace = Workspace::new(&[]);
    workspace.write("x.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    workspace.write("x.bin", b"abc\0def");
    let read = |path: &str| workspace.call("read_file", json!({"path": path}));
    assert_eq!(read("x.png"), "failed: `x.png` is not text but PNG image of 16 bytes");
    assert_eq!(read("x.bin"), "failed: `x.bin` is not text but binary data of 7 bytes");
}

#[test]
fn what_is_not_there_comes_with_what_may_be_meant() {
    let workspace = Workspace::new(&[("src/main.rs", ""), ("src/deep/parser.rs", ""), ("README.md", "")]);
    let read = |path: &str| workspace.call("read_file", json!({"path": path}));
    assert_eq!(read("src/mian.rs"), "failed: `src/mian.rs` does not exist; did you mean `src/main.rs`?");
    assert_eq!(read("parser.rs"), "failed: `parser.rs` does not exist; did you mean `src/deep/parser.rs`?");
    assert_eq!(read("readme.md"), "failed: `readme.md` does not exist; did you mean `README.md`?");
    assert_eq!(read("nothing/like/it"), "failed: `nothing/like/it` does not exist");
    assert_eq!(
        read("README.md/x"),
        "failed: `README.md/x` is not a directory or goes through something that is none"
    );
    assert_eq!(
        read("src"),
        "failed: `src` is a directory, not a file; see what is in it with list_directory"
    );
    assert_eq!(read("."), "failed: `.` is a directory, not a file; see what is in it with list_directory");
}

#[test]
fn paths_may_be_written_in_several_ways() {
    let workspace = Workspace::new(&[("src/x", "one\n")]);
    for path in ["src/x", "./src//x"] {
        assert_eq!(workspace.call("read_file", json!({"path": path})), "1\tone");
        assert_eq!(workspace.demand("read_file", &json!({"path": path})).reads, ["src/x"]);
    }
}

#[test]
fn the_overlay_is_read_as_if_it_were_written() {
    let mut workspace = Workspace::new(&[("x", "old\n"), ("y", "there\n")]);
    workspace.overlay("x", Some("new\n"));
    workspace.overlay("y", None);
    workspace.overlay("made/z", Some("made\n"));
    let read = |path: &str| workspace.call("read_file", json!({"path": path}));
    assert_eq!(read("x"), "1\tnew");
    assert!(read("y").starts_with("failed: `y` does not exist"));
    assert_eq!(read("made/z"), "1\tmade");
    assert!(read("made").starts_with("failed: `made` is a directory"));
}
