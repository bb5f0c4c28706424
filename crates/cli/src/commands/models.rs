//! Models: which there are, which is used, whether it answers.

use std::path::PathBuf;
use std::time::Duration;

use loggia_client::{Client, Heard};
use loggia_protocol_agent_server::{
    CreateSessionParams, CurrentModel, ListedModel, PolicyPreset, ProblemType, ServerMessage, SessionModel,
};
use serde_json::json;
use tokio::time::Instant;

use super::table::table;
use super::{say, say_json};
use crate::ask::{model, workspace};
use crate::paint::{CODE, ERROR, Paint, WARNING, grouped, printable};
use crate::{CliError, Outcome, Terminal};

/// How long a model may take to say one word: a local one may have to be loaded first.
const TEST_PATIENCE: Duration = Duration::from_secs(120);

/// What it is asked.
const TEST_PROMPT: &str = "Answer with the single word: ok";

/// Which models there are.
#[derive(Debug, Clone)]
pub struct ModelList {
    /// What is configured here; nothing if no model is set.
    pub configured: Option<ConfiguredModel>,
    /// As JSON.
    pub json: bool,
}

/// A model that is set where the command runs. The server may have been started with another one.
#[derive(Debug, Clone)]
pub struct ConfiguredModel {
    /// Its name; several with commas between them are tried in turn.
    pub name: String,
    /// Who says so: a file and its line, or a variable.
    pub by: String,
    /// Whether it counts before what the server uses, as a variable of this terminal does.
    pub counts_first: bool,
}

/// Lists models; the one of new sessions is marked.
///
/// # Errors
/// See [`CliError`].
pub async fn model_list(
    client: &Client,
    options: ModelList,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let list = client.models().await?;
    if options.json {
        say_json(terminal, &list)?;
        return Ok(Outcome::Done);
    }
    let current = current(client).await?;
    let is_current = |model: &ListedModel| {
        let is_it = |current: &CurrentModel| {
            current.provider == model.provider && current.model_name == model.model_name
        };
        current.as_ref().is_some_and(is_it)
    };
    let row = |model: &ListedModel| {
        vec![
            if is_current(model) { "*".to_owned() } else { String::new() },
            format!("{}:{}", model.provider, model.model_name),
            model.context_tokens.map(grouped).unwrap_or_default(),
            if model.local { "this machine".to_owned() } else { "hosted".to_owned() },
        ]
    };
    if list.models.is_empty() {
        let text = "There are no models. `loggia doctor` tells what was looked for and what to do.\n";
        terminal.err(text).map_err(CliError::Output)?;
    } else {
        let rows: Vec<Vec<String>> = list.models.iter().map(row).collect();
        let width = terminal.stdout_is_terminal().then(|| terminal.width());
        let text = table(&["", "MODEL", "CONTEXT", "WHERE"], &rows, terminal.paint_out(), width);
        terminal.out(&text).map_err(CliError::Output)?;
    }
    // What is wrong with the model of new sessions is told with it.
    let told = current.as_ref().and_then(|current| current.problem.as_ref());
    for problem in list.errors.iter().filter(|problem| Some(&problem.message) != told) {
        let mark = terminal.paint_err().text(WARNING, "!").into_owned();
        let text = format!("{mark} {}: {}\n", printable(&problem.provider), printable(&problem.message));
        terminal.err(&text).map_err(CliError::Output)?;
    }
    if let Some(text) = origin(current.as_ref(), options.configured.as_ref(), terminal.paint_err()) {
        terminal.err(&format!("{text}\n")).map_err(CliError::Output)?;
    }
    Ok(Outcome::Done)
}

