//! How the daemon tells the process that a client started how to end: one line after the client's last one.
//!
//! Knows its form, for both ends, and how it is kept from the client. Invariant: everything else the daemon says is passed
//! on, in order and as early as it can be told from a farewell.

use std::borrow::Cow;

use loggia_protocol_agent_server::CONTROL_VERSION;
use loggia_rpc::Exit;
use serde::{Deserialize, Serialize};

use super::preamble::MARK;

/// The longest reason that is told. It names a path or two.
const MAX_REASON: usize = 16 * 1024;

/// The longest farewell: its reason, written as JSON, and a little.
const MAX_BYTES: usize = 6 * MAX_REASON + 64;

/// How a process is to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Farewell {
    loggia: u32,
    /// Its exit code.
    pub(crate) exit: u8,
    /// Why nothing began, for people who read standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl From<Exit> for Farewell {
    fn from(exit: Exit) -> Self {
        let reason = exit.reason.map(|reason| reason.chars().take(MAX_REASON / 4).collect());
        Self { loggia: CONTROL_VERSION, exit: exit.code, reason }
    }
}

impl Farewell {
    /// As one line.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("texts and numbers can always be written");
        line.push(b'\n');
        line
    }
}

/// Keeps back what may be a farewell until it is known not to be the last line.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    held: Vec<u8>,
    /// Whether what was passed on ends within a line.
    open_line: bool,
}

impl Gate {
    /// What of these bytes, and of those held back before, is to be passed on now. With headers around messages, one that ends
    /// has no line end, so that a farewell may begin within what is no line.
    pub(crate) fn pass<'a>(&mut self, bytes: &'a [u8], has_headers: bool) -> Cow<'a, [u8]> {
        let mut all = if self.held.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            let mut all = std::mem::take(&mut self.held);
            all.extend_from_slice(bytes);
            Cow::Owned(all)
        };
        let end = if has_headers { farewell_within(&all) } else { farewell_line(&all, self.open_line) };
        self.held = all[end..].to_vec();
        self.open_line = all[..end].last().map_or(self.open_line, |last| *last != b'\n');
        match &mut all {
            Cow::Borrowed(bytes) => *bytes = &bytes[..end],
            Cow::Owned(bytes) => bytes.truncate(end),
        }
        all
    }

    /// Nothing follows: the farewell, or bytes that were none.
    pub(crate) fn last(self) -> Result<Farewell, Vec<u8>> {
        serde_json::from_slice(&self.held).map_err(|_| self.held)
    }
}

/// Where the last line begins if it may be a farewell; the end if it is none.
fn farewell_line(bytes: &[u8], open_line: bool) -> usize {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let begin = match line.iter().rev().take(MAX_BYTES).position(|byte| *byte == b'\n') {
        Some(length) => line.len() - length,
        None if open_line || line.len() > MAX_BYTES => return bytes.len(),
        None => 0,
    };
    if may_be_farewell(&bytes[begin..]) { begin } else { bytes.len() }
}

/// Where a farewell may begin that would be the last thing said; the end if there is none.
fn farewell_within(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(MAX_BYTES);
    let whole = bytes[from..].windows(MARK.len()).rposition(|window| window == MARK);
    let begun = || (1..MARK.len()).rev().find(|length| bytes.ends_with(&MARK[..*length]));
    match whole {
        Some(at) if may_be_farewell(&bytes[from + at..]) => from + at,
        _ => begun().map_or(bytes.len(), |length| bytes.len() - length),
    }
}

