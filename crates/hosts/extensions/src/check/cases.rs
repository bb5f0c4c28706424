//! What an extension does while it runs: with its commands, with events, with what it does not know.

use std::time::Duration;

use loggia_jsonrpc::{Method, Notification, codes};
use loggia_protocol_hermes::{
    CommandExecute, EventName, Initialize, InitializeResult, MessageChanged, MessageOpened, MessageSaved,
    WindowClosed,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::COMMAND_LIMIT;
use super::judge::{Answer, failed, noted, skipped};
use super::played::Mood;
use super::report::Outcome;
use super::session::Session;
use super::talk::Talk;

/// How long a request without meaning may take: there is nothing to think about.
const QUESTION: Duration = Duration::from_secs(5);

pub(super) async fn check(session: &mut Session<'_>, told: &InitializeResult) {
    unknown_request(session).await;
    second_greeting(session).await;
    commands(session, told).await;
    events(session, told).await;
    broken_bodies(session).await;
}

/// Does something with the process, and tells what came.
async fn case(
    session: &mut Session<'_>,
    name: impl Into<String>,
    work: impl AsyncFnOnce(&mut Talk) -> (Outcome, bool),
) {
    let name = name.into();
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(name, Duration::ZERO, failed("a process", came)),
    };
    let began = Instant::now();
    let (outcome, well) = work(&mut talk).await;
    session.tell(name, began.elapsed(), outcome);
    if well {
        session.keep(talk);
    } else {
        session.drop(talk).await;
    }
}

async fn unknown_request(session: &mut Session<'_>) {
    const WANTED: &str = "the error -32601";
    case(session, "an unknown request", async |talk| {
        let (answer, _) = talk.ask("loggia/unknown", &json!({}), QUESTION).await;
        match &answer {
            Answer::Error(error) if error.code == codes::METHOD_NOT_FOUND => (Outcome::Passed, true),
            Answer::Error(_) | Answer::Result(_) => (noted(WANTED, answer.words()), true),
            // Hosts ask nothing else, so they do not mind; the next case needs one that listens.
            Answer::Silence(_) => (noted(WANTED, answer.words()), true),
            Answer::Gone(_) => (failed(WANTED, answer.words()), false),
        }
    })
    .await;
}

async fn second_greeting(session: &mut Session<'_>) {
    let greeting = session.greeting();
    case(session, "a second `initialize`", async |talk| {
        let (answer, _) = talk.ask(Initialize::NAME, &greeting, QUESTION).await;
        match &answer {
            Answer::Error(_) | Answer::Result(_) => (Outcome::Passed, true),
            Answer::Silence(_) => (noted("an answer", answer.words()), true),
            Answer::Gone(_) => (failed("an answer", answer.words()), false),
        }
    })
    .await;
}

async fn commands(session: &mut Session<'_>, told: &InitializeResult) {
    let quiet = session.options.limits.quiet;
    let mut all: Vec<&str> = Vec::new();
    let buttons = told.toolbar_buttons.iter().map(|button| &button.command);
    for command in told.capabilities.commands.iter().chain(buttons) {
        if !all.contains(&command.0.as_str()) {
            all.push(&command.0);
        }
    }
    for command in all {
        let name = format!("command `{command}`");
        if !session.options.commands {
            session.tell(name, Duration::ZERO, skipped("commands are not run"));
            continue;
        }
        for mood in [Mood::Helpful, Mood::Refusing] {
            let name = match mood {
                Mood::Helpful => name.clone(),
                Mood::Refusing => format!("{name}, when everything is refused"),
            };
            case(session, name, async |talk| {
                talk.played.mood = mood;
                talk.tell(CommandExecute::NAME, &json!({ "command": command })).await;
                let settled = talk.settle(quiet, COMMAND_LIMIT).await;
                talk.played.mood = Mood::Helpful;
                rests(settled)
            })
            .await;
        }
    }
    case(session, "an unknown command", async |talk| {
        talk.tell(CommandExecute::NAME, &json!({ "command": "loggia/unknown" })).await;
        rests(talk.settle(quiet, COMMAND_LIMIT).await)
    })
    .await;
}

async fn events(session: &mut Session<'_>, told: &InitializeResult) {
    let quiet = session.options.limits.quiet;
    let subscribed = |name: &EventName| told.capabilities.subscription(name);
    let mut all: Vec<(&str, Value)> = Vec::new();
    if subscribed(&EventName::MessageOpened).is_some() {
        all.push((MessageOpened::NAME, json!({ "isNew": true })));
        all.push((MessageOpened::NAME, json!({ "isNew": false, "filePath": "/check/größe.hl7" })));
    }
    if let Some(subscription) = subscribed(&EventName::MessageChanged) {
        let mut params = json!({ "hasFile": false });
        if let Some(format) = subscription.content_format() {
            params["format"] = json!(format);
            params["message"] = json!(session.options.message);
        }
        all.push((MessageChanged::NAME, params));
    }
    if subscribed(&EventName::MessageSaved).is_some() {
        all.push((MessageSaved::NAME, json!({ "filePath": "/check/größe.hl7", "saveAs": true })));
    }
    all.push((WindowClosed::NAME, json!({ "windowId": "window-1", "reason": "user" })));
    all.push(("loggia/unknown", json!({})));
    for (method, params) in all {
        case(session, format!("event `{method}`"), async |talk| {
            talk.tell(method, &params).await;
            rests(talk.settle(quiet, COMMAND_LIMIT).await)
        })
        .await;
    }
}

async fn broken_bodies(session: &mut Session<'_>) {
    let name = "bodies that are no messages";
    if !session.options.malformed {
        return session.tell(name, Duration::ZERO, skipped("not asked for"));
    }
    let quiet = session.options.limits.quiet;
    case(session, name, async |talk| {
        for body in ["{\"jsonrpc\":\"2.0\",", "[]", "7"] {
            talk.send_body(body.as_bytes()).await;
        }
        match talk.settle(quiet, COMMAND_LIMIT).await {
            Ok(()) => (Outcome::Passed, true),
            Err(came) => (noted("that it goes on", came), false),
        }
    })
    .await;
}

fn rests(settled: Result<(), String>) -> (Outcome, bool) {
    match settled {
        Ok(()) => (Outcome::Passed, true),
        Err(came) => (failed("that it goes on, and comes to rest", came), false),
    }
}
