//! How a turn ended, and what it took.

use std::time::Duration;

use loggia_protocol_agent_server::{ErrorBody, Session};

use super::super::Outcome;
use super::View;
use crate::CliError;
use crate::paint::{CODE, ERROR, grouped, printable_lines};
use crate::spent::Spent;

impl View<'_> {
    /// How it ended.
    pub(in crate::ask) fn end(
        &mut self,
        outcome: Outcome,
        fault: Option<&ErrorBody>,
        session: &Session,
    ) -> Result<(), CliError> {
        self.live.clear();
        self.close_text()?;
        self.wipe()?;
        let paint = self.terminal.paint_err();
        if let Some(fault) = fault.filter(|_| outcome != Outcome::Cancelled) {
            let hint = hint(outcome, fault, self.is_guest, self.of_task);
            let text = format!(
                "{} {}\n{} {hint}\n",
                paint.text(ERROR, "error:"),
                printable_lines(&fault.message),
                paint.text(CODE, "hint:")
            );
            self.insist(&self.terminal.folded(&text))?;
        }
        if outcome == Outcome::Cancelled {
            self.aside("Cancelled.")?;
        }
        if outcome == Outcome::Left {
            self.aside(&format!("Left; the session {} may go on.", session.session_id.0))?;
        }
        Ok(())
    }

    /// What was done and left out, who replied, and what it took; what the whole session took, if that is more.
    pub(in crate::ask) fn summary(
        &mut self,
        files: u64,
        left_out: usize,
        turn: Spent,
        session: &Session,
    ) -> Result<(), CliError> {
        if !self.terminal.stderr_is_terminal() {
            return Ok(());
        }
        let mut parts = Vec::new();
        match files {
            0 => {}
            1 => parts.push("1 file changed".to_owned()),
            count => parts.push(format!("{} files changed", grouped(count))),
        }
        match left_out {
            0 => {}
            1 => parts.push("1 hunk refused".to_owned()),
            count => parts.push(format!("{count} hunks refused")),
        }
        parts.extend(self.model.clone());
        parts.extend(turn.tokens());
        parts.extend(turn.price());
        let before = Spent::from(session.state.usage);
        if !before.is_nothing() {
            let all = before.and(turn);
            parts.extend(all.price().or_else(|| all.tokens()).map(|all| format!("{all} in the session")));
        }
        parts.push(took(self.began.elapsed()));
        parts.push(session.session_id.0.clone());
        self.aside(&parts.join(" · "))
    }
}

/// What to do about a turn that did not end well, of a plugin's agent or of a model, in a task's step or elsewhere.
fn hint(outcome: Outcome, fault: &ErrorBody, is_guest: bool, of_task: bool) -> String {
    let other = if of_task { "`--agent NAME`" } else { "`-m PROVIDER:MODEL`" };
    match (outcome, is_guest) {
        // Its error names the plugin, which may be called otherwise than the agent in it.
        (Outcome::ModelFailed, true) => format!(
            "`loggia plugin validate NAME` tries whether the plugin works; choose another agent or a model with {other}"
        ),
        (Outcome::ModelFailed, false) if fault.recoverable => {
            format!("try again, or choose another model with {other}")
        }
        (Outcome::ModelFailed, false) => format!(
            "`loggia doctor` tells which models there are and what they lack; choose one with {other}"
        ),
        (Outcome::LimitReached, _) if of_task => {
            "take the step again, or start the task with a larger `--budget`".to_owned()
        }
        (Outcome::LimitReached, _) => "go on in the same session, or allow more".to_owned(),
        (Outcome::Interrupted, _) if of_task => {
            "`loggia task resume` goes on; nothing that was told is lost".to_owned()
        }
        (Outcome::Interrupted, _) => "go on in the same session; nothing that was told is lost".to_owned(),
        _ => "see the server's log".to_owned(),
    }
}

fn took(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}
