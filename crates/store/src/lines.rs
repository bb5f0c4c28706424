//! Journals as lines of JSON, for keeping elsewhere.
//!
//! One event is one line: `{"seq":2,"at":1767225600000,"turn":"turn_…","kind":"turn_started","data":{…}}`, where
//! `kind` and `data` are those of the stored row. The first line of a journal also says which `format` it is in.
//!
//! Knows lines and what makes them a journal. Refuses to carry blobs: what older changes replaced stays behind, so
//! they cannot be undone where the journal is read in.
//!
//! What always holds:
//! - a line has no line break inside it;
//! - a journal that is read begins with its opening as number 1, and its numbers rise;
//! - ids and numbers come back as they were; only the workspace is the reader's own, and where it comes from;
//! - what is read is past: its opening says that all of it was split from a session elsewhere, so that whoever loads it
//!   takes up no turn, no question and no answer of it, and undoes nothing of it. A journal cannot say otherwise;
//! - what was allowed elsewhere is not allowed here: a journal that is read has no preset of its own, and nothing that
//!   was answered in it is remembered. Those answers were given about other files, on another machine.

use loggia_domain::{
    EventBody, NewEvent, Remember, Seq, SessionId, StoreError, Timestamp, TurnId, WorkspaceId,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::rows::parts::{Str, Text};
use crate::rows::{self, EventRow, RowError};

/// The format that is written, and the only one that is read.
const FORMAT: u32 = 1;
/// Lines of one journal. Ten times the longest we have reason to expect: its rows are one transaction, and others
/// wait for it.
const MAX_LINES: usize = 1_000_000;
/// Bytes of one journal, for the same reason; whoever asks holds them in memory already.
const MAX_BYTES: usize = 512 * 1024 * 1024;
/// The largest number a database column holds.
const MAX_SEQ: u64 = i64::MAX as u64;

/// An event that was a line, and its row.
#[derive(Debug)]
pub(crate) struct ReadEvent {
    pub(crate) seq: Seq,
    pub(crate) event: NewEvent,
    pub(crate) row: EventRow,
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<u32>,
    seq: u64,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<Text<TurnId>>,
    #[serde(borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// Makes the line of a stored row.
pub(crate) fn write(
    seq: Seq,
    at: i64,
    turn: Option<TurnId>,
    kind: &str,
    data: &str,
) -> Result<String, StoreError> {
    let damaged = |error: serde_json::Error| StoreError::Damaged(format!("event {}: {error}", seq.0));
    let line = Line {
        format: (seq == FIRST).then_some(FORMAT),
        seq: seq.0,
        at,
        turn: turn.map(Text),
        kind: kind.into(),
        data: serde_json::from_str(data).map_err(damaged)?,
    };
    serde_json::to_string(&line).map_err(damaged)
}

/// Every journal begins with its opening, and that has this number.
pub(crate) const FIRST: Seq = Seq(1);

/// Reads a whole journal, with an opening of ours and without what would loosen anything here.
pub(crate) fn read(lines: &[String], workspace: WorkspaceId) -> Result<Vec<ReadEvent>, StoreError> {
    if lines.is_empty() {
        return Err(bad(1, "there is nothing"));
    }
    if lines.len() > MAX_LINES {
        return Err(bad(MAX_LINES + 1, format!("a journal may have {MAX_LINES} lines")));
    }
    let mut events: Vec<ReadEvent> = Vec::with_capacity(lines.len());
    let mut bytes = 0;
    for (line, number) in lines.iter().zip(1..) {
        bytes += line.len();
        if bytes > MAX_BYTES {
            return Err(bad(number, format!("a journal may have {MAX_BYTES} bytes")));
        }
        let last = events.last().map(|event| event.seq);
        let event = read_line(line, last).map_err(|reason| bad(number, reason))?;
        events.push(event);
    }
    let last = events.last().map_or(FIRST, |event| event.seq);
    if let Some(first) = events.first_mut() {
        adopt(first, workspace, last).map_err(|error| bad(1, error.to_string()))?;
    }
    Ok(events)
}

/// Makes an opening one of ours: of everything up to the last event, nothing happened here.
fn adopt(first: &mut ReadEvent, workspace: WorkspaceId, last: Seq) -> Result<(), RowError> {
    if let EventBody::SessionOpened { workspace: its, preset, forked_from, .. } = &mut first.event.body {
        *its = workspace;
        *preset = None;
        *forked_from = Some((SessionId::ELSEWHERE, last));
    }
    first.row = rows::encode(&first.event.body)?;
    Ok(())
}

fn read_line(line: &str, last: Option<Seq>) -> Result<ReadEvent, String> {
    let Line { format, seq, at, turn, kind, data } =
        serde_json::from_str(line).map_err(|error| rows::shortened(error.to_string()))?;
    check_place(format, seq, last)?;
    let mut body = rows::decode(&kind, data.get()).map_err(|error| error.to_string())?;
    match (&mut body, last) {
        (EventBody::SessionOpened { .. }, None) => {}
        (EventBody::SessionOpened { .. }, Some(_)) => return Err("the session is opened again".to_owned()),
        (_, None) => return Err("a journal begins with the opening of its session".to_owned()),
        (EventBody::ApprovalDecided { answer, .. }, Some(_)) => answer.remember = Remember::Once,
        (_, Some(_)) => {}
    }
    let row = rows::encode(&body).map_err(|error| error.to_string())?;
    let event = NewEvent { at: Timestamp(at), turn: turn.map(|turn| turn.0), body };
    Ok(ReadEvent { seq: Seq(seq), event, row })
}

fn check_place(format: Option<u32>, seq: u64, last: Option<Seq>) -> Result<(), String> {
    match (last, format) {
        (None, Some(FORMAT)) if seq == FIRST.0 => Ok(()),
        (None, Some(FORMAT)) => Err(format!("a journal begins with number {}, not {seq}", FIRST.0)),
        (None, Some(format)) => Err(format!("it is in format {format}; this program reads format {FORMAT}")),
        (None, None) => Err("the first line of a journal tells its format".to_owned()),
        (Some(_), Some(_)) => Err("another journal begins here".to_owned()),
        (Some(last), None) if seq <= last.0 => Err(format!("number {seq} comes after number {}", last.0)),
        (Some(_), None) if seq > MAX_SEQ => Err(format!("number {seq} is too large")),
        (Some(_), None) => Ok(()),
    }
}

fn bad(line: usize, reason: impl Into<String>) -> StoreError {
    StoreError::BadImport { line, reason: reason.into() }
}
