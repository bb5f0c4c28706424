//! Plugins: which there are, whether they may run, and how they come and go.

use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::{
    self as wire, InstallPluginParams, Plugin, PluginParams, PluginScope, PluginState, PluginValidation,
    WorkspaceId,
};
use serde_json::json;

use super::table::table;
use super::{confirm, say, say_json};
use crate::ask::workspace;
use crate::paint::{ASIDE, BAD, GOOD, SUBJECT, WARNING, first_line, printable};
use crate::{CliError, Interrupts, Outcome, Terminal};

/// What is said of a workspace's plugins that may not run.
const TRUST_HINT: &str = "`loggia trust` shows what would run, and lets it";

/// Which plugins there are.
#[derive(Debug, Clone)]
pub struct PluginList {
    /// As this directory sees them; the user's own otherwise.
    pub workspace: Option<PathBuf>,
    /// As JSON.
    pub json: bool,
}

/// Lists plugins, by name. None is started.
///
/// # Errors
/// See [`CliError`].
pub async fn plugin_list(
    client: &Client,
    options: PluginList,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let place = place(client, options.workspace).await?;
    let listing = client.plugins(place.as_ref()).await?;
    if options.json {
        say_json(terminal, &listing)?;
        return Ok(Outcome::Done);
    }
    if listing.plugins.is_empty() {
        terminal.err("There are no plugins yet.\n").map_err(CliError::Output)?;
    } else {
        let rows: Vec<Vec<String>> = listing.plugins.iter().map(row).collect();
        let width = terminal.stdout_is_terminal().then(|| terminal.width());
        let heads = ["NAME", "TYPE", "SCOPE", "ENABLED", "STATE", "DESCRIPTION"];
        let text = table(&heads, &rows, terminal.paint_out(), width);
        terminal.out(&text).map_err(CliError::Output)?;
    }
    if listing.plugins.iter().any(|plugin| plugin.state == PluginState::Untrusted) {
        warn(terminal, &format!("plugins of this workspace are not trusted; {TRUST_HINT}"))?;
    }
    for name in &listing.unknown {
        warn(terminal, &format!("`{name}` is enabled, and there is no such plugin"))?;
    }
    listing.problems.iter().try_for_each(|problem| warn(terminal, problem))?;
    Ok(Outcome::Done)
}

/// A plugin, as it is seen from somewhere.
#[derive(Debug, Clone)]
pub struct PluginNamed {
    /// Which.
    pub name: String,
    /// In this directory; everywhere otherwise.
    pub workspace: Option<PathBuf>,
    /// As JSON.
    pub json: bool,
}

/// Shows all there is to know about a plugin. It is not started.
///
/// # Errors
/// See [`CliError`].
pub async fn plugin_info(
    client: &Client,
    options: PluginNamed,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let place = place(client, options.workspace).await?;
    let plugin = client.plugin(&options.name, place.as_ref()).await?;
    match options.json {
        true => say_json(terminal, &plugin)?,
        false => say(terminal, &facts(&plugin, terminal))?,
    }
    Ok(Outcome::Done)
}

/// Lets a plugin run.
///
/// # Errors
/// See [`CliError`].
pub async fn plugin_enable(
    client: &Client,
    options: PluginNamed,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    switch(client, options, terminal, Way::On).await
}

/// Lets a plugin run no longer.
///
/// # Errors
/// See [`CliError`].
pub async fn plugin_disable(
    client: &Client,
    options: PluginNamed,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    switch(client, options, terminal, Way::Off).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    On,
    Off,
}

async fn switch(
    client: &Client,
    options: PluginNamed,
    terminal: &mut Terminal,
    way: Way,
) -> Result<Outcome, CliError> {
    let PluginNamed { name, workspace, json } = options;
    let shown = workspace.as_ref().map_or("everywhere".to_owned(), |path| format!("in {}", path.display()));
    let params = PluginParams { workspace_id: place(client, workspace).await? };
    let plugin = match way {
        Way::On => client.enable_plugin(&name, &params).await?,
        Way::Off => client.disable_plugin(&name, &params).await?,
    };
    if json {
        say_json(terminal, &plugin)?;
        return Ok(Outcome::Done);
    }
    let word = if way == Way::On { "on" } else { "off" };
    say(terminal, &format!("{} is {word} {}", printable(&plugin.name), printable(&shown)))?;
    match (way, &plugin.state) {
        (Way::On, PluginState::Untrusted) => {
            warn(terminal, &format!("it does not run yet: its workspace is not trusted; {TRUST_HINT}"))?;
        }
        (Way::Off, _) if plugin.enabled => warn(terminal, "it is still enabled for a workspace")?,
        _ => {}
    }
    plugin.warnings.iter().try_for_each(|warning| warn(terminal, warning))?;
    Ok(Outcome::Done)
}

