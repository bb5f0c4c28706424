//! Everything as JSON Lines: the server's messages as they are, and three of our own around them.
//!
//! | type | when |
//! |---|---|
//! | `ask.session` | first: the session that is asked |
//! | `ask.disconnected` | the server is gone and waited for; `server.hello` comes when it is back |
//! | `ask.ended` | last: the outcome in one word |

use std::time::Duration;

use loggia_client::Lost;
use loggia_protocol_agent_server::{ServerInfo, ServerMessage, Session};
use serde_json::json;

use super::Outcome;
use crate::{CliError, Terminal};

/// Writes lines.
#[derive(Debug)]
pub(super) struct Lines<'t>(pub(super) &'t mut Terminal);

impl Lines<'_> {
    pub(super) fn begin(&mut self, session: &Session) -> Result<(), CliError> {
        self.line(&json!({"type": "ask.session", "session": session}).to_string())
    }

    pub(super) fn message(&mut self, message: &ServerMessage) -> Result<(), CliError> {
        self.line(&message.encode())
    }

    pub(super) fn connected(&mut self, server: &ServerInfo) -> Result<(), CliError> {
        self.line(&json!({"type": "server.hello", "server_info": server}).to_string())
    }

    pub(super) fn disconnected(&mut self, why: Lost, retry_in: Duration) -> Result<(), CliError> {
        let why = match why {
            Lost::Cut => "cut",
            Lost::Silent => "silent",
            Lost::Stopping => "stopping",
            Lost::TooSlow => "too_slow",
            Lost::StillGone => "still_gone",
            _ => "closed",
        };
        let retry = u64::try_from(retry_in.as_millis()).unwrap_or(u64::MAX);
        self.line(&json!({"type": "ask.disconnected", "why": why, "retry_in_ms": retry}).to_string())
    }

    pub(super) fn end(&mut self, outcome: Outcome) -> Result<(), CliError> {
        self.line(&json!({"type": "ask.ended", "outcome": outcome.as_str()}).to_string())
    }

    fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.0.out(&format!("{text}\n")).map_err(CliError::Output)
    }
}
