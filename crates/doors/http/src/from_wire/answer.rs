//! `client.approval_response`: decisions.

use std::collections::BTreeSet;

use loggia_domain::{ApprovalAnswer, ApprovalId, ApprovalScope, Intent, Patch, PatchId, Question, Remember};
use loggia_engine::State;
use loggia_protocol_agent_server as wire;
use serde_json::json;
use wire::{ApprovalResponse, ErrorBody, ErrorCode};

use crate::from_wire::heard::{Heard, Name};
use crate::to_wire::{fault, invalid};

/// What a decision asks for: an answer to the question it names, then those to others it reaches.
pub(crate) fn answer(
    response: &ApprovalResponse,
    state: &State,
    heard: &Heard,
) -> Result<Vec<Intent>, ErrorBody> {
    let id = &response.request_id.0;
    let name = Name::parse(id).ok_or_else(|| unknown(id))?;
    let open = state.pending.iter().find(|(id, pending)| name.fits(**id, pending.call, &pending.question));
    let Some((approval, pending)) = open else {
        // Decided already, or never asked: the session says which. A no, since nothing may come of it.
        let approval = match name {
            Name::Request(approval) => approval,
            Name::Command(_) | Name::Patch(_) => heard.find(name).ok_or_else(|| unknown(id))?,
        };
        return Ok(vec![decide(approval, ApprovalScope::None, Remember::Once, None)]);
    };
    let target = Target::of(response, name, &pending.question, state)?;
    let remember = match (&target, response.remember) {
        // A rule is about the whole question: a no to a part of it would forbid the rest as well.
        (Target::Files(..) | Target::Hunks(..), _) | (_, None | Some(wire::Remember::Once)) => Remember::Once,
        (Target::Everything, Some(wire::Remember::Session)) => Remember::Session,
        (Target::Everything, Some(wire::Remember::Workspace)) => Remember::Workspace,
    };
    let about = (!response.approved).then(|| target.comment()).flatten();
    let said = response.comment.as_deref().map(str::trim).filter(|comment| !comment.is_empty());
    let comment = match (about, said) {
        (Some(about), Some(said)) => Some(format!("{about}: {said}")),
        (about, said) => about.or_else(|| said.map(str::to_owned)),
    };
    let scope = match response.approved {
        true => target.scope(),
        false => ApprovalScope::None,
    };
    let first = decide(*approval, scope.clone(), remember, comment);
    let about_patches = matches!(pending.question, Question::Patches { .. });
    let reaches_all = response.scope == Some(wire::ApprovalScope::All) && about_patches;
    let others = state.pending.iter().filter(|(other, pending)| {
        reaches_all && *other != approval && matches!(pending.question, Question::Patches { .. })
    });
    // To be remembered is the answer to the question that was named; its reason holds for all.
    let others =
        others.map(|(other, _)| decide(*other, scope.clone(), Remember::Once, said.map(str::to_owned)));
    Ok(std::iter::once(first).chain(others).collect())
}

