//! The generated parts of the reference pages, each made from the table it documents.

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::config::keys::{self, Key};
use crate::{env_vars, exit_code};

/// A generated part of a page.
pub(crate) struct Part {
    /// The page, under the directory of documents.
    pub(crate) page: &'static str,
    /// The name in the markers.
    pub(crate) name: &'static str,
    /// Makes the text; it ends with a newline.
    pub(crate) text: fn() -> String,
}

/// Wide enough for the flags, narrow enough for a page.
const HELP_WIDTH: usize = 100;

/// All parts.
pub(crate) const PARTS: &[Part] = &[
    Part { page: "configuration.md", name: "keys", text: key_table },
    Part { page: "configuration.md", name: "variables", text: variable_table },
    Part { page: "reference/exit-codes.md", name: "exit-codes", text: exit_code_table },
    Part { page: "reference/command-line.md", name: "commands", text: command_sections },
];

fn key_table() -> String {
    let mut text = String::from(
        "| Key | Takes | Default | Meaning | Untrusted workspace | Used by |\n|---|---|---|---|---|---|\n",
    );
    for key in keys::ALL.iter().chain(keys::IN_TABLES).chain(keys::FIELDS) {
        text.push_str(&key_row(key));
    }
    text
}

fn key_row(key: &Key) -> String {
    format!(
        "| `{}` | {} | `{}` | {} | {} | {} |\n",
        key.path,
        key.kind.expectation(),
        key.default,
        key.doc,
        key.workspace,
        key.used_by
    )
}

fn variable_table() -> String {
    let mut text = String::from("| Variable | Meaning |\n|---|---|\n");
    for variable in env_vars::OTHERS {
        text.push_str(&format!("| `{}` | {} |\n", variable.name, variable.doc));
    }
    for key in keys::ALL {
        let variable = key.variable().unwrap_or_default();
        text.push_str(&format!("| `{variable}` | Sets `{}`. |\n", key.path));
    }
    text
}

fn exit_code_table() -> String {
    let mut text = String::from("| Code | Meaning |\n|---|---|\n");
    for row in exit_code::TABLE {
        text.push_str(&format!("| {} | {} |\n", row.number, row.meaning));
    }
    text
}

/// Every command's own help, the program first. Flags that every command takes are told once.
fn command_sections() -> String {
    let mut root = Cli::command().term_width(HELP_WIDTH);
    root.build();
    let mut text = command_section(&root);
    for child in visible(&root) {
        subcommand_sections(child, &mut text);
    }
    text.pop();
    text
}

fn subcommand_sections(command: &clap::Command, text: &mut String) {
    let own = command.clone().mut_args(|argument| {
        let shared = argument.is_global_set();
        argument.hide(shared)
    });
    text.push_str(&command_section(&own));
    for child in visible(command) {
        subcommand_sections(child, text);
    }
}

/// The commands below this one, without the `help` that every level has.
fn visible(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|child| !child.is_hide_set() && child.get_name() != "help")
}

fn command_section(command: &clap::Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let help = command.clone().render_long_help().to_string();
    let help: Vec<_> = help.trim_end().lines().map(str::trim_end).collect();
    format!("## `{name}`\n\n```text\n{}\n```\n\n", help.join("\n"))
}
