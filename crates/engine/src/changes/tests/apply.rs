//! What applying does and refuses, when nothing goes wrong on the way.

use std::fs;
use std::sync::Arc;

use loggia_domain::{ContentHash, FileChangeKind, FileState};

use super::support::{Bench, Entry, change, file, files, patches, path, settle, undo};
use crate::changes::{
    Applied, ApplyError, ApplyKind, Conflict, Expect, Found, MAX_CHANGES, MAX_FILE, NewContent, WantedChange,
    content_of, plan_undo, state_of,
};

fn state(text: &str, mode: u32) -> FileState {
    FileState { hash: ContentHash::of(text.as_bytes()), mode, is_link: false }
}

fn conflicts(result: Result<Applied, ApplyError>) -> Vec<Conflict> {
    match result {
        Err(ApplyError::Conflict(conflicts)) => conflicts,
        other => panic!("no conflict but {other:?}"),
    }
}

#[test]
fn files_are_made_changed_and_removed_together() {
    let bench = Bench::with(&files([("old", file("1")), ("gone", file("2"))]));
    let wanted = vec![
        change("new/file", None, Some("3")),
        change("old", Some("1"), Some("4")),
        change("gone", Some("2"), None),
    ];
    let made = settle(bench.applier().apply(patches(), wanted));
    let told: Vec<_> = made.iter().map(|change| (change.path.as_str(), change.kind())).collect();
    assert_eq!(
        told,
        [
            ("gone", FileChangeKind::Deleted),
            ("new/file", FileChangeKind::Created),
            ("old", FileChangeKind::Modified)
        ]
    );
    assert_eq!(bench.snapshot_of_files(), files([("new/file", file("3")), ("old", file("4"))]));
}

#[test]
fn permissions_stay_unless_said_otherwise() {
    let script = Entry::File { bytes: b"1".to_vec(), mode: 0o750 };
    let bench = Bench::with(&files([("kept", script.clone()), ("set", script)]));
    let mut set = change("set", Some("1"), Some("2"));
    set.after = Some(NewContent::File { bytes: b"2".to_vec(), mode: Some(0o600) });
    let wanted = vec![change("kept", Some("1"), Some("2")), set, change("new", None, Some("2"))];
    let made = settle(bench.applier().apply(patches(), wanted));
    let modes: Vec<u32> = made.iter().map(|change| change.after.unwrap().mode).collect();
    assert_eq!(modes, [0o750, 0o644, 0o600]);
    assert_eq!(state_of(&bench.root(), &path("kept")).unwrap(), Some(state("2", 0o750)));
}

#[test]
fn a_conflict_in_the_third_file_changes_none() {
    let bench = Bench::with(&files([("a", file("1")), ("b", file("1")), ("c", file("theirs"))]));
    let found = bench.snapshot();
    let all = ["a", "b", "c"].map(|name| change(name, Some("1"), Some("2"))).to_vec();
    let conflict = Conflict { path: path("c"), found: Found::File(state("theirs", 0o644)) };
    assert_eq!(conflicts(bench.applier().apply(patches(), all)), [conflict]);
    assert_eq!(bench.snapshot(), found);
    assert_eq!(bench.records(), 0);
}

#[test]
fn what_is_there_must_be_what_was_expected() {
    let check = |entry: Option<Entry>, expect: Expect, fits: bool| {
        let bench = Bench::new();
        entry.iter().for_each(|entry| bench.write_one("f", entry));
        let after = Some(NewContent::File { bytes: b"new".to_vec(), mode: None });
        let wanted = WantedChange { path: path("f"), expect, after };
        let result = bench.applier().apply(patches(), vec![wanted]);
        assert_eq!(result.is_ok(), fits, "{entry:?} {expect:?} {result:?}");
    };
    let hash = ContentHash::of(b"1");
    let link = || Some(Entry::Link { target: "1".to_owned() });
    check(None, Expect::Absent, true);
    check(None, Expect::Hash(hash), false);
    check(None, Expect::Exactly(state("1", 0o644)), false);
    check(Some(file("1")), Expect::Absent, false);
    check(Some(file("1")), Expect::Hash(hash), true);
    check(Some(file("1")), Expect::Exactly(state("1", 0o644)), true);
    check(Some(file("1")), Expect::Exactly(state("1", 0o755)), false);
    check(Some(file("2")), Expect::Hash(hash), false);
    check(link(), Expect::Absent, false);
    check(link(), Expect::Hash(hash), false);
    check(link(), Expect::Exactly(FileState { hash, mode: 0o777, is_link: true }), true);
    check(Some(Entry::Directory), Expect::Absent, false);
    check(Some(Entry::Directory), Expect::Hash(hash), false);
}