/// Which plugins to try.
#[derive(Debug, Clone)]
pub struct PluginValidate {
    /// Which; all there are otherwise.
    pub name: Option<String>,
    /// As this directory sees them; the user's own otherwise.
    pub workspace: Option<PathBuf>,
    /// As JSON.
    pub json: bool,
}

/// Tries whether plugins start and answer; whether all of them do. Those of a workspace that is not trusted are left out
/// unless one of them is named.
///
/// # Errors
/// See [`CliError`].
pub async fn plugin_validate(
    client: &Client,
    options: PluginValidate,
    terminal: &mut Terminal,
) -> Result<bool, CliError> {
    let place = place(client, options.workspace).await?;
    let names = match options.name {
        Some(name) => vec![name],
        None => tried_by_itself(client, place.as_ref(), terminal).await?,
    };
    let params = PluginParams { workspace_id: place };
    let mut results: Vec<PluginValidation> = Vec::new();
    for name in names {
        let result = client.validate_plugin(&name, &params).await?;
        if !options.json {
            say(terminal, &verdict(&result, terminal))?;
        }
        results.push(result);
    }
    if options.json {
        say_json(terminal, &json!({ "results": results }))?;
    }
    Ok(results.iter().all(|result| result.works))
}

/// The names of those that are tried when nobody names one.
async fn tried_by_itself(
    client: &Client,
    place: Option<&WorkspaceId>,
    terminal: &mut Terminal,
) -> Result<Vec<String>, CliError> {
    let plugins = client.plugins(place).await?.plugins;
    let (untrusted, tried): (Vec<_>, Vec<_>) =
        plugins.into_iter().partition(|plugin| plugin.state == PluginState::Untrusted);
    for plugin in untrusted {
        warn(terminal, &format!("`{}` is not tried: it is not trusted; {TRUST_HINT}", plugin.name))?;
    }
    let mut names: Vec<String> = tried.into_iter().map(|plugin| plugin.name).collect();
    names.dedup();
    Ok(names)
}

/// A plugin to fetch.
#[derive(Debug, Clone)]
pub struct PluginInstall {
    /// The address of a repository, or the absolute path of a directory.
    pub source: String,
    /// For this directory; for all of the user's otherwise.
    pub workspace: Option<PathBuf>,
    /// As JSON.
    pub json: bool,
}

/// Fetches a plugin, without enabling it.
///
/// # Errors
/// See [`CliError`].
pub async fn plugin_install(
    client: &Client,
    options: PluginInstall,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let global = if options.workspace.is_none() { " --global" } else { "" };
    let workspace_id = place(client, options.workspace).await?;
    let plugin = client.install_plugin(&InstallPluginParams { source: options.source, workspace_id }).await?;
    if options.json {
        say_json(terminal, &plugin)?;
        return Ok(Outcome::Done);
    }
    let name = printable(&plugin.name).into_owned();
    say(terminal, &format!("{name} is in {}", printable(&plugin.directory)))?;
    let hint = format!("It does not run yet; `loggia plugin enable{global} {name}` lets it.\n");
    terminal.err(&hint).map_err(CliError::Output)?;
    Ok(Outcome::Done)
}

/// A plugin to delete.
#[derive(Debug, Clone)]
pub struct PluginRemove {
    /// Which.
    pub name: String,
    /// That of this directory; one of the user's otherwise.
    pub workspace: Option<PathBuf>,
    /// Without asking.
    pub yes: bool,
    /// As JSON.
    pub json: bool,
}

/// Deletes a plugin's directory.
///
/// # Errors
/// See [`CliError`].
pub async fn plugin_remove(
    client: &Client,
    options: PluginRemove,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let PluginRemove { name, workspace, yes, json } = options;
    let scope = if workspace.is_some() { PluginScope::Project } else { PluginScope::Global };
    let place = place(client, workspace).await?;
    let listing = client.plugins(place.as_ref()).await?;
    let found = listing.plugins.iter().find(|plugin| plugin.name == name && plugin.scope == scope);
    // Of one that is not there the server says why.
    if let (Some(plugin), false) = (found, yes)
        && !confirm(terminal, &format!("Delete {}?", plugin.directory), interrupts).await?
    {
        return Ok(Outcome::Refused);
    }
    client.remove_plugin(&name, place.as_ref()).await?;
    let directory = found.map(|plugin| plugin.directory.as_str()).unwrap_or_default();
    match json {
        true => say_json(terminal, &json!({ "name": name, "directory": directory }))?,
        false => say(terminal, &format!("{} is gone from {}", printable(&name), printable(directory)))?,
    }
    Ok(Outcome::Done)
}

