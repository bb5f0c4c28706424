//! `git_diff`: what differs, line by line.

use std::borrow::Cow;
use std::time::Duration;

use gix::objs::Kind;
use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use loggia_tree::TreePath;
use schemars::JsonSchema;
use serde::Deserialize;
use similar::TextDiff;

use super::changes::{Change, Changes, Side, but_for_the_rest};
use super::index::{FileKind, Stored};
use super::repository::Git;
use crate::call::{Arguments, Call};
use crate::path::ModelPath;
use crate::text::{LineEnds, Lines, counted, cut, is_binary, without_end};
use crate::view::View;

/// How much is shown.
const MAX_OUTPUT: usize = 64 * 1024;

/// How large a file may be whose lines are compared; of a larger one only the size is told.
const MAX_DIFFED: u64 = 4 * 1024 * 1024;

/// How long comparing one file may look for the shortest diff; then it takes what it has.
const MAX_TIME: Duration = Duration::from_secs(2);

/// How many characters of a line are shown.
const MAX_LINE: usize = 2000;

/// Shows uncommitted changes of the git repository as a unified diff: those not staged yet, or the staged ones. New
/// files that git does not track are not in it; git_status lists them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitDiff {
    /// Only this file or directory, relative to the workspace.
    path: Option<String>,
    /// Whether to show what is staged for the next commit instead of what is not.
    #[serde(default)]
    staged: bool,
}

/// A checked call.
pub(crate) struct Diff {
    path: Option<ModelPath>,
    staged: bool,
}

impl Arguments for GitDiff {
    const NAME: &'static str = "git_diff";
    type Call = Diff;

    fn check(self) -> Result<Diff, ArgumentError> {
        Ok(Diff { path: self.path.map(ModelPath::new), staged: self.staged })
    }
}

impl Call for Diff {
    fn demand(&self) -> Demand {
        let path = self.path.as_ref().map_or_else(|| ".".to_owned(), ModelPath::named);
        Demand { reads: vec![path], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let below = self.path.as_ref().map(ModelPath::tree).transpose()?;
        let wanted = |path: &TreePath| below.is_none_or(|below| path.starts_with(below));
        let git = Git::open(view)?;
        let index = git.index()?;
        let Changes { seen: mut changes, leaves_out } =
            if self.staged { git.staged(&index)? } else { git.unstaged(&index)? };
        changes.retain(|change| wanted(&change.path));
        let conflicts = git.conflicts(&index);
        let mut output = Lines::within(MAX_OUTPUT);
        for path in conflicts.keys().filter(|path| wanted(path)) {
            output.push(&format!("* Unmerged path {path}"));
        }
        let shown = show(&git, &changes, &mut output)?;
        if shown < changes.len() {
            let rest = changes.len() - shown;
            output.note(&format!("cut here; {} not shown whole; give a path", counted(rest, "file")));
        }
        if changes.is_empty() && conflicts.is_empty() {
            let nothing = if self.staged { "nothing is staged" } else { "no changes that are not staged" };
            output.note(&format!("{nothing}{}", but_for_the_rest(leaves_out)));
        }
        Ok(ToolEffect::Output(output.finish()))
    }
}

/// Shows as many changes as there is room for; says how many were shown whole.
fn show(git: &Git<'_>, changes: &[Change], output: &mut Lines) -> Result<usize, ToolError> {
    for (number, change) in changes.iter().enumerate() {
        git.view.stop().check()?;
        for part in parts(change) {
            let old = content(git, &part, part.old.as_ref().map(|old| Side::of(*old)))?;
            let new = content(git, &part, part.new.clone())?;
            let diff = diff(&part, old, new);
            if !diff.iter().all(|line| output.push(&cut(line, MAX_LINE))) {
                return Ok(number);
            }
        }
    }
    Ok(changes.len())
}

/// A file that became a link is shown as one that went and one that came, as git does.
fn parts(change: &Change) -> Vec<Change> {
    if change.letter() != 'T' {
        return vec![change.clone()];
    }
    vec![Change { new: None, ..change.clone() }, Change { old: None, ..change.clone() }]
}

/// What is compared.
enum Content<'v> {
    Nothing,
    Bytes(Cow<'v, [u8]>),
    TooLarge,
}

fn content<'v>(git: &Git<'v>, change: &Change, side: Option<Side>) -> Result<Content<'v>, ToolError> {
    let Some(side) = side else { return Ok(Content::Nothing) };
    match side.id {
        Some(id) if side.kind == FileKind::Submodule => {
            Ok(Content::Bytes(Cow::Owned(format!("Subproject commit {id}\n").into_bytes())))
        }
        Some(id) if git.size(id)? > MAX_DIFFED => Ok(Content::TooLarge),
        Some(id) => Ok(Content::Bytes(Cow::Owned(git.object(id, Kind::Blob)?))),
        None => Ok(in_work_tree(git, change, side.kind)),
    }
}

