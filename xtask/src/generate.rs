//! Files that are made from code, and whether they are current.
//!
//! A generator is a path and a function that gives the file's text. The same list serves writing and checking, so a
//! file cannot be written and never checked.

mod crates_page;

use anyhow::{Context, anyhow};
use clap::Args;

use crate::shell;
use crate::workspace::Workspace;

/// The command that brings every generated file up to date.
pub(crate) const COMMAND: &str = "cargo xtask generate";

/// A file that is made from code.
pub(crate) struct Generator {
    /// Where it is, relative to the root.
    pub(crate) path: &'static str,
    /// What it should hold.
    pub(crate) text: fn(&Workspace) -> String,
}

/// Every generated file.
pub(crate) const GENERATORS: &[Generator] =
    &[Generator { path: "docs/reference/crates.md", text: crates_page::text }];

/// What the generate chore can be told.
#[derive(Args)]
pub(crate) struct GenerateArguments {
    /// Write nothing; fail if a file is not current
    #[arg(long)]
    check: bool,
}

/// Writes or checks every generated file.
pub(crate) fn run(arguments: &GenerateArguments, workspace: &Workspace) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for generator in GENERATORS {
        let wanted = (generator.text)(workspace);
        let path = workspace.root.join(generator.path);
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        if found == wanted {
            println!("{} is current", generator.path);
        } else if arguments.check {
            stale.push(generator.path);
        } else {
            let folder = path.parent().unwrap_or(&workspace.root);
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
            std::fs::write(&path, wanted).with_context(|| format!("cannot write `{}`", path.display()))?;
            println!("{} written", generator.path);
        }
    }
    if !stale.is_empty() {
        let outcome = Err(anyhow!("not current: {}", stale.join(", ")));
        return shell::with_hint(outcome, &format!("run `{COMMAND}`"));
    }
    schemas(arguments)
}

/// The JSON schemas are made from types, so the crate that has the types writes them. A test of that crate compares
/// them as well: tidying compiles nothing and leaves them alone.
fn schemas(arguments: &GenerateArguments) -> anyhow::Result<()> {
    let program = ["run", "--quiet", "--locked", "--package", "loggia-protocol-agent-server"];
    let mut command = shell::cargo(program);
    command.args(["--example", "schemas", "--", "schemas"]);
    if arguments.check {
        command.arg("--check");
    }
    shell::with_hint(shell::run(&mut command), &format!("run `{COMMAND}`"))
}
