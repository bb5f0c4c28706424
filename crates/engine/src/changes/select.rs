//! Some hunks of a patch and not others.
//!
//! Works from the recorded hunks alone, at their recorded places: nothing is searched for, so a hunk lands where
//! people saw it or not at all. Invariant: what is selected equals what `git apply` makes of a diff with exactly
//! these hunks.

use loggia_domain::{ContentHash, FileChangeKind, Hunk, Patch};

use super::diff::{NO_NEWLINE, position, start_at, write_hunk};

/// What a file is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// This.
    Content(Vec<u8>),
    /// Gone.
    Deleted,
}

/// Why hunks cannot be selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// The file is not what the patch was made for.
    #[error("the file is not what the change was made for")]
    Conflict {
        /// What it holds.
        found: ContentHash,
    },
    /// There is no such hunk.
    #[error("there is no hunk {index}; the change has {count}, counted from 0")]
    NoSuchHunk {
        /// Which was asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// No hunk was chosen, which leaves nothing to do.
    #[error("no hunk was chosen")]
    NoneChosen,
    /// The patch does not fit the file it says it was made for.
    #[error("hunk {index} does not fit the file the change was made for")]
    Damaged {
        /// The first hunk that does not.
        index: usize,
    },
}

/// What a file becomes when these hunks are applied and the others are not; all of them if none are named.
///
/// The base is what the file holds now. A file that is to be created has an empty one.
///
/// # Errors
/// [`SelectError`] if the base is not the patch's or the choice is no choice.
pub fn select(patch: &Patch, base: &[u8], hunks: Option<&[usize]>) -> Result<Selected, SelectError> {
    let found = ContentHash::of(base);
    if found != patch.base.unwrap_or_else(|| ContentHash::of(b"")) {
        return Err(SelectError::Conflict { found });
    }
    let chosen = match hunks {
        None => vec![true; patch.hunks.len()],
        Some(indexes) => marked(patch, indexes)?,
    };
    if hunks.is_some() && !chosen.contains(&true) {
        return Err(SelectError::NoneChosen);
    }
    let content = apply(patch, base, &chosen)?;
    match patch.kind {
        // A deletion has one hunk or none, so what is chosen of it is all of it.
        FileChangeKind::Deleted => Ok(Selected::Deleted),
        FileChangeKind::Created | FileChangeKind::Modified => Ok(Selected::Content(content)),
    }
}

/// The hunks that were not accepted, as a diff from the file with the accepted ones to the file as it was proposed;
/// empty if all were. Indexes that name no hunk are passed over.
pub fn rest(patch: &Patch, accepted: &[usize]) -> String {
    if accepted.is_empty() {
        return patch.diff.clone();
    }
    let mut text = String::new();
    let mut shift = 0;
    for (index, hunk) in patch.hunks.iter().enumerate() {
        if accepted.contains(&index) {
            shift += i64::from(hunk.new_lines) - i64::from(hunk.old_lines);
            continue;
        }
        if text.is_empty() {
            text.push_str(header_of(patch));
        }
        let before = position(hunk.old_start, hunk.old_lines).saturating_add_signed(shift as isize);
        let moved = Hunk { old_start: start_at(before, hunk.old_lines), ..hunk.clone() };
        write_hunk(&mut text, &moved, "");
    }
    text
}

/// The chosen hunks as a diff from the base; what is left out moves the numbers of what follows.
#[cfg(test)]
pub(super) fn only(patch: &Patch, chosen: &[usize]) -> String {
    let mut text = header_of(patch).to_owned();
    let mut shift = 0;
    for index in chosen {
        let hunk = &patch.hunks[*index];
        let before = position(hunk.old_start, hunk.old_lines).saturating_add_signed(shift);
        write_hunk(&mut text, &Hunk { new_start: start_at(before, hunk.new_lines), ..hunk.clone() }, "");
        shift += hunk.new_lines as isize - hunk.old_lines as isize;
    }
    text
}

/// The lines before the first hunk. No name in them holds a line break, so the first `@@` line is a hunk's.
fn header_of(patch: &Patch) -> &str {
    let end = patch.diff.find("\n@@ ").map_or(patch.diff.len(), |at| at + 1);
    &patch.diff[..end]
}

fn marked(patch: &Patch, indexes: &[usize]) -> Result<Vec<bool>, SelectError> {
    let count = patch.hunks.len();
    let mut chosen = vec![false; count];
    for index in indexes {
        *chosen.get_mut(*index).ok_or(SelectError::NoSuchHunk { index: *index, count })? = true;
    }
    Ok(chosen)
}

fn apply(patch: &Patch, base: &[u8], chosen: &[bool]) -> Result<Vec<u8>, SelectError> {
    let lines: Vec<&[u8]> = base.split_inclusive(|byte| *byte == b'\n').collect();
    let mut content = Vec::with_capacity(base.len());
    let mut taken = 0;
    for (index, hunk) in patch.hunks.iter().enumerate().filter(|(index, _)| chosen[*index]) {
        let start = position(hunk.old_start, hunk.old_lines);
        let between = lines.get(taken..start).ok_or(SelectError::Damaged { index })?;
        content.extend(between.concat());
        taken = start;
        for (mark, line) in lines_of(&hunk.content) {
            if mark != '+' {
                if lines.get(taken) != Some(&line.as_bytes()) {
                    return Err(SelectError::Damaged { index });
                }
                taken += 1;
            }
            if mark != '-' {
                content.extend(line.as_bytes());
            }
        }
    }
    content.extend(lines[taken..].concat());
    Ok(content)
}

/// A hunk's lines without their marks, the last one without its newline if it has none.
fn lines_of(content: &str) -> impl Iterator<Item = (char, &str)> {
    let mut lines = content.split_inclusive('\n').peekable();
    std::iter::from_fn(move || {
        let line = lines.next()?;
        let unended = lines.next_if_eq(&NO_NEWLINE).is_some();
        let mut letters = line.chars();
        let mark = letters.next().unwrap_or(' ');
        let text = letters.as_str();
        Some((mark, if unended { text.strip_suffix('\n').unwrap_or(text) } else { text }))
    })
}
