//! Settings as a policy: `policy.*`, `sandbox.*` and `runner.*`.

use loggia_domain::{Policy, Preset};

use super::keys::{self, Key};
use super::layers::Setting;
use super::value::Value;

/// The policy these settings amount to.
pub(super) fn of(settings: &[Setting]) -> Policy {
    let mut policy = Policy { preset: preset(settings), ..Policy::default() };
    let limits = &mut policy.limits;
    limits.approval_timeout_s = limit(settings, &keys::POLICY_APPROVAL_TIMEOUT_S);
    limits.max_tokens = limit(settings, &keys::POLICY_MAX_TOKENS);
    if let Some(steps) = limit(settings, &keys::POLICY_MAX_STEPS) {
        limits.max_steps = u32::try_from(steps).unwrap_or(u32::MAX);
    }
    if let Some(seconds) = limit(settings, &keys::RUNNER_COMMAND_TIMEOUT_S) {
        limits.command_timeout_s = seconds;
    }
    if let Some(bytes) = limit(settings, &keys::RUNNER_OUTPUT_BYTES) {
        limits.output_bytes = bytes;
    }
    policy.sandbox.required = switch(settings, &keys::SANDBOX_REQUIRED);
    policy.sandbox.network = switch(settings, &keys::SANDBOX_NETWORK);
    policy
}

/// `policy.preset`.
pub(super) fn preset(settings: &[Setting]) -> Preset {
    match value(settings, &keys::POLICY_PRESET) {
        Some(Value::Text(name)) if name == "read-only" => Preset::ReadOnly,
        Some(Value::Text(name)) if name == "auto-edit" => Preset::AutoEdit,
        Some(Value::Text(name)) if name == "full" => Preset::Full,
        _ => Preset::Ask,
    }
}

/// A number; nothing where there is no limit.
pub(super) fn limit(settings: &[Setting], key: &Key) -> Option<u64> {
    match value(settings, key) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    }
}

pub(super) fn switch(settings: &[Setting], key: &Key) -> bool {
    matches!(value(settings, key), Some(Value::Switch(true)))
}

pub(super) fn value<'a>(settings: &'a [Setting], key: &Key) -> Option<&'a Value> {
    settings.iter().find(|setting| setting.path == key.path).map(|setting| &setting.value)
}
