//! `session.state`: what is open and what is done.

use loggia_domain::{ApprovalId, PatchId, Usage};
use loggia_engine::State;
use loggia_protocol_agent_server as wire;

use crate::to_wire::names::{patch_id, question_id};
use crate::to_wire::past::{Asked, Past};

/// A session's state as clients see it.
pub(crate) fn state(state: &State) -> wire::SessionState {
    let asked = state.pending.iter().map(|(id, asked)| (*id, Asked::new(asked.call, &asked.question)));
    let plan = state.plan.as_ref().map_or((0, 0), |plan| (plan.current, plan.steps.len()));
    build(state.proposed.keys(), &state.applied, asked, plan, state.usage)
}

impl Past {
    /// The session's state at this point.
    pub(crate) fn state(&self) -> wire::SessionState {
        let asked = self.pending.iter().map(|(id, asked)| (*id, *asked));
        build(self.proposed.keys(), &self.applied, asked, self.plan, self.usage)
    }
}

/// A state as a message of its own, which belongs to no event: at the beginning and at the end of a stream.
pub(crate) fn snapshot(state: wire::SessionState) -> wire::ServerMessage {
    wire::ServerMessage::SessionState(wire::SessionStateUpdate {
        state,
        decided: None,
        stamp: wire::Stamp::default(),
    })
}

fn build<'a>(
    proposed: impl Iterator<Item = &'a PatchId>,
    applied: &[PatchId],
    asked: impl Iterator<Item = (ApprovalId, Asked)>,
    (current, total): (usize, usize),
    used: Usage,
) -> wire::SessionState {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    wire::SessionState {
        pending_patches: proposed.copied().map(patch_id).collect(),
        applied_patches: applied.iter().copied().map(patch_id).collect(),
        pending_approvals: asked.map(|(id, asked)| question_id(id, asked.command())).collect(),
        // Counted from 1 on the wire; when all is done, the last one stays.
        current_step: number(current.saturating_add(1).min(total)),
        total_steps: number(total),
        usage: (used != Usage::NONE).then(|| usage(used)),
    }
}

/// What was used, as clients see it.
pub(crate) fn usage(used: Usage) -> wire::TokenUsage {
    let Usage { input, cached, output, micro_dollars } = used;
    wire::TokenUsage {
        input_tokens: input,
        output_tokens: output,
        cached_tokens: cached,
        cost_usd: micro_dollars.map(dollars),
    }
}

/// Millionths of a dollar as dollars.
#[expect(clippy::cast_precision_loss, reason = "nobody spends nine thousand million dollars here")]
pub(crate) fn dollars(micro: u64) -> f64 {
    micro as f64 / 1e6
}