/// Which model new sessions use, and by whose word; nothing if there is none.
fn origin(
    current: Option<&CurrentModel>,
    configured: Option<&ConfiguredModel>,
    paint: Paint,
) -> Option<String> {
    if let Some(ConfiguredModel { name, by, .. }) = configured.filter(|configured| configured.counts_first) {
        return Some(format!("New sessions use {}, set by {}.", printable(name), printable(by)));
    }
    let current = current?;
    let name = format!("{}:{}", current.provider, current.model_name);
    let configured = configured.filter(|_| !current.chosen);
    // A server keeps what it was started with.
    let (by, newer): (Option<&ConfiguredModel>, Option<&ConfiguredModel>) = match configured {
        Some(configured) if !configured.names(&name) => (None, Some(configured)),
        configured => (configured, None),
    };
    let whose = match (current.chosen, by, newer) {
        (true, ..) => ", chosen with `loggia model use`".to_owned(),
        (false, Some(by), _) => format!(", set by {}", printable(&by.by)),
        (false, None, Some(_)) => String::new(),
        (false, None, None) => ", which was found; nothing is set".to_owned(),
    };
    let name = printable(&name);
    let mut text = match &current.problem {
        Some(problem) => {
            let mark = paint.text(WARNING, "!");
            format!("{mark} {name}{whose}, cannot be used: {}", printable(problem))
        }
        None if current.chosen => format!("New sessions use {name}{whose}; `--unset` forgets the choice."),
        None => format!("New sessions use {name}{whose}."),
    };
    if current.chosen && current.problem.is_some() {
        let hint = paint.text(CODE, "hint:");
        text.push_str(&format!("\n{hint} `loggia model use --unset` forgets the choice"));
    }
    if let Some(ConfiguredModel { name, by, .. }) = newer {
        let (by, name) = (printable(by), printable(name));
        text.push_str(&format!("\n{by} now says {name}; `loggia stop` lets it count."));
    }
    Some(text)
}

impl ConfiguredModel {
    /// Whether this is one of its names.
    fn names(&self, name: &str) -> bool {
        self.name.split(',').any(|own| own.trim() == name)
    }
}

/// The model of new sessions.
#[derive(Debug, Clone)]
pub struct ModelUse {
    /// As `PROVIDER:MODEL`; nothing to forget what was chosen.
    pub name: Option<String>,
    /// As JSON.
    pub json: bool,
}

/// Sets the model of new sessions, or forgets which was chosen.
///
/// # Errors
/// See [`CliError`].
pub async fn model_use(
    client: &Client,
    options: ModelUse,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let mut was_chosen = false;
    let now = match &options.name {
        Some(name) => {
            let SessionModel { provider, model_name } = model(name)?;
            let chosen = CurrentModel { provider, model_name, ..CurrentModel::default() };
            Some(client.put_current_model(&chosen).await?)
        }
        None => {
            was_chosen = current(client).await?.is_some_and(|current| current.chosen);
            client.forget_current_model().await?;
            current(client).await?
        }
    };
    if options.json {
        say_json(terminal, &now)?;
        return Ok(Outcome::Done);
    }
    let name = now.map(|now| format!("{}:{}", now.provider, now.model_name));
    let name = name.as_deref().map(printable);
    let forgotten = if was_chosen { "The choice is forgotten" } else { "No model was chosen" };
    let text = match (&options.name, name) {
        (Some(_), Some(name)) => format!("New sessions use {name}."),
        (_, Some(name)) => format!("{forgotten}; new sessions use {name}."),
        (_, None) => format!("{forgotten}; no model is set."),
    };
    say(terminal, &text)?;
    Ok(Outcome::Done)
}

/// A model to try.
#[derive(Debug, Clone)]
pub struct ModelTest {
    /// As `PROVIDER:MODEL`; the one of new sessions otherwise.
    pub name: Option<String>,
    /// Where the session for it is opened. Nothing is read or changed there.
    pub workspace: PathBuf,
    /// As JSON.
    pub json: bool,
}

