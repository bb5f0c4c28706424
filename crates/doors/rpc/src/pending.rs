//! Questions that wait for this client: what its answers mean, and how long they may wait.
//!
//! The first decision about a question holds, whichever door it came through. Whoever is later is told so.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{ApprovalAnswer, ApprovalId, ApprovalScope, Intent, JsonText, Question, Remember};
use loggia_engine::State;
use loggia_protocol_autohand::{Decision, PermissionRequestId, Scope};
use serde_json::Value;

use crate::launch::PermissionTimers;
use crate::place::Place;
use crate::pump;

/// The question a client names; nothing if no question has such a name.
pub(crate) fn approval(id: &PermissionRequestId) -> Option<ApprovalId> {
    id.0.parse().ok()
}

/// An alternative that nothing can be done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this question is about no single command or path that another could take the place of; allow or deny it"
)]
pub(crate) struct NoAlternative;

/// What a decision about a question means for the engine.
///
/// # Errors
/// [`NoAlternative`] if something else is wanted and the question leaves no room for it.
pub(crate) fn intent(
    state: &State,
    root: &Path,
    approval: ApprovalId,
    decision: Decision,
) -> Result<Intent, NoAlternative> {
    let (scope, remember) = match decision {
        Decision::Allow(scope) => (ApprovalScope::All, remember(scope)),
        Decision::Deny(scope) => (ApprovalScope::None, remember(scope)),
        Decision::Alternative(text) => {
            let arguments = replaced(state, root, approval, &text).ok_or(NoAlternative)?;
            return Ok(Intent::DecideInstead { approval, arguments });
        }
    };
    let answer = ApprovalAnswer { scope, remember, comment: None };
    Ok(Intent::Decide { approval, answer })
}

/// The argument that an alternative takes the place of; nothing if a question is about none such.
pub(crate) fn replaceable(question: &Question, arguments: &Value) -> Option<&'static str> {
    let name = match question {
        Question::Command { .. } => "command",
        Question::Patches { .. } | Question::Tool { .. } => "path",
    };
    arguments.get(name).is_some_and(Value::is_string).then_some(name)
}

/// The arguments of the call a question is about, with something else in the place of its command or its path.
fn replaced(state: &State, root: &Path, approval: ApprovalId, text: &str) -> Option<JsonText> {
    let pending = state.pending.get(&approval)?;
    let mut calls = state.turn.iter().flat_map(|turn| &turn.calls);
    let open = calls.find(|open| Some(open.call.id) == pending.call)?;
    let mut arguments: Value = serde_json::from_str(&open.call.arguments.0).ok()?;
    let name = replaceable(&pending.question, &arguments)?;
    // Tools know paths relative to the workspace; clients may write them in full.
    let inside = (name == "path").then(|| Path::new(text).strip_prefix(root).ok()?.to_str()).flatten();
    arguments[name] = Value::String(inside.unwrap_or(text).to_owned());
    Some(JsonText(arguments.to_string()))
}

fn remember(scope: Scope) -> Remember {
    match scope {
        Scope::Once => Remember::Once,
        Scope::Session => Remember::Session,
        // Rules belong to workspaces. What is meant for all of them is remembered for this one: less, never more.
        Scope::Project | Scope::User => Remember::Workspace,
    }
}

/// Refuses a question when its time is over: sooner without a sign from the client.
pub(crate) fn limit(place: &Arc<Place>, approval: ApprovalId, timers: PermissionTimers) {
    let seen = place.limit(approval);
    let place = Arc::clone(place);
    tokio::spawn(async move {
        let expired = async {
            if tokio::time::timeout(timers.acknowledge, seen.cancelled()).await.is_ok() {
                tokio::time::sleep(timers.answer).await;
            }
        };
        tokio::select! {
            () = place.stop.cancelled() => {}
            () = expired => {
                let comment = Some("nobody answered in time".to_owned());
                let answer = ApprovalAnswer { scope: ApprovalScope::None, remember: Remember::Once, comment };
                pump::decide(&place, approval, answer);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_remembered_as_far_as_they_reach() {
        assert_eq!(remember(Scope::Once), Remember::Once);
        assert_eq!(remember(Scope::Session), Remember::Session);
        assert_eq!(remember(Scope::Project), Remember::Workspace);
        assert_eq!(remember(Scope::User), Remember::Workspace);
    }

    #[test]
    fn only_a_command_or_a_path_can_be_replaced() {
        let command = Question::Command {
            command: "ls".to_owned(),
            directory: String::new(),
            environment: Vec::new(),
            reason: None,
        };
        let patches = Question::Patches { tool: "write_file".to_owned(), patches: Vec::new() };
        let arguments = serde_json::json!({"command": "ls", "path": "a"});
        assert_eq!(replaceable(&command, &arguments), Some("command"));
        assert_eq!(replaceable(&patches, &arguments), Some("path"));
        assert_eq!(replaceable(&patches, &serde_json::json!({"diff": "--- a"})), None);
        assert_eq!(replaceable(&command, &Value::Null), None);
    }
}
