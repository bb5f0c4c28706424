//! What an agent is asked.

use std::time::Duration;

use loggia_jsonrpc::{Method, RequestId};
use loggia_protocol_mehrhof::{AgentAvailable, AgentRun, AgentToolResult, RunStatus, StreamEvent};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::judge::{Answer, Tolerance, cut, failed, noted, skipped};
use super::report::Outcome;
use super::session::Session;
use super::talk::{Message, Talk, keep};
use crate::limits::Limits;

/// What a run came to.
#[derive(Default)]
struct Told {
    misshapen: Vec<String>,
    unknown: Vec<String>,
    complete: bool,
    after_complete: bool,
    /// Tools it wanted, and whether it took what came out.
    calls: usize,
    acknowledged: usize,
}

/// How long an agent that is cancelled may take to leave: hosts do not wait longer.
const CANCEL: Duration = Duration::from_secs(2);

pub(super) async fn check(session: &mut Session<'_>) {
    let heard = session.ask(AgentAvailable::NAME, json!({})).await;
    let available = heard.answer.read::<AgentAvailable>();
    let outcome = match (&available, &heard.answer) {
        (Ok(said), _) if said.available || said.why_not().is_some() => Outcome::Passed,
        (Ok(_), _) => noted("a `reason`", "no word why it is not available"),
        (Err(_), Answer::Error(_)) => noted("`available`", heard.answer.words()),
        (Err(outcome), _) => outcome.clone(),
    };
    session.judge(AgentAvailable::NAME, &heard, outcome);
    let heard = session.ask_as(AgentAvailable::NAME, None).await;
    session.judge("agent.available: without `params`", &heard, heard.answer.should_come("any answer"));
    without_prompt(session).await;
    let heard =
        session.ask(AgentToolResult::NAME, json!({ "tool_id": "check-nobody", "result": "nothing" })).await;
    session.judge("agent.tool_result: outside a run", &heard, heard.answer.should_come("any answer"));
    match available {
        Ok(said) if !said.available => {
            let reason = format!("it is not available: {}", said.why_not().unwrap_or("it does not say why"));
            session.tell(AgentRun::NAME, Duration::ZERO, skipped(reason));
        }
        _ => {
            run(session).await;
            cancel(session).await;
        }
    }
}

/// A run without anything to do. Whoever begins one all the same gets the tools it wants, so that it comes to an end.
async fn without_prompt(session: &mut Session<'_>) {
    const NAME: &str = "agent.run: without a prompt";
    const WANTED: &str = "an error, best -32602";
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(NAME, Duration::ZERO, failed(WANTED, came)),
    };
    let began = Instant::now();
    let id = talk.send(AgentRun::NAME, Some(&json!({}))).await;
    let (_, answer) = follow(&mut talk, id, &session.options.limits).await;
    let outcome = answer.should_fail(WANTED, &[], Tolerance::Tolerated);
    session.keep(talk, &answer).await;
    session.tell(NAME, began.elapsed(), outcome);
}

fn params(session: &Session<'_>) -> Value {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = |name: &str| json!({ "name": name, "description": "For the check", "input_schema": schema });
    json!({
        "prompt": session.options.prompt,
        "context": { "task_id": "0c0ffee0", "phase": "implementing" },
        "tools": [tool("read_file"), tool("list_files")],
    })
}

async fn run(session: &mut Session<'_>) {
    let limits = session.options.limits;
    let mut talk = match session.talk().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(AgentRun::NAME, Duration::ZERO, failed("a run", came)),
    };
    let began = Instant::now();
    let id = talk.send(AgentRun::NAME, Some(&params(session))).await;
    let (told, answer) = follow(&mut talk, id, &limits).await;
    let took = began.elapsed();
    let outcome = match answer.read::<AgentRun>() {
        Ok(said) if said.has_failed() => {
            failed("a run that ends well", said.error.unwrap_or_else(|| "the status `error`".to_owned()))
        }
        Ok(said) if said.status == Some(RunStatus::Complete) => {
            answer.otherwise(&said).unwrap_or(Outcome::Passed)
        }
        Ok(_) => noted("`\"status\":\"complete\"`", answer.words()),
        Err(outcome) => outcome,
    };
    session.keep(talk, &answer).await;
    session.tell(AgentRun::NAME, took, outcome);
    events(session, &told);
}

