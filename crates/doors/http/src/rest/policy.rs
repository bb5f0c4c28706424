//! `…/policy`: what the agent may do in a workspace.
//!
//! Reading it, changing it and putting it back loses nothing. A change names the revision it was made to: in `if-match`,
//! or else by the `revision` in the body.

mod convert;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use loggia_domain::{CommandRequest, Demand, Policy};
use loggia_engine::policy::{Verdict, VerdictSource, check as check_rules};
use loggia_protocol_agent_server as wire;
use wire::{PolicyCheckParams, PolicyCheckResult, ProblemType};

pub(crate) use convert::preset;

use crate::ask::{WorkspacePath, whole_number};
use crate::body::Body;
use crate::problem::Problem;
use crate::rest::policy::convert::{decision, from_wire, risk, to_wire};
use crate::rest::{Answer, Shared, blocking, disk};

/// A policy and its revision.
type Tagged = ([(HeaderName, HeaderValue); 1], Json<wire::Policy>);

pub(crate) async fn get(State(inner): Shared, WorkspacePath(id): WorkspacePath) -> Answer<Tagged> {
    inner.parts.engine.workspace(id).await?;
    Ok(tagged(&*disk::policy(&inner, id).await?))
}

pub(crate) async fn put(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
    headers: HeaderMap,
    Body(wanted): Body<wire::Policy>,
) -> Answer<Tagged> {
    let engine = inner.parts.engine.clone();
    engine.workspace(id).await?;
    let policy = from_wire(wanted)?;
    check_rules(&policy)?;
    let expected = match precondition(&headers)? {
        Precondition::Absent => policy.revision,
        Precondition::Any => disk::policy(&inner, id).await?.revision,
        Precondition::OneOf(revisions) => {
            let found = disk::policy(&inner, id).await?.revision;
            if !revisions.contains(&found) {
                let detail = format!("the policy is at revision {found}; read it again");
                return Err(Problem::of(ProblemType::StaleRevision, detail));
            }
            found
        }
    };
    let saved = blocking(move || engine.set_policy(id, policy, expected)).await??;
    Ok(tagged(&saved))
}

/// `POST …/policy/check`: what would it say to this?
pub(crate) async fn check(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
    Body(params): Body<PolicyCheckParams>,
) -> Answer<Json<PolicyCheckResult>> {
    let engine = &inner.parts.engine;
    engine.workspace(id).await?;
    let draft = params.policy.map(from_wire).transpose()?;
    if let Some(draft) = &draft {
        check_rules(draft)?;
    }
    let (tool, demand) = call(params.tool, params.path, params.command)?;
    if let Err(reason) = engine.has_tool(id, &tool).await? {
        return Err(Problem::field("/tool", reason));
    }
    let verdict = engine.judge(id, draft, &tool, demand).await?;
    Ok(Json(result(verdict)))
}

/// The call that is meant. A path alone is read, a command alone is run.
fn call(tool: Option<String>, path: Option<String>, command: Option<String>) -> Answer<(String, Demand)> {
    let tool = match (tool, &path, &command) {
        (Some(tool), ..) => tool,
        (None, _, Some(_)) => "run_command".to_owned(),
        (None, Some(_), None) => "read_file".to_owned(),
        (None, None, None) => return Err(Problem::field("", "name a `tool`, a `path` or a `command`")),
    };
    // The protocol's names for tools of ours.
    let tool = match tool.as_str() {
        "execute_command" => "run_command".to_owned(),
        "propose_diff" => "edit_file".to_owned(),
        _ => tool,
    };
    if tool == "run_command" && command.is_none() {
        return Err(Problem::field("/command", "name the `command` it would run"));
    }
    let changes = ["write_file", "edit_file", "apply_patch", "delete_file"].contains(&tool.as_str());
    if changes && path.is_none() {
        return Err(Problem::field("/path", "name the `path` it would change"));
    }
    let command = command.map(|line| CommandRequest { line, ..CommandRequest::default() });
    let mut demand = Demand { command, ..Demand::default() };
    match tool.as_str() {
        "write_file" | "edit_file" | "apply_patch" => demand.writes.extend(path),
        "delete_file" => demand.deletes.extend(path),
        _ => demand.reads.extend(path),
    }
    Ok((tool, demand))
}

