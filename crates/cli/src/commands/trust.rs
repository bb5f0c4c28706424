//! Trust in a workspace: what it would mean, shown before it is given.

use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::{Plugin, PluginState, TrustReport};
use serde_json::json;

use super::{confirm, say, say_json};
use crate::ask::workspace;
use crate::paint::{ASIDE, SUBJECT, WARNING, printable};
use crate::{CliError, Interrupts, Outcome, Terminal};

/// A workspace to trust, or to trust no longer.
#[derive(Debug, Clone)]
pub struct Trust {
    /// Which directory.
    pub workspace: PathBuf,
    /// Without asking.
    pub yes: bool,
    /// As JSON.
    pub json: bool,
}

/// Shows what trusting a workspace would mean, asks, and trusts it.
///
/// # Errors
/// See [`CliError`].
pub async fn trust(
    client: &Client,
    options: Trust,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let workspace = workspace(client, &options.workspace).await?;
    let report = client.trust_report(&workspace.workspace_id).await?;
    let root = workspace.root_path;
    if !report.trusted {
        if !options.json {
            let text = shown(&root, &report, terminal);
            terminal.err(&text).map_err(CliError::Output)?;
        }
        if !options.yes && !confirm(terminal, &format!("Trust {root}?"), interrupts).await? {
            return Ok(Outcome::Refused);
        }
        client.trust_workspace(&workspace.workspace_id).await?;
    }
    if options.json {
        let (changed, report) = (!report.trusted, TrustReport { trusted: true, ..report });
        say_json(terminal, &json!({ "path": root, "changed": changed, "report": report }))?;
        return Ok(Outcome::Done);
    }
    let already = if report.trusted { " already" } else { "" };
    say(terminal, &format!("{} is trusted{already}", printable(&root)))?;
    Ok(Outcome::Done)
}

/// Trusts a workspace no longer. What runs of it is stopped.
///
/// # Errors
/// See [`CliError`].
pub async fn distrust(client: &Client, options: Trust, terminal: &mut Terminal) -> Result<Outcome, CliError> {
    let workspace = workspace(client, &options.workspace).await?;
    let root = workspace.root_path;
    let before = workspace.trusted == Some(true);
    client.distrust_workspace(&workspace.workspace_id).await?;
    if options.json {
        say_json(terminal, &json!({ "path": root, "changed": before, "trusted": false }))?;
        return Ok(Outcome::Done);
    }
    let text = if before { "is trusted no longer" } else { "was not trusted" };
    say(terminal, &format!("{} {text}", printable(&root)))?;
    Ok(Outcome::Done)
}

/// What trusting would mean, in words. Everything here was written by whoever wrote the workspace.
fn shown(root: &str, report: &TrustReport, terminal: &Terminal) -> String {
    let paint = terminal.paint_err();
    let mut text = String::new();
    let (on, off): (Vec<&Plugin>, Vec<&Plugin>) = report.plugins.iter().partition(|plugin| plugin.enabled);
    let mut part = |head: String, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("{}\n", paint.text(SUBJECT, head)));
            lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    };
    let program = |plugin: &&Plugin| {
        let aside = match &plugin.problem {
            Some(problem) if plugin.state == PluginState::Broken => {
                problem.lines().next().unwrap_or_default()
            }
            _ => plugin.directory.as_str(),
        };
        let command = plugin.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let (name, aside) = (printable(&plugin.name), paint.text(ASIDE, printable(aside)).into_owned());
        format!("{name}: {}  {aside}", printable(&command))
    };
    let root = printable(root);
    part(
        format!("These programs of {root} would run when they are needed:"),
        on.iter().map(program).collect(),
    );
    part("These would not, unless somebody enables them:".to_owned(), off.iter().map(program).collect());
    let settings = report.settings.iter().map(|setting| {
        let file = paint.text(ASIDE, printable(&setting.file)).into_owned();
        format!("{file}: {}", printable(&setting.effect))
    });
    part("And this would hold:".to_owned(), settings.collect());
    let nothing = text.is_empty();
    for problem in &report.problems {
        let word = paint.text(WARNING, "warning:");
        text.push_str(&format!("{word} {}\n", printable(problem)));
    }
    if nothing {
        text.push_str(&format!("Nothing of {root} would run or hold that does not now.\n"));
    }
    text.push_str("What is added to it later is trusted as well, until `loggia trust --revoke`.\n");
    text
}

/// A word as it would be typed, where it needs that.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_need_it() {
        assert_eq!(quoted("./gate.py"), "./gate.py");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
