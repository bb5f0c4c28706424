//! How a plugin leaves, and what it wrote that nobody asked for.

use std::time::Duration;

use loggia_jsonrpc::Method;
use loggia_protocol_mehrhof::Shutdown;
use loggia_wire::child::Exit;
use serde_json::{Value, json};
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
    const WANTED: &str = "`{\"status\":\"shutting_down\"}`";
    let limits = session.options.limits;
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell("shutdown", Duration::ZERO, failed(WANTED, came)),
    };
    let heard = talk.ask(Shutdown::NAME, Some(&json!({})), limits.stop_answer).await;
    let told = |result: &str| {
        serde_json::from_str::<Value>(result).is_ok_and(|said| said["status"] == "shutting_down")
    };
    let outcome = match &heard.answer {
        Answer::Result(result) if told(result.get()) => Outcome::Passed,
        // Any answer will do, and leaving as well.
        Answer::Silence(_) => failed(WANTED, heard.answer.words()),
        answer => noted(WANTED, answer.words()),
    };
    session.tell("shutdown", heard.took, outcome);
    let began = Instant::now();
    let name = "shutdown: it leaves by itself";
    match talk.wait_for_exit(limits.stop_answer).await {
        Some(exit) => session.tell(name, began.elapsed(), well(exit)),
        None => {
            let came = "it stays; hosts close its input";
            session.tell(name, began.elapsed(), noted("its end", came));
            let ended = talk.leave(limits.stop_exit).await;
            session.tell(
                "shutdown: it leaves at the end of its input",
                began.elapsed(),
                left(ended, &limits.stop_exit),
            );
        }
    }
    session.drop(talk).await;
}

async fn end_of_input(session: &mut Session<'_>) {
    let name = "the end of its input";
    let mut talk = match session.fresh().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(name, Duration::ZERO, failed("its end", came)),
    };
    let (began, limit) = (Instant::now(), session.options.limits.stop_exit);
    let ended = talk.leave(limit).await;
    session.tell(name, began.elapsed(), left(ended, &limit));
    session.drop(talk).await;
}

fn left(ended: Option<Exit>, limit: &Duration) -> Outcome {
    match ended {
        Some(exit) => well(exit),
        None => failed("its end", format!("it is still there after {} s", limit.as_secs_f32())),
    }
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
    let outcome = match noise.lines {
        0 => Outcome::Passed,
        count => {
            noted("messages only", format!("{count} other lines, such as `{}`", noise.shown.join("`, `")))
        }
    };
    session.tell("stdout: messages only", Duration::ZERO, outcome);
    let outcome = if noise.wrong_ids.is_empty() {
        Outcome::Passed
    } else {
        failed("answers to what was asked", format!("answers to `{}`", noise.wrong_ids.join("`, `")))
    };
    session.tell("stdout: answers to what was asked", Duration::ZERO, outcome);
    let outcome = if noise.uncalled.is_empty() {
        Outcome::Passed
    } else {
        noted("answers and `stream`", format!("`{}`, which nobody serves", noise.uncalled.join("`, `")))
    };
    session.tell("stdout: no calls of its own", Duration::ZERO, outcome);
}
