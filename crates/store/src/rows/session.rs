//! Rows about a session as a whole.
//!
//! Knows what is stored of its opening, its name, its model, how much that thinks, and its end. Refuses to know its turns.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{
    Budget, EventBody, ModelName, OwnInstructions, Preset, Seq, SessionId, Thinking, WorkspaceId,
};
use serde::{Deserialize, Serialize};

use crate::rows::parts::{StoredActor, Str, Text};

#[derive(Serialize, Deserialize)]
pub(super) struct SessionOpened<'a> {
    pub(super) workspace: Text<WorkspaceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) preset: Option<Text<Preset>>,
    pub(super) budget: StoredBudget,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) forked_from: Option<StoredFork>,
    pub(super) by: StoredActor<'a>,
}

impl From<SessionOpened<'_>> for EventBody {
    fn from(row: SessionOpened<'_>) -> Self {
        let SessionOpened { workspace, title, model, preset, budget, forked_from, by } = row;
        Self::SessionOpened {
            workspace: workspace.0,
            title: title.map(Into::into),
            model: model.map(|model| ModelName(model.into())),
            preset: preset.map(|preset| preset.0),
            budget: budget.into(),
            forked_from: forked_from.map(Into::into),
            by: by.into(),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SessionRenamed<'a> {
    pub(super) title: Str<'a>,
    pub(super) by: StoredActor<'a>,
}

impl From<SessionRenamed<'_>> for EventBody {
    fn from(row: SessionRenamed<'_>) -> Self {
        let SessionRenamed { title, by } = row;
        Self::SessionRenamed { title: title.into(), by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ModelChanged<'a> {
    pub(super) model: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Str<'a>>,
    pub(super) by: StoredActor<'a>,
}

impl From<ModelChanged<'_>> for EventBody {
    fn from(row: ModelChanged<'_>) -> Self {
        let ModelChanged { model, reason, by } = row;
        Self::ModelChanged { model: ModelName(model.into()), reason: reason.map(Into::into), by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ModelSwitched<'a> {
    pub(super) from: Str<'a>,
    pub(super) to: Str<'a>,
    pub(super) reason: Str<'a>,
}

impl From<ModelSwitched<'_>> for EventBody {
    fn from(row: ModelSwitched<'_>) -> Self {
        let ModelSwitched { from, to, reason } = row;
        Self::ModelSwitched { from: ModelName(from.into()), to: ModelName(to.into()), reason: reason.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct InstructionsChanged<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instead: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) added: Option<Str<'a>>,
    pub(super) by: StoredActor<'a>,
}

impl From<InstructionsChanged<'_>> for EventBody {
    fn from(row: InstructionsChanged<'_>) -> Self {
        let InstructionsChanged { instead, added, by } = row;
        let instructions = OwnInstructions { instead: instead.map(Into::into), added: added.map(Into::into) };
        Self::InstructionsChanged { instructions, by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ThinkingChanged<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<StoredThinking>,
    pub(super) by: StoredActor<'a>,
}

impl From<ThinkingChanged<'_>> for EventBody {
    fn from(row: ThinkingChanged<'_>) -> Self {
        let ThinkingChanged { thinking, by } = row;
        Self::ThinkingChanged { thinking: thinking.map(Into::into), by: by.into() }
    }
}

/// How much a model is to think.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredThinking {
    Off {},
    Extended {},
    Tokens { most: u32 },
}

impl From<Thinking> for StoredThinking {
    fn from(thinking: Thinking) -> Self {
        match thinking {
            Thinking::Off => Self::Off {},
            Thinking::Extended => Self::Extended {},
            Thinking::Tokens(most) => Self::Tokens { most },
        }
    }
}

impl From<StoredThinking> for Thinking {
    fn from(row: StoredThinking) -> Self {
        match row {
            StoredThinking::Off {} => Self::Off,
            StoredThinking::Extended {} => Self::Extended,
            StoredThinking::Tokens { most } => Self::Tokens(most),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SessionClosed<'a> {
    pub(super) by: StoredActor<'a>,
}

impl From<SessionClosed<'_>> for EventBody {
    fn from(row: SessionClosed<'_>) -> Self {
        let SessionClosed { by } = row;
        Self::SessionClosed { by: by.into() }
    }
}

/// What a session may use up.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredBudget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    micro_dollars: Option<u64>,
}

impl From<&Budget> for StoredBudget {
    fn from(budget: &Budget) -> Self {
        let Budget { tokens, micro_dollars } = *budget;
        Self { tokens, micro_dollars }
    }
}

impl From<StoredBudget> for Budget {
    fn from(row: StoredBudget) -> Self {
        let StoredBudget { tokens, micro_dollars } = row;
        Self { tokens, micro_dollars }
    }
}

/// Where a session was split from.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredFork {
    session: Text<SessionId>,
    seq: u64,
}

impl From<&(SessionId, Seq)> for StoredFork {
    fn from((session, seq): &(SessionId, Seq)) -> Self {
        Self { session: Text(*session), seq: seq.0 }
    }
}

impl From<StoredFork> for (SessionId, Seq) {
    fn from(row: StoredFork) -> Self {
        let StoredFork { session, seq } = row;
        (session.0, Seq(seq))
    }
}
