//! Random trees and random changes to them.
//!
//! Names are few, so that changes meet: files come where directories were, and directories where files were.

use loggia_domain::ContentHash;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::support::{Entry, Snapshot, path};
use crate::changes::{Expect, WantedChange};

const NAMES: [&str; 12] = [
    "a",
    "a/b",
    "a/b/c",
    "a/x",
    "d/one",
    "d/two",
    "d/e/f/g",
    "with space/q\"uote",
    "ünï/çødé 🦀",
    "new\nline",
    "z",
    "z/y",
];

#[derive(Debug, Clone)]
pub(super) enum Operation {
    Put(&'static str, Entry),
    Remove(&'static str),
    SetMode(&'static str, u32),
}

/// Files with no file below another.
pub(super) fn tree() -> impl Strategy<Value = Snapshot> {
    btree_map(select(&NAMES[..]), entry(), 0..8).prop_map(|wanted| {
        let mut files = Snapshot::new();
        for (name, entry) in wanted {
            put(&mut files, name, entry);
        }
        files
    })
}

pub(super) fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let name = || select(&NAMES[..]);
    let operation = prop_oneof![
        4 => (name(), entry()).prop_map(|(name, entry)| Operation::Put(name, entry)),
        2 => name().prop_map(Operation::Remove),
        1 => (name(), mode()).prop_map(|(name, mode)| Operation::SetMode(name, mode)),
    ];
    vec(operation, 1..7)
}

fn entry() -> impl Strategy<Value = Entry> {
    let text = select(vec![
        "",
        "\n",
        "a\n",
        "a",
        "a\r\nb\r\n",
        "a\r\nb",
        "ünïcödé 🦀\n",
        "\u{feff}mark\n",
        "x\ny\nz\n",
        "\0binary\u{1}",
    ]);
    let large = Just("0123456789abcdef\n".repeat(4096));
    let text = prop_oneof![9 => text.prop_map(str::to_owned), 1 => large];
    let target = select(vec!["a", "nowhere", "../..", "/etc/passwd", "d", "ünï"]);
    prop_oneof![
        5 => (text, mode()).prop_map(|(text, mode)| Entry::File { bytes: text.into_bytes(), mode }),
        1 => target.prop_map(|target| Entry::Link { target: target.to_owned() }),
    ]
}

fn mode() -> impl Strategy<Value = u32> {
    select(vec![0o644, 0o755, 0o600, 0o444, 0o664])
}

/// What a tree becomes.
pub(super) fn after(before: &Snapshot, operations: &[Operation]) -> Snapshot {
    let mut files = before.clone();
    for operation in operations {
        match operation {
            Operation::Put(name, entry) => put(&mut files, name, entry.clone()),
            Operation::Remove(name) => {
                files.remove(*name);
            }
            Operation::SetMode(name, wanted) => {
                if let Some(Entry::File { mode, .. }) = files.get_mut(*name) {
                    *mode = *wanted;
                }
            }
        }
    }
    files
}

/// A file goes where it is told, and what is in its way goes.
fn put(files: &mut Snapshot, name: &str, entry: Entry) {
    let is_below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
    files.retain(|path, _| !is_below(path, name) && !is_below(name, path));
    files.insert(name.to_owned(), entry);
}

/// The changes that lead from one tree to the other.
pub(super) fn changes(before: &Snapshot, after: &Snapshot) -> Vec<WantedChange> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let differing = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    differing
        .map(|name| {
            let expect = match before.get(name) {
                None => Expect::Absent,
                Some(Entry::File { bytes, .. }) if name.len() % 2 == 0 => {
                    Expect::Hash(ContentHash::of(bytes))
                }
                Some(entry) => Expect::Exactly(entry.state().unwrap()),
            };
            WantedChange { path: path(name), expect, after: after.get(name).map(Entry::content) }
        })
        .collect()
}

/// A tree and what it is to become: the same for the same number, in every process.
pub(super) fn numbered(number: u8) -> (Snapshot, Snapshot) {
    let mut runner = TestRunner::deterministic();
    let draws = std::iter::repeat_with(|| (tree(), operations()).new_tree(&mut runner).unwrap().current());
    draws
        .map(|(before, operations)| (after(&before, &operations), before))
        // Small changes have few points to stop at.
        .filter(|(after, before)| changes(before, after).len() >= 4)
        .map(|(after, before)| (before, after))
        .nth(number.into())
        .unwrap()
}