/// Listens to a run to its end, and plays the tools it wants.
async fn follow(talk: &mut Talk, id: u64, limits: &Limits) -> (Told, Answer) {
    let mut told = Told::default();
    let mut results = Vec::new();
    let last = Instant::now() + limits.run_total;
    loop {
        let deadline = last.min(Instant::now() + limits.run_silence);
        match talk.hear(deadline, limits.run_silence).await {
            Err(Answer::Silence(_)) if deadline == last => {
                return (told, Answer::Gone(format!("no end within {} s", limits.run_total.as_secs_f32())));
            }
            Err(answer) => return (told, answer),
            Ok(Message::Answer { id: came, answer }) => {
                let came = came.as_ref().and_then(RequestId::sequence);
                if came == Some(id) {
                    return (told, answer);
                }
                told.acknowledged += usize::from(came.is_some_and(|came| results.contains(&came)));
            }
            Ok(Message::Event(event)) => {
                told.after_complete |= told.complete;
                match event {
                    StreamEvent::Complete => told.complete = true,
                    StreamEvent::Misshapen { kind, problem, .. } => {
                        keep(&mut told.misshapen, format!("`{}`: {}", cut(&kind), cut(&problem)));
                    }
                    StreamEvent::Unknown { kind, .. } => keep(&mut told.unknown, cut(&kind)),
                    StreamEvent::ToolUse(call) => {
                        told.calls += 1;
                        let result = json!({ "tool_id": call.id, "result": "src/main.rs\nREADME.md\n" });
                        results.push(talk.send(AgentToolResult::NAME, Some(&result)).await);
                    }
                    _ => {}
                }
            }
        }
    }
}

fn events(session: &mut Session<'_>, told: &Told) {
    let outcome = if !told.misshapen.is_empty() {
        failed("events that can be read", told.misshapen.join("; "))
    } else if !told.unknown.is_empty() {
        noted("events of the protocol", format!("`{}`, which hosts ignore", told.unknown.join("`, `")))
    } else {
        Outcome::Passed
    };
    session.tell("agent.run: events", Duration::ZERO, outcome);
    let outcome = match (told.complete, told.after_complete) {
        (true, false) => Outcome::Passed,
        (true, true) => noted("nothing after `complete` but the answer", "more events"),
        (false, _) => noted("`complete` before the answer", "the answer alone"),
    };
    session.tell("agent.run: complete", Duration::ZERO, outcome);
    let outcome = match told.calls {
        0 => skipped("it called no tool"),
        calls if told.acknowledged == calls => Outcome::Passed,
        calls => noted(
            format!("{calls} answers to `agent.tool_result` in the run"),
            format!("{}", told.acknowledged),
        ),
    };
    session.tell("agent.tool_result", Duration::ZERO, outcome);
}

/// There is no word for cancelling a run: the plugin's input ends.
async fn cancel(session: &mut Session<'_>) {
    const NAME: &str = "agent.run: the end of its input";
    let mut talk = match session.fresh().await {
        Ok(talk) => talk,
        Err(came) => return session.tell(NAME, Duration::ZERO, failed("its end", came)),
    };
    talk.send(AgentRun::NAME, Some(&params(session))).await;
    let began = Instant::now();
    let outcome = match talk.leave(CANCEL).await {
        Some(_) => Outcome::Passed,
        None => {
            noted(format!("its end within {} s", CANCEL.as_secs()), "it goes on; hosts kill it".to_owned())
        }
    };
    session.tell(NAME, began.elapsed(), outcome);
    session.drop(talk).await;
}
