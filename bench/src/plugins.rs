//! What a plugin costs a host: a call, a stream of events, a start, and looking for fifty of them.
//!
//! Knows what is measured and which limits we set ourselves. The floor is the same child at the end of two pipes, with lines
//! written and read by hand: no keeper, no messages told apart, no limits.
//!
//! What always holds: contenders take turns within a round and talk to the same program; a call is over when its answer
//! is read, a stream when the answer to its run is.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

mod child;
mod raw;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use loggia_domain::{AgentPart, AgentRequest};
use loggia_plugins::{AgentSettings, HostSettings, Limits, Place, Plugins, Scope};
use loggia_wire::child::Keeper;

use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::rows::{Row, Rows};
pub use child::{Child, serve};
use raw::Raw;

const PART: &str = "Plugins as child processes";

/// Calls of one round, one after another.
const CALLS: usize = 2_000;

/// The same to an interpreter.
const SLOW_CALLS: usize = 500;

/// Plugins in one place, as nobody has them.
const MANY: usize = 50;

const KIT: &str = include_str!("../../sdk/python/loggia_plugin.py");

const PYTHON: &str = "import loggia_plugin as kit\nkit.serve(kit.Provider('bench', ['bench']))\n";

const CALL: Row = Row::limited("a call and its answer", "µs", Limit::TimesFloor(3.0));
const PYTHON_CALL: Row = Row::free("a call and its answer, in Python", "µs");
const STREAM: Row = Row::limited("events of a run, per second", "/s", Limit::ShareOfFloor(0.33));
const START: Row = Row::free("start to the first answer", "ms");
const FIND: Row = Row::limited("50 plugins found and listed, none started", "ms", Limit::AtMost(100.0));

const ROWS: &[Row] = &[CALL, PYTHON_CALL, STREAM, START, FIND];

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let home = tempfile::tempdir()?;
    let many = tempfile::tempdir()?;
    add(home.path(), "provider", Child::Provider)?;
    add(home.path(), "agent", Child::Agent)?;
    add_python(home.path())?;
    for number in 0..MANY {
        add(many.path(), &format!("plugin-{number:02}"), Child::Provider)?;
    }
    let mut rows = Rows::new(PART, ROWS);
    for round in 0..=rounds {
        eprint!("\r\x1b[Kplugins: round {round} of {rounds}");
        rows.keep = round > 0;
        rows.ours(&FIND, found(many.path())?);
        runtime.block_on(ours(&mut rows, home.path()))?;
        floor(&mut rows, home.path())?;
    }
    eprint!("\r\x1b[K");
    rows.figures()
}

/// Through the host.
async fn ours(rows: &mut Rows, place: &Path) -> Result<()> {
    let host = host(place)?;
    for (name, row, calls) in [("provider", &CALL, CALLS), ("python", &PYTHON_CALL, SLOW_CALLS)] {
        let providers = host.providers();
        let provider = providers.iter().find(|provider| provider.name() == name).context("a provider")?;
        let began = Instant::now();
        ensure!(!provider.claims("other:1".to_owned()).await?);
        if name == "provider" {
            rows.ours(&START, began.elapsed().as_secs_f64() * 1e3);
        }
        let began = Instant::now();
        for _ in 0..calls {
            ensure!(provider.claims("bench:1".to_owned()).await?);
        }
        rows.ours(row, began.elapsed().as_secs_f64() * 1e6 / calls as f64);
    }
    let agents = host.agents();
    let agent = agents.first().context("an agent")?;
    agent.ready().await?;
    let began = Instant::now();
    let request = AgentRequest { text: "go".to_owned(), ..AgentRequest::default() };
    let mut run = agent.run(request).await?;
    let mut heard = 0;
    while let Some(part) = run.parts.next().await {
        heard += usize::from(matches!(part?, AgentPart::Text(_)));
    }
    ensure!(heard == child::EVENTS, "{heard} events were heard");
    rows.ours(&STREAM, heard as f64 / began.elapsed().as_secs_f64());
    host.stop().await;
    Ok(())
}

/// By hand.
fn floor(rows: &mut Rows, place: &Path) -> Result<()> {
    for (name, row, calls) in [("provider", &CALL, CALLS), ("python", &PYTHON_CALL, SLOW_CALLS)] {
        let began = Instant::now();
        let mut raw =
            if name == "python" { Raw::python(&place.join(name))? } else { Raw::start(Child::Provider)? };
        raw.call(&request(1, "provider.init", r#"{"config":{}}"#))?;
        if name == "provider" {
            rows.floor(&START, began.elapsed().as_secs_f64() * 1e3);
        }
        let began = Instant::now();
        for number in 0..calls {
            let answer = raw.call(&request(number + 2, "provider.match", r#"{"input":"bench:1"}"#))?;
            ensure!(answer.contains("true"), "it said {answer}");
        }
        rows.floor(row, began.elapsed().as_secs_f64() * 1e6 / calls as f64);
    }
    let mut raw = Raw::start(Child::Agent)?;
    raw.call(&request(1, "agent.init", r#"{"config":{}}"#))?;
    let began = Instant::now();
    let heard = raw.until_answer(&request(2, "agent.run", r#"{"prompt":"go"}"#))?;
    rows.floor(&STREAM, heard as f64 / began.elapsed().as_secs_f64());
    Ok(())
}

/// How many milliseconds it takes to find and list all plugins of a place.
fn found(place: &Path) -> Result<f64> {
    let began = Instant::now();
    let listed = host(place)?.list();
    let took = began.elapsed().as_secs_f64() * 1e3;
    ensure!(listed.len() == MANY, "{} plugins were found", listed.len());
    Ok(took)
}

fn host(place: &Path) -> Result<Plugins> {
    let keeper = Keeper::new(std::env::current_exe()?, ["keep"]);
    Ok(Plugins::find(
        keeper,
        HostSettings {
            places: vec![Place { directory: place.to_owned(), scope: Scope::Global }],
            enabled: ["provider", "agent", "python"].map(str::to_owned).into(),
            config: BTreeMap::new(),
            agents: AgentSettings::default(),
            environment: std::env::vars_os().collect(),
            limits: Limits::default(),
            trust: Arc::new(|_| true),
        },
    ))
}

/// A plugin that is this program.
fn add(place: &Path, name: &str, child: Child) -> Result<()> {
    let itself = std::env::current_exe()?;
    let command = format!("[{:?}, plugin-child, {}]", itself, child.name());
    write(place, name, child.name(), &command)
}

fn add_python(place: &Path) -> Result<()> {
    write(place, "python", "provider", "[python3, ./plugin.py]")?;
    std::fs::write(place.join("python/plugin.py"), PYTHON)?;
    Ok(std::fs::write(place.join("python/loggia_plugin.py"), KIT)?)
}

fn write(place: &Path, name: &str, kind: &str, command: &str) -> Result<()> {
    let directory = place.join(name);
    std::fs::create_dir_all(&directory)?;
    let manifest = format!(
        "version: \"1\"\nname: {name}\ntype: {kind}\nprotocol: \"1\"\ndescription: Plays a part in a benchmark\n\
         executable:\n  command: {command}\n{kind}:\n  name: {name}\n  schemes: [bench]\n"
    );
    Ok(std::fs::write(directory.join("plugin.yaml"), manifest)?)
}

fn request(id: usize, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}
