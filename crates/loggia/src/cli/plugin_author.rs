//! The part of the form for authors of plugins.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use loggia_plugins::{Language, PluginKind};

use super::PluginCommand;

const CHECK_ABOUT: &str = "\
Starts the plugin in DIR and speaks every method it declares to it, with good and bad input, as hosts do: the first call twice, unknown methods, \
missing parameters, odd characters, long texts, two calls at once, `ping`, `shutdown` and the end of its input. What came is told like the results of a \
test suite. What breaks hosts is a failure; what they put up with is a note.

The plugin runs with your environment and your rights, whatever is trusted. Nothing is sent that would change something elsewhere: comments, labels, branches and pull requests are \
asked for only without what they need, and effects run only with `--effects`. An agent is given one short prompt.

Exits with code 4 when something failed.";

const NEW_ABOUT: &str = "\
Writes a plugin to start from: a manifest and a program that works, in Python or in Rust, and that passes `loggia plugin check` as it is.

A plugin in Python needs nothing but Python 3.8: the kit is one file, which is written beside the program. One in Rust is a Cargo project that uses the crate `loggia-plugin-kit`: \
by its path where `--kit` names it, else by its version.";

/// Look after plugins, or write them.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginSubcommand {
    /// What the server does with plugins.
    #[command(flatten)]
    Host(PluginCommand),
    /// Check whether a plugin does what hosts expect
    #[command(long_about = CHECK_ABOUT)]
    Check(PluginCheckArguments),
    /// Write a plugin to start from
    #[command(long_about = NEW_ABOUT)]
    New(PluginNewArguments),
}

/// Arguments of `plugin check`.
#[derive(Debug, Args)]
pub(crate) struct PluginCheckArguments {
    /// The plugin's directory, with `plugin.yaml` in it
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,
    /// A task that is there, as people would name it, as in `jira:PROJ-1` [default: the first that is listed]
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) reference: Option<String>,
    /// What the plugin is configured with, a JSON object
    #[arg(long, value_name = "JSON", value_parser = parse_object, default_value = "{}")]
    pub(crate) config: serde_json::Value,
    /// What an agent is told to do
    #[arg(long, value_name = "TEXT", default_value = loggia_plugins::USUAL_PROMPT)]
    pub(crate) prompt: String,
    /// Run the effects of a workflow plugin, too, whatever they do
    #[arg(long)]
    pub(crate) effects: bool,
    /// Send lines that are no messages, too, which hosts never do
    #[arg(long)]
    pub(crate) malformed: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `plugin new`.
#[derive(Debug, Args)]
pub(crate) struct PluginNewArguments {
    /// What it is called: small letters, digits and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it adds
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: KindName,
    /// What it is written in
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value_t = LanguageName::Python)]
    pub(crate) language: LanguageName,
    /// Where to write it [default: a directory of that name]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Where the crate `loggia-plugin-kit` lies, for Rust
    #[arg(long, value_name = "DIR")]
    pub(crate) kit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a plugin adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindName {
    /// A place that tasks come from
    Provider,
    /// An agent that does the work
    Agent,
    /// Steps, guards and effects
    Workflow,
}

impl From<KindName> for PluginKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Provider => Self::Provider,
            KindName::Agent => Self::Agent,
            KindName::Workflow => Self::Workflow,
        }
    }
}

/// What a plugin is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LanguageName {
    /// A program and the kit beside it
    Python,
    /// A Cargo project
    Rust,
}

impl From<LanguageName> for Language {
    fn from(name: LanguageName) -> Self {
        match name {
            LanguageName::Python => Self::Python,
            LanguageName::Rust => Self::Rust,
        }
    }
}

fn parse_object(text: &str) -> Result<serde_json::Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ serde_json::Value::Object(_)) => Ok(value),
        Ok(_) => Err("expected a JSON object, as in `{\"url\": \"https://example.com\"}`".to_owned()),
        Err(error) => Err(format!("expected a JSON object: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_an_object() {
        assert_eq!(parse_object(r#"{"a": 1}"#), Ok(serde_json::json!({ "a": 1 })));
        for wrong in ["", "[]", "7", "{a: 1}"] {
            assert!(parse_object(wrong).is_err(), "{wrong}");
        }
    }
}
