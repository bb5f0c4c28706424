//! Plugins, as whoever has them tells of them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggia_domain::{
    BoxFuture, PluginAbout, PluginDesk, PluginDeskError, PluginKind, PluginListing, PluginStanding,
    PluginSummary, PluginVariable, TrustConsequences, TrustedSetting, Workspace,
};
use serde_json::json;

use crate::support::{Builder, House};

/// A desk that has a few plugins and writes down what it is asked.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    asked: Mutex<Vec<String>>,
}

impl Shelf {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    fn note(&self, what: &str, workspace: Option<&Workspace>) {
        let place = workspace.map_or("everywhere".to_owned(), |workspace| workspace.name.clone());
        self.asked.lock().unwrap().push(format!("{what} {place}"));
    }

    fn known(name: &str) -> Result<PluginSummary, PluginDeskError> {
        let found = Self::all().into_iter().find(|plugin| plugin.name == name);
        found.ok_or_else(|| PluginDeskError::NotFound(format!("there is no plugin `{name}`")))
    }

    fn all() -> Vec<PluginSummary> {
        let about = PluginAbout {
            description: Some("Pages as tasks".to_owned()),
            version: "2".to_owned(),
            protocol: "1".to_owned(),
            author: Some("somebody".to_owned()),
            homepage: None,
            command: vec!["python3".to_owned(), "./link.py".to_owned()],
            schemes: vec!["link".to_owned()],
            capabilities: vec!["read".to_owned()],
            variables: vec![PluginVariable {
                name: "LINK_TOKEN".to_owned(),
                description: Some("for pages that need one".to_owned()),
                required: true,
                set: false,
            }],
        };
        let broken = PluginSummary {
            name: "bad".to_owned(),
            kind: None,
            of_workspace: true,
            enabled: false,
            standing: PluginStanding::Broken("`name` is required".to_owned()),
            directory: PathBuf::from("/w/.loggia/plugins/bad"),
            about: None,
            warnings: Vec::new(),
        };
        let gate = PluginSummary {
            name: "gate".to_owned(),
            kind: Some(PluginKind::Workflow),
            enabled: true,
            standing: PluginStanding::Untrusted,
            directory: PathBuf::from("/w/.mehrhof/plugins/gate"),
            about: Some(PluginAbout { version: "1".to_owned(), ..about.clone() }),
            ..broken.clone()
        };
        let link = PluginSummary {
            name: "link".to_owned(),
            kind: Some(PluginKind::Provider),
            of_workspace: false,
            enabled: true,
            standing: PluginStanding::Running(7),
            directory: PathBuf::from("/home/u/.mehrhof/plugins/link"),
            about: Some(about),
            warnings: vec!["it needs the variable `LINK_TOKEN`, which is not set".to_owned()],
        };
        vec![broken, gate, link]
    }
}

/// What is there already.
fn now<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl PluginDesk for Shelf {
    fn list(&self, workspace: Option<Workspace>) -> BoxFuture<'_, Result<PluginListing, PluginDeskError>> {
        self.note("list", workspace.as_ref());
        let plugins = Self::all().into_iter().filter(|plugin| workspace.is_some() || !plugin.of_workspace);
        let (unknown, problems) = (vec!["jria".to_owned()], vec!["no YAML".to_owned()]);
        now(Ok(PluginListing { plugins: plugins.collect(), unknown, problems }))
    }

    fn set_enabled(
        &self,
        name: String,
        workspace: Option<Workspace>,
        enabled: bool,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        self.note(&format!("{} {name}", if enabled { "enable" } else { "disable" }), workspace.as_ref());
        now(Self::known(&name).map(|plugin| PluginSummary { enabled, ..plugin }))
    }

    fn validate(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<Option<String>, PluginDeskError>> {
        self.note(&format!("validate {name}"), workspace.as_ref());
        now(Self::known(&name).map(|plugin| (plugin.name == "gate").then(|| "it ended".to_owned())))
    }

    fn install(
        &self,
        source: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        self.note(&format!("install {source}"), workspace.as_ref());
        now(match source.as_str() {
            "/there" => Err(PluginDeskError::Conflict("there is one already".to_owned())),
            "/odd" => Err(PluginDeskError::Invalid("no manifest".to_owned())),
            "https://down.example/x" => Err(PluginDeskError::Unavailable("git failed".to_owned())),
            _ => Self::known("link"),
        })
    }

    fn remove(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PathBuf, PluginDeskError>> {
        self.note(&format!("remove {name}"), workspace.as_ref());
        now(Self::known(&name).map(|plugin| plugin.directory))
    }

    fn consequences(&self, _: Workspace) -> BoxFuture<'_, Result<TrustConsequences, PluginDeskError>> {
        let plugins = Self::all().into_iter().filter(|plugin| plugin.of_workspace).collect();
        let file = ".loggia/config.toml".to_owned();
        let settings = vec![TrustedSetting { file, effect: "model.default = \"a:b\"".to_owned() }];
        now(Ok(TrustConsequences { plugins, settings, problems: Vec::new() }))
    }

    fn trust_changed(&self, workspace: Workspace, lapses: Option<Duration>) -> BoxFuture<'_, ()> {
        let time = lapses.map_or("for good".to_owned(), |time| format!("for {} s", time.as_secs()));
        self.note(&format!("trust {time}"), Some(&workspace));
        now(())
    }
}

async fn house() -> (House, Arc<Shelf>) {
    let shelf = Shelf::new();
    (Builder::new().plugins(shelf.clone()).start("").await, shelf)
}

