//! What people or the policy refused in the turn of a step.

use std::collections::HashMap;

use loggia_domain::{CallId, Demand, EventBody, ToolCall, ToolOutcome};

use super::driver::{Driver, PAGE};
use super::error::TaskError;
use super::fold::StepTurn;

impl Driver {
    /// What a turn wanted to change or to run and was refused, if nothing that it wanted changed came to be; nothing if
    /// nothing was refused.
    pub(super) async fn refused_in(&self, turn: &StepTurn) -> Result<Vec<String>, TaskError> {
        let workspace = self.workspace().await.map_err(TaskError::Bad)?;
        let demand_of = |call: &ToolCall| -> Option<Demand> {
            let tool = workspace.tool(&call.tool).ok()?;
            Some(tool.prepare(&call.arguments).ok()?.demand())
        };
        let (mut calls, mut refused) = (HashMap::<CallId, ToolCall>::new(), Vec::new());
        let mut after = turn.began;
        loop {
            let events = self.engine.events(self.session, after, PAGE).await?;
            let Some(last) = events.last() else { return Ok(refused) };
            after = last.seq;
            for event in events.into_iter().filter(|event| event.turn == Some(turn.id)) {
                match event.body {
                    EventBody::PatchApplied { .. } | EventBody::FilesChanged { .. } => return Ok(Vec::new()),
                    EventBody::ToolRequested { call } => drop(calls.insert(call.id, call)),
                    EventBody::CallChanged { call, arguments, .. } => {
                        calls.entry(call).and_modify(|call| call.arguments = arguments);
                    }
                    EventBody::ToolEnded { call, outcome: ToolOutcome::Denied { reason }, .. } => {
                        let demand = calls.get(&call).and_then(demand_of);
                        refused.extend(
                            demand.as_ref().and_then(wanted).map(|what| format!("{what} ({reason})")),
                        );
                    }
                    _ => {}
                }
            }
        }
    }
}

/// What a call wants changed or run, in words; nothing if it only looks.
fn wanted(demand: &Demand) -> Option<String> {
    let paths: Vec<String> =
        demand.writes.iter().chain(&demand.deletes).map(|path| format!("`{path}`")).collect();
    let command = demand.command.as_ref().map(|command| format!("`{}`", command.line));
    let of_guest = demand.guest_command.as_ref().map(|request| format!("`{}`", request.command));
    let unnamed = demand.unnamed_writes.then(|| "a change of the open message".to_owned());
    match paths.is_empty() {
        true => command.or(of_guest).or(unnamed),
        false => Some(paths.join(", ")),
    }
}
