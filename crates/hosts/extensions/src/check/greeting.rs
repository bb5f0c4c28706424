//! The handshake, and what an extension says about itself in it.

use std::collections::BTreeSet;
use std::time::Duration;

use loggia_jsonrpc::{Method, decode};
use loggia_protocol_hermes::{EventName, Initialize, InitializeResult};
use serde_json::Value;

use super::judge::{Answer, cut, failed, noted, skipped};
use super::report::Outcome;
use super::session::Session;

/// Greets it; what it said, if that can be read.
pub(super) async fn check(session: &mut Session<'_>) -> Option<InitializeResult> {
    const WANTED: &str = "the result of `initialize`";
    let mut talk = match session.start().await {
        Ok(talk) => talk,
        Err(came) => {
            session.tell("start", Duration::ZERO, failed("a process", came));
            return None;
        }
    };
    session.tell("start", Duration::ZERO, Outcome::Passed);
    let greeting = session.greeting();
    let (answer, took) = talk.ask(Initialize::NAME, &greeting, session.options.limits.initialize).await;
    let early = talk.asked;
    let read = match &answer {
        Answer::Result(result) => decode::<InitializeResult>(result.get())
            .map_err(|error| failed(WANTED, format!("`{}`, in which {error}", cut(result.get())))),
        _ => Err(failed(WANTED, answer.words())),
    };
    let raw: Value = match &answer {
        Answer::Result(result) => serde_json::from_str(result.get()).unwrap_or_default(),
        _ => Value::Null,
    };
    let told = match read {
        Ok(told) => told,
        Err(outcome) => {
            session.tell(Initialize::NAME, took, outcome);
            session.tell("everything else", Duration::ZERO, skipped("`initialize` did not work"));
            session.drop(talk).await;
            return None;
        }
    };
    session.is_of(&told.name, &told.version);
    session.tell(Initialize::NAME, took, Outcome::Passed);
    let outcome = if early == 0 {
        Outcome::Passed
    } else {
        failed("no requests before its answer", format!("{early} requests, which hosts refuse with -32001"))
    };
    session.tell("initialize: nothing is asked before", Duration::ZERO, outcome);
    session.keep(talk);
    about(session, &told, &raw);
    Some(told)
}

fn about(session: &mut Session<'_>, told: &InitializeResult, raw: &Value) {
    let outcome =
        if told.name.trim().is_empty() { failed("a `name`", "an empty one") } else { Outcome::Passed };
    session.tell("initialize: a name", Duration::ZERO, outcome);
    let outcome = if raw.get("capabilities").is_some_and(Value::is_object) {
        Outcome::Passed
    } else {
        noted("`capabilities`, an object", "none, which some hosts read as nothing")
    };
    session.tell("initialize: capabilities", Duration::ZERO, outcome);
    let mut seen = BTreeSet::new();
    let twice: Vec<&str> = told
        .capabilities
        .commands
        .iter()
        .filter(|command| !seen.insert(&command.0))
        .map(|command| command.0.as_str())
        .collect();
    let outcome = if twice.is_empty() {
        Outcome::Passed
    } else {
        noted("different commands", format!("`{}` more than once", twice.join("`, `")))
    };
    session.tell("initialize: commands", Duration::ZERO, outcome);
    let unknown: Vec<&str> = told
        .capabilities
        .events
        .iter()
        .filter_map(|event| match &event.name {
            EventName::Other(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let outcome = if unknown.is_empty() {
        Outcome::Passed
    } else {
        let came = format!("`{}`, which makes other hosts refuse the extension", unknown.join("`, `"));
        noted("events that hosts know", came)
    };
    session.tell("initialize: events", Duration::ZERO, outcome);
    buttons(session, told);
    if told.schema.is_some() && told.capabilities.schema_provider != Some(true) {
        let outcome = noted("`schemaProvider: true` with a schema", "a schema alone");
        session.tell("initialize: schema", Duration::ZERO, outcome);
    }
}

fn buttons(session: &mut Session<'_>, told: &InitializeResult) {
    for button in &told.toolbar_buttons {
        let drawn = button.icon.contains("<svg") && button.icon.contains("viewBox");
        let outcome = if drawn {
            Outcome::Passed
        } else {
            noted("an icon as SVG with a `viewBox`", format!("`{}`", cut(&button.icon)))
        };
        session.tell(format!("button `{}`", cut(&button.id.0)), Duration::ZERO, outcome);
    }
}
