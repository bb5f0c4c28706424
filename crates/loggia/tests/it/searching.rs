//! `loggia search` and `loggia index`: a server that was started for them builds the index and answers from it.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::auto::AutoStage;

#[test]
fn code_is_found_by_words_and_names_and_the_index_follows_the_files() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    stage
        .write("project/src/sort.rs", "/// Sorts a list in place.\npub fn quick_sort(list: &mut [u32]) {}\n");
    let found = stage.run(&["search", "--symbols", "quicksort"]).to_string();
    assert!(found.contains("src/sort.rs:2  quick_sort  function\n"), "{found}");
    assert!(found.contains("\n       pub fn quick_sort(list: &mut [u32])\n"), "{found}");
    let found = stage.run(&["search", "sorts", "a", "list", "--json"]).to_string();
    assert!(found.contains("\"file_path\":\"src/sort.rs\""), "{found}");
    stage.write("project/src/median.rs", "pub fn median_of(list: &[u32]) -> u32 { list[0] }\n");
    let built = stage.run(&["index", "build"]).to_string();
    assert!(built.contains("ready: 2 files, 2 definitions"), "{built}");
    let found = stage.run(&["search", "--text", "median"]).to_string();
    assert!(found.contains("src/median.rs:1"), "{found}");
    // What was written a moment ago is found, and what is gone is not.
    let mut at_once = 0;
    for number in 0..10 {
        let name = format!("written_{number}");
        stage.write("project/src/latest.rs", format!("pub fn {name}() {{}}\n"));
        let is_found = || {
            stage
                .run(&["search", "--symbols", &name])
                .stdout
                .contains(&format!("latest.rs:1  {name}  function"))
        };
        at_once += u32::from(is_found());
        // A machine that is very busy may be late.
        assert!((0..200).any(|_| is_found()), "{name}");
    }
    assert!(at_once > 0, "it is waited for what was written before");
    // The same for what changed while no server was there.
    stage.run(&["stop"]);
    stage.write("project/src/latest.rs", "pub fn meanwhile() {}\n");
    let found = stage.run(&["search", "--symbols", "meanwhile"]).to_string();
    assert!(found.contains("src/latest.rs:1  meanwhile  function"), "{found}");
    std::fs::remove_file(stage.path("project/src/latest.rs")).unwrap();
    let found = stage.run(&["search", "--phrase", "meanwhile"]).to_string();
    assert!(found.contains("Nothing was found."), "{found}");
    let off = stage.run(&["search", "--vector", "median"]).to_string();
    assert!(off.contains("vector search is off") && off.contains("leave out `--vector`"), "{off}");
}

#[test]
fn each_way_of_looking_finds_its_own_and_wrong_ones_are_told() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    stage.write("project/src/list.rs", "pub struct List;\nimpl List {\n    pub fn sort(&self) {}\n}\n");
    stage.write("project/src/main.rs", "fn main() {\n    List.sort();\n}\n");
    stage.write("project/tests/main.py", "def sort():\n    pass\n");
    let says = |arguments: &[&str]| {
        let shown = stage.run(arguments);
        (shown.code, shown.stdout, shown.stderr)
    };
    let found = |arguments: &[&str]| {
        let (code, out, err) = says(arguments);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        out
    };
    assert_eq!(
        found(&["search", "--regex", r"fn \w+\(\)"]),
        "src/main.rs:1\n     1 fn main() {\n\n",
        "the other one takes something"
    );
    assert_eq!(found(&["search", "--phrase", "List.sort"]), "src/main.rs:2\n     2     List.sort();\n\n");
    assert_eq!(found(&["search", "--references", "sort"]), "src/main.rs:2  call  List.sort();\n");
    assert_eq!(
        found(&["search", "--kind", "method", "sort"]),
        "src/list.rs:3  sort  method in List\n       pub fn sort(&self)\n\n"
    );
    let python = found(&["search", "sort", "--symbols", "--path", "**/*.{py,rb}", "--path", "!src/**"]);
    assert!(python.starts_with("tests/main.py:1  sort  function\n"), "{python}");
    assert_eq!(python.matches("sort  ").count(), 1, "{python}");
    let one = says(&["search", "sort", "-n", "1", "--json"]).1;
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!((one["results"].as_array().unwrap().len(), &one["partial"]), (1, &Value::from("limit")));
    let one = says(&["search", "sort", "-n", "1"]).2;
    assert_eq!(one, "There may be more; `-n` shows up to 1,000.\n");
    let uses: Value = serde_json::from_str(&found(&["search", "--references", "sort", "--json"])).unwrap();
    assert_eq!(uses["references"][0]["line"], 2);
    let coloured = stage.run(&["--color", "always", "search", "--phrase", "list.sort"]).stdout;
    assert!(coloured.contains("\u{1b}[1m\u{1b}[33mList.sort\u{1b}[0m();"), "{coloured:?}");
    assert!(!coloured.contains("\u{1b}]8;;"), "it is no terminal that could be clicked on: {coloured:?}");
    assert_eq!(says(&["search", "xyzzy"]), (Some(0), String::new(), "Nothing was found.\n".to_owned()));

    for (arguments, told) in [
        (&["search", "--regex", "("][..], "`--phrase` looks for the words as they stand"),
        (&["search", "--kind", "functoin", "x"], "function"),
        (&["search", "--kind", "function", "--text", "x"], "cannot be used with"),
        (&["search", "--regex", "--phrase", "x"], "cannot be used with"),
        (&["search", "--path", "[", "x"], "`src/**/*.rs`"),
        (&["search", "-n", "0", "x"], "1..=1000"),
        (&["search", ""], "WORDS"),
    ] {
        let (code, out, err) = says(arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
        assert!(err.contains(told), "{arguments:?}: {err}");
    }
}

