//! Commands about the daemon: models, policy, workspaces, clients, the log, the end.

use std::sync::Arc;

use loggia_domain::{CommandMode, Decision, ModelListing, ModelName, Policy, Preset, Rule};
use loggia_engine::EngineError;
use tracing::info;

use super::{Answer, sessions};
use crate::door::Inner;
use crate::guest::Guest;
use crate::ids::short;
use crate::log::LEVELS;
use crate::paint::{Painted, Style, brief};
use crate::read::nearest;
use crate::voice::{Refused, Status, Voice};

/// Models that are listed: some providers have hundreds.
const MODELS: usize = 200;

/// How much of a text is shown in a line.
const BRIEF: usize = 80;

/// Lists the models, and the agents that plugins bring to the workspace of the session in use, behind the command: providers may take their time.
pub(super) fn models(door: &Arc<Inner>, guest: &Guest, voice: Voice) {
    let (catalogue, stop) = (Arc::clone(&door.parts.models), door.parts.stop.clone());
    let (engine, place) = (door.parts.engine.clone(), guest.place());
    door.tasks.spawn(async move {
        let Some(listing) = stop.run_until_cancelled(catalogue.list()).await else { return };
        let (mut chosen, mut agents) = (None, Ok(Vec::new()));
        if let Some(place) = place {
            chosen = place.seat.state().await.ok().and_then(|state| state.model.clone());
            agents = engine.agents(place.workspace).await;
        }
        let chosen = chosen
            .or_else(|| engine.default_model())
            .or_else(|| catalogue.find(None).ok().map(|model| model.info().name));
        let chosen = chosen.map(|name| name.0);
        let mut text = listed(&listing, chosen.as_deref());
        text.append(listed_agents(&agents, chosen.as_deref()));
        voice.end(Ok(text)).await;
    });
}

fn listed(listing: &ModelListing, chosen: Option<&str>) -> Painted {
    let mut text = Painted::new();
    for model in listing.models.iter().take(MODELS) {
        let mark = if chosen == Some(model.name.0.as_str()) { "* " } else { "  " };
        let place = if model.local { "local, " } else { "" };
        let line = Painted::of(Style::Good, mark)
            .with(Style::Name, brief(&model.name.0, BRIEF))
            .with(Style::Aside, format!("  {place}{} tokens", model.context_tokens));
        text.append(line.line());
    }
    if listing.models.len() > MODELS {
        let more = listing.models.len() - MODELS;
        text.append(Painted::of(Style::Aside, format!("… {more} more")).line());
    }
    for (provider, error) in &listing.errors {
        let error = brief(&error.message, BRIEF * 2);
        text.append(Painted::of(Style::Warning, brief(provider, BRIEF)).plain(format!(": {error}")).line());
    }
    if listing.models.is_empty() && listing.errors.is_empty() {
        text.append(Painted::of(Style::Aside, "no models; prompts are answered by searching").line());
    }
    text
}

fn listed_agents(agents: &Result<Vec<ModelName>, EngineError>, chosen: Option<&str>) -> Painted {
    let mut text = Painted::new();
    match agents {
        Ok(agents) => {
            for ModelName(name) in agents {
                let mark = if chosen == Some(name) { "* " } else { "  " };
                let line = Painted::of(Style::Good, mark).with(Style::Name, brief(name, BRIEF));
                text.append(line.with(Style::Aside, "  agent of a plugin").line());
            }
        }
        Err(error) => {
            let error = brief(&error.to_string(), BRIEF * 2);
            text.append(Painted::of(Style::Warning, ModelName::GUESTS).plain(format!(": {error}")).line());
        }
    }
    text
}

pub(super) async fn policy(door: &Inner, guest: &Guest) -> Answer {
    let workspace = sessions::usual(door, guest).await?;
    let root = door.parts.engine.workspace(workspace).await?.root;
    let engine = door.parts.engine.clone();
    let read = tokio::task::spawn_blocking(move || engine.policy(workspace)).await;
    let policy = read.map_err(|error| Refused::new(Status::Failed, error))??;
    let mut text = Painted::of(Style::Subject, root.display().to_string()).line();
    text.append(policy_text(&policy));
    Ok(text)
}