#[test]
fn what_already_is_as_wanted_is_not_told() {
    let bench = Bench::with(&files([("same", file("1"))]));
    let wanted = vec![change("same", Some("1"), Some("1")), change("not there", None, None)];
    let applied = bench.applier().apply(patches(), wanted).unwrap();
    assert_eq!(applied.changes(), []);
    assert_eq!(bench.records(), 0);
    assert_eq!(applied.settled().unwrap(), []);
}

#[test]
fn changes_that_follow_each_other_are_one() {
    let bench = Bench::with(&files([("f", Entry::File { bytes: b"1".to_vec(), mode: 0o755 })]));
    let wanted = vec![
        change("f", Some("1"), Some("2")),
        change("f", Some("2"), Some("3")),
        change("brief", None, Some("draft")),
        change("brief", Some("draft"), None),
    ];
    let made = settle(bench.applier().apply(patches(), wanted));
    assert_eq!(made.len(), 1);
    assert_eq!((made[0].before, made[0].after), (Some(state("1", 0o755)), Some(state("3", 0o755))));
}

#[test]
fn changes_that_do_not_follow_each_other_are_a_conflict() {
    let bench = Bench::with(&files([("f", file("1"))]));
    let wanted = vec![change("f", Some("1"), Some("2")), change("f", Some("1"), Some("3"))];
    assert_eq!(
        conflicts(bench.applier().apply(patches(), wanted))[0].found.hash(),
        Some(ContentHash::of(b"2"))
    );
    assert_eq!(bench.snapshot_of_files(), files([("f", file("1"))]));
}

#[test]
fn a_file_and_a_directory_take_each_others_place() {
    let start = files([("a", file("1")), ("b/c/d", file("2")), ("b/e", file("3"))]);
    let bench = Bench::with(&start);
    let wanted = vec![
        change("a", Some("1"), None),
        change("a/x/y", None, Some("4")),
        change("b/c/d", Some("2"), None),
        change("b/e", Some("3"), None),
        change("b", None, Some("5")),
    ];
    let made = settle(bench.applier().apply(patches(), wanted));
    assert_eq!(bench.snapshot_of_files(), files([("a/x/y", file("4")), ("b", file("5"))]));
    settle(bench.applier().restore(undo(), &plan_undo(&made)));
    assert_eq!(bench.snapshot_of_files(), start);
}

#[test]
fn a_directory_with_other_files_is_not_taken_over() {
    let bench = Bench::with(&files([("b/ours", file("1")), ("b/theirs", file("2"))]));
    let found = bench.snapshot();
    let wanted = vec![change("b/ours", Some("1"), None), change("b", None, Some("3"))];
    let result = bench.applier().apply(patches(), wanted);
    assert!(
        matches!(&result, Err(ApplyError::Unwritable { path, .. }) if path.as_str() == "b"),
        "{result:?}"
    );
    assert_eq!(bench.snapshot(), found);
    assert_eq!(bench.records(), 0);
}

#[test]
fn a_link_is_a_file_of_its_own() {
    let bench =
        Bench::with(&files([("target", file("1")), ("link", Entry::Link { target: "target".to_owned() })]));
    let hash = ContentHash::of(b"target");
    let wanted = WantedChange {
        path: path("link"),
        expect: Expect::Exactly(FileState { hash, mode: 0o777, is_link: true }),
        after: Some(NewContent::Link { target: b"/elsewhere".to_vec() }),
    };
    settle(bench.applier().apply(patches(), vec![wanted]));
    let end = files([("target", file("1")), ("link", Entry::Link { target: "/elsewhere".to_owned() })]);
    assert_eq!(bench.snapshot(), end);
}

