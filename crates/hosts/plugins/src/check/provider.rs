//! What a provider is asked.

use std::time::Duration;

use loggia_jsonrpc::{Method, decode};
use loggia_protocol_mehrhof::{
    ListResult, ProviderCapability, ProviderFetch, ProviderInitResult, ProviderList, ProviderMatch,
    ProviderParse, ProviderParseResult, ProviderSnapshot, WorkUnit,
};
use serde_json::json;
use serde_json::value::RawValue;

use super::judge::{Tolerance, failed, noted, skipped};
use super::report::Outcome;
use super::session::Session;
use crate::manifest::ProviderRole;

/// What no provider knows.
const NO_TASK: &str = "check-no-such-task-4711";

/// A scheme nobody has.
const NO_SCHEME: &str = "check-no-such-scheme";

/// Methods that change something elsewhere: they are only called without what they need.
const CHANGES: &[&str] = &[
    "provider.addComment",
    "provider.updateStatus",
    "provider.addLabels",
    "provider.removeLabels",
    "provider.linkBranch",
    "provider.unlinkBranch",
    "provider.createPR",
];

/// Methods that only read, and need the name of a task.
const READS: &[&str] = &["provider.fetchComments", "provider.getLinkedBranch", "provider.downloadAttachment"];

pub(super) async fn check(session: &mut Session<'_>, role: &ProviderRole, told: &RawValue) {
    let said: ProviderInitResult = decode(told.get()).unwrap_or_default();
    let can = said.capabilities.clone().unwrap_or_else(|| role.capabilities.clone());
    capabilities(session, role, &said);
    matching(session, role).await;
    let listed = list(session, &can).await;
    let reference = session.options.reference.clone().or_else(|| {
        let unit = listed.as_ref()?.items.first()?;
        let key = unit.external_key.as_ref().or(unit.external_id.as_ref()).unwrap_or(&unit.id.0);
        let scheme = role.schemes.first()?;
        Some(if key.starts_with(&format!("{scheme}:")) { key.clone() } else { format!("{scheme}:{key}") })
    });
    let id = parse(session, reference.as_deref()).await;
    task(session, &can, id.as_deref()).await;
    for method in [ProviderMatch::NAME, ProviderParse::NAME, ProviderFetch::NAME] {
        refused_without_params(session, method).await;
    }
    for method in CHANGES.iter().chain(READS) {
        if ProviderCapability::needed_by(method).is_some_and(|needed| can.contains(&needed)) {
            refused_without_params(session, method).await;
        } else {
            session.tell(*method, Duration::ZERO, skipped("it is not declared"));
        }
    }
}

/// What the plugin says is what its manifest says.
fn capabilities(session: &mut Session<'_>, role: &ProviderRole, said: &ProviderInitResult) {
    let words = |list: &[ProviderCapability]| {
        let mut words: Vec<String> = list.iter().map(|word| format!("{}", json!(word))).collect();
        // Everybody has this one, said or not.
        words.retain(|word| word != "\"read\"");
        words.sort();
        words.join(", ")
    };
    let outcome = match &said.capabilities {
        None => noted("a list of `capabilities`", "none; the manifest's count"),
        Some(list) if words(list) == words(&role.capabilities) => Outcome::Passed,
        Some(list) => noted(
            format!("the manifest's capabilities, {}", words(&role.capabilities)),
            format!("{}; these count once it runs", words(list)),
        ),
    };
    session.tell("provider.init: capabilities", Duration::ZERO, outcome);
}

async fn matching(session: &mut Session<'_>, role: &ProviderRole) {
    let ours = session.options.reference.clone();
    let ours = ours.unwrap_or_else(|| format!("{}:1", role.schemes.first().map_or("", String::as_str)));
    for (name, input, wanted) in [
        ("a reference of its own", ours, true),
        ("a reference of nobody", format!("{NO_SCHEME}:1"), false),
        ("nothing at all", String::new(), false),
    ] {
        let heard = session.ask(ProviderMatch::NAME, json!({ "input": input })).await;
        let outcome = match heard.answer.read::<ProviderMatch>() {
            Ok(said) if said.matches == wanted => Outcome::Passed,
            Ok(said) => noted(format!("`{wanted}` for `{input}`"), format!("`{}`", said.matches)),
            Err(outcome) => outcome,
        };
        session.judge(format!("provider.match: {name}"), &heard, outcome);
    }
}

async fn list(session: &mut Session<'_>, can: &[ProviderCapability]) -> Option<ListResult> {
    if !can.contains(&ProviderCapability::List) {
        session.tell("provider.list", Duration::ZERO, skipped("it is not declared"));
        return None;
    }
    let heard = session.ask(ProviderList::NAME, json!({ "filter": {}, "limit": 2, "offset": 0 })).await;
    let listed = heard.answer.read::<ProviderList>();
    let outcome = match &listed {
        Ok(page) => heard.answer.otherwise(page).unwrap_or_else(|| whole_page(page)),
        Err(outcome) => outcome.clone(),
    };
    session.judge("provider.list", &heard, outcome);
    let params =
        json!({ "filter": { "status": "open", "labels": ["check"] }, "limit": 2, "offset": 1_000_000 });
    let heard = session.ask(ProviderList::NAME, params).await;
    let outcome = match heard.answer.read::<ProviderList>() {
        Ok(page) if page.items.is_empty() => Outcome::Passed,
        Ok(page) => noted("no task beyond the end", format!("{}", page.items.len())),
        Err(outcome) => outcome,
    };
    session.judge("provider.list: beyond the end", &heard, outcome);
    listed.ok()
}

