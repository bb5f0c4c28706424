//! Plugins at the console: looked at, turned on and off, tried.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggia_domain::{
    BoxFuture, PluginDesk, PluginDeskError, PluginKind, PluginListing, PluginStanding, PluginSummary,
    TrustConsequences, Workspace,
};
use loggia_tests::WorldBuilder;

use crate::support::House;

/// A desk with two plugins, one of which does not work. Remembers which are on, and for which workspace that was said.
#[derive(Debug, Default)]
struct Shelf {
    enabled: Mutex<Vec<String>>,
    asked: Mutex<Vec<String>>,
}

impl Shelf {
    fn summary(&self, name: &str) -> PluginSummary {
        let enabled = self.enabled.lock().unwrap().iter().any(|known| known == name);
        PluginSummary {
            name: name.to_owned(),
            kind: Some(PluginKind::Provider),
            of_workspace: false,
            enabled,
            standing: if enabled { PluginStanding::Ready } else { PluginStanding::Disabled },
            directory: PathBuf::from("/plugins").join(name),
            about: None,
            warnings: Vec::new(),
        }
    }

    fn known(&self, name: &str) -> Result<PluginSummary, PluginDeskError> {
        match name {
            "link" | "lame" => Ok(self.summary(name)),
            _ => Err(PluginDeskError::NotFound(format!("there is no plugin `{name}`"))),
        }
    }

    fn note(&self, what: String, workspace: Option<&Workspace>) {
        let place = workspace.map_or("everywhere", |_| "in the workspace");
        self.asked.lock().unwrap().push(format!("{what} {place}"));
    }
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl PluginDesk for Shelf {
    fn list(&self, _: Option<Workspace>) -> BoxFuture<'_, Result<PluginListing, PluginDeskError>> {
        let plugins = ["lame", "link"].map(|name| self.summary(name)).into();
        ready(Ok(PluginListing { plugins, ..PluginListing::default() }))
    }

    fn set_enabled(
        &self,
        name: String,
        workspace: Option<Workspace>,
        enabled: bool,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        self.note(format!("{name} {enabled}"), workspace.as_ref());
        self.enabled.lock().unwrap().retain(|known| *known != name);
        if enabled {
            self.enabled.lock().unwrap().push(name.clone());
        }
        ready(self.known(&name))
    }

    fn validate(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<Option<String>, PluginDeskError>> {
        self.note(format!("try {name}"), workspace.as_ref());
        let problem = (name == "lame").then(|| "plugin `lame`, `provider.init`: it ended".to_owned());
        ready(self.known(&name).map(|_| problem))
    }

    fn install(
        &self,
        _: String,
        _: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        ready(Err(PluginDeskError::Unavailable("nothing is installed here".to_owned())))
    }

    fn remove(&self, _: String, _: Option<Workspace>) -> BoxFuture<'_, Result<PathBuf, PluginDeskError>> {
        ready(Err(PluginDeskError::Unavailable("nothing is removed here".to_owned())))
    }

    fn consequences(&self, _: Workspace) -> BoxFuture<'_, Result<TrustConsequences, PluginDeskError>> {
        ready(Ok(TrustConsequences::default()))
    }

    fn trust_changed(&self, _: Workspace, _: Option<Duration>) -> BoxFuture<'_, ()> {
        ready(())
    }
}

#[tokio::test]
async fn a_plugin_is_turned_on_and_off_and_tried() {
    let shelf = Arc::new(Shelf::default());
    let desk = Arc::clone(&shelf) as Arc<dyn PluginDesk>;
    let house = House::with(WorldBuilder::new("/bin/false").start("").await, desk).await;
    let terminal = house.terminal().await;
    for (command, expected) in [
        ("plugins", "lame  provider, global  off  \nlink  provider, global  off  \n[0]"),
        ("plugin enable link", "link is on: ready\n[0]"),
        ("plugins", "lame  provider, global  off  \nlink  provider, global  ready  \n[0]"),
        ("plugin validate link", "link works\n[0]"),
        ("plugin validate lame", "error: plugin `lame`, `provider.init`: it ended\n[1]"),
        ("plugin disable link", "link is off: off\n[0]"),
        ("plugin enable nothing", "error: there is no plugin `nothing`\n[5]"),
        ("plugin enable", "error: `plugin enable` needs PLUGIN\nusage: plugin enable PLUGIN\n[2]"),
        ("plugin", "error: there is no `plugin`\n`plugin` goes on with enable, disable, validate\n[2]"),
    ] {
        assert_eq!(terminal.run(command).await, expected, "{command}");
    }
    let expected = [
        "link true in the workspace",
        "try link in the workspace",
        "try lame in the workspace",
        "link false in the workspace",
        "nothing true in the workspace",
    ];
    assert_eq!(*shelf.asked.lock().unwrap(), expected);
    let offered = terminal.client.complete("plugin disable l", 16).await.unwrap();
    let offered: Vec<String> = offered.into_iter().map(|candidate| candidate.value).collect();
    assert_eq!(offered, ["lame", "link"]);
}
