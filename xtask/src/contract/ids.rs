//! Things for made-up requests to be about.
//!
//! Schemathesis remembers the ids it sees in answers and asks for them again. What must not be deleted under its own
//! feet, above all the token it asks with, is kept from it by naming what it may delete instead.

use std::fmt::Write as _;

use anyhow::Context;
use serde_json::{Value, json};

use super::server::Server;

/// A token that nobody has.
const NO_TOKEN: &str = "tok_00000000000000000000000000000000";

/// The ids of things.
pub(super) struct Ids {
    /// Not needed by anybody else: it is revoked.
    doomed_token: String,
    /// What is there, for requests that shall find something.
    real: Option<Real>,
}

struct Real {
    workspace: String,
    root: String,
    /// What the policy is at, as `If-Match` has it.
    revision: String,
    session: String,
    /// Not needed by anybody else: it is deleted.
    doomed: String,
}

impl Ids {
    /// Ids that nobody has.
    pub(super) fn of_nobody() -> Self {
        Self { doomed_token: NO_TOKEN.to_owned(), real: None }
    }

    /// Makes real things in a server whose first workspace is its own.
    pub(super) fn make(server: &Server) -> anyhow::Result<Self> {
        let page = server.ask("GET", "/v1/workspaces", None)?;
        let workspace = text(&page["workspaces"][0], "workspace_id")?;
        let root = text(&page["workspaces"][0], "root_path")?;
        let policy = server.ask("GET", &format!("/v1/workspaces/{workspace}/policy"), None)?;
        let revision = format!("\"{}\"", policy["revision"]);
        let open = || {
            let session = server.ask("POST", "/v1/sessions", Some(&json!({ "workspace_id": workspace })))?;
            text(&session, "session_id")
        };
        let token = server.ask("POST", "/v1/tokens", Some(&json!({ "name": "doomed", "scope": "read" })))?;
        let doomed_token = text(&token["info"], "token_id")?;
        let real = Real { session: open()?, doomed: open()?, workspace, root, revision };
        Ok(Self { real: Some(real), doomed_token })
    }

    /// The part of schemathesis's configuration that tells it.
    pub(super) fn configuration(&self) -> String {
        // Text in JSON is text in TOML as well.
        let quoted = |text: &str| Value::from(text).to_string();
        let mut all = self.real.as_ref().map(Real::configuration).unwrap_or_default();
        write!(
            all,
            "[[operations]]\n\
             include-operation-id = \"revokeToken\"\n\
             [operations.parameters]\n\
             \"path.token_id\" = {}\n",
            quoted(&self.doomed_token)
        )
        .expect("text takes text");
        all
    }
}

impl Real {
    fn configuration(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let (workspace, root) = (quoted(&self.workspace), quoted(&self.root));
        format!(
            "[dictionaries.workspaces]\n\
             values = [{workspace}]\n\
             [dictionaries.roots]\n\
             values = [{root}]\n\
             [dictionaries.revisions]\n\
             values = [{revision}]\n\
             [parameters]\n\
             \"path.workspace_id\" = {workspace}\n\
             \"query.workspace_id\" = {workspace}\n\
             \"path.session_id\" = {session}\n\
             \"body.workspace_id\" = {{ dictionary = \"workspaces\", probability = 0.8 }}\n\
             \"body.root_path\" = {{ dictionary = \"roots\", probability = 0.5 }}\n\
             [[operations]]\n\
             include-operation-id = \"putPolicy\"\n\
             [operations.parameters]\n\
             \"header.If-Match\" = {{ dictionary = \"revisions\", probability = 0.5 }}\n\
             [[operations]]\n\
             include-operation-id = \"deleteSession\"\n\
             [operations.parameters]\n\
             \"path.session_id\" = {doomed}\n",
            revision = quoted(&self.revision),
            session = quoted(&self.session),
            doomed = quoted(&self.doomed),
        )
    }
}

fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    let found = value[name].as_str().map(str::to_owned);
    found.with_context(|| format!("the server's answer has no `{name}`: {value}"))
}