/// Whether this is a farewell, or the beginning of one.
fn may_be_farewell(bytes: &[u8]) -> bool {
    if bytes.len() < MARK.len() {
        return !bytes.is_empty() && MARK.starts_with(bytes);
    }
    bytes.starts_with(MARK)
        && serde_json::from_slice::<Farewell>(bytes).map_or_else(|error| error.is_eof(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes, piece by piece, and how it ends.
    fn pass(pieces: &[&str]) -> (Vec<String>, Result<u8, String>) {
        pass_framed(pieces, false)
    }

    fn pass_framed(pieces: &[&str], has_headers: bool) -> (Vec<String>, Result<u8, String>) {
        let mut gate = Gate::default();
        let passed = pieces
            .iter()
            .map(|piece| String::from_utf8(gate.pass(piece.as_bytes(), has_headers).into()).unwrap());
        let passed = passed.collect();
        let last = gate.last().map(|farewell| farewell.exit);
        (passed, last.map_err(|bytes| String::from_utf8(bytes).unwrap()))
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_last_line_is_kept_however_it_comes() {
        let whole = "{\"jsonrpc\":\"2.0\"}\n{\"loggia\":1,\"exit\":7}\n";
        for cut in 0..whole.len() {
            let (passed, exit) = pass(&[&whole[..cut], &whole[cut..]]);
            assert_eq!((passed.concat().as_str(), exit), ("{\"jsonrpc\":\"2.0\"}\n", Ok(7)), "{cut}");
        }
    }

    #[test]
    fn what_is_no_last_line_is_passed_on() {
        let line = "{\"loggia\":1,\"exit\":7}\n";
        let (passed, end) = pass(&[line, "{\"x\":1}\n"]);
        assert_eq!((passed, end), (texts(&["", &format!("{line}{{\"x\":1}}\n")]), Err(String::new())));
    }

    #[test]
    fn whole_lines_pass_at_once() {
        let (passed, _) = pass(&["{\"a\":1}\n{\"b\":2}\n", "{\"c\":3}\n"]);
        assert_eq!(passed, texts(&["{\"a\":1}\n{\"b\":2}\n", "{\"c\":3}\n"]));
    }

    /// Whoever waits for a message gets it when it is there, whatever is in it.
    #[test]
    fn what_only_looks_like_one_is_passed_on_at_once() {
        for message in [
            "{\"args\":{\"loggia\":1,\"exit\":7}}",
            "{\"id\":{\"loggia\":1},\"result\":null}",
            "{\"context\":{\"env\":{\"loggia\":\"1\"}}}",
            "{\"text\":\"\\{\\\"loggia\\\":\"}",
        ] {
            let line = format!("{message}\n");
            assert_eq!(pass(&[&line]), (texts(&[&line]), Err(String::new())));
            let framed = format!("Content-Length: {}\r\n\r\n{message}", message.len());
            assert_eq!(pass_framed(&[&framed], true), (texts(&[&framed]), Err(String::new())));
        }
        let cut_off = "{\"jsonrpc\":\"2.0\",\"met";
        assert_eq!(pass(&[cut_off]), (texts(&[cut_off]), Err(String::new())));
    }

    #[test]
    fn in_lines_only_the_beginning_of_one_counts() {
        let pieces = ["{\"a\":", "{\"loggia\":1,\"exit\":7", "}}\n"];
        assert_eq!(pass(&pieces), (texts(&pieces), Err(String::new())));
        let (passed, exit) = pass(&["{\"a\":1}", "\n", "{\"log", "gia\":1,\"exit\":7}"]);
        assert_eq!((passed.concat().as_str(), exit), ("{\"a\":1}\n", Ok(7)));
    }

    #[test]
    fn it_is_found_behind_a_message_that_has_headers() {
        let said = "Content-Length: 15\r\n\r\n{\"a\":{\"b\":2}}}";
        let whole = format!("{said}{{\"loggia\":1,\"exit\":0}}\n");
        for cut in 0..whole.len() {
            let (passed, exit) = pass_framed(&[&whole[..cut], &whole[cut..]], true);
            assert_eq!((passed.concat().as_str(), exit), (said, Ok(0)), "{cut}");
        }
    }

    #[test]
    fn a_reason_is_told_and_fits() {
        let exit = Exit { code: 1, reason: Some("\u{1}".repeat(MAX_REASON * 2)) };
        let line = Farewell::from(exit).line();
        assert!(line.len() <= MAX_BYTES);
        let mut gate = Gate::default();
        assert!(gate.pass(&line, false).is_empty());
        assert_eq!(gate.last().unwrap().exit, 1);
    }
}
