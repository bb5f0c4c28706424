//! What a run really asked, and how it was answered: by its record of all requests.
//!
//! A run in which every request is refused at the door finds no fault either. So every operation must have been asked
//! for, and with real things to ask about, every one that can go well must have gone well at least once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use super::tool::STOP;

/// What made-up requests cannot get right: a WebSocket, a code that somebody reads out, the page's own code and cookie, a
/// journal, a turn to stop or to take back, and a page that is not always there.
const HARD: [&str; 11] = [
    "DELETE /v1/page/session",
    "GET /",
    "GET /v1/sessions/{session_id}/stream",
    "GET /v1/stream",
    "POST /v1/page/session",
    "POST /v1/pair",
    "POST /v1/sessions/import",
    "POST /v1/sessions/{session_id}/cancel",
    "POST /v1/sessions/{session_id}/continue",
    "POST /v1/sessions/{session_id}/redo",
    "POST /v1/sessions/{session_id}/undo",
];

/// What needs a plugin that is installed, a task in a repository, an extension, or the very message that is open, which
/// made-up requests open and close all the time: these go well in tests of the door.
const NEEDS_MORE: [&str; 4] = [" /v1/plugins", " /v1/tasks", " /v1/extensions", " /v1/messages"];

/// Whether made-up requests cannot get it right.
fn is_hard(operation: &str) -> bool {
    HARD.contains(&operation) || NEEDS_MORE.iter().any(|path| operation.contains(path))
}

/// Who reads the document has asked for it; schemathesis does not ask for it again.
const DOCUMENT: &str = "/v1/openapi.json";

/// How often each operation was answered with which status.
pub(super) struct Seen(BTreeMap<String, BTreeMap<u64, usize>>);

impl Seen {
    /// Reads the record of a run, for the operations of a document.
    pub(super) fn read(record: &Path, document: &Value) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(record).with_context(|| format!("no `{}`", record.display()))?;
        let record: Value = serde_json::from_str(&text).context("the record is not JSON")?;
        let paths = document["paths"].as_object().context("the document has no paths")?;
        let mut all = BTreeMap::new();
        for (path, item) in paths.iter().filter(|(path, _)| *path != STOP && *path != DOCUMENT) {
            let methods = item.as_object().into_iter().flatten().map(|(method, _)| method.to_uppercase());
            all.extend(methods.map(|method| (format!("{method} {path}"), BTreeMap::new())));
        }
        for entry in record["log"]["entries"].as_array().context("the record has no entries")? {
            let (request, status) = (&entry["request"], entry["response"]["status"].as_u64());
            let method = request["method"].as_str().unwrap_or_default();
            let asked = path_of(request["url"].as_str().unwrap_or_default());
            // A path without parameters goes before one that would take its last part for one.
            let mut fitting: Vec<&String> = paths.keys().filter(|path| fits(path, asked)).collect();
            fitting.sort_by_key(|path| path.contains('{'));
            if let (Some(path), Some(status)) = (fitting.first(), status)
                && let Some(statuses) = all.get_mut(&format!("{method} {path}"))
            {
                *statuses.entry(status).or_insert(0) += 1;
            }
        }
        Ok(Self(all))
    }

    /// One line for each operation.
    pub(super) fn table(&self) -> String {
        self.0.iter().fold(String::new(), |mut table, (operation, statuses)| {
            write!(table, "  {operation}:").expect("text takes text");
            for (status, count) in statuses {
                write!(table, " {status}×{count}").expect("text takes text");
            }
            table.push('\n');
            table
        })
    }

    /// Fails if an operation was not asked for, or if one never went well that should have.
    pub(super) fn check(&self, must_go_well: bool) -> anyhow::Result<()> {
        let never = self.0.iter().filter(|(operation, statuses)| {
            let went_well = statuses.keys().any(|status| (200..300).contains(status));
            statuses.is_empty() || (must_go_well && !went_well && !is_hard(operation))
        });
        let never: Vec<&str> = never.map(|(operation, _)| operation.as_str()).collect();
        if !never.is_empty() {
            bail!("never asked for, or never with success: {}", never.join(", "));
        }
        Ok(())
    }
}

/// The path in an address.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or_default()
}

/// Whether a path could be this one of the document.
fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given))
                if wanted == given || (wanted.starts_with('{') && !given.is_empty()) => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_counted_for_their_operation() {
        let document = json!({"paths": {
            "/v1/a/{id}": {"get": {}, "delete": {}}, "/v1/a/b": {"get": {}}, STOP: {"post": {}}}});
        let entry = |method: &str, path: &str, status: u16| json!({"request": {"method": method, "url": format!("http://127.0.0.1:1{path}")}, "response": {"status": status}});
        let entries = json!([
            entry("GET", "/v1/a/1?x=/", 200),
            entry("GET", "/v1/a/b", 404),
            entry("PUT", "/v1/a/1", 405),
            entry("GET", "/v1/a/2", 200),
            entry("POST", "/nowhere", 404)
        ]);
        let file = std::env::temp_dir().join(format!("seen-{}.har", std::process::id()));
        std::fs::write(&file, json!({"log": {"entries": entries}}).to_string()).unwrap();
        let seen = Seen::read(&file, &document);
        std::fs::remove_file(&file).unwrap();
        let seen = seen.unwrap();
        assert_eq!(seen.table(), "  DELETE /v1/a/{id}:\n  GET /v1/a/b: 404×1\n  GET /v1/a/{id}: 200×2\n");
        let told = |must| seen.check(must).unwrap_err().to_string();
        assert!(told(false).ends_with("success: DELETE /v1/a/{id}"), "{}", told(false));
        assert!(told(true).ends_with("success: DELETE /v1/a/{id}, GET /v1/a/b"), "{}", told(true));
    }
}
