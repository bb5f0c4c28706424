//! Switches a client may set. All of them are beyond the specification; client libraries set some at start-up.

use loggia_jsonrpc::{Json, Method, Order};
use serde::{Deserialize, Serialize};

use crate::{SuccessResult, whole};

/// Sets how much is asked before tools run.
#[derive(Debug)]
pub struct PermissionModeSet;

impl Method for PermissionModeSet {
    const NAME: &'static str = "autohand.permissionModeSet";
    const ORDER: Order = Order::Ordered;
    type Params = PermissionModeSetParams;
    type Result = PermissionModeSetResult;
}

/// The wanted mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionModeSetParams {
    /// The mode.
    pub mode: PermissionMode,
}

/// How much is asked before tools run. The first four are today's words, the rest are older ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "must be the name of a mode")]
pub enum PermissionMode {
    /// Ask where the policy says so.
    Interactive,
    /// Ask nothing; the built-in denials hold.
    Unrestricted,
    /// Refuse dangerous tools without asking.
    Restricted,
    /// Somebody else is asked.
    External,
    /// An older word for `interactive`.
    Default,
    /// An older word for `unrestricted`.
    BypassPermissions,
    /// An older word: edits need no question.
    AcceptEdits,
    /// An older word: what would be asked is refused.
    DontAsk,
    /// An older word.
    Auto,
    /// An older word.
    Ask,
    /// An older word.
    Yolo,
    /// An older word: read-only planning.
    Plan,
    /// A word we do not know; the call is answered with `success: false`.
    #[serde(untagged)]
    Other(String),
}

impl PermissionMode {
    /// Today's word for the two older ones that mean exactly the same; every other mode is itself.
    pub fn modern(self) -> Self {
        match self {
            Self::Default => Self::Interactive,
            Self::BypassPermissions => Self::Unrestricted,
            other => other,
        }
    }
}

/// What the mode was and is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionModeSetResult {
    /// Whether the wanted mode is in force.
    pub success: bool,
    /// The mode in force.
    pub current_mode: PermissionMode,
    /// The mode before.
    pub previous_mode: PermissionMode,
}

/// Switches read-only planning on or off.
#[derive(Debug)]
pub struct PlanModeSet;

impl Method for PlanModeSet {
    const NAME: &'static str = "autohand.planModeSet";
    const ORDER: Order = Order::Ordered;
    type Params = PlanModeSetParams;
    type Result = SuccessResult;
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanModeSetParams {
    /// Whether to plan only.
    pub enabled: bool,
}

/// Sets options that otherwise are command-line flags.
#[derive(Debug)]
pub struct ApplyFlagSettings;

impl Method for ApplyFlagSettings {
    const NAME: &'static str = "autohand.applyFlagSettings";
    const ORDER: Order = Order::Ordered;
    type Params = ApplyFlagSettingsParams;
    type Result = ApplyFlagSettingsResult;
}

/// The wanted options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyFlagSettingsParams {
    /// Name → value; whoever owns an option reads its value.
    pub settings: Json,
}

/// Which options were understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyFlagSettingsResult {
    /// Whether the call took effect.
    pub success: bool,
    /// Names of the options in force.
    pub applied_settings: Vec<String>,
}

/// Chooses the model for later turns.
#[derive(Debug)]
pub struct ModelSet;

impl Method for ModelSet {
    const NAME: &'static str = "autohand.modelSet";
    const ORDER: Order = Order::Ordered;
    type Params = ModelSetParams;
    type Result = ModelSetResult;
}

/// The wanted model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelSetParams {
    /// Its id; absent means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The model in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelSetResult {
    /// Whether the wanted model is in force.
    pub success: bool,
    /// The model in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_model: Option<String>,
}

/// Sets how long the model may think.
#[derive(Debug)]
pub struct MaxThinkingTokensSet;

impl Method for MaxThinkingTokensSet {
    const NAME: &'static str = "autohand.maxThinkingTokensSet";
    const ORDER: Order = Order::Ordered;
    type Params = MaxThinkingTokensSetParams;
    type Result = MaxThinkingTokensSetResult;
}

/// The wanted budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaxThinkingTokensSetParams {
    /// Tokens; `null` switches thinking off, and clients write it.
    #[serde(default, deserialize_with = "whole::optional_unsigned")]
    pub max_thinking_tokens: Option<u64>,
}

/// The budget in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaxThinkingTokensSetResult {
    /// Whether the call took effect.
    pub success: bool,
    /// Tokens; `null` when thinking is off, as existing agents answer.
    #[serde(default)]
    pub current_max_thinking_tokens: Option<u64>,
}

/// Switches the shortening of long conversations on or off.
#[derive(Debug)]
pub struct SetContextCompact;

impl Method for SetContextCompact {
    const NAME: &'static str = "autohand.setContextCompact";
    const ORDER: Order = Order::Ordered;
    type Params = SetContextCompactParams;
    type Result = SetContextCompactResult;
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetContextCompactParams {
    /// Whether long conversations are shortened.
    pub enabled: bool,
}

/// What is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetContextCompactResult {
    /// Whether long conversations are shortened.
    pub enabled: bool,
}

/// Allows everything for a while, or asks again.
#[derive(Debug)]
pub struct YoloSet;

impl Method for YoloSet {
    const NAME: &'static str = "autohand.yoloSet";
    const ORDER: Order = Order::Ordered;
    type Params = YoloSetParams;
    type Result = YoloSetResult;
}

/// [`YoloSet`] under its second name.
#[derive(Debug)]
pub struct YoloSetDotted;

impl Method for YoloSetDotted {
    const NAME: &'static str = "autohand.yolo.set";
    const ORDER: Order = Order::Ordered;
    type Params = YoloSetParams;
    type Result = YoloSetResult;
}

/// What to allow, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct YoloSetParams {
    /// Which tools; empty asks again.
    pub pattern: String,
    /// After this time it is asked again.
    #[serde(default, deserialize_with = "whole::optional_unsigned", skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
}

/// What is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct YoloSetResult {
    /// Whether the call took effect.
    pub success: bool,
    /// Seconds until it is asked again, where there is a time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
}
