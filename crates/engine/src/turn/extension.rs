//! Calls that run a command of an extension.
//!
//! An extension is no command of ours: it runs unconfined, as whoever configured and trusted it wanted. What it changes in
//! the workspace meanwhile is found and can be undone, as with commands; what it does to the open message is the
//! desk's to undo.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use loggia_domain::{CommandDone, EventBody, Executor, ExtensionLogLevel, GuestCommandRequest, ToolOutcome};

use crate::session::Halt;
use crate::turn::Turn;
use crate::turn::called::Called;

/// How much of what an extension said a model is told, in bytes; the end of it, which says how it went.
const MAX_SAID: usize = 16 << 10;

impl Turn {
    /// Runs a command of an extension that may run.
    pub(super) async fn guest_command(
        &self,
        open: &Called,
        request: GuestCommandRequest,
    ) -> Result<(), Halt> {
        let policy = match self.workspace.policy(&self.shared).await {
            Ok(policy) => policy,
            Err(error) => return self.end(open, ToolOutcome::Denied { reason: error.to_string() }).await,
        };
        let most = policy.limits.command_timeout_s;
        let limit = Duration::from_secs(request.timeout_s.unwrap_or(most).min(most));
        let began = Instant::now();
        self.link
            .record(vec![EventBody::ToolStarted { call: open.call.id, executor: Executor::Server }])
            .await?;
        let watch = self.workspace.watch(self.session, open.call.id).await;
        self.link.command_runs(open.call.id, watch.clone()).await?;
        let commands = self.workspace.guest_commands();
        let done = commands.execute(request.command, request.extension, Some(limit)).await;
        let found = watch.changes(&self.shared.parts.store).await;
        let checkpoint = self.checkpoint().await?.is_some();
        let mut events = found.events(open.call.id, checkpoint);
        let outcome = match done {
            Ok(done) => {
                let output = told(&done);
                ToolOutcome::Succeeded { output: self.shared.masker.mask(&output).into_owned() }
            }
            Err(error) => {
                let message = self.shared.masker.mask(&error.to_string()).into_owned();
                ToolOutcome::Failed { message }
            }
        };
        events.push(open.ended(outcome, found.files(), None, began));
        self.link.record(events).await
    }
}

/// What a model is told about a command that ran.
fn told(done: &CommandDone) -> String {
    let mut text = match done.still_busy {
        true => format!("`{}` is still busy; it was not waited for any longer.", done.extension),
        false => format!("`{}` has done it.", done.extension),
    };
    let mut said = String::new();
    for entry in &done.said {
        let level = match entry.level {
            ExtensionLogLevel::Info => "",
            ExtensionLogLevel::Warning => "warning: ",
            ExtensionLogLevel::Error => "error: ",
        };
        let _ = write!(said, "\n{level}{}", entry.text);
    }
    if said.is_empty() {
        return text;
    }
    text.push_str("\nIt said:");
    let begin = said.ceil_char_boundary(said.len().saturating_sub(MAX_SAID));
    if begin > 0 {
        let _ = write!(text, "\n[the first {begin} bytes are left out]");
    }
    text.push_str(&said[begin..]);
    text
}

#[cfg(test)]
mod tests {
    use loggia_domain::{ExtensionLogEntry, Timestamp};

    use super::*;

    #[test]
    fn a_model_is_told_how_it_went_and_the_end_of_what_was_said() {
        let entry = |level, text: &str| ExtensionLogEntry { at: Timestamp(0), level, text: text.to_owned() };
        let mut done = CommandDone { extension: "demo".to_owned(), still_busy: false, said: Vec::new() };
        assert_eq!(told(&done), "`demo` has done it.");
        done.still_busy = true;
        done.said =
            vec![entry(ExtensionLogLevel::Info, "begin"), entry(ExtensionLogLevel::Error, "no message")];
        assert_eq!(
            told(&done),
            "`demo` is still busy; it was not waited for any longer.\nIt said:\nbegin\nerror: no message"
        );
        done.said = vec![entry(ExtensionLogLevel::Info, &"ä".repeat(MAX_SAID))];
        let long = told(&done);
        assert!(long.contains("bytes are left out]") && long.len() < MAX_SAID + 200, "{}", long.len());
    }
}
