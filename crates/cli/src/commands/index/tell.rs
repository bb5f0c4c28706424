//! How an index is, in words.

use loggia_protocol_agent_server::{IndexState, IndexStatus, SkippedFile};

use super::super::{say, say_json};
use super::progress;
use crate::paint::{ASIDE, WARNING, grouped, printable};
use crate::{CliError, Terminal};

/// Everything there is to say, or as the server said it.
pub(super) fn all(status: &IndexStatus, json: bool, terminal: &mut Terminal) -> Result<(), CliError> {
    if json {
        return say_json(terminal, status);
    }
    about(status, terminal)?;
    if let Some(skipped @ 1..) = status.skipped {
        let files = files(skipped);
        say(terminal, &format!("  {files} left out; `loggia index status --skipped` tells why"))?;
    }
    Ok(())
}

/// The same with the files that are left out.
pub(super) fn with_skipped(
    status: &IndexStatus,
    skipped: &[SkippedFile],
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    about(status, terminal)?;
    if skipped.is_empty() {
        return say(terminal, "  no file is left out");
    }
    let listed = u64::try_from(skipped.len()).unwrap_or(u64::MAX);
    let count = status.skipped.unwrap_or_default().max(listed);
    say(terminal, &format!("  {} left out:", files(count)))?;
    let paint = terminal.paint_out();
    for file in skipped {
        let reason = paint.text(ASIDE, printable(&file.reason)).into_owned();
        say(terminal, &format!("    {}  {reason}", printable(&file.file_path)))?;
    }
    if count > listed {
        say(terminal, &format!("    … {} more", grouped(count - listed)))?;
    }
    Ok(())
}

/// One line: the state and what is in the index.
pub(super) fn line(status: &IndexStatus) -> String {
    let IndexStatus { state, files, symbols, chunks, bytes, .. } = status;
    let mut text = format!(
        "{}: {}, {}, {}, {} on disk",
        printable(state.as_str()),
        counted(*files, "file", "files"),
        counted(*symbols, "definition", "definitions"),
        counted(*chunks, "piece of text", "pieces of text"),
        size(*bytes),
    );
    if let Some(vectors) = status.vectors {
        text.push_str(&format!(", {}", counted(vectors, "vector", "vectors")));
    }
    text
}

fn about(status: &IndexStatus, terminal: &mut Terminal) -> Result<(), CliError> {
    say(terminal, &line(status))?;
    if status.state == IndexState::Building {
        say(terminal, &format!("  {}", progress::words(status).trim_end()))?;
    }
    if let Some(hint) = hint(status) {
        say(terminal, &format!("  {hint}"))?;
    }
    if let Some(error) = &status.last_error {
        say(terminal, &format!("  last error: {}", printable(error)))?;
    }
    let word = terminal.paint_out().text(WARNING, "note:").into_owned();
    for note in &status.notes {
        say(terminal, &format!("  {word} {}", printable(note)))?;
    }
    Ok(())
}

/// What a state means where that is not plain, and what to do about it.
const fn hint(status: &IndexStatus) -> Option<&'static str> {
    match status.state {
        IndexState::Building => None,
        _ if matches!(status.paused, Some(true)) => {
            Some("builds and the making of vectors are held up; `loggia index resume` lets them go on")
        }
        IndexState::Empty => {
            Some("nothing is indexed; `loggia index build` does it, and so does the first search")
        }
        IndexState::Stale if matches!(status.cancelled, Some(true)) => {
            Some("the last build was cancelled; `loggia index build` finishes it")
        }
        IndexState::Stale => Some("files may differ from it; `loggia index build` brings it up to date"),
        _ => None,
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A size in a unit that leaves few digits.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match bytes {
        0..MIB => format!("{} KiB", grouped(bytes.div_ceil(1024))),
        _ => format!("{} MiB", grouped(bytes.div_ceil(MIB))),
    }
}

fn files(count: u64) -> String {
    match count {
        1 => "1 file is".to_owned(),
        count => format!("{} files are", grouped(count)),
    }
}