/// What cannot be read is told like what is too large: its content is not shown.
fn in_work_tree<'v>(git: &Git<'v>, change: &Change, kind: FileKind) -> Content<'v> {
    let (view, path) = (git.view, &change.path);
    if let Some(Some(bytes)) = view.overlaid(path.as_str()) {
        return if bytes.len() as u64 > MAX_DIFFED {
            Content::TooLarge
        } else {
            Content::Bytes(Cow::Borrowed(bytes))
        };
    }
    let content = match kind {
        FileKind::Link => view.root().read_link(path),
        _ => view.root().read(path, MAX_DIFFED).map(|file| file.bytes),
    };
    content.map_or(Content::TooLarge, |bytes| Content::Bytes(Cow::Owned(bytes)))
}

fn diff(change: &Change, old: Content<'_>, new: Content<'_>) -> Vec<String> {
    let path = &change.path;
    let mut lines = vec![format!("diff --git a/{path} b/{path}")];
    lines.extend(modes(change));
    let old_name = if change.old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let new_name = if change.new.is_some() { format!("b/{path}") } else { "/dev/null".to_owned() };
    let (old, new) = match (old, new) {
        (Content::TooLarge, _) | (_, Content::TooLarge) => {
            lines.push("[too large to be shown or not readable]".to_owned());
            return lines;
        }
        (old, new) => (old.into_bytes(), new.into_bytes()),
    };
    if old == new {
        return lines;
    }
    if is_binary(&old) || is_binary(&new) {
        lines.push(format!("Binary files {old_name} and {new_name} differ"));
        return lines;
    }
    lines.push(format!("--- {old_name}"));
    lines.push(format!("+++ {new_name}"));
    lines.extend(hunks(&old, &new));
    lines
}

fn modes(change: &Change) -> Vec<String> {
    match (&change.old, &change.new) {
        (None, Some(new)) => vec![format!("new file mode {}", new.kind.mode())],
        (Some(old), None) => vec![format!("deleted file mode {}", old.kind.mode())],
        (Some(old), Some(new)) if old.kind != new.kind => {
            vec![format!("old mode {}", old.kind.mode()), format!("new mode {}", new.kind.mode())]
        }
        _ => Vec::new(),
    }
}

fn hunks(old: &[u8], new: &[u8]) -> Vec<String> {
    // Git may keep LF for what has CRLF in the work tree; that every line differs in its end helps nobody.
    if LineEnds::of(new) == LineEnds::Crlf && LineEnds::of(old) == LineEnds::Lf {
        let mut lines = unified(old, &without_cr(new));
        lines.push("[lines end in CRLF now and in LF before; that difference is left out]".to_owned());
        return lines;
    }
    unified(old, new)
}

fn unified(old: &[u8], new: &[u8]) -> Vec<String> {
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_lines(old, new);
    let mut text = Vec::new();
    for hunk in diff.unified_diff().iter_hunks() {
        hunk.to_writer(&mut text).expect("a vector takes every write");
    }
    let text = String::from_utf8_lossy(&text);
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line).to_owned()).collect()
}

fn without_cr(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let lines = text.split_inclusive('\n');
    lines
        .flat_map(|line| if line.ends_with('\n') { [without_end(line), "\n"] } else { [line, ""] })
        .collect::<String>()
        .into_bytes()
}

impl Content<'_> {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.into_owned(),
            Self::Nothing | Self::TooLarge => Vec::new(),
        }
    }
}

impl Side {
    fn of(stored: Stored) -> Self {
        Self { kind: stored.kind, id: Some(stored.id) }
    }
}