/// The name of the task to go on with.
async fn parse(session: &mut Session<'_>, reference: Option<&str>) -> Option<String> {
    let mut id = None;
    match reference {
        None => {
            let reason = "no task is known; name one with `--reference`";
            session.tell("provider.parse: a task", Duration::ZERO, skipped(reason));
        }
        Some(reference) => {
            let heard = session.ask(ProviderParse::NAME, json!({ "input": reference })).await;
            let outcome = match heard.answer.read::<ProviderParse>() {
                Ok(ProviderParseResult::Parsed(parsed)) => {
                    id = Some(parsed.0);
                    Outcome::Passed
                }
                Ok(ProviderParseResult::Refused(reason)) => {
                    failed(format!("the id of `{reference}`"), format!("a refusal: {reason}"))
                }
                Err(outcome) => outcome,
            };
            session.judge("provider.parse: a task", &heard, outcome);
        }
    }
    let heard = session.ask(ProviderParse::NAME, json!({ "input": "" })).await;
    let outcome = match heard.answer.read::<ProviderParse>() {
        Ok(ProviderParseResult::Refused(_)) => Outcome::Passed,
        Ok(ProviderParseResult::Parsed(id)) => {
            noted("an `error` in the result", format!("the id `{}`", id.0))
        }
        // An error answer is not what the protocol says; hosts show it all the same.
        Err(_) => heard.answer.should_fail("an `error` in the result", &[], Tolerance::Refused),
    };
    session.judge("provider.parse: nothing at all", &heard, outcome);
    id
}

async fn task(session: &mut Session<'_>, can: &[ProviderCapability], id: Option<&str>) {
    let snapshots = can.contains(&ProviderCapability::Snapshot);
    match id {
        None => {
            session.tell("provider.fetch: a task", Duration::ZERO, skipped("no task is known"));
            session.tell("provider.snapshot: a task", Duration::ZERO, skipped("no task is known"));
        }
        Some(id) => {
            let heard = session.ask(ProviderFetch::NAME, json!({ "id": id })).await;
            let outcome = match heard.answer.read::<ProviderFetch>() {
                Ok(unit) => heard.answer.otherwise(&unit).unwrap_or_else(|| whole(&unit)),
                Err(outcome) => outcome,
            };
            session.judge("provider.fetch: a task", &heard, outcome);
            if snapshots {
                let heard = session.ask(ProviderSnapshot::NAME, json!({ "id": id })).await;
                let outcome = heard.answer.read::<ProviderSnapshot>().err().unwrap_or(Outcome::Passed);
                session.judge("provider.snapshot: a task", &heard, outcome);
            } else {
                session.tell("provider.snapshot: a task", Duration::ZERO, skipped("it is not declared"));
            }
        }
    }
    let mut methods = vec![ProviderFetch::NAME];
    methods.extend(snapshots.then_some(ProviderSnapshot::NAME));
    for method in methods {
        let heard = session.ask(method, json!({ "id": NO_TASK })).await;
        let outcome = heard.answer.should_fail("an error, best -32005", &[], Tolerance::Tolerated);
        session.judge(format!("{method}: a task that is not there"), &heard, outcome);
    }
}

/// A page that says what it is.
fn whole_page(page: &ListResult) -> Outcome {
    if page.items.len() > 2 {
        return noted("at most 2 tasks", format!("{}", page.items.len()));
    }
    if page.total.is_none() || page.has_more.is_none() {
        return noted("`items`, `total` and `hasMore`", "no word on how many there are; hosts take one page");
    }
    Outcome::Passed
}

/// A task with all that hosts show of one.
fn whole(unit: &WorkUnit) -> Outcome {
    let mut missing = Vec::new();
    missing.extend(unit.title.as_ref().is_none_or(String::is_empty).then_some("`title`"));
    missing.extend(unit.description.is_none().then_some("`description`"));
    missing.extend(unit.provider.is_none().then_some("`provider`"));
    if missing.is_empty() {
        return Outcome::Passed;
    }
    noted("`id`, `title`, `description` and `provider`", format!("no {}", missing.join(", ")))
}

async fn refused_without_params(session: &mut Session<'_>, method: &str) {
    let heard = session.ask(method, json!({})).await;
    // Two of them have a way of their own to say no.
    let says_no = match method {
        ProviderMatch::NAME => heard.answer.read::<ProviderMatch>().is_ok_and(|said| !said.matches),
        ProviderParse::NAME => {
            matches!(heard.answer.read::<ProviderParse>(), Ok(ProviderParseResult::Refused(_)))
        }
        _ => false,
    };
    let outcome = if says_no {
        Outcome::Passed
    } else {
        heard.answer.should_fail("an error, best -32602", &[], Tolerance::Tolerated)
    };
    session.judge(format!("{method}: without what it needs"), &heard, outcome);
}
