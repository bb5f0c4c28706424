//! What clients did for the agent, and what they saw happen to files.

use std::path::{Component, Path};

use loggia_domain::{CallId, CommandExit, CommandReport, ContentHash, Intent, PatchReport};
use loggia_protocol_agent_server as wire;
use serde_json::json;
use wire::{
    CommandResult, ErrorBody, ErrorCode, FileChangeKind, FileChanges, PatchApplyResult, PatchFailure,
};

use crate::to_wire::{COMMAND_PREFIX, fault, invalid};

/// What a command without an exit code is reported with: no shell gives it.
const NO_CODE: i32 = -1;

/// `client.patch_apply_result`.
pub(crate) fn patch_report(result: PatchApplyResult) -> Result<Intent, ErrorBody> {
    let patch = result.patch_id.0.parse().map_err(|_| nobody_waits(&result.patch_id.0))?;
    let hash = result.applied_hash.as_ref().map(|hash| parse_hash(&hash.0)).transpose()?;
    let report = match (result.success, result.error) {
        (true, _) => PatchReport::Applied { hash },
        (false, Some(error)) if error.kind == PatchFailure::Conflict => PatchReport::Conflict,
        (false, Some(error)) => PatchReport::Failed { message: error.message },
        (false, None) => PatchReport::Failed { message: "the client did not say why".to_owned() },
    };
    Ok(Intent::ReportPatch { patch, report })
}

/// `client.command_result`.
pub(crate) fn command_report(result: CommandResult) -> Result<Intent, ErrorBody> {
    let id = &result.command_id.0;
    let digits = id.strip_prefix(COMMAND_PREFIX).ok_or_else(|| nobody_waits(id))?;
    let call = format!("{}{digits}", CallId::PREFIX).parse().map_err(|_| nobody_waits(id))?;
    let mut stderr = result.stderr;
    if result.exit_code.is_none() {
        stderr.push_str("\n[the terminal told no exit code]\n");
    }
    let report = CommandReport {
        exit: CommandExit::Code(result.exit_code.unwrap_or(NO_CODE)),
        stdout: result.stdout,
        stderr,
        milliseconds: result.duration_ms.unwrap_or(0),
    };
    Ok(Intent::ReportCommand { call, report })
}

/// The paths of changed files, and how many changes are dropped: what leads outside or is of a kind nobody knows.
pub(crate) fn changed_paths(changes: FileChanges) -> (Vec<String>, usize) {
    let total = changes.changes.len();
    let known = changes.changes.into_iter().filter(|change| !matches!(change.kind, FileChangeKind::Other(_)));
    let inside: Vec<String> =
        known.map(|change| change.file_path).filter(|path| leads_inside(path)).collect();
    let dropped = total - inside.len();
    (inside, dropped)
}

/// Whether a path is relative and goes only down.
pub(crate) fn leads_inside(path: &str) -> bool {
    let down = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    down && !path.is_empty() && !path.contains('\0')
}

/// A content hash: `sha256:` and 64 hexadecimal digits.
pub(super) fn content_hash(text: &str) -> Option<ContentHash> {
    ContentHash::from_hex(&text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase())
}

fn parse_hash(text: &str) -> Result<ContentHash, ErrorBody> {
    content_hash(text).ok_or_else(|| invalid("/applied_hash", "`sha256:` and 64 hexadecimal digits"))
}

fn nobody_waits(id: &str) -> ErrorBody {
    let shown: String = id.chars().take(64).collect();
    let message = format!("nobody waits for a report on `{shown}`");
    fault(ErrorCode::UnknownRequest, message, Some(json!({"id": shown})), true)
}