/// How much of a question an answer is about.
enum Target<'a> {
    Everything,
    /// Some of several changes.
    Files(&'a str, Vec<PatchId>),
    /// Some hunks of some changes, in their order.
    Hunks(Vec<(&'a Patch, Vec<usize>)>),
}

impl<'a> Target<'a> {
    fn of(
        response: &'a ApprovalResponse,
        name: Name,
        question: &Question,
        state: &'a State,
    ) -> Result<Self, ErrorBody> {
        let narrow = matches!(response.scope, Some(wire::ApprovalScope::File | wire::ApprovalScope::Hunk));
        let Question::Patches { patches, .. } = question else {
            return match narrow {
                true => Err(invalid("/scope", "`all` or nothing, since the question is about no change")),
                false => Ok(Self::Everything),
            };
        };
        let patches: Vec<&Patch> =
            patches.iter().filter_map(|id| state.proposed.get(id).map(|patch| &**patch)).collect();
        match (response.scope, name) {
            (Some(wire::ApprovalScope::All), _) => Ok(Self::Everything),
            // One change is named and not the question: no more than that one is meant.
            (None, Name::Patch(id)) => match patches.iter().find(|patch| patch.id == id) {
                Some(patch) if patches.len() > 1 => Ok(Self::Files(&patch.path, vec![id])),
                _ => Ok(Self::Everything),
            },
            (None, _) => Ok(Self::Everything),
            (Some(wire::ApprovalScope::File), _) => {
                let path = response.file_path.as_deref().unwrap_or_default();
                let chosen = in_file(path, "/file_path", &patches)?;
                match chosen.len() == patches.len() {
                    true => Ok(Self::Everything),
                    false => Ok(Self::Files(path, chosen.iter().map(|patch| patch.id).collect())),
                }
            }
            (Some(wire::ApprovalScope::Hunk), _) => Ok(Self::Hunks(chosen_hunks(response, &patches)?)),
        }
    }

    /// What a yes allows.
    fn scope(&self) -> ApprovalScope {
        match self {
            Self::Everything => ApprovalScope::All,
            Self::Files(_, patches) => ApprovalScope::Patches(patches.clone()),
            Self::Hunks(hunks) => ApprovalScope::Hunks(
                hunks.iter().map(|(patch, indexes)| (patch.id, indexes.clone())).collect(),
            ),
        }
    }

    /// What a no to a part is about. Nothing of the change is made then, and the model may propose the rest again.
    fn comment(&self) -> Option<String> {
        match self {
            Self::Everything => None,
            Self::Files(path, _) => Some(format!("the change to `{path}` is not wanted")),
            Self::Hunks(hunks) => {
                let each = hunks.iter().map(|(patch, indexes)| {
                    let numbers: Vec<String> = indexes.iter().map(usize::to_string).collect();
                    let (hunks, are) = if numbers.len() == 1 { ("hunk", "is") } else { ("hunks", "are") };
                    let (numbers, path) = (numbers.join(", "), &patch.path);
                    format!("{hunks} {numbers}, counted from 0, of the change to `{path}` {are} not wanted")
                });
                Some(each.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

/// The changes to a file that an answer names; at least one.
fn in_file<'b>(path: &str, pointer: &str, patches: &[&'b Patch]) -> Result<Vec<&'b Patch>, ErrorBody> {
    let chosen: Vec<&Patch> = patches.iter().copied().filter(|patch| patch.path == path).collect();
    if chosen.is_empty() {
        let paths: Vec<&str> = patches.iter().map(|patch| patch.path.as_str()).collect();
        return Err(invalid(pointer, format!("a file of the question: `{}`", paths.join("`, `"))));
    }
    Ok(chosen)
}

/// The hunks that an answer names, of one change or of several.
fn chosen_hunks<'b>(
    response: &ApprovalResponse,
    patches: &[&'b Patch],
) -> Result<Vec<(&'b Patch, Vec<usize>)>, ErrorBody> {
    let of = |path: &str, at: &str| Ok::<&Patch, ErrorBody>(in_file(path, at, patches)?[0]);
    if let Some(files) = &response.hunks {
        let each = files.iter().enumerate().map(|(place, file)| {
            let patch = of(&file.file_path, &format!("/hunks/{place}/file_path"))?;
            Ok((patch, hunks_of(&file.hunk_indexes, &format!("/hunks/{place}/hunk_indexes"), patch)?))
        });
        return each.collect();
    }
    let patch = of(response.file_path.as_deref().unwrap_or_default(), "/file_path")?;
    let hunks = match &response.hunk_indexes {
        Some(several) => hunks_of(several, "/hunk_indexes", patch)?,
        None => vec![hunk_of(response.hunk_index.unwrap_or(u32::MAX), "/hunk_index", patch)?],
    };
    Ok(vec![(patch, hunks)])
}

/// Hunks of a change, each once and in their order.
fn hunks_of(indexes: &[u32], pointer: &str, patch: &Patch) -> Result<Vec<usize>, ErrorBody> {
    let checked = indexes.iter().enumerate();
    let checked = checked.map(|(place, index)| hunk_of(*index, &format!("{pointer}/{place}"), patch));
    Ok(checked.collect::<Result<BTreeSet<usize>, _>>()?.into_iter().collect())
}

fn hunk_of(index: u32, pointer: &str, patch: &Patch) -> Result<usize, ErrorBody> {
    let count = patch.hunks.len();
    let index = usize::try_from(index).ok().filter(|index| *index < count);
    index.ok_or_else(|| invalid(pointer, format!("a number below {count}, counted from 0")))
}

fn decide(approval: ApprovalId, scope: ApprovalScope, remember: Remember, comment: Option<String>) -> Intent {
    Intent::Decide { approval, answer: ApprovalAnswer { scope, remember, comment } }
}

fn unknown(id: &str) -> ErrorBody {
    let shown: String = id.chars().take(64).collect();
    let details = json!({"id": shown});
    fault(ErrorCode::UnknownRequest, format!("there is no question `{shown}`"), Some(details), true)
}
