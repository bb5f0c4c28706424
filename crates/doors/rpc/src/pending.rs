//! Questions that wait for this client: what its answers mean, and how long they may wait.
//!
//! The first decision about a question holds, whichever door it came through. Whoever is later is told so.

use std::sync::Arc;

use loggia_domain::{ApprovalAnswer, ApprovalId, ApprovalScope, Remember};
use loggia_protocol_autohand::{Decision, PermissionRequestId, Scope};

use crate::launch::PermissionTimers;
use crate::place::Place;
use crate::pump;

/// The question a client names; nothing if no question has such a name.
pub(crate) fn approval(id: &PermissionRequestId) -> Option<ApprovalId> {
    id.0.parse().ok()
}

/// What a decision means for the engine.
pub(crate) fn answer(decision: Decision) -> ApprovalAnswer {
    let (scope, remember, comment) = match decision {
        Decision::Allow(scope) => (ApprovalScope::All, remember(scope), None),
        Decision::Deny(scope) => (ApprovalScope::None, remember(scope), None),
        // The model does it as a call of its own, which is judged like any other.
        Decision::Alternative(text) => {
            (ApprovalScope::None, Remember::Once, Some(format!("do this instead: {text}")))
        }
    };
    ApprovalAnswer { scope, remember, comment }
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
    fn decisions_keep_their_scope() {
        let told = |decision| {
            let answer = answer(decision);
            (answer.scope, answer.remember)
        };
        assert_eq!(told(Decision::Allow(Scope::Once)), (ApprovalScope::All, Remember::Once));
        assert_eq!(told(Decision::Allow(Scope::Session)), (ApprovalScope::All, Remember::Session));
        assert_eq!(told(Decision::Deny(Scope::Project)), (ApprovalScope::None, Remember::Workspace));
        assert_eq!(told(Decision::Allow(Scope::User)), (ApprovalScope::All, Remember::Workspace));
    }

    #[test]
    fn an_alternative_is_a_no_that_tells_the_model_what_to_do() {
        let answer = answer(Decision::Alternative("ls -l".to_owned()));
        assert_eq!(answer.scope, ApprovalScope::None);
        assert_eq!(answer.comment.as_deref(), Some("do this instead: ls -l"));
    }
}
