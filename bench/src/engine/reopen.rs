//! Opening a session with a long journal: everything that happened in it is read again.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use loggia_domain::{
    Actor, AssistantMessage, CallId, Event, EventBody, Executor, Instruction, JsonText, MessageId, NewEvent,
    Seq, SessionId, Store, Timestamp, ToolCall, ToolOutcome, TurnEnd, TurnId, Usage,
};
use loggia_engine::State;

use super::progress;
use super::report::{Figure, Limit};
use super::world::{NEVER, World, scratch, store, threads};
use crate::measure::median;

const PART: &str = "Opening a session with 100,000 events";

const EVENTS: u64 = 100_000;

/// Calls in a turn: with them a turn has 15 events.
const CALLS: usize = 3;

/// Events appended together while the journal is made.
const PAGE: usize = 4096;

/// As often as a window of a few hundred thousand tokens is full.
const TURNS_BETWEEN_SUMMARIES: usize = 300;

/// Milliseconds people take for "at once".
const MILLISECONDS: f64 = 300.0;

/// Measures opening, reading alone and folding alone.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    threads()?.block_on(journal(rounds))
}

async fn journal(rounds: usize) -> Result<Vec<Figure>> {
    progress("a long journal: making it");
    let directory = scratch()?;
    let session = {
        let store = store(directory.path())?;
        let world = World::start(directory.path(), Arc::clone(&store), NEVER).await?;
        let session = world.open().await?;
        fill(&store, session).await?;
        world.engine.stop().await;
        session
    };
    let (mut opening, mut reading, mut folding) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        progress(&format!("a long journal: round {round} of {rounds}"));
        // Opened anew: nothing of the journal is in the store's own memory.
        let store = store(directory.path())?;
        let world = World::start(directory.path(), Arc::clone(&store), NEVER).await?;
        let start = Instant::now();
        let state = world.engine.state(session).await?;
        let opened = start.elapsed();
        ensure!(state.last_seq.0 >= EVENTS, "only {} events were read", state.last_seq.0);
        world.engine.stop().await;
        drop(world);
        drop(store);
        let store = super::world::store(directory.path())?;
        let start = Instant::now();
        let events = read(&store, session).await?;
        let read = start.elapsed();
        let start = Instant::now();
        let folded = State::fold(&events).context("a journal begins with an opening")?;
        let fold = start.elapsed();
        ensure!(folded == *state, "reading gave another state");
        // The first warms up.
        if round > 0 {
            opening.push(opened.as_secs_f64() * 1000.0);
            reading.push(read.as_secs_f64() * 1000.0);
            folding.push(fold.as_secs_f64() * 1000.0);
        }
    }
    Ok(vec![
        Figure::new(PART, "until its state is there", median(&mut opening), "ms")
            .limited(Limit::AtMost(MILLISECONDS)),
        Figure::new(PART, "reading and decoding alone", median(&mut reading), "ms"),
        Figure::new(PART, "folding alone", median(&mut folding), "ms"),
    ])
}

async fn read(store: &Arc<dyn Store>, session: SessionId) -> Result<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(Seq(0), |event| event.seq);
        let page = store.events(session, after, PAGE).await?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

/// Turns as they are: an instruction, replies with calls, results, an end; now and then a summary.
async fn fill(store: &Arc<dyn Store>, session: SessionId) -> Result<()> {
    let (mut last, mut turns) = (1, 0);
    let mut page = Vec::new();
    while last < EVENTS {
        if page.len() + 2 + 4 * CALLS + 2 > PAGE {
            let stored = store.append(session, std::mem::take(&mut page)).await?;
            last = stored.last().map_or(last, |event| event.seq.0);
        }
        turn(&mut page);
        turns += 1;
        if turns % TURNS_BETWEEN_SUMMARIES == 0 {
            let through = Seq(last);
            let summary = "The tests of the parser were made to pass. ".repeat(20);
            page.push(new(None, EventBody::HistoryCompacted { through, summary, usage: Usage::NONE }));
        }
    }
    store.append(session, page).await?;
    Ok(())
}

fn turn(events: &mut Vec<NewEvent>) {
    let turn = Some(TurnId::new());
    let text = "Make the tests of the parser pass, and say what was wrong with them.".to_owned();
    let instruction = Instruction { text, ..Instruction::default() };
    let usage = Usage { input: 8000, cached: 7000, output: 120, micro_dollars: Some(900) };
    events.push(new(turn, EventBody::TurnStarted { instruction, by: Actor::Engine, queued: None }));
    for _ in 0..CALLS {
        let call = ToolCall {
            id: CallId::new(),
            provider_id: Some("call_0123456789abcdef".to_owned()),
            tool: "read_file".to_owned(),
            arguments: JsonText(r#"{"path":"src/parser/expression.rs","start_line":120}"#.to_owned()),
        };
        let message = reply("Let me look at the expression parser first. ", vec![call.clone()]);
        events.push(new(turn, EventBody::MessageEnded { message, cut: false, usage }));
        let id = call.id;
        events.push(new(turn, EventBody::ToolRequested { call }));
        events.push(new(turn, EventBody::ToolStarted { call: id, executor: Executor::Server }));
        let output = "    let next = self.peek();\n".repeat(20);
        let outcome = ToolOutcome::Succeeded { output };
        events.push(new(
            turn,
            EventBody::ToolEnded { call: id, outcome, files: Vec::new(), command: None, milliseconds: 3 },
        ));
    }
    let message = reply("The parser took a minus for the beginning of a number. ", Vec::new());
    events.push(new(turn, EventBody::MessageEnded { message, cut: false, usage }));
    events.push(new(turn, EventBody::TurnEnded { end: TurnEnd::Done, usage, by: None }));
}

fn reply(text: &str, calls: Vec<ToolCall>) -> AssistantMessage {
    AssistantMessage { id: MessageId::new(), text: text.repeat(4), thought: None, calls }
}

fn new(turn: Option<TurnId>, body: EventBody) -> NewEvent {
    NewEvent { at: Timestamp::now(), turn, body }
}