fn result(verdict: Verdict) -> PolicyCheckResult {
    PolicyCheckResult {
        decision: decision(verdict.decision),
        risk: risk(verdict.risk),
        rule: match verdict.source {
            // From 1, as in the reason and in the guide; pointers into a body count from 0, as pointers do.
            VerdictSource::Rule(index) => Some(index + 1),
            VerdictSource::Builtin
            | VerdictSource::SessionRule
            | VerdictSource::Suggestion
            | VerdictSource::Preset
            | VerdictSource::Restraint => None,
        },
        reason: verdict.reason,
    }
}

fn tagged(policy: &Policy) -> Tagged {
    let tag = HeaderValue::from_str(&format!("\"{}\"", policy.revision)).expect("a number is plain text");
    ([(ETAG, tag)], Json(to_wire(policy)))
}

/// What must hold for a change.
#[derive(Debug, PartialEq, Eq)]
enum Precondition {
    Absent,
    Any,
    OneOf(Vec<u64>),
}

fn precondition(headers: &HeaderMap) -> Answer<Precondition> {
    let mut revisions = Vec::new();
    let mut values = headers.get_all(IF_MATCH).iter().peekable();
    if values.peek().is_none() {
        return Ok(Precondition::Absent);
    }
    for value in values {
        let text = value.to_str().map_err(|_| Problem::bad_request("`if-match` is no text"))?;
        for tag in text.split(',').map(str::trim) {
            if tag == "*" {
                return Ok(Precondition::Any);
            }
            let (is_weak, bare) = tag.strip_prefix("W/").map_or((false, tag), |bare| (true, bare));
            let inner = bare.strip_prefix('"').and_then(|bare| bare.strip_suffix('"'));
            let Some(inner) = inner.filter(|inner| !inner.contains('"')) else {
                let detail = "`if-match` names revisions in quotes, as `etag` does: \"3\"";
                return Err(Problem::bad_request(detail));
            };
            // A weak tag never matches, as HTTP has it, nor does one that is no revision of ours.
            revisions.extend(whole_number(inner).filter(|_| !is_weak));
        }
    }
    Ok(Precondition::OneOf(revisions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_names_revisions() {
        let tried = |text: &'static str| {
            precondition(&HeaderMap::from_iter([(IF_MATCH, HeaderValue::from_static(text))]))
        };
        let read = |text: &'static str| tried(text).unwrap();
        assert_eq!(precondition(&HeaderMap::new()).unwrap(), Precondition::Absent);
        assert_eq!(read("*"), Precondition::Any);
        assert_eq!(read("\"3\""), Precondition::OneOf(vec![3]));
        assert_eq!(read("\"3\", \"4\""), Precondition::OneOf(vec![3, 4]));
        assert_eq!(read("W/\"3\", \"x\", \"+3\""), Precondition::OneOf(vec![]));
        for text in ["", "3", "{}", "\"3", "\"3\"4\"", "W/3", "\"3\","] {
            assert!(tried(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tool_decides_what_happens_to_the_path() {
        let demand = |tool: Option<&str>| {
            call(tool.map(ToOwned::to_owned), Some("a".to_owned()), None)
                .map(|(tool, demand)| (tool, demand.reads.len(), demand.writes.len(), demand.deletes.len()))
        };
        assert_eq!(demand(None).unwrap(), ("read_file".to_owned(), 1, 0, 0));
        assert_eq!(demand(Some("propose_diff")).unwrap(), ("edit_file".to_owned(), 0, 1, 0));
        assert_eq!(demand(Some("delete_file")).unwrap(), ("delete_file".to_owned(), 0, 0, 1));
        assert!(call(None, None, None).is_err());
    }
}