#[test]
fn an_index_is_shown_with_what_it_lacks_steered_and_dropped() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    stage.write("project/src/a.rs", "pub fn one() {}\n");
    stage.write("project/blob.rs", b"\x00\x01\x02\x00binary\x00");
    let empty = stage.run(&["index"]).stdout;
    assert!(empty.starts_with("empty: 0 files"), "{empty}");
    let built = stage.run(&["index", "build"]).stdout;
    assert!(built.starts_with("ready: 1 file, 1 definition, 1 piece of text"), "{built}");
    let skipped = stage.run(&["index", "status", "--skipped"]).stdout;
    assert!(skipped.contains("left out:\n    blob.rs  "), "{skipped}");
    let told = stage.run(&["index", "--skipped", "--json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["skipped_files"][0]["file_path"], "blob.rs");
    assert!(told["state"] == "ready" && !told["skipped_files"][0]["reason"].as_str().unwrap().is_empty());
    let steered = |how: &str| {
        let shown = stage.run(&["index", how]);
        assert_eq!(shown.code, Some(0), "{shown}");
        shown.stdout
    };
    assert_eq!(steered("cancel"), "No build is under way.\n");
    assert!(steered("pause").starts_with("Builds and the making of vectors are held up"));
    assert!(stage.run(&["index"]).stdout.contains("are held up; `loggia index resume`"));
    // Single files are followed all the same.
    stage.write("project/src/b.rs", "pub fn two() {}\n");
    let found = stage.run(&["search", "--symbols", "two"]).stdout;
    assert!(found.starts_with("src/b.rs:1  two"), "{found}");
    assert_eq!(steered("resume"), "Builds and the making of vectors go on.\n");
    assert!(!stage.run(&["index"]).stdout.contains("held up"));
    let asked = stage.run(&["index", "drop"]);
    assert_eq!(asked.code, Some(2), "{asked}");
    assert!(asked.stderr.contains("not done without a yes") && asked.stderr.contains("`--yes`"), "{asked}");
    let dropped = stage.run(&["index", "drop", "--yes"]);
    assert_eq!(dropped.code, Some(0), "{dropped}");
    assert!(stage.run(&["index"]).stdout.starts_with("empty: 0 files"));
    let found = stage.run(&["search", "--symbols", "one"]).stdout;
    assert!(found.starts_with("src/a.rs:1  one"), "it is built again: {found}");
}

#[test]
fn changes_of_the_index_are_told_until_ctrl_c() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    stage.write("project/src/a.rs", "pub fn one() {}\n");
    let mut command = stage.command(&["index", "watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |files: u64| {
        loop {
            let status: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if status["state"] == "ready" && status["files"] == files {
                return;
            }
        }
    };
    until(1);
    stage.write("project/src/b.rs", "pub fn two() {}\n");
    until(2);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn the_console_has_the_index_too() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    stage.write("project/src/sort.rs", "pub fn quick_sort() {}\n");
    let shown = stage.run(&["attach", "-c", "index build", "-c", "search quick_sort"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(shown.stdout.contains("ready: 1 files, 1 definitions"), "{shown}");
    assert!(shown.stdout.contains("src/sort.rs:1  quick_sort  function\n"), "{shown}");
}
