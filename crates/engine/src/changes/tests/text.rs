//! Diffs against examples and against the real git.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use loggia_domain::{CallId, ContentHash, FileChangeKind, FileEdit, Patch};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select as one_of;
use tempfile::TempDir;

use crate::changes::diff::position;
use crate::changes::select::only;
use crate::changes::{
    DiffError, MAX_LINES, MAX_TEXT, ProposeError, SelectError, Selected, UnifiedDiff, propose, rest, select,
};

fn edit(path: &str, before: Option<&str>, after: Option<&str>) -> FileEdit {
    FileEdit {
        path: path.to_owned(),
        before: before.map(Into::into),
        after: after.map(Into::into),
        rationale: None,
        acceptance_criteria: Vec::new(),
    }
}

fn patch(before: Option<&str>, after: Option<&str>) -> Patch {
    propose(&edit("f", before, after), CallId::new(), "").unwrap()
}

fn numbered(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

fn diff(before: Option<&str>, after: Option<&str>) -> String {
    patch(before, after).diff
}

#[test]
fn changes_far_apart_are_hunks_of_their_own() {
    let before = numbered(1..=30);
    let after = before.replace("\n5\n", "\nfive\n").replace("\n25\n", "\n25\nand a half\n");
    let patch = patch(Some(&before), Some(&after));
    insta::assert_snapshot!(patch.diff, @r"
    --- a/f
    +++ b/f
    @@ -2,7 +2,7 @@
     2
     3
     4
    -5
    +five
     6
     7
     8
    @@ -23,6 +23,7 @@
     23
     24
     25
    +and a half
     26
     27
     28
    ");
    let numbers: Vec<_> = patch
        .hunks
        .iter()
        .map(|hunk| (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines))
        .collect();
    assert_eq!(numbers, [(2, 7, 2, 7), (23, 6, 23, 7)]);
    assert_eq!(patch.hunks[1].content, " 23\n 24\n 25\n+and a half\n 26\n 27\n 28\n");
}

#[test]
fn a_hunk_is_headed_by_what_it_is_in() {
    let before = format!("fn one() {{\n    1\n}}\n\nfn two() {{\n{}}}\n", "    x;\n".repeat(9));
    let after = before.replace("    x;\n}", "    y;\n}");
    insta::assert_snapshot!(diff(Some(&before), Some(&after)), @r"
    --- a/f
    +++ b/f
    @@ -11,5 +11,5 @@ fn two() {
         x;
         x;
         x;
    -    x;
    +    y;
     }
    ");
}

#[test]
fn a_last_line_without_a_newline_is_marked() {
    insta::assert_snapshot!(diff(Some("a\nb"), Some("a\nb\n")), @r"
    --- a/f
    +++ b/f
    @@ -1,2 +1,2 @@
     a
    -b
    \ No newline at end of file
    +b
    ");
    insta::assert_snapshot!(diff(Some("a\nb"), Some("c\nb")), @r"
    --- a/f
    +++ b/f
    @@ -1,2 +1,2 @@
    -a
    +c
     b
    \ No newline at end of file
    ");
}

#[test]
fn files_that_come_and_go_are_on_one_side_only() {
    insta::assert_snapshot!(diff(None, Some("a\nb\n")), @r"
    --- /dev/null
    +++ b/f
    @@ -0,0 +1,2 @@
    +a
    +b
    ");
    insta::assert_snapshot!(diff(Some("a"), None), @r"
    --- a/f
    +++ /dev/null
    @@ -1 +0,0 @@
    -a
    \ No newline at end of file
    ");
    insta::assert_snapshot!(diff(None, Some("")), @r"
    diff --git a/f b/f
    new file mode 100644
    ");
    insta::assert_snapshot!(diff(Some(""), None), @r"
    diff --git a/f b/f
    deleted file mode 100644
    ");
    insta::assert_snapshot!(diff(Some(""), Some("a\n")), @r"
    --- a/f
    +++ b/f
    @@ -0,0 +1 @@
    +a
    ");
}

#[test]
fn a_carriage_return_is_part_of_its_line() {
    let patch = patch(Some("a\r\nb\r\nc\rd\r\n"), Some("a\r\nB\r\nc\rd\r\n"));
    assert_eq!(patch.hunks[0].content, " a\r\n-b\r\n+B\r\n c\rd\r\n");
}

#[test]
fn a_patch_knows_its_file_and_says_why() {
    let call = CallId::new();
    let mut edit = edit("./src//a.rs", Some("1\n"), Some("2\n"));
    let patch = propose(&edit, call, "  the plan says so ").unwrap();
    assert_eq!((patch.path.as_str(), patch.call, patch.kind), ("src/a.rs", call, FileChangeKind::Modified));
    assert_eq!(patch.base, Some(ContentHash::of(b"1\n")));
    assert_eq!(patch.rationale, "the plan says so");
    assert_eq!(patch.acceptance_criteria, ["`src/a.rs` holds the proposed lines"]);

    edit.rationale = Some(" \n".to_owned());
    assert_eq!(propose(&edit, call, " ").unwrap().rationale, "Change `src/a.rs`.");
    edit.rationale = Some("because\n".to_owned());
    edit.acceptance_criteria = vec![" ".to_owned(), "tests pass".to_owned()];
    let patch = propose(&edit, call, "the plan says so").unwrap();
    assert_eq!(patch.rationale, "because");
    assert_eq!(patch.acceptance_criteria, ["tests pass"]);
    edit.before = None;
    let patch = propose(&edit, call, "").unwrap();
    assert_eq!((patch.kind, patch.base), (FileChangeKind::Created, None));
}

#[test]
fn what_cannot_be_shown_or_changes_nothing_is_refused() {
    let refused = |before: Option<&[u8]>, after: Option<&[u8]>| {
        let edit = FileEdit {
            before: before.map(<[u8]>::to_vec),
            after: after.map(<[u8]>::to_vec),
            ..edit("f", None, None)
        };
        propose(&edit, CallId::new(), "").unwrap_err()
    };
    for same in [None, Some(&b""[..]), Some(&b"\0\xff"[..])] {
        assert!(matches!(refused(same, same), ProposeError::NothingChanges { .. }));
    }
    let not_text = |error| matches!(error, ProposeError::NoDiff { source: DiffError::NotText, .. });
    assert!(not_text(refused(Some(b"a\0b"), Some(b"a"))));
    assert!(not_text(refused(None, Some(b"\xff"))));
    assert!(not_text(refused(Some(b"\x80"), None)));
    let large = vec![b'x'; MAX_TEXT + 1];
    let error = refused(None, Some(&large));
    assert!(matches!(error, ProposeError::NoDiff { source: DiffError::TooLarge { .. }, .. }), "{error:?}");
    let long = "\n".repeat(MAX_LINES + 1);
    let error = refused(Some(long.as_bytes()), None);
    assert!(
        matches!(error, ProposeError::NoDiff { source: DiffError::TooManyLines { .. }, .. }),
        "{error:?}"
    );
    let outside = propose(&edit("../f", None, Some("")), CallId::new(), "").unwrap_err();
    assert!(matches!(outside, ProposeError::Path(_)), "{outside:?}");
}

#[test]
fn a_choice_must_name_hunks_of_the_patch() {
    let patch = patch(Some("1\n"), Some("2\n"));
    let choose = |base: &[u8], hunks: Option<&[usize]>| select(&patch, base, hunks);
    assert_eq!(choose(b"1\n", None), Ok(Selected::Content(b"2\n".to_vec())));
    assert_eq!(choose(b"1\n", Some(&[0, 0])), Ok(Selected::Content(b"2\n".to_vec())));
    assert_eq!(choose(b"1\n", Some(&[])), Err(SelectError::NoneChosen));
    assert_eq!(choose(b"1\n", Some(&[0, 1])), Err(SelectError::NoSuchHunk { index: 1, count: 1 }));
    assert_eq!(choose(b"3\n", None), Err(SelectError::Conflict { found: ContentHash::of(b"3\n") }));
}

#[test]
fn a_patch_that_does_not_fit_its_own_base_is_refused() {
    let mut patch = patch(Some("1\n"), Some("2\n"));
    for start in [0, 2, u32::MAX] {
        patch.hunks[0].old_start = start;
        patch.hunks[0].content = patch.hunks[0].content.replace("-1", "-0");
        assert_eq!(select(&patch, b"1\n", None), Err(SelectError::Damaged { index: 0 }));
    }
}

#[test]
fn files_that_come_or_go_are_chosen_whole() {
    let made = patch(None, Some("a\n"));
    assert_eq!(select(&made, b"", Some(&[0])), Ok(Selected::Content(b"a\n".to_vec())));
    let empty = patch(None, Some(""));
    assert_eq!(select(&empty, b"", None), Ok(Selected::Content(Vec::new())));
    let gone = patch(Some("a\n"), None);
    assert_eq!(select(&gone, b"a\n", None), Ok(Selected::Deleted));
    assert_eq!(select(&patch(Some(""), None), b"", None), Ok(Selected::Deleted));
    assert_eq!(rest(&gone, &[0]), "");
    assert_eq!(rest(&gone, &[]), gone.diff);
}

#[test]
fn what_was_refused_is_told_from_where_the_file_is_now() {
    let before = numbered(1..=30);
    let after = before.replace("\n5\n", "\n5\n5a\n5b\n").replace("\n25\n", "\n");
    let patch = patch(Some(&before), Some(&after));
    insta::assert_snapshot!(rest(&patch, &[0]), @r"
    --- a/f
    +++ b/f
    @@ -24,7 +24,6 @@
     22
     23
     24
    -25
     26
     27
     28
    ");
    assert_eq!(rest(&patch, &[0, 1]), "");
    assert_eq!(rest(&patch, &[]), patch.diff);
}

#[expect(clippy::disallowed_methods, reason = "the process is waited for here")]
fn git(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let mut git = Command::new("git")
        .args(["-c", "core.quotePath=false", "-c", "core.autocrlf=false"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("these tests compare with git");
    git.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    git.wait_with_output().unwrap()
}

/// What git makes of a file with a diff; nothing if the file is gone then.
fn git_apply(base: Option<&[u8]>, diff: &str) -> Option<Vec<u8>> {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("f");
    base.iter().for_each(|bytes| fs::write(&file, bytes).unwrap());
    let output = git(directory.path(), &["apply", "--whitespace=nowarn", "-"], diff);
    assert!(output.status.success(), "{}\n{diff}", String::from_utf8_lossy(&output.stderr));
    fs::read(&file).ok()
}

#[test]
fn names_are_written_as_git_writes_them() {
    let directory = TempDir::new().unwrap();
    let run = |arguments: &[&str]| {
        let output = git(directory.path(), arguments, "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["init", "-q"]);
    let names = [
        "plain",
        "with space",
        "quo\"te",
        "tab\tand\nline",
        "ünï 🦀",
        "bell\x07\x1b\x7f",
        "d e/f",
        "\u{85}",
        " lead",
    ];
    for name in names {
        let place = directory.path().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, "1\n").unwrap();
        run(&["add", "--", name]);
        fs::write(&place, "2\n").unwrap();
        let theirs = run(&["diff", "--", name]);
        let theirs = &theirs[theirs.find("--- ").unwrap()..];
        assert_eq!(UnifiedDiff::between(name, Some(b"1\n"), Some(b"2\n")).unwrap().text, theirs);
    }
}

fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        3 => one_of(vec!["", "a", "b", "}", "\t", "ü 🦀", "+", "-", "\\ No newline at end of file", "@@ -1 +1 @@", "--- a/f"])
            .prop_map(str::to_owned),
        2 => (0..100_u32).prop_map(|number| number.to_string()),
    ];
    (word, one_of(vec!["\n", "\n", "\n", "\r\n", "\r\r\n"])).prop_map(|(word, end)| word + end)
}

/// A text, and another made of it by a few changes here and there.
fn texts() -> impl Strategy<Value = (String, String)> {
    let edits = vec((any::<prop::sample::Index>(), 0..3_usize, vec(line(), 0..3)), 0..6);
    (vec(line(), 0..70), edits, any::<(bool, bool)>()).prop_map(|(old, edits, (old_ends, new_ends))| {
        let mut new = old.clone();
        for (at, removed, added) in edits {
            let at = at.index(new.len() + 1);
            let end = (at + removed).min(new.len());
            new.splice(at..end, added);
        }
        let text = |lines: &[String], ends: bool| {
            let text = lines.concat();
            if ends { text } else { text.strip_suffix('\n').unwrap_or(&text).to_owned() }
        };
        (text(&old, old_ends), text(&new, new_ends))
    })
}

fn check_numbers(patch: &Patch) {
    let mut text = patch.diff[..patch.diff.find("@@").unwrap_or(patch.diff.len())].to_owned();
    let mut shift = 0;
    for hunk in &patch.hunks {
        let count = |marks: &str| hunk.content.lines().filter(|line| marks.contains(&line[..1])).count();
        assert_eq!((hunk.old_lines as usize, hunk.new_lines as usize), (count(" -"), count(" +")));
        let (old, new) = (position(hunk.old_start, hunk.old_lines), position(hunk.new_start, hunk.new_lines));
        assert_eq!(old as i64 + shift, new as i64);
        shift += i64::from(hunk.new_lines) - i64::from(hunk.old_lines);
        let header = patch.diff[text.len()..].split_inclusive('\n').next().unwrap();
        text.push_str(header);
        text.push_str(&hunk.content);
        assert!(patch.diff.starts_with(&text));
    }
    assert_eq!(text, patch.diff);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chosen_hunks_are_what_git_makes_of_them((old, new) in texts(), mask in any::<u8>()) {
        prop_assume!(old != new);
        let patch = patch(Some(&old), Some(&new));
        check_numbers(&patch);
        prop_assert_eq!(select(&patch, old.as_bytes(), None), Ok(Selected::Content(new.clone().into_bytes())));
        prop_assert_eq!(git_apply(Some(old.as_bytes()), &patch.diff), Some(new.clone().into_bytes()));

        let count = patch.hunks.len();
        let mut chosen: Vec<usize> = (0..count).filter(|index| mask & (1 << (index % 8)) != 0).collect();
        if chosen.is_empty() {
            chosen.push(usize::from(mask) % count);
        }
        let Ok(Selected::Content(part)) = select(&patch, old.as_bytes(), Some(&chosen)) else {
            panic!("the hunks do not fit")
        };
        prop_assert_eq!(git_apply(Some(old.as_bytes()), &only(&patch, &chosen)), Some(part.clone()));
        let rest = rest(&patch, &chosen);
        if rest.is_empty() {
            prop_assert_eq!(&*part, new.as_bytes());
        } else {
            prop_assert_eq!(git_apply(Some(&part), &rest), Some(new.clone().into_bytes()));
        }
    }

    #[test]
    fn files_come_and_go_as_git_has_it((text, _) in texts()) {
        let made = patch(None, Some(&text));
        prop_assert_eq!(select(&made, b"", None), Ok(Selected::Content(text.clone().into_bytes())));
        prop_assert_eq!(git_apply(None, &made.diff), Some(text.clone().into_bytes()));
        let gone = patch(Some(&text), None);
        prop_assert_eq!(select(&gone, text.as_bytes(), None), Ok(Selected::Deleted));
        prop_assert_eq!(git_apply(Some(text.as_bytes()), &gone.diff), None);
    }
}

#[test]
fn texts_at_the_bound_with_nothing_in_common_are_compared() {
    // Few different lines in another order are the hardest case there is.
    let lines = |factor: usize| -> String {
        let word =
            |number: usize| ["a\n", "b\n", "c\n", "d\n", "e\n"][number.wrapping_mul(factor) % 1_000_003 % 5];
        (0..MAX_LINES / 8).map(word).collect()
    };
    let (old, new) = (lines(7_919), lines(104_729));
    let patch = patch(Some(&old), Some(&new));
    assert_eq!(select(&patch, old.as_bytes(), None), Ok(Selected::Content(new.into_bytes())));
}