#[test]
fn what_is_at_a_path_is_told_without_following_links() {
    let bench = Bench::with(&files([("d/f", file("1")), ("link", Entry::Link { target: "d/f".to_owned() })]));
    let root = bench.root();
    let told = |at: &str| content_of(&root, &path(at));
    assert_eq!(told("d/f").unwrap(), Some((state("1", 0o644), b"1".to_vec())));
    let link = FileState { hash: ContentHash::of(b"d/f"), mode: 0o777, is_link: true };
    assert_eq!(told("link").unwrap(), Some((link, b"d/f".to_vec())));
    assert_eq!(told("none").unwrap(), None);
    assert_eq!(told("d/f/below").unwrap(), None);
    assert!(told("d").is_err());
    assert!(told("").is_err());
}

#[test]
fn a_way_through_a_link_is_forbidden() {
    let bench =
        Bench::with(&files([("real/f", file("1")), ("link", Entry::Link { target: "real".to_owned() })]));
    let found = bench.snapshot();
    for wanted in [change("link/f", Some("1"), Some("2")), change("link/new", None, Some("2"))] {
        let result = bench.applier().apply(patches(), vec![change("ok", None, Some("1")), wanted]);
        assert!(matches!(result, Err(ApplyError::Forbidden { .. })), "{result:?}");
    }
    assert!(state_of(&bench.root(), &path("link/f")).is_err());
    assert_eq!(bench.snapshot(), found);
}

#[test]
fn a_file_with_another_name_outside_is_forbidden() {
    let bench = Bench::with(&files([("f", file("1"))]));
    fs::hard_link(bench.tree().join("f"), bench.base.join("outside")).unwrap();
    let result = bench.applier().apply(patches(), vec![change("f", Some("1"), Some("2"))]);
    assert!(matches!(result, Err(ApplyError::Forbidden { .. })), "{result:?}");
    assert_eq!(fs::read(bench.base.join("outside")).unwrap(), b"1");
}

#[test]
fn a_content_that_could_not_be_put_back_is_refused() {
    let bench = Bench::new();
    let mut wanted = change("large", None, None);
    wanted.after = Some(NewContent::File { bytes: vec![0; MAX_FILE as usize + 1], mode: None });
    let result = bench.applier().apply(patches(), vec![wanted]);
    assert!(matches!(result, Err(ApplyError::Unwritable { .. })), "{result:?}");
    assert_eq!(bench.snapshot(), files([]));
}

#[test]
fn too_many_files_are_refused() {
    let bench = Bench::new();
    let all = (0..=MAX_CHANGES).map(|number| change(&number.to_string(), None, Some(""))).collect();
    let result = bench.applier().apply(patches(), all);
    assert!(matches!(result, Err(ApplyError::TooMany { count }) if count == MAX_CHANGES + 1), "{result:?}");
}

#[test]
fn the_record_stays_until_the_change_is_settled() {
    let bench = Bench::with(&files([("f", file("1"))]));
    let owner = patches();
    let applied = bench.applier().apply(owner, vec![change("f", Some("1"), Some("2"))]).unwrap();
    assert_eq!(bench.records(), 1);
    let unfinished = bench.journal().unfinished().unwrap();
    let found = &unfinished.applies[0];
    assert_eq!(
        (found.owner(), found.root(), found.changes()),
        (owner, &*bench.tree(), applied.changes().to_vec())
    );
    applied.settled().unwrap();
    assert_eq!(bench.records(), 0);
}

#[test]
fn a_change_whose_event_is_stored_is_forgotten_and_stays() {
    let bench = Bench::with(&files([("f", file("1"))]));
    drop(bench.applier().apply(patches(), vec![change("f", Some("1"), Some("2"))]).unwrap());
    for unfinished in bench.journal().unfinished().unwrap().applies {
        unfinished.forget().unwrap();
    }
    assert_eq!(bench.records(), 0);
    assert_eq!(bench.snapshot(), files([("f", file("2"))]));
}

