//! The child of the crash test: an engine under load that says what it was told, until it is killed.
//!
//! Each line is written in one piece once the engine has told the fact, so that the parent knows what was
//! acknowledged:
//! `event SESSION SEQ`, `reply SESSION MESSAGE LENGTH MILLISECONDS`, `asked SESSION APPROVAL`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loggia_domain::{
    Abilities, Actor, Client, ClientId, Door, EventBody, Intent, Preset, Role, Seq, SessionId, SessionQuery,
    Store,
};
use loggia_engine::{Engine, EngineError, NewSession, NoGuests, OnLeave, Parts, Settings, Told};

use crate::load::{LoadModel, OnlyModel};
use crate::player::prompt;
use crate::world::open_store;

/// What each session of the load does.
pub const LOAD: [&str; 6] = ["talk", "talk", "edit one", "edit two", "ask three", "ask four"];

/// The time, as child and parent both know it.
pub fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis())
}

/// An engine over a directory, with a model that keeps it busy.
///
/// # Errors
/// What the engine says.
///
/// # Panics
/// If the store cannot be opened.
pub async fn engine(directory: &Path, keeper: &Path) -> Result<(Engine, Arc<dyn Store>), EngineError> {
    let root = directory.join("work");
    std::fs::create_dir_all(&root).expect("a workspace");
    // The parent's own look at it may be ending just now.
    let store = open_store(directory);
    let keeper = loggia_wire::child::Keeper::new(keeper, ["keep"]);
    let parts = Parts {
        store: Arc::clone(&store),
        models: Arc::new(OnlyModel(LoadModel::new(root))),
        tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
        repositories: loggia_engine::NoRepository::finder(),
        sources: Arc::new(|_| Vec::new()),
        runner: Arc::new(loggia_runner::CommandRunner::new(keeper, loggia_runner::Settings::default())),
        index: Arc::new(|_| None),
        guests: Arc::new(NoGuests),
        desks: loggia_engine::Desks::default(),
    };
    let engine = Engine::start(parts, Settings::new(directory.join("data"))).await?;
    Ok((engine, store))
}

/// The sessions of the load, in its order; made the first time.
///
/// # Errors
/// What the engine says.
pub async fn sessions(engine: &Engine, directory: &Path) -> Result<Vec<SessionId>, EngineError> {
    let workspace = engine.register_workspace(&directory.join("work"), None).await?;
    let query = SessionQuery { workspace: Some(workspace.id), limit: 100, cursor: None };
    let mut known: Vec<SessionId> =
        engine.sessions(query).await?.items.iter().map(|summary| summary.id).collect();
    known.sort_unstable();
    while known.len() < LOAD.len() {
        let preset = if LOAD[known.len()].starts_with("ask") { Preset::Ask } else { Preset::AutoEdit };
        let new = NewSession { preset: Some(preset), ..NewSession::new(workspace.id) };
        known.push(engine.open_session(new, Actor::Engine).await?);
    }
    Ok(known)
}

/// Runs until killed.
///
/// # Panics
/// If anything fails: the parent sees that.
pub async fn child(directory: &Path, keeper: &Path) {
    let (engine, _) = engine(directory, keeper).await.expect("an engine");
    let sessions = sessions(&engine, directory).await.expect("sessions");
    say("ready");
    let players = sessions.into_iter().zip(LOAD).map(|(session, what)| play(engine.clone(), session, what));
    futures_util::future::join_all(players).await;
}

#[expect(clippy::print_stdout, reason = "what was told is the child's output")]
fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("the parent listens");
}

async fn play(engine: Engine, session: SessionId, what: &'static str) {
    let client = Client {
        id: ClientId::new(),
        name: what.to_owned(),
        door: Door::Inside,
        role: Role::Drive,
        abilities: Abilities::default(),
    };
    let (seat, state) = engine.join(session, client, OnLeave::Keep).await.expect("a seat");
    let mut heard = seat.subscribe(state.last_seq);
    let instruction = what.replace("ask ", "edit ");
    let mut length = 0;
    // A question of an earlier life first.
    for approval in state.pending.keys() {
        seat.intend(yes(*approval)).await.expect("a question that outlived a crash is answered");
    }
    if state.turn.is_none() {
        seat.intend(prompt(&instruction)).await.expect("a prompt");
    }
    loop {
        match heard.next().await.expect("the session goes on") {
            Told::Event(event) => {
                say(&format!("event {session} {}", event.seq.0));
                match &event.body {
                    EventBody::ApprovalAsked { approval, .. } => {
                        say(&format!("asked {session} {approval}"));
                        // Long enough that many are still open when the kill comes.
                        tokio::time::sleep(Duration::from_millis(30)).await;
                        seat.intend(yes(*approval)).await.expect("an open question");
                    }
                    EventBody::TurnEnded { .. } => {
                        length = 0;
                        seat.intend(prompt(&instruction)).await.expect("a prompt");
                    }
                    _ => {}
                }
            }
            Told::Reply(piece) => {
                length += piece.text.len();
                say(&format!("reply {session} {} {length} {}", piece.message, now()));
            }
            Told::Passing(_) => {}
        }
    }
}

fn yes(approval: loggia_domain::ApprovalId) -> Intent {
    let answer = loggia_domain::ApprovalAnswer {
        scope: loggia_domain::ApprovalScope::All,
        remember: loggia_domain::Remember::Once,
        comment: None,
    };
    Intent::Decide { approval, answer }
}

/// Everything after the beginning of a journal.
pub const BEGINNING: Seq = Seq(0);