#[tokio::test]
async fn plugins_are_listed_with_what_is_wrong_with_them() {
    let (house, shelf) = house().await;
    let id = house.world.workspace.id;
    let all = house.get(&format!("/v1/plugins?workspace_id={id}")).await.ok(200).json();
    let names: Vec<_> = all["plugins"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["bad", "gate", "link"]);
    assert_eq!((&all["unknown"], &all["problems"]), (&json!(["jria"]), &json!(["no YAML"])));
    let bad = json!({
        "name": "bad", "scope": "project", "enabled": false, "state": "broken",
        "problem": "`name` is required", "directory": "/w/.loggia/plugins/bad",
    });
    assert_eq!(all["plugins"][0], bad);
    let gate = &all["plugins"][1];
    assert_eq!((&gate["state"], &gate["type"]), (&json!("untrusted"), &json!("workflow")));
    assert!(gate["problem"].as_str().unwrap().contains("`loggia trust`"), "{gate}");
    let global = house.get("/v1/plugins").await.ok(200).json();
    assert_eq!(global["plugins"].as_array().unwrap().len(), 1);
    let name = &house.world.workspace.name;
    assert_eq!(shelf.asked(), [format!("list {name}"), "list everywhere".to_owned()]);
}

#[tokio::test]
async fn one_plugin_tells_all_about_itself() {
    let (house, _) = house().await;
    let link = house.get("/v1/plugins/link").await.ok(200).json();
    let expected = json!({
        "name": "link", "type": "provider", "scope": "global", "enabled": true, "state": "running", "pid": 7,
        "directory": "/home/u/.mehrhof/plugins/link", "description": "Pages as tasks", "version": "2",
        "protocol": "1", "author": "somebody", "command": ["python3", "./link.py"], "schemes": ["link"],
        "capabilities": ["read"],
        "variables": [{
            "name": "LINK_TOKEN", "description": "for pages that need one", "required": true, "set": false,
        }],
        "warnings": ["it needs the variable `LINK_TOKEN`, which is not set"],
    });
    assert_eq!(link, expected);
    assert_eq!(house.get("/v1/plugins/nothing").await.problem(), "404 not-found");
    // A workspace's own is not the user's.
    assert_eq!(house.get("/v1/plugins/gate").await.problem(), "404 not-found");
    assert_eq!(house.get("/v1/plugins/%ff").await.problem(), "404 not-found");
}

#[tokio::test]
async fn changes_are_for_a_workspace_or_for_all() {
    let (house, shelf) = house().await;
    let (id, name) = (house.world.workspace.id, house.world.workspace.name.clone());
    let here = json!({ "workspace_id": id.to_string() }).to_string();
    let enabled = house.ask("POST", "/v1/plugins/gate/enable", &here).await.ok(200).json();
    assert_eq!((&enabled["name"], &enabled["enabled"]), (&json!("gate"), &json!(true)));
    let disabled = house.ask("POST", "/v1/plugins/link/disable", "").await.ok(200).json();
    assert_eq!(disabled["enabled"], false);
    let works = house.ask("POST", "/v1/plugins/link/validate", &here).await.ok(200).json();
    assert_eq!(works, json!({ "name": "link", "works": true }));
    let fails = house.ask("POST", "/v1/plugins/gate/validate", "{}").await.ok(200).json();
    assert_eq!(fails, json!({ "name": "gate", "works": false, "problem": "it ended" }));
    house.ask("DELETE", &format!("/v1/plugins/gate?workspace_id={id}"), "").await.ok(204);
    let params = json!({ "source": "/a/link" }).to_string();
    let installed = house.ask("POST", "/v1/plugins/install", &params).await.ok(201).json();
    assert_eq!(installed["name"], "link");
    let expected = [
        format!("enable gate {name}"),
        "disable link everywhere".to_owned(),
        format!("validate link {name}"),
        "validate gate everywhere".to_owned(),
        format!("remove gate {name}"),
        "install /a/link everywhere".to_owned(),
    ];
    assert_eq!(shelf.asked(), expected);
}

#[tokio::test]
async fn what_cannot_be_done_is_a_problem() {
    let (house, shelf) = house().await;
    let install = |source: &str| json!({ "source": source }).to_string();
    for (body, expected) in [
        (install("/there"), "409 conflict"),
        (install("/odd"), "422 invalid-body /source"),
        (install("https://down.example/x"), "503 unavailable"),
        (install(""), "422 invalid-body /source"),
        (install("a\nb"), "422 invalid-body /source"),
        (install(&"x".repeat(5000)), "422 invalid-body /source"),
        ("{}".to_owned(), "422 invalid-body "),
        (json!({ "source": "/a", "workspace_id": "ws_x" }).to_string(), "422 invalid-body /workspace_id"),
    ] {
        assert_eq!(house.ask("POST", "/v1/plugins/install", &body).await.problem(), expected, "{body}");
    }
    shelf.asked();
    let nobody = loggia_domain::WorkspaceId::new();
    for path in ["enable", "disable", "validate"] {
        let path = format!("/v1/plugins/nothing/{path}");
        assert_eq!(house.ask("POST", &path, "{}").await.problem(), "404 not-found", "{path}");
        let wrong = house.ask("POST", &path, r#"{"workspace":"x"}"#).await;
        assert_eq!(wrong.problem(), "422 invalid-body /workspace", "{path}");
        let absent = json!({ "workspace_id": nobody.to_string() }).to_string();
        assert_eq!(house.ask("POST", &path, &absent).await.problem(), "404 not-found", "{path}");
    }
    assert_eq!(house.get("/v1/plugins?workspace_id=ws_x").await.problem(), "400 bad-request");
    let absent = house.get(&format!("/v1/plugins?workspace_id={nobody}")).await;
    assert_eq!(absent.problem(), "404 not-found");
}
