//! What answers that are to be remembered amount to, and whether they amount to anything.
//!
//! What always holds: a question says that a yes can stand for longer only if, with the rules which that yes becomes,
//! the same would be done without asking. It is told by the question alone, so that everybody says the same, whenever
//! they look. What a workspace's own policy asks about in spite of it is not looked at here.

use std::collections::BTreeMap;
use std::sync::Arc;

use loggia_domain::{
    ApprovalAnswer, ApprovalScope, CallId, Decision, Patch, PatchId, Question, Remember, Rule,
};

use super::open_turn::demand_of;
use crate::policy;
use crate::secrets;

/// Whether an answer to a question would still stand the next time, if that is wished.
pub fn can_remember(
    question: &Question,
    call: Option<CallId>,
    proposed: &BTreeMap<PatchId, Arc<Patch>>,
    decision: Decision,
) -> bool {
    if !has_rules(question, call) {
        return false;
    }
    let (tool, demand) = demand_of(question, proposed);
    policy::is_settled(&tool, &demand, decision)
}

/// The rules that an answer becomes, if it is to be remembered. Part of a yes is no rule.
pub(crate) fn rules(
    question: &Question,
    call: Option<CallId>,
    proposed: &BTreeMap<PatchId, Arc<Patch>>,
    answer: &ApprovalAnswer,
) -> Option<Vec<Rule>> {
    let decision = match (&answer.scope, answer.remember) {
        (_, Remember::Once) => return None,
        (ApprovalScope::All, _) => Decision::Allow,
        (ApprovalScope::None, _) => Decision::Deny,
        (ApprovalScope::Patches(_) | ApprovalScope::Hunks(_), _) => return None,
    };
    if !has_rules(question, call) {
        return None;
    }
    let (tool, demand) = demand_of(question, proposed);
    Some(policy::rules_like(&tool, &demand, decision))
}

/// Whether rules can be about it. A collection of changes, which no call waits for, is asked about each time; and for
/// a command that holds a secret, the rule would have to hold it too.
fn has_rules(question: &Question, call: Option<CallId>) -> bool {
    let holds_secret = matches!(question, Question::Command { command, .. } if secrets::is_masked(command));
    call.is_some() && !holds_secret
}

#[cfg(test)]
mod tests {
    use loggia_domain::{FileChangeKind, JsonText};

    use super::*;

    fn command(line: &str) -> Question {
        Question::Command {
            command: line.to_owned(),
            directory: String::new(),
            environment: Vec::new(),
            reason: None,
        }
    }

    fn is_remembered(question: &Question) -> bool {
        can_remember(question, Some(CallId::from_bytes([1; 16])), &BTreeMap::new(), Decision::Allow)
    }

    #[test]
    fn only_what_a_rule_can_say_is_remembered() {
        for line in ["npm test", "make > build/log"] {
            assert!(is_remembered(&command(line)), "{line}");
        }
        // Not certain; several; doubtful whatever the rules say; with a secret in it.
        for line in
            ["ls $X", "ls *.rs", "cd sub && rm x", "cat <<E\nx\nE", "loggia stop", "echo [masked: token]"]
        {
            assert!(!is_remembered(&command(line)), "{line}");
        }
        let Question::Command { command, environment, reason, .. } = command("npm test") else { panic!() };
        let elsewhere = Question::Command { command, directory: "sub".to_owned(), environment, reason };
        assert!(!is_remembered(&elsewhere));
        let tool = Question::Tool { tool: "weather".to_owned(), arguments: JsonText("{}".to_owned()) };
        assert!(!is_remembered(&tool));
    }

    #[test]
    fn a_change_is_remembered_and_a_collection_is_not() {
        let id = PatchId::from_bytes([2; 16]);
        let patch = Patch {
            id,
            call: CallId::from_bytes([1; 16]),
            path: "src/a.rs".to_owned(),
            kind: FileChangeKind::Modified,
            diff: String::new(),
            hunks: Vec::new(),
            rationale: String::new(),
            acceptance_criteria: Vec::new(),
            base: None,
        };
        let proposed = BTreeMap::from([(id, Arc::new(patch))]);
        let question = Question::Patches { tool: "write_file".to_owned(), patches: vec![id] };
        let asked_by = |call| can_remember(&question, call, &proposed, Decision::Allow);
        assert!(asked_by(Some(CallId::from_bytes([1; 16]))));
        assert!(!asked_by(None));
    }
}