#[test]
fn a_change_whose_event_cannot_be_stored_is_taken_back() {
    let bench = Bench::with(&files([("f", file("1")), ("empty/", Entry::Directory)]));
    let found = bench.snapshot();
    let applier = bench.applier();
    let wanted = vec![change("f", Some("1"), Some("2")), change("empty/new/g", None, Some("3"))];
    let applied = applier.apply(patches(), wanted).unwrap();
    let result = applier.take_back(applied);
    assert!(result.is_whole());
    assert_eq!(result.restored, [path("f"), path("empty/new/g")]);
    assert_eq!(bench.snapshot(), found);
    assert_eq!(bench.records(), 0);
}

#[test]
fn of_two_changes_to_one_file_at_the_same_time_one_wins() {
    let bench = Bench::with(&files([("f", file("0"))]));
    let applier = Arc::new(bench.applier());
    let threads: Vec<_> = (1..=8)
        .map(|number: u32| {
            let applier = applier.clone();
            std::thread::spawn(move || {
                let wanted = vec![change("f", Some("0"), Some(&number.to_string()))];
                applier.apply(patches(), wanted).map(|applied| applied.settled().unwrap()).is_ok()
            })
        })
        .collect();
    let won = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count();
    assert_eq!(won, 1);
}

#[test]
fn five_hundred_files_change_together() {
    let bench = Bench::new();
    let name = |number: usize| format!("d{}/s{}/f{number}", number % 10, number % 50);
    let wanted = |before: Option<&str>, after: Option<&str>| {
        (0..500).map(|number| change(&name(number), before, after)).collect::<Vec<_>>()
    };
    let applier = bench.applier();
    let made = settle(applier.apply(patches(), wanted(None, Some("1\n"))));
    assert_eq!(made.len(), 500);
    settle(applier.apply(patches(), wanted(Some("1\n"), Some("2\n"))));
    settle(applier.apply(patches(), wanted(Some("2\n"), None)));
    assert_eq!(bench.snapshot_of_files(), files([]));
}

#[test]
fn a_record_that_cannot_be_read_is_told_and_drafts_are_swept() {
    let bench = Bench::with(&files([("f", file("1"))]));
    drop(bench.applier().apply(patches(), vec![change("f", Some("1"), Some("2"))]).unwrap());
    let journal = bench.base.join("journal");
    fs::write(journal.join("broken.json"), "{\"version\":1,").unwrap();
    fs::write(journal.join(".draft-x"), "{").unwrap();
    let leftovers = bench.journal().unfinished().unwrap();
    assert_eq!((leftovers.applies.len(), leftovers.damaged.len()), (1, 1));
    assert!(!journal.join(".draft-x").exists());
    assert!(journal.join("broken.json").exists());
}

#[test]
fn the_newest_change_is_rolled_back_first() {
    let bench = Bench::with(&files([("f", file("1"))]));
    drop(bench.applier().apply(patches(), vec![change("f", Some("1"), Some("2"))]).unwrap());
    drop(bench.applier().apply(patches(), vec![change("f", Some("2"), Some("3"))]).unwrap());
    for unfinished in bench.journal().unfinished().unwrap().applies {
        assert!(matches!(unfinished.owner().kind, ApplyKind::Patches(_)));
        assert!(unfinished.roll_back(&bench.root(), &bench.blobs()).unwrap().is_whole());
    }
    assert_eq!(bench.snapshot(), files([("f", file("1"))]));
}

#[test]
fn a_record_is_not_rolled_back_in_another_tree() {
    let (bench, other) = (Bench::with(&files([("f", file("1"))])), Bench::with(&files([("f", file("2"))])));
    drop(bench.applier().apply(patches(), vec![change("f", Some("1"), Some("2"))]).unwrap());
    let unfinished = bench.journal().unfinished().unwrap().applies.remove(0);
    assert!(unfinished.roll_back(&other.root(), &bench.blobs()).is_err());
    assert_eq!(other.snapshot(), files([("f", file("2"))]));
    assert_eq!(bench.records(), 1);
}
