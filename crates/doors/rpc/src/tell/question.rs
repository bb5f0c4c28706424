//! Questions: put to the client, or answered in its name.

use loggia_domain::{
    ApprovalAnswer, ApprovalId, ApprovalScope, CallId, Decision, FileChangeKind, Patch, Question, Remember,
    Timestamp,
};
use loggia_engine::can_remember;
use loggia_protocol_autohand as wire;
use loggia_protocol_autohand::limits::{MAX_ARGUMENT_BYTES, MAX_OUTPUT_BYTES};

use crate::approvals::Verdict;
use crate::pending::replaceable;
use crate::tell::moment::moment;
use crate::tell::said::Said;
use crate::tell::{Ear, Teller, fit};

/// The most of a question in words, which repeats what stands beside it.
const MAX_DESCRIPTION_BYTES: usize = 8 * 1024;

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

    /// What holds instead of a decision that is to be remembered and cannot be; nothing if that holds as it is.
    pub(crate) fn lesser(
        &self,
        approval: ApprovalId,
        decision: &wire::Decision,
    ) -> Option<wire::DecisionName> {
        let pending = self.state.pending.get(&approval)?;
        let (allows, denies) = self.lasting(&pending.question, pending.call);
        match decision {
            wire::Decision::Allow(scope) if *scope != wire::Scope::Once && !allows => {
                Some(wire::DecisionName::AllowOnce)
            }
            wire::Decision::Deny(scope) if *scope != wire::Scope::Once && !denies => {
                Some(wire::DecisionName::DenyOnce)
            }
            _ => None,
        }
    }

    /// Whether a yes and whether a no to a question can be remembered.
    fn lasting(&self, question: &Question, call: Option<CallId>) -> (bool, bool) {
        let lasts = |decision| can_remember(question, call, &self.state.proposed, decision);
        (lasts(Decision::Allow), lasts(Decision::Deny))
    }

    /// The answers on offer: one that is to be remembered only if it can be, another command or path only if the call is
    /// about one.
    fn options(&self, question: &Question, call: CallId) -> Vec<wire::DecisionName> {
        let (allows, denies) = self.lasting(question, Some(call));
        let known = self.turn.as_ref().and_then(|turn| turn.calls.get(&call));
        let alternative = known.is_some_and(|known| replaceable(question, &known.call.args.0).is_some());
        let is_offered = |name: &wire::DecisionName| match name.scoped() {
            Some(wire::Decision::Allow(scope)) => allows || scope == wire::Scope::Once,
            Some(wire::Decision::Deny(scope)) => denies || scope == wire::Scope::Once,
            Some(wire::Decision::Alternative(_)) | None => alternative,
        };
        wire::DecisionName::ALL.into_iter().filter(is_offered).collect()
    }

    /// A question in words, and what it is about.
    fn words(&self, question: &Question, tool: &str, call: CallId) -> (String, wire::PermissionContext) {
        let known = self.turn.as_ref().and_then(|turn| turn.calls.get(&call));
        let mut context = wire::PermissionContext {
            args: known.map(|known| fit::arguments(known.call.args.clone(), MAX_ARGUMENT_BYTES)),
            ..wire::PermissionContext::default()
        };
        let description = match question {
            Question::Command { command, directory, reason, .. } => {
                context.command = Some(fit::shortened(command, MAX_OUTPUT_BYTES).into_owned());
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
        (fit::shortened(&description, MAX_DESCRIPTION_BYTES).into_owned(), context)
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