/// The workspace that is meant, as the server knows it.
async fn place(client: &Client, directory: Option<PathBuf>) -> Result<Option<WorkspaceId>, CliError> {
    match directory {
        Some(directory) => Ok(Some(workspace(client, &directory).await?.workspace_id)),
        None => Ok(None),
    }
}

fn row(plugin: &Plugin) -> Vec<String> {
    let about = match &plugin.state {
        PluginState::Broken | PluginState::GivenUp => plugin.problem.as_ref(),
        _ => plugin.description.as_ref(),
    };
    vec![
        plugin.name.clone(),
        plugin.kind.as_ref().map_or("-", wire::PluginType::as_str).to_owned(),
        plugin.scope.to_string(),
        if plugin.enabled { "yes" } else { "no" }.to_owned(),
        state(&plugin.state).to_owned(),
        about.map(|text| first_line(text).into_owned()).unwrap_or_default(),
    ]
}

/// How it is, for people.
pub(super) fn state(state: &PluginState) -> &str {
    match state {
        PluginState::Untrusted => "not trusted",
        PluginState::Disabled => "off",
        PluginState::GivenUp => "given up",
        state => state.as_str(),
    }
}

fn facts(plugin: &Plugin, terminal: &Terminal) -> String {
    let paint = terminal.paint_out();
    let mut lines = vec![paint.text(SUBJECT, printable(&plugin.name)).into_owned()];
    let mut fact = |name: &str, value: &str| {
        let name = paint.text(ASIDE, format!("{name:<12}"));
        lines.push(format!("  {name} {}", printable(value)));
    };
    plugin.description.iter().for_each(|text| fact("about", text));
    fact("type", plugin.kind.as_ref().map_or("-", wire::PluginType::as_str));
    fact("scope", plugin.scope.as_str());
    fact("enabled", if plugin.enabled { "yes" } else { "no" });
    let pid = plugin.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
    fact("state", &format!("{}{pid}", state(&plugin.state)));
    plugin.problem.iter().for_each(|text| fact("problem", text));
    let texts = [
        ("version", &plugin.version),
        ("protocol", &plugin.protocol),
        ("author", &plugin.author),
        ("homepage", &plugin.homepage),
    ];
    texts.into_iter().for_each(|(name, text)| text.iter().for_each(|text| fact(name, text)));
    fact("directory", &plugin.directory);
    let lists = [
        ("command", &plugin.command, " "),
        ("schemes", &plugin.schemes, ", "),
        ("can", &plugin.capabilities, ", "),
    ];
    for (name, list, between) in lists {
        if !list.is_empty() {
            fact(name, &list.join(between));
        }
    }
    for variable in &plugin.variables {
        let set = if variable.set { "set" } else { "not set" };
        let needed = if variable.required { ", needed" } else { "" };
        let about = variable.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        fact("variable", &format!("{} ({set}{needed}){about}", variable.name));
    }
    plugin.warnings.iter().for_each(|text| fact("warning", text));
    lines.join("\n")
}

fn verdict(result: &PluginValidation, terminal: &Terminal) -> String {
    let paint = terminal.paint_out();
    match &result.problem {
        None => format!("{} {}", paint.text(GOOD, "OK   "), printable(&result.name)),
        Some(problem) => {
            let mut lines = problem.lines().map(printable);
            let first = lines.next().unwrap_or_default();
            let rest: String = lines.map(|line| format!("\n      {line}")).collect();
            format!("{} {}: {first}{rest}", paint.text(BAD, "ERROR"), printable(&result.name))
        }
    }
}

/// Says something to look at.
fn warn(terminal: &mut Terminal, text: &str) -> Result<(), CliError> {
    let word = terminal.paint_err().text(WARNING, "warning:").into_owned();
    let line = text.lines().map(printable).collect::<Vec<_>>().join("\n  ");
    terminal.err(&format!("{word} {line}\n")).map_err(CliError::Output)
}
