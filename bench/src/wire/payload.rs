//! What is sent: an echo of some text, about a hundred bytes or about 64 KiB of it.

use loggia_jsonrpc::Method;
use serde::{Deserialize, Serialize};

/// The text both ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// Source code, more or less: line breaks and quotes included, since they cost escapes.
    pub text: String,
}

/// Gives the text back.
#[derive(Debug)]
pub struct Echo;

impl Method for Echo {
    const NAME: &'static str = "echo";
    type Params = Text;
    type Result = Text;
}

/// How much is sent, how often, and how many requests are in flight at once.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// What to call it.
    pub name: &'static str,
    /// Size of the parameters as JSON.
    pub bytes: usize,
    /// Requests in one measurement.
    pub requests: usize,
    /// Requests in flight.
    pub window: usize,
}

/// Parameters of a hundred bytes.
pub const SMALL: Load = Load { name: "100 B", bytes: 100, requests: 40_000, window: 64 };
/// Parameters of 64 KiB.
pub const LARGE: Load = Load { name: "64 KiB", bytes: 64 * 1024, requests: 1_500, window: 8 };

/// A text whose JSON has about the given size.
pub fn text(bytes: usize) -> Text {
    const LINE: &str = "    let session = store.open(\"ses_42\")?;\n";
    // The object around the text, and one more byte for each quote and line break.
    let per_line = LINE.len() + 3;
    let wanted = bytes.saturating_sub(11);
    let mut text = LINE.repeat(wanted / per_line);
    text.extend(std::iter::repeat_n('x', wanted % per_line));
    Text { text }
}