/// Has a model say one word, and tells how long that took.
///
/// # Errors
/// See [`CliError`]. A model that does not answer is an [`Outcome`].
pub async fn model_test(
    client: &Client,
    options: ModelTest,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let model = options.name.as_deref().map(model).transpose()?;
    let params = CreateSessionParams {
        workspace_id: workspace(client, &options.workspace).await?.workspace_id,
        title: Some("A test of the model".to_owned()),
        model,
        policy_preset: Some(PolicyPreset::ReadOnly),
        budget: None,
    };
    let session = client.create_session(&params).await?;
    let name = session.model.as_ref().map(|model| format!("{}:{}", model.provider, model.model_name));
    let tried = tokio::time::timeout(TEST_PATIENCE, try_out(client, &session)).await;
    // What was found out counts; a session that stays is only untidy.
    let _ = client.delete_session(&session.session_id).await;
    let tried = match tried {
        Ok(tried) => tried?,
        Err(_) => Tried { failure: Some("it said nothing in two minutes".to_owned()), ..Tried::default() },
    };
    if let Some(name) = name.or(options.name) {
        return tell(terminal, &name, &tried, options.json);
    }
    // One that is looked for is known by now. Where none was found a search has answered, and that is no model.
    match (current(client).await?, &tried.failure) {
        (Some(CurrentModel { provider, model_name, .. }), _) => {
            tell(terminal, &format!("{provider}:{model_name}"), &tried, options.json)
        }
        (None, Some(_)) => tell(terminal, "the default model", &tried, options.json),
        (None, None) => tell_of_none(terminal, options.json),
    }
}

/// How a try went.
#[derive(Debug, Default)]
struct Tried {
    first: Option<Duration>,
    whole: Duration,
    failure: Option<String>,
}

async fn try_out(
    client: &Client,
    session: &loggia_protocol_agent_server::Session,
) -> Result<Tried, CliError> {
    let mut stream = client.follow(&session.session_id).after(session.last_seq).open().await?;
    let began = Instant::now();
    stream.speaker().prompt(TEST_PROMPT).await?;
    let mut tried = Tried::default();
    while let Some(heard) = stream.next().await {
        match heard? {
            Heard::Message(ServerMessage::Token(_)) => drop(tried.first.get_or_insert(began.elapsed())),
            Heard::Message(ServerMessage::Error(error)) => tried.failure = Some(error.error.message),
            Heard::Message(ServerMessage::MessageFinal(_)) => {
                tried.whole = began.elapsed();
                return Ok(tried);
            }
            _ => {}
        }
    }
    Err(CliError::Ended)
}

fn tell(terminal: &mut Terminal, name: &str, tried: &Tried, json: bool) -> Result<Outcome, CliError> {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let outcome = if tried.failure.is_none() { Outcome::Done } else { Outcome::ModelFailed };
    if json {
        let first = tried.first.map(milliseconds);
        let body = json!({"model": name, "works": tried.failure.is_none(), "first_token_ms": first,
                          "whole_ms": milliseconds(tried.whole), "error": tried.failure});
        say_json(terminal, &body)?;
        return Ok(outcome);
    }
    match &tried.failure {
        None => {
            let first = tried.first.map(|first| format!(", its first word after {} ms", milliseconds(first)));
            let (name, whole) = (printable(name), milliseconds(tried.whole));
            let text = format!("{name} works: {whole} ms{}.", first.unwrap_or_default());
            say(terminal, &text)?;
        }
        Some(why) => {
            let paint = terminal.paint_err();
            let text = format!(
                "{} {} does not work: {}\nhint: `loggia doctor` tells what it lacks\n",
                paint.text(ERROR, "error:"),
                printable(name),
                printable(why)
            );
            terminal.err(&text).map_err(CliError::Output)?;
        }
    }
    Ok(outcome)
}

/// Tells that there is no model to try.
fn tell_of_none(terminal: &mut Terminal, json: bool) -> Result<Outcome, CliError> {
    const NONE: &str = "no model is set";
    if json {
        let body =
            json!({"model": null, "works": false, "first_token_ms": null, "whole_ms": 0, "error": NONE});
        say_json(terminal, &body)?;
    } else {
        let error = terminal.paint_err().text(ERROR, "error:").into_owned();
        let hint = "`loggia init` sets one up, with its key; `loggia doctor` tells what was found";
        terminal.err(&format!("{error} {NONE}\nhint: {hint}\n")).map_err(CliError::Output)?;
    }
    Ok(Outcome::ModelFailed)
}

/// The model of new sessions, if one is set.
async fn current(client: &Client) -> Result<Option<CurrentModel>, CliError> {
    match client.current_model().await {
        Ok(current) => Ok(Some(current)),
        Err(error) if error.problem().is_some_and(|problem| problem.kind == ProblemType::NotFound) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
