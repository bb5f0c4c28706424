//! The commands about plugins: which there are, how they are, and whether they may run. None is started by looking.

use std::sync::Arc;

use loggia_domain::{PluginDeskError, PluginListing, PluginStanding, PluginSummary};

use super::{Answer, sessions};
use crate::door::Inner;
use crate::guest::Guest;
use crate::paint::{Painted, Style, brief};
use crate::table::PluginVerb;
use crate::voice::{Refused, Status, Voice};

/// Plugins that are listed: a directory may have a thousand.
const PLUGINS: usize = 200;

/// How much of a text is shown in a line.
const BRIEF: usize = 80;

/// Lists the plugins, or shows the one that is named.
pub(super) async fn plugins(door: &Inner, guest: &Guest, name: Option<&str>) -> Answer {
    let workspace = sessions::usual(door, guest).await?;
    let workspace = door.parts.engine.workspace(workspace).await?;
    let listing = door.parts.plugins.list(Some(workspace)).await?;
    let Some(name) = name else { return Ok(listed(&listing)) };
    let found: Vec<&PluginSummary> = listing.plugins.iter().filter(|plugin| plugin.name == name).collect();
    if found.is_empty() {
        let what = format!("there is no plugin `{}`", brief(name, BRIEF));
        return Err(Refused::new(Status::Unavailable, what).hint("`plugins` lists those there are"));
    }
    let mut text = Painted::new();
    found.into_iter().for_each(|plugin| text.append(shown(plugin)));
    Ok(text)
}

/// Does something about a plugin in the workspace of the session in use, behind the command: a plugin may take its time.
pub(super) async fn act(door: &Arc<Inner>, guest: &Guest, verb: PluginVerb, name: &str, voice: Voice) {
    let workspace = match sessions::usual(door, guest).await {
        Ok(workspace) => door.parts.engine.workspace(workspace).await.map_err(Refused::from),
        Err(refused) => Err(refused),
    };
    let workspace = match workspace {
        Ok(workspace) => workspace,
        Err(refused) => return voice.end(Err(refused)).await,
    };
    let (desk, name) = (Arc::clone(&door.parts.plugins), name.to_owned());
    door.spawn(async move {
        let switched = |plugin: &PluginSummary, word: &str| {
            let (style, standing) = standing(&plugin.standing);
            let name = brief(&plugin.name, BRIEF);
            Painted::of(Style::Name, name).plain(format!(" is {word}: ")).with(style, standing).line()
        };
        let done = match verb {
            PluginVerb::Enable => {
                let plugin = desk.set_enabled(name, Some(workspace), true).await;
                plugin.map(|plugin| switched(&plugin, "on"))
            }
            PluginVerb::Disable => {
                let plugin = desk.set_enabled(name, Some(workspace), false).await;
                plugin.map(|plugin| switched(&plugin, "off"))
            }
            PluginVerb::Validate => match desk.validate(name.clone(), Some(workspace)).await {
                Ok(None) => Ok(Painted::of(Style::Name, brief(&name, BRIEF)).plain(" works").line()),
                Ok(Some(problem)) => return voice.end(Err(Refused::new(Status::Failed, problem))).await,
                Err(error) => Err(error),
            },
        };
        voice.end(done.map_err(Refused::from)).await;
    });
}

fn listed(listing: &PluginListing) -> Painted {
    let mut text = Painted::new();
    for plugin in listing.plugins.iter().take(PLUGINS) {
        let (style, word) = standing(&plugin.standing);
        let about = plugin.about.as_ref().and_then(|about| about.description.clone()).unwrap_or_default();
        let line = Painted::of(Style::Name, brief(&plugin.name, BRIEF))
            .with(Style::Aside, format!("  {}, {}  ", kind(plugin), scope(plugin)))
            .with(style, word)
            .plain(format!("  {}", brief(&about, BRIEF)));
        text.append(line.line());
    }
    if listing.plugins.len() > PLUGINS {
        let more = listing.plugins.len() - PLUGINS;
        text.append(Painted::of(Style::Aside, format!("… {more} more")).line());
    }
    for name in &listing.unknown {
        let what = format!("`{}` is enabled, and there is no such plugin", brief(name, BRIEF));
        text.append(Painted::of(Style::Warning, what).line());
    }
    for problem in &listing.problems {
        text.append(Painted::of(Style::Warning, brief(problem, BRIEF * 2)).line());
    }
    if listing.plugins.is_empty() {
        text.append(Painted::of(Style::Aside, "no plugins").line());
    }
    text
}

fn shown(plugin: &PluginSummary) -> Painted {
    let (style, word) = standing(&plugin.standing);
    let mut text =
        Painted::of(Style::Subject, brief(&plugin.name, BRIEF)).plain(" ").with(style, word).line();
    let mut fact = |name: &str, value: &str| {
        text.append(
            Painted::of(Style::Aside, format!("  {name:<10} ")).plain(brief(value, BRIEF * 2)).line(),
        );
    };
    fact("type", kind(plugin));
    fact("scope", scope(plugin));
    fact("enabled", if plugin.enabled { "yes" } else { "no" });
    fact("directory", &plugin.directory.display().to_string());
    if let PluginStanding::Broken(problem) | PluginStanding::GivenUp(problem) = &plugin.standing {
        fact("problem", problem);
    }
    if let Some(about) = &plugin.about {
        about.description.iter().for_each(|text| fact("about", text));
        fact("version", &about.version);
        fact("command", &about.command.join(" "));
    }
    plugin.warnings.iter().for_each(|warning| fact("warning", warning));
    text
}

fn kind(plugin: &PluginSummary) -> &'static str {
    plugin.kind.map_or("unknown", loggia_domain::PluginKind::name)
}

fn scope(plugin: &PluginSummary) -> &'static str {
    if plugin.of_workspace { "project" } else { "global" }
}

fn standing(standing: &PluginStanding) -> (Style, String) {
    match standing {
        PluginStanding::Broken(_) => (Style::Bad, "broken".to_owned()),
        PluginStanding::Untrusted => (Style::Warning, "not trusted".to_owned()),
        PluginStanding::Disabled => (Style::Aside, "off".to_owned()),
        PluginStanding::Ready => (Style::Plain, "ready".to_owned()),
        PluginStanding::Running(pid) => (Style::Good, format!("running as {pid}")),
        PluginStanding::GivenUp(_) => (Style::Bad, "given up".to_owned()),
    }
}

impl From<PluginDeskError> for Refused {
    fn from(error: PluginDeskError) -> Self {
        let status = match &error {
            PluginDeskError::NotFound(_) | PluginDeskError::Unavailable(_) => Status::Unavailable,
            PluginDeskError::Invalid(_) => Status::Usage,
            PluginDeskError::Conflict(_) => Status::Refused,
        };
        Self::new(status, error)
    }
}
