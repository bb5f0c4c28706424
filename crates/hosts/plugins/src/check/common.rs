//! What every plugin is asked: again, wrongly, much, and at once.

use std::time::Duration;

use loggia_jsonrpc::Method;
use loggia_protocol_mehrhof::{Ping, codes};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::judge::{Answer, Tolerance, failed, noted, skipped};
use super::report::Outcome;
use super::session::Session;
use super::talk::Message;
use crate::manifest::PluginKind;

/// A method no plugin has.
const NO_METHOD: &str = "check.noSuchMethod";

/// Text that goes wrong where bytes and characters are mixed up, or lines are cut in the wrong place.
const ODD_TEXT: &str = "ünï — 日本語 😀 \u{2028}\u{2029}\u{85}\u{feff} \"\\ \u{1}\u{7f} \n\r\t end";

/// As long as a long task's text: over any pipe's buffer.
const LONG: usize = 1024 * 1024;

/// A question that needs no network should not take longer, whatever the machine does.
const QUICK: Duration = Duration::from_secs(1);

/// Lines that are no messages.
const MALFORMED: &[(&str, &str)] = &[
    ("a blank line", ""),
    ("broken JSON", "{\"jsonrpc\": \"2.0\", "),
    ("a list", "[1, 2, 3]"),
    ("a number", "42"),
];

pub(super) async fn check(session: &mut Session<'_>) {
    let init = session.init_name();
    let heard = session.ask(init, session.config()).await;
    session.judge(format!("{init}: a second time"), &heard, heard.answer.should_come("any answer"));
    let heard = session.ask(Ping::NAME, json!({})).await;
    session.judge("ping", &heard, pong(&heard.answer));
    let heard = session.ask_as(Ping::NAME, None).await;
    session.judge("ping: without `params`", &heard, heard.answer.should_come("any answer"));
    let heard = session.ask(NO_METHOD, json!({})).await;
    let wanted = "the error -32601";
    let outcome = heard.answer.should_fail(wanted, &[codes::METHOD_NOT_FOUND], Tolerance::Refused);
    session.judge("an unknown method", &heard, outcome);
    text_id(session).await;
    for (name, text) in [("odd characters", ODD_TEXT.to_owned()), ("a long text", "x".repeat(LONG))] {
        let (method, params) = carrying(session.manifest.kind(), &text);
        let heard = session.ask(method, params).await;
        session.judge(format!("{method}: {name}"), &heard, heard.answer.should_come("any answer"));
    }
    at_once(session).await;
    malformed(session).await;
    let slowest = session.slowest;
    let outcome = if slowest <= QUICK {
        Outcome::Passed
    } else {
        noted(format!("at most {} s", QUICK.as_secs()), format!("{:.1} s", slowest.as_secs_f32()))
    };
    session.tell("the slowest question", slowest, outcome);
}

fn pong(answer: &Answer) -> Outcome {
    let wanted = "`{\"pong\":true}`";
    match answer {
        Answer::Result(result)
            if serde_json::from_str::<Value>(result.get()).is_ok_and(|said| said["pong"] == true) =>
        {
            Outcome::Passed
        }
        // Any sign of life is one.
        Answer::Result(_) | Answer::Error(_) | Answer::Untidy(..) => noted(wanted, answer.words()),
        _ => failed(wanted, answer.words()),
    }
}

/// A call that carries text, is harmless and every plugin of its kind has.
fn carrying(kind: PluginKind, text: &str) -> (&'static str, Value) {
    match kind {
        PluginKind::Provider => ("provider.match", json!({ "input": text })),
        PluginKind::Agent => ("agent.tool_result", json!({ "tool_id": "check", "result": text })),
        PluginKind::Workflow => {
            let context = json!({ "title": text, "labels": [text] });
            ("workflow.evaluateGuard", json!({ "guard": text, "name": text, "context": context }))
        }
    }
}

/// An id that is text comes back as it is.
async fn text_id(session: &mut Session<'_>) {
    const NAME: &str = "an id that is text";
    const WANTED: &str = "an answer to `\"check-1\"`";
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(NAME, Duration::ZERO, failed(WANTED, came)),
    };
    let (began, limit) = (Instant::now(), session.options.limits.question);
    let request = json!({ "jsonrpc": "2.0", "id": "check-1", "method": NO_METHOD, "params": {} });
    talk.send_line(&request.to_string()).await;
    let (outcome, answer) = match talk.hear(began + limit, limit).await {
        Ok(Message::Answer { id: Some(id), answer }) if id.to_string() == "\"check-1\"" => {
            (Outcome::Passed, answer)
        }
        Ok(Message::Answer { id, answer }) => {
            let came = id.map_or_else(|| "one without an id".to_owned(), |id| format!("one to `{id}`"));
            (failed(WANTED, came), answer)
        }
        Ok(Message::Event(_)) => (failed(WANTED, "an event"), Answer::Silence(limit)),
        Err(answer) => (failed(WANTED, answer.words()), answer),
    };
    session.keep(talk, &answer).await;
    session.tell(NAME, began.elapsed(), outcome);
}

/// Two calls at once are both answered.
async fn at_once(session: &mut Session<'_>) {
    const NAME: &str = "two calls at once";
    const WANTED: &str = "two answers, in order";
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(NAME, Duration::ZERO, failed(WANTED, came)),
    };
    let (began, limit) = (Instant::now(), session.options.limits.question);
    let sent = [talk.send(NO_METHOD, Some(&json!({}))).await, talk.send("ping", Some(&json!({}))).await];
    let mut came = Vec::new();
    let mut last = Answer::Silence(limit);
    while came.len() < sent.len() {
        match talk.hear(began + limit, limit).await {
            Ok(Message::Answer { id, answer }) => {
                came.push(id.and_then(|id| id.sequence()));
                last = answer;
            }
            Ok(Message::Event(_)) => {}
            Err(answer) => {
                last = answer;
                break;
            }
        }
    }
    let outcome = match &came[..] {
        came if came == sent.map(Some) => Outcome::Passed,
        // A plugin may answer what must not wait first; hosts tell answers apart by their ids.
        [Some(first), Some(second)] if [*second, *first] == sent => Outcome::Passed,
        came => failed(WANTED, format!("{} of them, then {}", came.len(), last.words())),
    };
    session.keep(talk, &last).await;
    session.tell(NAME, began.elapsed(), outcome);
}

/// Lines that are no messages, each in a process of its own, which should live on.
async fn malformed(session: &mut Session<'_>) {
    for (what, line) in MALFORMED {
        let name = format!("malformed: {what}");
        if !session.options.malformed {
            session.tell(name, Duration::ZERO, skipped("hosts never send it; `--malformed` does"));
            continue;
        }
        let mut talk = match session.fresh().await {
            Ok(talk) => talk,
            Err(came) => {
                session.tell(name, Duration::ZERO, failed("a process that goes on", came));
                continue;
            }
        };
        let (began, limit) = (Instant::now(), session.options.limits.question);
        talk.send_line(line).await;
        let id = talk.send(NO_METHOD, Some(&json!({}))).await;
        // It may complain about the line first, to nobody.
        let answer = loop {
            match talk.hear(began + limit, limit).await {
                Ok(Message::Answer { id: Some(came), answer }) if came.sequence() == Some(id) => {
                    break answer;
                }
                Ok(_) => {}
                Err(answer) => break answer,
            }
        };
        session.tell(name, began.elapsed(), answer.should_come("that it serves the next call"));
        session.drop(talk).await;
    }
}
