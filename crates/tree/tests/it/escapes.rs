//! Tricks to get out of the root, each on real files. Whatever the answer is, what is outside stays as it was and is
//! not in the answer.

use loggia_tree::{Content, HardLinkRule, Root, RootSettings, TreeError, TreePath, WalkOptions};

use crate::support::{Fixture, INSIDE, SECRET, at, snapshot};

/// What is tried. `{outside}` and `{root}` in a path stand for the real absolute paths.
#[derive(Debug, Clone, Copy)]
enum Try {
    Read(&'static str),
    Stat(&'static str),
    List(&'static str),
    ReadLink(&'static str),
    /// As a tool writes: to where the path really leads.
    Write(&'static str),
    /// As an undo writes: to the path itself.
    Replace(&'static str),
    /// Puts a link in place.
    PutLink(&'static str, &'static str),
    Remove(&'static str),
    RemoveParentsOf(&'static str),
    RemoveDirectory(&'static str),
    Sweep(&'static str),
    SyncParentOf(&'static str),
    Walk(&'static str),
}

/// What must come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Refused for safety's sake, with what to do instead.
    Forbidden,
    /// The name means nothing special, and there is no such file.
    NotFound,
    NotAFile,
    NotADirectory,
    TooLong,
    /// It is done, inside.
    Inside,
}

use Answer::{Forbidden, Inside, NotADirectory, NotAFile, NotFound, TooLong};
use Try::{
    List, PutLink, Read, ReadLink, Remove, RemoveDirectory, RemoveParentsOf, Replace, Stat, Sweep,
    SyncParentOf, Walk, Write,
};

/// A name, what is made first, what is tried, and what must come of it.
type Row = (&'static str, Prepare, Try, Answer);

type Prepare = fn(&Fixture) -> &Fixture;

const NOTHING: Prepare = |fixture| fixture;

/// Paths that lead out by their words.
const WORDS: &[Row] = &[
    ("absolute path", NOTHING, Read("{outside}/secret.txt"), Forbidden),
    ("absolute path to write", NOTHING, Write("{outside}/new.txt"), Forbidden),
    ("absolute path to remove", NOTHING, Remove("{outside}/secret.txt"), Forbidden),
    ("absolute path to list", NOTHING, List("{outside}"), Forbidden),
    ("absolute path through the root", NOTHING, Read("{root}/../outside/secret.txt"), Forbidden),
    ("root of the file system", NOTHING, List("/"), Forbidden),
    ("doubled slash in front", NOTHING, Read("/{outside}/secret.txt"), Forbidden),
    ("own root through proc", NOTHING, Read("/proc/self/root{outside}/secret.txt"), Forbidden),
    ("own directory through proc", NOTHING, Read("/proc/self/cwd/Cargo.toml"), Forbidden),
    ("own input", NOTHING, Read("/dev/stdin"), Forbidden),
    ("own descriptors", NOTHING, List("/dev/fd"), Forbidden),
    ("dots in front", NOTHING, Read("../outside/secret.txt"), Forbidden),
    ("dots alone", NOTHING, List(".."), Forbidden),
    ("dots with a slash", NOTHING, List("../"), Forbidden),
    ("dots after a directory", |f| f.dir("a"), Read("a/../../outside/secret.txt"), Forbidden),
    ("dots after a missing directory", NOTHING, Read("x/../../outside/secret.txt"), Forbidden),
    ("dots that stay inside", |f| f.dir("a").file("b", INSIDE), Read("a/../b"), Forbidden),
    ("dots at the end", |f| f.dir("a"), List("a/.."), Forbidden),
    ("dots after a single dot", NOTHING, Read("./../outside/secret.txt"), Forbidden),
    ("dots after many slashes", NOTHING, Read(".////../outside/secret.txt"), Forbidden),
    ("dots to write", NOTHING, Write("../outside/new.txt"), Forbidden),
    ("dots to make directories", NOTHING, Write("a/b/../../../outside/x/new.txt"), Forbidden),
    ("dots to remove", NOTHING, Remove("../outside/secret.txt"), Forbidden),
    ("dots to stat", NOTHING, Stat("../outside/secret.txt"), Forbidden),
    ("dots to walk", NOTHING, Walk("../outside"), Forbidden),
    ("dots to sweep", NOTHING, Sweep("../outside"), Forbidden),
    ("backslash dots", NOTHING, Read("..\\outside\\secret.txt"), Forbidden),
    ("backslash among slashes", NOTHING, Read("a/..\\../outside/secret.txt"), Forbidden),
    ("drive", NOTHING, Read("C:\\outside\\secret.txt"), Forbidden),
    ("drive with slashes", NOTHING, Read("c:/outside/secret.txt"), Forbidden),
    ("server share", NOTHING, Read("\\\\server\\share\\secret.txt"), Forbidden),
    ("device namespace", NOTHING, Read("\\\\?\\C:\\secret.txt"), Forbidden),
    ("NUL cuts the path", |f| f.file("a", INSIDE), Read("a\0/../../outside/secret.txt"), Forbidden),
    ("NUL after dots", NOTHING, Read("..\0/outside/secret.txt"), Forbidden),
    ("NUL to write", NOTHING, Write("new.txt\0.md"), Forbidden),
];

/// Paths that lead out only for those who decode, trim, expand or fold them. Here they are plain names.
const LOOK_ALIKES: &[Row] = &[
    ("percent dots", NOTHING, Read("%2e%2e/outside/secret.txt"), NotFound),
    ("percent slash", NOTHING, Read("..%2foutside%2fsecret.txt"), NotFound),
    ("percent twice", NOTHING, Read("%252e%252e/outside/secret.txt"), NotFound),
    ("percent NUL", NOTHING, Read("..%00/outside/secret.txt"), NotFound),
    ("percent dots to write", NOTHING, Write("%2e%2e/outside/secret.txt"), Inside),
    ("file address", NOTHING, Read("file:///etc/passwd"), NotFound),
    ("home", NOTHING, Read("~/secret.txt"), NotFound),
    ("another's home", NOTHING, Read("~root/.bashrc"), NotFound),
    ("variable", NOTHING, Read("$HOME/secret.txt"), NotFound),
    ("command", NOTHING, Read("$(echo ..)/outside/secret.txt"), NotFound),
    ("three dots", NOTHING, Read(".../outside/secret.txt"), NotFound),
    ("dots and a space", NOTHING, Read(".. /outside/secret.txt"), NotFound),
    ("space and dots", NOTHING, Read(" ../outside/secret.txt"), NotFound),
    ("dots and a line end", NOTHING, Read("..\n/outside/secret.txt"), NotFound),
    ("dots and a semicolon", NOTHING, Read("..;/outside/secret.txt"), NotFound),
    ("dot at a name's end", |f| f.file("a", INSIDE), Read("a."), NotFound),
    ("wide dots", NOTHING, Read("\u{ff0e}\u{ff0e}/outside/secret.txt"), NotFound),
    ("two dot leader", NOTHING, Read("\u{2025}/outside/secret.txt"), NotFound),
    ("one dot leaders", NOTHING, Read("\u{2024}\u{2024}/outside/secret.txt"), NotFound),
    ("division slash", NOTHING, Read("..\u{2215}outside\u{2215}secret.txt"), NotFound),
    ("wide backslash", NOTHING, Read("..\u{ff3c}outside\u{ff3c}secret.txt"), NotFound),
    ("dots joined by nothing", NOTHING, Read(".\u{200d}./outside/secret.txt"), NotFound),
    ("right to left", NOTHING, Read("\u{202e}../outside/secret.txt"), NotFound),
    ("composed is not decomposed", |f| f.file("e\u{301}", INSIDE), Read("\u{e9}"), NotFound),
    ("decomposed is not composed", |f| f.file("\u{e9}", INSIDE), Read("e\u{301}"), NotFound),
    ("another case", |f| f.file("readme", INSIDE), Read("README"), NotFound),
];

/// Links that lead out.
const LINKS: &[Row] = &[
    ("link to a file", |f| f.link("l", f.outside("secret.txt")), Read("l"), Forbidden),
    ("link to a directory", |f| f.link("l", f.outside("")), Read("l/secret.txt"), Forbidden),
    ("link to a directory, listed", |f| f.link("l", f.outside("")), List("l"), Forbidden),
    ("link to a directory, looked at", |f| f.link("l", f.outside("")), Stat("l/secret.txt"), Forbidden),
    ("link to a directory, walked from", |f| f.link("l", f.outside("")), Walk("l"), Forbidden),
    ("link to a directory, walked past", |f| f.link("l", f.outside("")), Walk(""), Inside),
    ("link to a directory, missing file", |f| f.link("l", f.outside("")), Stat("l/none"), Forbidden),
    ("link in a link's directory", |f| f.link("l", f.outside("")), ReadLink("l/x"), Forbidden),
    ("relative link up", |f| f.link("l", "../outside/secret.txt"), Read("l"), Forbidden),
    ("relative link up from below", |f| f.link("a/l", "../../outside/secret.txt"), Read("a/l"), Forbidden),
    ("link up through names inside", |f| f.dir("a").link("l", "a/../../outside"), List("l"), Forbidden),
    ("link to the parent", |f| f.link("l", ".."), Read("l/outside/secret.txt"), Forbidden),
    (
        "link to the parent and back",
        |f| f.file("a", INSIDE).link("l", "../workspace/a"),
        Read("l"),
        Forbidden,
    ),
    ("chain of links", |f| f.link("l", "m").link("m", "n").link("n", f.outside("")), List("l"), Forbidden),
    ("chain through a directory", |f| f.link("d/l", "../m").link("m", ".."), List("d/l/outside"), Forbidden),
    ("link on a link's way", |f| f.link("l", "m/secret.txt").link("m", f.outside("")), Read("l"), Forbidden),
    ("loop of one", |f| f.link("l", "l"), Read("l"), Forbidden),
    ("loop of two", |f| f.link("l", "m").link("m", "l"), Read("l"), Forbidden),
    ("loop that grows", |f| f.link("l", "l/l"), Read("l"), Forbidden),
    ("loop, to write", |f| f.link("l", "m").link("m", "l"), Write("l"), Forbidden),
    ("links that go to and fro", to_and_fro, Read("l0"), Forbidden),
    ("dangling link, read", |f| f.link("l", f.outside("none")), Read("l"), Forbidden),
    ("dangling link, written", |f| f.link("l", f.outside("new.txt")), Write("l"), Forbidden),
    ("dangling relative link, written", |f| f.link("l", "../outside/new.txt"), Write("l"), Forbidden),
    ("link to the root of the file system", |f| f.link("l", "/"), List("l/etc"), Forbidden),
    ("link to own root", |f| f.link("l", "/proc/self/root"), List("l"), Forbidden),
    ("link to own directory", |f| f.link("l", "/proc/self/cwd"), List("l"), Forbidden),
    ("link to own descriptors", |f| f.link("l", "/proc/self/fd"), List("l"), Forbidden),
    ("link to a descriptor", |f| f.link("l", "/dev/fd/0"), Read("l"), Forbidden),
    ("link to a device", |f| f.link("l", "/dev/zero"), Read("l"), Forbidden),
    ("link to the root, then up", |f| f.link("l", f.inside("../outside/secret.txt")), Read("l"), Forbidden),
    ("link beside the root", beside_the_root, Read("l"), Forbidden),
    ("link up from deep below", deep_link, Read(DEEP), Forbidden),
    ("link with a very long way up", |f| f.link("l", "../".repeat(1300)), List("l"), Forbidden),
    ("link of bytes that are no text", bytes_link, Read("l"), Forbidden),
    ("file as a directory on the way", |f| f.file("a", "").link("l", "a/../.."), List("l"), NotADirectory),
];

/// Changes that would go through a link.
const CHANGES: &[Row] = &[
    ("write through a link", |f| f.link("l", f.outside("secret.txt")), Write("l"), Forbidden),
    ("write below a link", |f| f.link("l", f.outside("")), Write("l/new.txt"), Forbidden),
    ("write over a file below a link", |f| f.link("l", f.outside("")), Write("l/secret.txt"), Forbidden),
    ("make directories below a link", |f| f.link("l", f.outside("")), Write("l/a/b/new.txt"), Forbidden),
    ("replace below a link", |f| f.link("l", f.outside("")), Replace("l/secret.txt"), Forbidden),
    ("replace deep below a link", |f| f.link("l", f.outside("")), Replace("l/dir/secret.txt"), Forbidden),
    ("remove deep below a link", |f| f.link("l", f.outside("")), Remove("l/dir/secret.txt"), Forbidden),
    ("sweep deep below a link", |f| f.link("l", f.outside("")), Sweep("l/dir"), Forbidden),
    ("read deep below a link", |f| f.link("l", f.outside("")), Read("l/dir/secret.txt"), Forbidden),
    ("replace below a missing link", |f| f.link("l", f.outside("none")), Replace("l/new.txt"), Forbidden),
    ("replace below a link inside", |f| f.dir("d").link("l", "d"), Replace("l/new.txt"), Forbidden),
    ("replace a link itself", |f| f.link("l", f.outside("secret.txt")), Replace("l"), Inside),
    ("replace a dangling link itself", |f| f.link("l", f.outside("new.txt")), Replace("l"), Inside),
    ("put a link below a link", |f| f.link("l", f.outside("")), PutLink("l/m", "/"), Forbidden),
    ("put a link that leads out", NOTHING, PutLink("m", "../outside/secret.txt"), Inside),
    ("remove through a link", |f| f.link("l", f.outside("")), Remove("l/secret.txt"), Forbidden),
    ("remove a link itself", |f| f.link("l", f.outside("secret.txt")), Remove("l"), Inside),
    ("remove a link to a directory", |f| f.link("l", f.outside("")), Remove("l"), Inside),
    ("remove parents below a link", |f| f.link("l", f.outside("")), RemoveParentsOf("l/empty/x"), Forbidden),
    (
        "remove a parent that is a link",
        |f| f.link("l", f.outside("empty")),
        RemoveParentsOf("l/x"),
        Forbidden,
    ),
    (
        "remove a directory below a link",
        |f| f.link("l", f.outside("")),
        RemoveDirectory("l/empty"),
        Forbidden,
    ),
    (
        "remove a directory that is a link",
        |f| f.link("l", f.outside("empty")),
        RemoveDirectory("l"),
        Forbidden,
    ),
    ("sweep through a link", left_over_outside, Sweep("l"), Forbidden),
    ("sweep past a link", left_over_outside, Sweep(""), Inside),
    ("make durable through a link", |f| f.link("l", f.outside("")), SyncParentOf("l/secret.txt"), Forbidden),
    ("an unfinished file's name", NOTHING, Replace(".loggia-0123456789abcdef.tmp"), Forbidden),
    ("ignore rules through a link", ignore_link, Walk(""), Inside),
    ("git rules through a link", |f| f.link(".git", f.outside("")).file("a", ""), Walk(""), Inside),
];

/// Hard links, and what is no file.
const KINDS: &[Row] = &[
    ("hard link, read", |f| f.hard_link("h", "secret.txt"), Read("h"), Forbidden),
    (
        "hard link, read through a link",
        |f| f.hard_link("h", "secret.txt").link("l", "h"),
        Read("l"),
        Forbidden,
    ),
    ("hard link, written", |f| f.hard_link("h", "secret.txt"), Write("h"), Forbidden),
    ("hard link, replaced", |f| f.hard_link("h", "secret.txt"), Replace("h"), Forbidden),
    ("hard link, made a link", |f| f.hard_link("h", "secret.txt"), PutLink("h", "x"), Forbidden),
    ("hard link, removed", |f| f.hard_link("h", "secret.txt"), Remove("h"), Forbidden),
    ("hard link as ignore rules", |f| f.hard_link(".gitignore", "secret.txt"), Walk(""), Forbidden),
    ("fifo, read", |f| f.fifo("p"), Read("p"), NotAFile),
    ("fifo, read through a link", |f| f.fifo("p").link("l", "p"), Read("l"), NotAFile),
    ("fifo, listed", |f| f.fifo("p"), List("p"), NotADirectory),
    ("fifo, written", |f| f.fifo("p"), Write("p"), NotAFile),
    ("fifo, removed", |f| f.fifo("p"), Remove("p"), NotAFile),
    ("fifo, walked from", |f| f.fifo("p"), Walk("p"), NotAFile),
    ("fifo as ignore rules", |f| f.fifo(".gitignore"), Walk(""), Inside),
    ("fifo as a directory", |f| f.fifo("p"), Write("p/a"), NotADirectory),
    ("device, read", |f| f.device("d"), Read("d"), NotAFile),
    ("device, written", |f| f.device("d"), Write("d"), NotAFile),
    ("socket, read", |f| f.socket("s"), Read("s"), NotAFile),
    ("socket, written", |f| f.socket("s"), Replace("s"), NotAFile),
    ("directory, read", |f| f.dir("d"), Read("d"), NotAFile),
    ("directory, written", |f| f.dir("d"), Write("d"), NotAFile),
    ("directory, removed", |f| f.dir("d"), Remove("d"), NotAFile),
    ("the root, read", NOTHING, Read(""), NotAFile),
    ("the root, written", NOTHING, Write("."), NotAFile),
    ("the root through a link, written", |f| f.link("l", "."), Write("l"), NotAFile),
    ("the root, removed", NOTHING, Remove("."), NotAFile),
    ("the root, removed as a directory", NOTHING, RemoveDirectory("."), Inside),
    ("file as a directory, read", |f| f.file("a", ""), Read("a/b"), NotADirectory),
    ("file as a directory, written", |f| f.file("a", ""), Write("a/b"), NotADirectory),
    ("a path without end", NOTHING, Read(LONG_PATH), TooLong),
    ("a name without end", NOTHING, Write(LONG_NAME), TooLong),
];

const DEEP: &str = concat!(
    "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/",
    "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/l"
);
const LONG_PATH: &str = match std::str::from_utf8(&[b'/'; 5000]) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};
const LONG_NAME: &str = match std::str::from_utf8(&[b'n'; 300]) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};

fn deep_link(fixture: &Fixture) -> &Fixture {
    let up = "../".repeat(DEEP.matches('/').count() + 1);
    fixture.link(DEEP, format!("{up}outside/secret.txt"))
}

/// A directory whose name starts like the root's.
fn beside_the_root(fixture: &Fixture) -> &Fixture {
    let beside = fixture.base().join("workspace-2");
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(beside.join("secret.txt"), SECRET).unwrap();
    fixture.link("l", format!("{}-2/secret.txt", fixture.root.path().display()))
}

/// Links that never leave, and would keep us busy for long.
fn to_and_fro(fixture: &Fixture) -> &Fixture {
    fixture.dir("x").file("l8", INSIDE);
    for link in 0..8 {
        fixture.link(&format!("l{link}"), format!("{}l{}", "x/../".repeat(500), link + 1));
    }
    fixture
}

fn bytes_link(fixture: &Fixture) -> &Fixture {
    use std::os::unix::ffi::OsStrExt;
    fixture.link("l", std::ffi::OsStr::from_bytes(b"../outside/\xff/../secret.txt"))
}

fn left_over_outside(fixture: &Fixture) -> &Fixture {
    std::fs::write(fixture.outside(".loggia-0123456789abcdef.tmp"), SECRET).unwrap();
    fixture.link("l", fixture.outside(""))
}

/// If the rules outside were read, the file would be ignored.
fn ignore_link(fixture: &Fixture) -> &Fixture {
    std::fs::write(fixture.outside("rules"), "seen.txt\n").unwrap();
    fixture.link(".gitignore", fixture.outside("rules")).file("seen.txt", INSIDE)
}

/// Tries it, and answers with all that came back.
fn attempt(root: &Root, outside: &str, what: Try) -> Result<String, TreeError> {
    let parse = |path: &str| {
        TreePath::parse(&path.replace("{outside}", outside).replace("{root}", &root.path().to_string_lossy()))
    };
    let put = |path: &TreePath, content: Content<'_>| -> Result<String, TreeError> {
        root.commit(root.stage(path, &content, 0o644)?)?;
        Ok(String::new())
    };
    match what {
        Read(path) => Ok(String::from_utf8_lossy(&root.read(&parse(path)?, 1 << 20)?.bytes).into_owned()),
        Stat(path) => Ok(format!("{:?}", root.stat(&parse(path)?)?)),
        List(path) => Ok(format!("{:?}", root.list(&parse(path)?)?)),
        ReadLink(path) => Ok(String::from_utf8_lossy(&root.read_link(&parse(path)?)?).into_owned()),
        Write(path) => put(&root.real_path_of(&parse(path)?)?, Content::Bytes(b"written")),
        Replace(path) => put(&parse(path)?, Content::Bytes(b"written")),
        PutLink(path, target) => put(&parse(path)?, Content::Link(target.as_bytes())),
        Remove(path) => root.remove(&parse(path)?).map(|()| String::new()),
        RemoveParentsOf(path) => root.remove_empty_parents(&parse(path)?).map(|()| String::new()),
        RemoveDirectory(path) => root.remove_directories(&[parse(path)?]).map(|()| String::new()),
        SyncParentOf(path) => root.sync_directories([&parse(path)?]).map(|()| String::new()),
        Sweep(path) => match root.sweep_staged(&[parse(path)?]).failures.pop() {
            Some(error) => Err(error),
            None => Ok(format!("{:?}", root.sweep_all_staged())),
        },
        Walk(path) => {
            let options = WalkOptions { start: parse(path)?, ..WalkOptions::default() };
            let found: Result<Vec<_>, _> = root.walk(&options).collect();
            Ok(format!("{:?}", found?))
        }
    }
}

fn answer(result: &Result<String, TreeError>) -> Answer {
    match result {
        Ok(_) => Inside,
        Err(error) if error.is_forbidden() => Forbidden,
        Err(TreeError::NotFound { .. }) => NotFound,
        Err(TreeError::NotAFile { .. }) => NotAFile,
        Err(TreeError::NotADirectory { .. }) => NotADirectory,
        Err(TreeError::Path(_)) => TooLong,
        Err(error) => panic!("no answer to a trick: {error}"),
    }
}

/// What is wrong about the outcome of one trick, if anything.
fn faults((name, prepare, what, expected): &Row) -> Vec<String> {
    let fixture = Fixture::new();
    prepare(&fixture);
    let beside = || {
        let mut lines = snapshot(fixture.base());
        // What is inside may change, and the names in the workspace's parent stay.
        lines.retain(|line| !line.contains("/workspace/") && !line.contains("/workspace "));
        lines
    };
    let before = beside();
    let result =
        attempt(&fixture.root, &fixture.outside("").to_string_lossy().replace("outside/", "outside"), *what);
    let mut faults = Vec::new();
    let mut expect = |holds: bool, fault: String| {
        if !holds {
            faults.push(format!("{name}: {fault}"));
        }
    };
    expect(answer(&result) == *expected, format!("{what:?} gave {result:?}"));
    expect(beside() == before, format!("what is outside changed\n{:#?}\n{before:#?}", beside()));
    expect(!format!("{result:?}").contains(SECRET), "the secret was read".to_owned());
    expect(fixture.root.sweep_all_staged().files == 0, "an unfinished file was left".to_owned());
    if let (Err(error), Forbidden) = (&result, expected) {
        let says_what_to_do =
            ["workspace root", "look again"].iter().any(|hint| error.to_string().contains(hint));
        expect(says_what_to_do, format!("no advice in: {error}"));
    }
    faults
}

fn check(rows: &[Row]) {
    let faults: Vec<_> = rows.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn paths_that_lead_out_by_their_words_are_refused() {
    check(WORDS);
}

#[test]
fn paths_that_only_look_like_leading_out_are_plain_names() {
    check(LOOK_ALIKES);
}

#[test]
fn links_that_lead_out_are_refused() {
    check(LINKS);
}

#[test]
fn changes_never_go_through_a_link() {
    check(CHANGES);
}

#[test]
fn hard_links_and_what_is_no_file_are_refused() {
    check(KINDS);
}

#[test]
fn no_trick_is_in_the_tables_twice() {
    let rows = [WORDS, LOOK_ALIKES, LINKS, CHANGES, KINDS].concat();
    let names: std::collections::BTreeSet<_> = rows.iter().map(|(name, ..)| name).collect();
    assert_eq!(names.len(), rows.len());
    assert!(rows.len() >= 40, "the suite shrank to {} tricks", rows.len());
}

#[test]
fn a_rule_to_read_hard_links_does_not_let_them_be_changed() {
    let fixture = Fixture::with(RootSettings { hard_links: HardLinkRule::Read, home: None });
    fixture.hard_link("h", "secret.txt");
    let before = snapshot(&fixture.outside(""));
    assert_eq!(fixture.root.read(&at("h"), 100).unwrap().bytes, SECRET.as_bytes());
    assert!(matches!(fixture.put("h", "written", 0o644), Err(TreeError::HardLinked { .. })));
    assert!(matches!(fixture.root.remove(&at("h")), Err(TreeError::HardLinked { .. })));
    assert_eq!(snapshot(&fixture.outside("")), before);
}

#[test]
fn a_waiting_writer_of_a_fifo_is_not_let_in_by_a_read() {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let fixture = Fixture::new();
    fixture.fifo("p");
    assert!(fixture.root.read(&at("p"), 100).is_err());
    // Were the fifo open for reading anywhere, this would not fail.
    let writer = openat(CWD, fixture.inside("p"), OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty());
    assert_eq!(writer.unwrap_err(), rustix::io::Errno::NXIO);
}
