//! Questions: put to the client, or answered in its name.

use loggia_domain::{
    ApprovalAnswer, ApprovalId, ApprovalScope, CallId, Decision, FileChangeKind, Patch, Question, Remember,
    Timestamp,
};
use loggia_engine::can_remember;
use loggia_protocol_autohand as wire;

use crate::approvals::Verdict;
use crate::tell::moment::moment;
use crate::tell::said::Said;
use crate::tell::{Ear, Teller};

impl Teller {
    pub(super) fn asked(
        &mut self,
        approval: ApprovalId,
        call: CallId,
        question: &Question,
        (at, ear): (Timestamp, &Ear),
        said: &mut Said,
    ) {
        self.announce_tool(call, at, said);
        let Some(turn) = &mut self.turn else { return };
        let Some(known) = turn.calls.get(&call) else { return };
        turn.asked.insert(approval, call);
        let verdict = match turn.mine {
            true => ear.approvals.verdict(&known.tool, question, ear.instant),
            false => Verdict::Ask,
        };
        match verdict {
            Verdict::Allow => said.decide.push((approval, answer(ApprovalScope::All, None))),
            Verdict::Refuse(why) => said.decide.push((approval, answer(ApprovalScope::None, Some(why)))),
            Verdict::Ask => {
                turn.questions.insert(approval);
                said.asked.push(approval);
                let tool = known.call.name.clone();
                let (description, context) = self.words(question, &tool, call);
                said.say::<wire::HookPermissionRequest>(&wire::HookPermissionRequestParams {
                    tool: tool.clone(),
                    path: context.path.clone(),
                    command: context.command.clone(),
                    args: context.args.clone(),
                    timestamp: moment(at),
                });
                let id = wire::PermissionRequestId(approval.to_string());
                said.say::<wire::PermissionRequest>(&wire::PermissionRequestParams {
                    options: Some(self.options(question, call)),
                    ..wire::PermissionRequestParams::new(id, tool, description, context, moment(at))
                });
            }
        }
    }

    pub(super) fn decided(&mut self, approval: ApprovalId, answer: &ApprovalAnswer) {
        let Some(turn) = &mut self.turn else { return };
        turn.questions.remove(&approval);
        let call = turn.asked.remove(&approval);
        if answer.scope != ApprovalScope::None
            && let Some(call) = call.and_then(|call| turn.calls.get_mut(&call))
        {
            call.allowed = true;
        }
    }

    /// The answers on offer: one that is to be remembered only if it can be.
    fn options(&self, question: &Question, call: CallId) -> Vec<wire::DecisionName> {
        let lasts = |decision| can_remember(question, Some(call), &self.state.proposed, decision);
        let (allows, denies) = (lasts(Decision::Allow), lasts(Decision::Deny));
        let is_offered = |name: &wire::DecisionName| match name.scoped() {
            Some(wire::Decision::Allow(scope)) => allows || scope == wire::Scope::Once,
            Some(wire::Decision::Deny(scope)) => denies || scope == wire::Scope::Once,
            Some(wire::Decision::Alternative(_)) | None => true,
        };
        wire::DecisionName::ALL.into_iter().filter(is_offered).collect()
    }

    /// A question in words, and what it is about.
    fn words(&self, question: &Question, tool: &str, call: CallId) -> (String, wire::PermissionContext) {
        let known = self.turn.as_ref().and_then(|turn| turn.calls.get(&call));
        let mut context = wire::PermissionContext {
            args: known.map(|known| known.call.args.clone()),
            ..wire::PermissionContext::default()
        };
        let description = match question {
            Question::Command { command, directory, reason, .. } => {
                context.command = Some(command.clone());
                let place = if directory.is_empty() { String::new() } else { format!(" in `{directory}`") };
                let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                format!("Run `{command}`{place}?{why}")
            }
            Question::Patches { patches, .. } => {
                let patches: Vec<&Patch> =
                    patches.iter().filter_map(|id| self.state.proposed.get(id)).map(AsRef::as_ref).collect();
                context.path = patches.first().map(|patch| patch.path.clone());
                changes(&patches)
            }
            Question::Tool { .. } => format!("Allow tool {tool}?"),
        };
        (description, context)
    }
}

/// What changes would do, in words.
fn changes(patches: &[&Patch]) -> String {
    let verb = |patch: &Patch| match patch.kind {
        FileChangeKind::Created => "Create",
        FileChangeKind::Modified => "Change",
        FileChangeKind::Deleted => "Delete",
    };
    let each: Vec<String> = patches.iter().map(|patch| format!("{} `{}`", verb(patch), patch.path)).collect();
    format!("{}?", each.join(", "))
}

fn answer(scope: ApprovalScope, comment: Option<&str>) -> ApprovalAnswer {
    ApprovalAnswer { scope, remember: Remember::Once, comment: comment.map(str::to_owned) }
}
