//! Policies: what the agent may do in a workspace.

use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::{
    CommandMode, Decision, Policy, PolicyCheckParams, PolicyPreset, PolicyRule, RiskLevel,
};

use super::table::table;
use super::{say, say_json};
use crate::ask::workspace;
use crate::paint::{BAD, GOOD, WARNING, printable};
use crate::{CliError, Outcome, Terminal};

/// A workspace's policy.
#[derive(Debug, Clone)]
pub struct PolicyShow {
    /// Which directory.
    pub workspace: PathBuf,
    /// As JSON.
    pub json: bool,
}

/// Shows what holds in a workspace.
///
/// # Errors
/// See [`CliError`].
pub async fn policy_show(
    client: &Client,
    options: PolicyShow,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let workspace = workspace(client, &options.workspace).await?;
    let policy = client.policy(&workspace.workspace_id).await?;
    if options.json {
        say_json(terminal, &policy)?;
        return Ok(Outcome::Done);
    }
    say(terminal, &heading(&policy))?;
    if !policy.rules.is_empty() {
        let rows: Vec<Vec<String>> = policy.rules.iter().enumerate().map(row).collect();
        let width = terminal.stdout_is_terminal().then(|| terminal.width());
        let text = table(&["RULE", "DECISION", "WHAT", "WHY"], &rows, terminal.paint_out(), width);
        terminal.out(&text).map_err(CliError::Output)?;
    }
    Ok(Outcome::Done)
}

/// Something to ask a policy about.
#[derive(Debug, Clone, Default)]
pub struct PolicyCheck {
    /// Which directory's.
    pub workspace: PathBuf,
    /// A command line to run.
    pub command: Option<String>,
    /// A path to reach.
    pub path: Option<String>,
    /// A tool to call.
    pub tool: Option<String>,
    /// As JSON.
    pub json: bool,
}

/// Tells what a policy would say. What it denies is [`Outcome::Refused`].
///
/// # Errors
/// See [`CliError`].
pub async fn policy_check(
    client: &Client,
    options: PolicyCheck,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let workspace = workspace(client, &options.workspace).await?;
    let params =
        PolicyCheckParams { tool: options.tool, path: options.path, command: options.command, policy: None };
    let result = client.check_policy(&workspace.workspace_id, &params).await?;
    if options.json {
        say_json(terminal, &result)?;
    } else {
        let (word, style) = match result.decision {
            Decision::Allow => ("allow", GOOD),
            Decision::Ask => ("ask", WARNING),
            Decision::Deny => ("deny", BAD),
        };
        let word = terminal.paint_out().text(style, word).into_owned();
        let risk = match result.risk {
            RiskLevel::Low => "low",
            RiskLevel::Medium => "medium",
            RiskLevel::High => "high",
        };
        let rule = result.rule.map(|rule| format!(", rule {rule}")).unwrap_or_default();
        say(terminal, &format!("{word}: {} ({risk} risk{rule})", printable(&result.reason)))?;
    }
    Ok(if result.decision == Decision::Deny { Outcome::Refused } else { Outcome::Done })
}

fn heading(policy: &Policy) -> String {
    let preset = match policy.preset {
        PolicyPreset::ReadOnly => "read-only: look, change nothing",
        PolicyPreset::Ask => "ask: ask before every change and command",
        PolicyPreset::AutoEdit => "auto-edit: change files freely, ask before commands",
        PolicyPreset::Full => "full: everything that is not denied",
    };
    let commands = match policy.command_mode {
        CommandMode::LocalTerminal => "by the client, in its terminal",
        CommandMode::ServerRunner => "by the server, confined",
    };
    format!("Preset   {preset}\nCommands {commands}\nRevision {}", policy.revision)
}

fn row((index, rule): (usize, &PolicyRule)) -> Vec<String> {
    let decision = match rule.decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    };
    let parts = [("tool", &rule.tool), ("path", &rule.path), ("command", &rule.command)];
    let parts = parts.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
    let what = parts.collect::<Vec<_>>().join(", ");
    let what = if what.is_empty() { "everything".to_owned() } else { what };
    vec![(index + 1).to_string(), decision.to_owned(), what, rule.reason.clone().unwrap_or_default()]
}
