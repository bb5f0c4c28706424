//! Golden files: wire messages as the specifications show them, read as types and written back.
//!
//! One file per message, `golden/<name>.jsonl`, with `/` in a name written as `-`; one whole wire message per
//! line. Lines that begin with `#` say where the sample is from. A message passes when its text, read as its
//! type and written again, is the same JSON once keys are sorted. Every table row must have a file, every
//! request at least one call and one successful answer, and no file may lack a row.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loggia_jsonrpc::{Body, Dialect, Incoming, Kind, MessageInfo, MethodInfo, Version, canonical, read};
use serde_json::value::RawValue;

/// Golden lines are judged as messages, not as input from a stranger: a missing version is the protocol's affair.
const LENIENT: Dialect = Dialect { version: Version::Optional, ..Dialect::STANDARD };

/// Checks every golden file of a JSON-RPC protocol against its table.
///
/// # Panics
/// With the list of everything that does not hold.
pub fn check_methods(directory: &Path, methods: &[MethodInfo]) {
    let mut faults = Vec::new();
    check_file_names(directory, methods.iter().map(|method| method.name), &mut faults);
    for method in methods {
        let mut calls = 0;
        let mut answers = 0;
        for (place, line) in lines(directory, method.name, &mut faults) {
            match check_method_line(method, &line) {
                Ok(Seen::Call) => calls += 1,
                Ok(Seen::Answer) => answers += 1,
                Ok(Seen::Failure) => {}
                Err(fault) => faults.push(format!("{place}: {fault}")),
            }
        }
        if calls == 0 {
            faults.push(format!("`{}` has no golden call", method.name));
        }
        if answers == 0 && method.kind == Kind::Request {
            faults.push(format!("`{}` has no golden answer", method.name));
        }
    }
    report(&faults);
}

/// Checks every golden file of a protocol whose messages are not JSON-RPC.
///
/// # Panics
/// With the list of everything that does not hold.
pub fn check_messages(directory: &Path, messages: &[MessageInfo]) {
    let mut faults = Vec::new();
    check_file_names(directory, messages.iter().map(|message| message.name), &mut faults);
    for message in messages {
        let lines = lines(directory, message.name, &mut faults);
        if lines.is_empty() {
            faults.push(format!("`{}` has no golden message", message.name));
        }
        for (place, line) in lines {
            if let Err(fault) = same_after(&line, |text| message.rewrite(text)) {
                faults.push(format!("{place}: {fault}"));
            }
        }
    }
    report(&faults);
}

enum Seen {
    Call,
    Answer,
    Failure,
}

fn check_method_line(method: &MethodInfo, line: &str) -> Result<Seen, String> {
    let body = read(line.as_bytes(), &LENIENT).map_err(|error| error.to_string())?;
    let Body::One(message) = body else { return Err("a batch is not a golden message".to_owned()) };
    let params = |name: &str, params: Option<&RawValue>| {
        if name != method.name {
            return Err(format!("names `{name}`, not `{}`", method.name));
        }
        // A call without parameters is read as one with empty ones and has nothing to compare.
        match params {
            Some(params) => same_after(params.get(), |text| method.rewrite_params(text)),
            None => method.rewrite_params("{}").map(drop).map_err(|error| error.to_string()),
        }
    };
    match (message, method.kind) {
        (Incoming::Request { method: name, params: raw, .. }, Kind::Request) => {
            params(&name, raw).map(|()| Seen::Call)
        }
        (Incoming::Notification { method: name, params: raw }, Kind::Notification) => {
            params(&name, raw).map(|()| Seen::Call)
        }
        (Incoming::Response { outcome: Ok(result), .. }, Kind::Request) => {
            same_after(result.get(), |text| method.rewrite_result(text)).map(|()| Seen::Answer)
        }
        (Incoming::Response { outcome: Err(error), .. }, Kind::Request) => {
            let whole: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let written = serde_json::to_string(&error).map_err(|error| error.to_string())?;
            same(&whole["error"].to_string(), &written).map(|()| Seen::Failure)
        }
        (other, kind) => Err(format!("is not a {kind:?} of this method: {other:?}")),
    }
}

/// Reads, writes and compares; then does it again with a field nobody knows, which must be tolerated.
fn same_after<E: std::fmt::Display>(
    text: &str,
    rewrite: impl Fn(&str) -> Result<String, E>,
) -> Result<(), String> {
    let written = rewrite(text).map_err(|error| error.to_string())?;
    same(text, &written)?;
    if let Ok(serde_json::Value::Object(mut fields)) = serde_json::from_str(text) {
        fields.insert("xUnknownField".to_owned(), serde_json::json!({"a": [1, null]}));
        let text = serde_json::Value::Object(fields).to_string();
        rewrite(&text).map_err(|error| format!("an unknown field is refused: {error}"))?;
    }
    Ok(())
}

fn same(expected: &str, written: &str) -> Result<(), String> {
    let expected = canonical(expected).map_err(|error| error.to_string())?;
    let written = canonical(written).map_err(|error| error.to_string())?;
    if expected == written {
        Ok(())
    } else {
        Err(format!("is written back differently\n  golden  {expected}\n  written {written}"))
    }
}

fn file_name(name: &str) -> String {
    format!("{}.jsonl", name.replace('/', "-"))
}

fn check_file_names<'a>(directory: &Path, names: impl Iterator<Item = &'a str>, faults: &mut Vec<String>) {
    let expected: BTreeSet<String> = names.map(file_name).collect();
    let found: BTreeSet<String> = match std::fs::read_dir(directory) {
        Ok(entries) => {
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        }
        Err(error) => {
            faults.push(format!("cannot list `{}`: {error}", directory.display()));
            return;
        }
    };
    faults.extend(found.difference(&expected).map(|name| format!("`{name}` belongs to no row of the table")));
}

fn lines(directory: &Path, name: &str, faults: &mut Vec<String>) -> Vec<(String, String)> {
    let path: PathBuf = directory.join(file_name(name));
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            faults.push(format!("`{}`: {error}", path.display()));
            return Vec::new();
        }
    };
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    numbered.map(|(number, line)| (format!("{}:{}", file_name(name), number + 1), line.to_owned())).collect()
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "{} golden faults:\n{}", faults.len(), faults.join("\n"));
}