fn policy_text(policy: &Policy) -> Painted {
    let mut text = Painted::new();
    let mut fact = |name: &str, value: &str| {
        text.append(
            Painted::of(Style::Aside, format!("  {name:<10} ")).plain(brief(value, BRIEF * 2)).line(),
        );
    };
    fact("preset", preset_word(policy.preset));
    fact(
        "commands",
        match policy.command_mode {
            CommandMode::LocalTerminal => "run by a client that can, in its terminal",
            CommandMode::ServerRunner => "run by the server",
        },
    );
    let sandbox = &policy.sandbox;
    let network = if sandbox.network { "network" } else { "no network" };
    fact("sandbox", &format!("{}, {network}", if sandbox.required { "required" } else { "if there is one" }));
    fact(
        "limits",
        &format!("{} s a command, {} steps a turn", policy.limits.command_timeout_s, policy.limits.max_steps),
    );
    for rule in &policy.rules {
        fact("rule", &rule_text(rule));
    }
    fact("revision", &policy.revision.to_string());
    text
}

fn rule_text(rule: &Rule) -> String {
    let word = match rule.decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask about",
        Decision::Deny => "deny",
    };
    let parts = [("tool", &rule.tool), ("path", &rule.path), ("command", &rule.command)];
    let parts: Vec<_> = parts
        .iter()
        .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} `{value}`")))
        .collect();
    let what = if parts.is_empty() { "everything".to_owned() } else { parts.join(", ") };
    let reason = rule.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{word} {what}{reason}")
}

fn preset_word(preset: Preset) -> &'static str {
    match preset {
        Preset::ReadOnly => "read-only",
        Preset::Ask => "ask",
        Preset::AutoEdit => "auto-edit",
        Preset::Full => "full",
    }
}

pub(super) async fn workspaces(door: &Inner) -> Answer {
    let workspaces = door.parts.engine.workspaces().await?;
    if workspaces.is_empty() {
        return Ok(Painted::of(Style::Aside, "no workspaces; `new DIRECTORY` begins a session in one").line());
    }
    let mut text = Painted::new();
    for workspace in workspaces {
        let name = Painted::of(Style::Name, brief(&workspace.name, BRIEF));
        text.append(name.with(Style::Aside, format!("  {}", workspace.root.display())).line());
    }
    Ok(text)
}

pub(super) async fn clients(door: &Inner, guest: &Guest) -> Answer {
    let mut text = Painted::new();
    for presence in door.console().clients() {
        let mark = if presence.id == guest.terminal { "* " } else { "  " };
        let process = presence.process.map(|process| format!(", process {process}")).unwrap_or_default();
        let log = if presence.subscribed { "" } else { ", no log" };
        let mut line =
            Painted::of(Style::Good, mark).with(Style::Name, format!("console {}", presence.id)).with(
                Style::Aside,
                format!(
                    "  epoch {}, colours {}{process}{log}",
                    presence.epoch.number(),
                    presence.color_level.name()
                ),
            );
        if let Some(session) = door.guests.session_of(presence.id) {
            line = line.plain(" uses ").with(Style::Name, short(&session));
        }
        text.append(line.line());
    }
    if let Some(place) = guest.place() {
        for client in place.seat.clients().await?.iter().filter(|client| client.id != guest.client.id) {
            let line = Painted::of(Style::Name, format!("  {}", brief(&client.name, BRIEF)))
                .with(Style::Aside, format!("  {:?} door, on ", client.door).to_lowercase())
                .with(Style::Name, short(&place.session()));
            text.append(line.line());
        }
    }
    Ok(text)
}

pub(super) fn log_level(door: &Inner, word: Option<&str>) -> Answer {
    let Some(word) = word else {
        return Ok(Painted::new().plain(format!("log level {}", door.parts.journal.level().0)).line());
    };
    match door.parts.journal.set_level(word) {
        Some(()) => Ok(Painted::new().plain(format!("log level {word}")).line()),
        None => {
            let words = LEVELS.map(|(word, _)| word);
            let hint = match nearest(word, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", words.join(", ")),
            };
            Err(Refused::new(Status::Usage, format!("there is no level `{}`", brief(word, BRIEF))).hint(hint))
        }
    }
}

/// Ends the daemon. Its answer still goes out: consoles are served until their last word.
pub(super) async fn stop(door: &Inner, guest: &Guest, voice: Voice) {
    info!(by = guest.client.name, "a client stops the daemon");
    voice.end(Ok(Painted::new().plain("the daemon stops").line())).await;
    door.parts.stop.cancel();
}
