//! Real things for made-up requests to be about.

use std::fmt::Write as _;

use anyhow::Context;
use serde_json::{Value, json};

use super::server::Server;

/// The ids of real things.
pub(super) struct Ids {
    workspace: String,
    root: String,
    session: String,
    /// Not needed by anybody else: it is deleted.
    doomed: String,
}

impl Ids {
    /// Makes real things in a server whose only workspace is its own.
    pub(super) fn make(server: &Server) -> anyhow::Result<Self> {
        let page = server.ask("GET", "/v1/workspaces", None)?;
        let workspace = text(&page["workspaces"][0], "workspace_id")?;
        let root = text(&page["workspaces"][0], "root_path")?;
        let open = || {
            let session = server.ask("POST", "/v1/sessions", Some(&json!({ "workspace_id": workspace })))?;
            text(&session, "session_id")
        };
        Ok(Self { session: open()?, doomed: open()?, workspace, root })
    }

    /// The part of schemathesis's configuration that tells it.
    pub(super) fn configuration(&self) -> String {
        // Text in JSON is text in TOML as well.
        let quoted = |text: &str| Value::from(text).to_string();
        let (workspace, root) = (quoted(&self.workspace), quoted(&self.root));
        let mut all = String::new();
        for (name, value) in [("workspaces", &workspace), ("roots", &root)] {
            writeln!(all, "[dictionaries.{name}]\nvalues = [{value}]").expect("text takes text");
        }
        write!(
            all,
            "[parameters]\n\
             \"path.workspace_id\" = {workspace}\n\
             \"query.workspace_id\" = {workspace}\n\
             \"path.session_id\" = {session}\n\
             \"body.workspace_id\" = {{ dictionary = \"workspaces\", probability = 0.8 }}\n\
             \"body.root_path\" = {{ dictionary = \"roots\", probability = 0.5 }}\n\
             [[operations]]\n\
             include-operation-id = \"deleteSession\"\n\
             [operations.parameters]\n\
             \"path.session_id\" = {doomed}\n",
            session = quoted(&self.session),
            doomed = quoted(&self.doomed),
        )
        .expect("text takes text");
        all
    }
}

fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    let found = value[name].as_str().map(str::to_owned);
    found.with_context(|| format!("the server's answer has no `{name}`: {value}"))
}
