//! What commands do to files, one row each: what is found, and that undoing it gives everything back.

use super::*;

type Command = fn(&Place);

const BIG: usize = 1001;
const BOUNDS: Bounds = Bounds { file_bytes: 1000, ..Bounds::STANDARD };

/// The workspace of every row: sources, hidden files, a link, ignored files and directories.
fn workspace() -> Place {
    let place = Place::with(&[
        (".gitignore", "*.log\n/target/\nsecret.env\n"),
        (".hidden/file", "hidden\n"),
        (".git/HEAD", "ref\n"),
        ("README.md", "# Title\n"),
        ("crlf.txt", "a\r\nb\r\n"),
        ("debug.log", "ignored\n"),
        ("empty", ""),
        ("run.sh", "#!/bin/sh\n"),
        ("secret.env", "KEY=1\n"),
        ("src/lib.rs", "pub fn a() {}\n"),
        ("src/deep/er/mod.rs", "mod x;\n"),
        ("target/debug/app", "binary\n"),
    ]);
    place.write("data.bin", [0, 159, 146, 150, 255]);
    place.write("big.bin", vec![b'x'; BIG]);
    place.link("link", "README.md");
    place.link("dangling", "nowhere");
    place
}

/// Rows whose change can be undone whole.
const UNDOABLE: &[(&str, Command, &str)] = &[
    ("nothing", |_| {}, ""),
    ("reading", |place| _ = place.files(), ""),
    ("edit", |place| place.write("README.md", "# Other title\n"), "* README.md"),
    ("edit of the same length", |place| place.write("README.md", "# TITLE\n"), "* README.md"),
    (
        "edit with the old time",
        |place| {
            let time = fs::metadata(place.at("README.md")).unwrap().modified().unwrap();
            place.write("README.md", "# TITLE\n");
            fs::File::open(place.at("README.md")).unwrap().set_modified(time).unwrap();
        },
        "* README.md",
    ),
    ("the same content again", |place| place.write("README.md", "# Title\n"), ""),
    (
        "replaced by the same",
        |place| {
            place.write("new", "# Title\n");
            place.rename("new", "README.md");
        },
        "",
    ),
    (
        "touch",
        |place| {
            let file = fs::File::open(place.at("README.md")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        },
        "",
    ),
    ("chmod", |place| place.set_mode("run.sh", 0o755), "m run.sh"),
    (
        "chmod and edit",
        |place| {
            place.set_mode("run.sh", 0o700);
            place.write("run.sh", "");
        },
        "*m run.sh",
    ),
    ("delete", |place| place.remove("empty"), "- empty"),
    ("create", |place| place.write("z", "z"), "+ z"),
    ("create an empty file", |place| place.write("z", ""), "+ z"),
    ("fill an empty file", |place| place.write("empty", "x"), "* empty"),
    ("create in new directories", |place| place.write("new/deep/.file", "x"), "+ new/deep/.file"),
    ("an empty directory is no file", |place| fs::create_dir(place.at("new")).unwrap(), ""),
    ("rename", |place| place.rename("README.md", "a/b"), "- README.md, + a/b"),
    (
        "rename of a directory",
        |place| place.rename("src", "lib"),
        "+ lib/deep/er/mod.rs, + lib/lib.rs, - src/deep/er/mod.rs, - src/lib.rs",
    ),
    (
        "swap",
        |place| {
            place.rename("README.md", "x");
            place.rename("crlf.txt", "README.md");
            place.rename("x", "crlf.txt");
        },
        "* README.md, * crlf.txt",
    ),
    ("hidden file", |place| place.write(".hidden/file", "x"), "* .hidden/file"),
    ("line endings", |place| place.write("crlf.txt", "a\nb\n"), "* crlf.txt"),
    ("binary", |place| place.write("data.bin", [0, 1]), "* data.bin"),
    ("new link", |place| place.link("new", "src/lib.rs"), "+ new"),
    (
        "other target",
        |place| {
            place.remove("link");
            place.link("link", "run.sh");
        },
        "* link",
    ),
    ("write through a link", |place| fs::write(place.at("link"), "x").unwrap(), "* README.md"),
    ("link that led nowhere", |place| place.remove("dangling"), "- dangling"),
    (
        "file to link",
        |place| {
            place.remove("run.sh");
            place.link("run.sh", "README.md");
        },
        "*ml run.sh",
    ),
    (
        "link to file",
        |place| {
            place.remove("link");
            place.write("link", "README.md");
        },
        "ml link",
    ),
    (
        "file to directory",
        |place| {
            place.remove("run.sh");
            place.write("run.sh/a", "x");
        },
        "- run.sh, + run.sh/a",
    ),
    (
        "file to empty directory",
        |place| {
            place.remove("run.sh");
            fs::create_dir_all(place.at("run.sh/a")).unwrap();
        },
        "- run.sh",
    ),
    (
        "directory to file",
        |place| {
            fs::remove_dir_all(place.at("src")).unwrap();
            place.write("src", "x");
        },
        "+ src, - src/deep/er/mod.rs, - src/lib.rs",
    ),
    (
        "directory to link to the moved directory",
        |place| {
            place.rename("src", "lib");
            place.link("src", "lib");
        },
        "+ lib/deep/er/mod.rs, + lib/lib.rs, + src, - src/deep/er/mod.rs, - src/lib.rs",
    ),
    (
        "directory to link that leads outside",
        |place| {
            fs::remove_dir_all(place.at("src")).unwrap();
            place.link("src", "/usr");
        },
        "+ src, - src/deep/er/mod.rs, - src/lib.rs",
    ),
    ("ignored file", |place| place.write("debug.log", "x"), ""),
    ("new ignored file", |place| place.write("src/other.log", "x"), ""),
    ("ignored directory", |place| place.write("target/debug/new", "x"), ""),
    (
        "a file where an ignored directory was",
        |place| {
            fs::remove_dir_all(place.at("target")).unwrap();
            place.write("target", "x");
        },
        "+ target",
    ),
    ("git's own files", |place| place.write(".git/HEAD", "x"), ""),
    (
        "rules that ignore a file",
        |place| place.write(".gitignore", "*.log\n/target/\nsecret.env\nREADME.md\n"),
        "* .gitignore",
    ),
    (
        "rules that ignore a directory that is edited and lost from as well",
        |place| {
            place.write(".gitignore", "*.log\n/target/\nsecret.env\n/src/\n");
            place.write("src/lib.rs", "x");
            place.remove("src/deep/er/mod.rs");
        },
        "* .gitignore, - src/deep/er/mod.rs, * src/lib.rs",
    ),
    ("new rules in a directory", |place| place.write("src/.gitignore", "*.rs\n"), "+ src/.gitignore"),
    (
        "remove everything",
        |place| {
            for name in [".hidden", "src", "target"] {
                fs::remove_dir_all(place.at(name)).unwrap();
            }
            for name in ["README.md", "crlf.txt", "data.bin", "empty", "link", "dangling", "run.sh"] {
                place.remove(name);
            }
        },
        "- .hidden/file, - README.md, - crlf.txt, - dangling, - data.bin, - empty, - link, - run.sh, \
         - src/deep/er/mod.rs, - src/lib.rs",
    ),
];

#[test]
fn what_a_command_does_is_found_and_can_be_undone() {
    for (name, command, expected) in UNDOABLE {
        let place = workspace();
        let mut mirror = place.mirror_within(BOUNDS);
        let snapshot = refresh(&mut mirror);
        let before = visible(&place.files());
        command(&place);
        let observed = changes(&mut mirror, &snapshot);
        assert_eq!(show(&observed), *expected, "{name}");
        let after = place.files();
        for change in observed.changes.iter().filter(|change| change.after.is_some()) {
            assert_eq!(observed.after_bytes(change).as_ref(), Some(&after[&change.path].1), "{name}");
        }
        place.undo(&observed);
        assert_eq!(visible(&place.files()), before, "{name}");
        assert_eq!(show(&changes(&mut mirror, &snapshot)), "", "{name}, undone");
    }
}

fn visible(files: &BTreeMap<String, (Option<u32>, Vec<u8>)>) -> BTreeMap<String, (Option<u32>, Vec<u8>)> {
    let is_ignored = |path: &str| {
        path.ends_with(".log")
            || path.ends_with(".env")
            || path.starts_with("target/")
            || path.starts_with(".git/")
    };
    files
        .iter()
        .filter(|(path, _)| !is_ignored(path))
        .map(|(path, file)| (path.clone(), file.clone()))
        .collect()
}

#[test]
fn new_rules_that_ignore_themselves_hide_no_file_that_was_there() {
    let place = workspace();
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.write("src/.gitignore", "*\n");
    place.write("src/lib.rs", "x");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* src/lib.rs");
}

/// Rows with changes that cannot be undone: they are counted, and no other file is blamed.
const BEYOND: &[(&str, Command, &str)] = &[
    ("edit of a large file", |place| place.write("big.bin", vec![b'y'; BIG]), "beyond 1"),
    ("loss of a large file", |place| place.remove("big.bin"), "beyond 1"),
    ("mode of a large file", |place| place.set_mode("big.bin", 0o600), "beyond 1"),
    ("a large file becomes small", |place| place.write("big.bin", "x"), "beyond 1"),
    ("a small file becomes large", |place| place.write("empty", vec![b'y'; BIG]), "beyond 1"),
    ("a new large file", |place| place.write("new", vec![b'y'; BIG]), "beyond 1"),
    (
        "rules that no longer ignore what was there",
        |place| place.write(".gitignore", "/target/\n"),
        // They were written just before the snapshot: too soon to tell that the command did not write them.
        "* .gitignore, beyond 2",
    ),
    (
        "rules that no longer ignore a directory, and a new file in it",
        |place| {
            place.write(".gitignore", "*.log\nsecret.env\n");
            place.write("target/new", "x");
        },
        "* .gitignore, beyond 2",
    ),
    (
        "rules that no longer ignore a new file",
        |place| {
            place.write("new.log", "x");
            place.write(".gitignore", "/target/\nsecret.env\ndebug.log\n");
        },
        "* .gitignore, + new.log",
    ),
    (
        "a file becomes a socket",
        |place| {
            place.remove("run.sh");
            make_socket(&place.at("run.sh"));
        },
        "beyond 1",
    ),
    (
        "a second hard link, which makes a file unreadable for us",
        |place| fs::hard_link(place.at("run.sh"), place.at("second")).unwrap(),
        "beyond 2",
    ),
];

#[test]
fn what_cannot_be_undone_is_counted() {
    for (name, command, expected) in BEYOND {
        let place = workspace();
        let mut mirror = place.mirror_within(BOUNDS);
        let snapshot = refresh(&mut mirror);
        command(&place);
        let observed = changes(&mut mirror, &snapshot);
        assert_eq!(show(&observed), *expected, "{name}");
    }
}

fn make_socket(path: &Path) {
    // The name stays when the listener is gone.
    drop(std::os::unix::net::UnixListener::bind(path).unwrap());
}

#[test]
fn a_file_that_is_no_longer_ignored_and_was_not_touched_is_not_counted() {
    let place =
        Place::with(&[(".gitignore", "secret.env\ntarget\n"), ("secret.env", "KEY"), ("target/a", "")]);
    let mut mirror = place.mirror();
    let mut snapshot = refresh(&mut mirror);
    let mut later = Manifest::clone(&snapshot.0);
    later.started_ns += 2 * super::super::source::slack_ns();
    snapshot.0 = Arc::new(later);
    place.remove(".gitignore");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "- .gitignore");
}

