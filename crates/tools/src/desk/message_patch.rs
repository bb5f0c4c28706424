//! `message_patch`: places of the open message, changed in its file.
//!
//! What it gives back is a change of a file like any other: judged, shown, decided about and undone as such. The desk
//! sees that its file holds what was proposed and takes that over.

use std::sync::Arc;

use loggia_domain::{
    ArgumentError, Demand, FileEdit, MessageDesk, MessagePatch as DomainPatch, ProposedMessage, RefusedPatch,
    ToolContext, ToolEffect, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::message_get::MAX_PATH;
use crate::desk::{DeskArguments, DeskCall, failed, readable};
use crate::proposal::MAX_EDITED;

/// How many places may be changed at once: people look at every one.
const MAX_PATCHES: usize = 1000;

/// How many places are named to people who decide, and how much of each value.
const MAX_PLACES_SHOWN: usize = 20;
const MAX_VALUE_SHOWN: usize = 60;

/// Changes single places of the open message, in order, and leaves all the rest of it as it is. All of the changes are
/// made, or none. In HL7 a place is a path like PID.5.1, OBX[2].5 or PID.13[2].1, or a segment like NK1 with `create`
/// or `remove`; in JSON, YAML and TOML it is the names on the way, with dots between. Use this and not edit_file for
/// messages: it escapes what has to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessagePatch {
    /// The changes, in order.
    patches: Vec<OnePatch>,
    /// Where to write the message, relative to the workspace, if not to its own file.
    file: Option<String>,
    /// Why the change is made, in a sentence.
    reason: Option<String>,
    /// How to tell that the change is right.
    #[serde(default)]
    acceptance_criteria: Vec<String>,
}

/// A change of one place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OnePatch {
    /// The place.
    path: String,
    /// What shall stand there; empty clears it.
    value: Option<String>,
    /// Whether to make the place, for one that is not there yet.
    #[serde(default)]
    create: bool,
    /// Whether to take the place away.
    #[serde(default)]
    remove: bool,
}

/// A checked call.
pub(super) struct Patch {
    patches: Vec<DomainPatch>,
    file: Option<String>,
    reason: Option<String>,
    acceptance_criteria: Vec<String>,
}

impl DeskArguments for MessagePatch {
    const NAME: &'static str = "message_patch";
    type Desk = dyn MessageDesk;
    type Call = Patch;

    fn check(self) -> Result<Patch, ArgumentError> {
        let count = self.patches.len();
        if !(1..=MAX_PATCHES).contains(&count) {
            return Err(ArgumentError(format!("`patches` must be 1 to {MAX_PATCHES} changes, not {count}")));
        }
        for (number, patch) in self.patches.iter().enumerate() {
            if patch.path.trim().is_empty() || patch.path.len() > MAX_PATH {
                return Err(ArgumentError(format!(
                    "`patches[{number}].path` is empty or over {MAX_PATH} bytes long"
                )));
            }
            if patch.create && patch.remove {
                return Err(ArgumentError(format!(
                    "`patches[{number}]` both makes its place and takes it away"
                )));
            }
        }
        let patch = |patch: OnePatch| DomainPatch {
            path: patch.path,
            value: patch.value,
            remove: patch.remove,
            create: patch.create,
        };
        let says_something = |text: &String| !text.trim().is_empty();
        Ok(Patch {
            patches: self.patches.into_iter().map(patch).collect(),
            file: self.file.filter(says_something),
            reason: self.reason.filter(says_something),
            acceptance_criteria: self.acceptance_criteria.into_iter().filter(says_something).collect(),
        })
    }
}

impl DeskCall<dyn MessageDesk> for Patch {
    fn demand(&self) -> Demand {
        match &self.file {
            Some(file) => Demand { writes: vec![file.clone()], ..Demand::default() },
            // Which file it is only the desk knows.
            None => Demand { unnamed_writes: true, ..Demand::default() },
        }
    }

    async fn run(self, desk: Arc<dyn MessageDesk>, context: ToolContext) -> Result<ToolEffect, ToolError> {
        readable(&desk, &context).await?;
        let Self { patches, file, reason, acceptance_criteria } = self;
        let places = places(&patches);
        let proposed = desk.propose(patches, file).await.map_err(failed)?;
        let ProposedMessage { path, before, after, refused, .. } = proposed;
        if !refused.is_empty() {
            return Err(ToolError::Failed(told(&refused)));
        }
        if context.overlay.contains_key(&path) {
            return Err(ToolError::Failed(format!(
                "`{path}` has changes that are collected and not decided about yet; make all changes of the message \
                 in one call, or the next ones when those are decided"
            )));
        }
        if after.len() as u64 > MAX_EDITED {
            return Err(ToolError::Failed(format!(
                "the message would have {} bytes; the limit is {MAX_EDITED}",
                after.len()
            )));
        }
        if before.as_deref() == Some(after.as_slice()) {
            return Ok(ToolEffect::Output("nothing to change: the message already is like this".to_owned()));
        }
        let rationale = Some(match reason {
            Some(reason) => format!("{reason} ({places})"),
            None => places,
        });
        Ok(ToolEffect::Edits(vec![FileEdit {
            path,
            before,
            after: Some(after),
            rationale,
            acceptance_criteria,
        }]))
    }
}

/// What is changed, for the people who decide: a message without line feeds is one long line in a diff.
fn places(patches: &[DomainPatch]) -> String {
    let shown = |text: &str| match text.char_indices().nth(MAX_VALUE_SHOWN) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    };
    let place = |patch: &DomainPatch| {
        let path = shown(&patch.path);
        match patch.value.as_deref().filter(|value| !value.is_empty()) {
            _ if patch.remove => format!("{path} goes"),
            Some(value) => format!("{path} = {}", shown(value)),
            None if patch.create => format!("{path} is made"),
            None => format!("{path} is cleared"),
        }
    };
    let mut text = patches.iter().take(MAX_PLACES_SHOWN).map(place).collect::<Vec<_>>().join(", ");
    if patches.len() > MAX_PLACES_SHOWN {
        text.push_str(&format!(" and {} more", patches.len() - MAX_PLACES_SHOWN));
    }
    text
}

/// Every change that cannot be made, and why.
fn told(refused: &[RefusedPatch]) -> String {
    let lines =
        refused.iter().map(|patch| format!("\n- patches[{}] `{}`: {}", patch.index, patch.path, patch.why));
    format!("nothing was changed, since not all changes can be made:{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_which_places_change_and_how() {
        let patch = |path: &str, value: Option<&str>, create, remove| DomainPatch {
            path: path.to_owned(),
            value: value.map(str::to_owned),
            create,
            remove,
        };
        let all = [
            patch("PID.5.1", Some("ROE"), false, false),
            patch("PID.8", None, false, false),
            patch("NK1", None, true, false),
            patch("OBX[2]", None, false, true),
            patch("NTE.3", Some(&"ä".repeat(100)), false, false),
        ];
        let long = "ä".repeat(MAX_VALUE_SHOWN);
        let expected = format!(
            "`PID.5.1` = `ROE`, `PID.8` is cleared, `NK1` is made, `OBX[2]` goes, `NTE.3` = `{long}…`"
        );
        assert_eq!(places(&all), expected);
        let many = vec![patch("A", None, false, false); MAX_PLACES_SHOWN + 2];
        assert!(places(&many).ends_with("`A` is cleared and 2 more"), "{}", places(&many));
    }
}
