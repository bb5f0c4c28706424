//! Checked messages as people and programs read them.

use serde::Serialize;

use super::message::{Checked, MessageKind};
use super::protocols::Protocol;
use crate::color::{ASIDE, FAULT, SUBJECT};
use crate::output::printable;

/// Room for most ids; a longer one pushes its line out of step and hides nothing.
const ID_WIDTH: usize = 10;
/// The longest word for a kind.
const KIND_WIDTH: usize = "notification".len();

/// One message as one line, followed by a line per fault.
pub(crate) fn lines(protocol: &Protocol, message: &Checked) -> String {
    let (sender_width, name_width) = protocol.table.widths();
    let sender = message.sender.unwrap_or("?");
    let name = message.name.as_deref().unwrap_or("-");
    let id = message.id.as_deref().unwrap_or("-");
    let kind = if matches!(message.kind, MessageKind::Invalid | MessageKind::Broken) { FAULT } else { ASIDE };
    let mut text = format!(
        "{:>5}  {sender:<sender_width$}  {kind}{:<KIND_WIDTH$}{kind:#}  {SUBJECT}{:<name_width$}{SUBJECT:#}  {:<ID_WIDTH$}  {:>6} B",
        message.number,
        message.kind.word(),
        printable(name),
        printable(id),
        message.bytes,
    );
    if let Some(note) = &message.note {
        text.push_str(&format!("  {ASIDE}{}{ASIDE:#}", printable(note)));
    }
    for fault in &message.faults {
        text.push_str(&format!("\n       {FAULT}fault: {}{FAULT:#}", printable(&fault.to_string())));
    }
    text
}

/// What came of a stream, in one line.
pub(crate) fn summary(messages: u64, faulty: u64) -> String {
    let plural = if messages == 1 { "" } else { "s" };
    match faulty {
        0 if messages == 0 => "no messages: the recording is empty".to_owned(),
        0 => format!("{messages} message{plural}, no faults"),
        faulty => format!("{messages} message{plural}, {FAULT}{faulty} with faults{FAULT:#}"),
    }
}

/// One message as one line of JSON.
pub(crate) fn json(protocol: &Protocol, message: &Checked) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        protocol: &'static str,
        #[serde(flatten)]
        message: &'a Checked,
    }
    serde_json::to_string(&Line { protocol: protocol.name, message })
        .expect("texts and numbers can always be written")
}