#[test]
fn files_of_a_directory_that_ignored_itself_are_not_new() {
    let place = Place::with(&[("venv/.gitignore", "*\n"), ("venv/bin/python", "x"), ("a", "")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.remove("venv/.gitignore");
    place.write("venv/new", "x");
    let observed = changes(&mut mirror, &snapshot);
    // The file beside the ignored ones is new; the one that was there is not, though too young to be sure of.
    assert_eq!(show(&observed), "+ venv/new, beyond 1");
}

#[test]
fn a_file_in_a_directory_that_was_empty_is_new() {
    let place = Place::with(&[("a", "")]);
    fs::create_dir_all(place.at("src/deep")).unwrap();
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.write("src/deep/file", "x");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "+ src/deep/file");
}

#[test]
fn files_of_a_directory_that_could_not_be_read_are_not_new() {
    let place = Place::with(&[("dark/file", "x"), ("a", "")]);
    place.set_mode("dark", 0o000);
    if fs::read_dir(place.at("dark")).is_ok() {
        place.set_mode("dark", 0o755);
        return; // The superuser reads everything.
    }
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.set_mode("dark", 0o755);
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "beyond 2");
}

#[test]
fn an_unreadable_file_is_counted_when_it_changes() {
    let place = Place::with(&[("one", "x"), ("a", "")]);
    // Another name of it may be outside the workspace, so that it is not read.
    fs::hard_link(place.at("one"), place.data.path().join("two")).unwrap();
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "");
    place.write("one", "y");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "beyond 1");
}

