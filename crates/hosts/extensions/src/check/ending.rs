//! How an extension leaves, and what it said that nobody wanted.

use std::time::Duration;

use loggia_jsonrpc::{Method, decode};
use loggia_protocol_hermes::{Shutdown, ShutdownResult};
use loggia_wire::child::Exit;
use serde_json::json;
use tokio::time::Instant;

use super::judge::{Answer, failed, noted};
use super::report::Outcome;
use super::session::Session;

pub(super) async fn check(session: &mut Session<'_>) {
    shutdown(session).await;
    end_of_input(session).await;
    session.let_go().await;
    noise(session);
}

async fn shutdown(session: &mut Session<'_>) {
    const WANTED: &str = "`{\"success\":true}`";
    let limits = session.options.limits;
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell("shutdown", Duration::ZERO, failed(WANTED, came)),
    };
    let (answer, took) = talk.ask(Shutdown::NAME, &json!({ "reason": "closing" }), limits.shutdown).await;
    let outcome = match &answer {
        Answer::Result(result) => match decode::<ShutdownResult>(result.get()) {
            Ok(ShutdownResult { success: true }) => Outcome::Passed,
            _ => noted(WANTED, answer.words()),
        },
        Answer::Error(_) => noted(WANTED, answer.words()),
        Answer::Silence(_) | Answer::Gone(_) => failed(WANTED, answer.words()),
    };
    session.tell("shutdown", took, outcome);
    let began = Instant::now();
    let outcome = match talk.wait_for_exit(limits.leave).await {
        Some(exit) => well(exit),
        None => {
            failed("its end", format!("it stays, and hosts kill it after {} s", limits.leave.as_secs_f32()))
        }
    };
    session.tell("shutdown: it leaves", began.elapsed(), outcome);
    session.drop(talk).await;
}

async fn end_of_input(session: &mut Session<'_>) {
    let name = "the end of its input";
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(name, Duration::ZERO, failed("its end", came)),
    };
    let (began, limit) = (Instant::now(), session.options.limits.leave);
    let outcome = match talk.close_input(limit).await {
        Some(exit) => well(exit),
        // Hosts kill what is left, but one whose host was killed itself would stay.
        None => noted("its end", format!("it is still there after {} s", limit.as_secs_f32())),
    };
    session.tell(name, began.elapsed(), outcome);
    session.drop(talk).await;
}

fn well(exit: Exit) -> Outcome {
    if exit.success() {
        Outcome::Passed
    } else {
        noted("an end with status 0", format!("an end with {exit}"))
    }
}

fn noise(session: &mut Session<'_>) {
    let noise = session.noise().clone();
    let mut tell = |name: &str, came: &[String], outcome: fn(String) -> Outcome| {
        let outcome = if came.is_empty() { Outcome::Passed } else { outcome(came.join("; ")) };
        session.tell(name, Duration::ZERO, outcome);
    };
    tell("stdout: messages only", &noise.bodies, |came| failed("messages", came));
    tell("stdout: requests that hosts serve", &noise.objections, |came| {
        failed("requests of the protocol", came)
    });
    tell("stdout: answers to what was asked", &noise.strays, |came| noted("no other answers", came));
    tell("stdout: no notifications", &noise.told, |came| noted("none: hosts ignore them", came));
}