#[test]
fn a_name_that_is_no_path_of_ours_is_counted_when_it_comes_or_goes() {
    let place = Place::with(&[("a", "")]);
    let mut mirror = place.mirror();
    let empty = refresh(&mut mirror);
    fs::write(place.at("back\\slash"), "").unwrap();
    assert_eq!(show(&changes(&mut mirror, &empty)), "beyond 1");
    let full = refresh(&mut mirror);
    assert_eq!(show(&changes(&mut mirror, &full)), "");
    fs::remove_file(place.at("back\\slash")).unwrap();
    assert_eq!(show(&changes(&mut mirror, &full)), "beyond 1");
}

#[test]
fn changes_come_with_diffs() {
    let place = workspace();
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.write("README.md", "# Other\n");
    place.write("data.bin", [0, 1]);
    place.write("crlf.txt", "a\r\nc\r\n");
    place.remove("src/lib.rs");
    place.set_mode("run.sh", 0o755);
    let diffs: Vec<String> =
        changes(&mut mirror, &snapshot).observed_changes().into_iter().map(|change| change.diff).collect();
    insta::assert_snapshot!(diffs.join("----\n").replace('\r', "␍"), @r"
    diff --git a/README.md b/README.md
    --- a/README.md
    +++ b/README.md
    @@ -1 +1 @@
    -# Title
    +# Other
    ----
    diff --git a/crlf.txt b/crlf.txt
    --- a/crlf.txt
    +++ b/crlf.txt
    @@ -1,2 +1,2 @@
     a␍
    -b␍
    +c␍
    ----
    ----
    diff --git a/run.sh b/run.sh
    old mode 100644
    new mode 100755
    ----
    diff --git a/src/lib.rs b/src/lib.rs
    deleted file mode 100644
    --- a/src/lib.rs
    +++ /dev/null
    @@ -1 +0,0 @@
    -pub fn a() {}
    ");
}

#[test]
fn commands_one_after_the_other_are_told_apart() {
    let place = workspace();
    let mut mirror = place.mirror();
    let first = refresh(&mut mirror);
    place.write("README.md", "1");
    assert_eq!(show(&changes(&mut mirror, &first)), "* README.md");
    let second = refresh(&mut mirror);
    assert_eq!(show(&changes(&mut mirror, &second)), "");
    place.write("run.sh", "2");
    let observed = changes(&mut mirror, &second);
    assert_eq!(show(&observed), "* run.sh");
    assert_eq!(observed.before_bytes(&observed.changes[0]).unwrap(), b"#!/bin/sh\n");
    assert_eq!(show(&changes(&mut mirror, &first)), "* README.md, * run.sh");
}
