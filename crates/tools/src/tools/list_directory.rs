//! `list_directory`: what is in one directory.

use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::path::ModelPath;
use crate::text::Lines;
use crate::view::{Entry, EntryKind, View};

/// How many entries are shown: more are better found with a glob.
const MAX_SHOWN: usize = 1000;

/// How much is shown: as many entries, of names as long as names may be.
const MAX_OUTPUT: usize = 512 * 1024;

/// Lists the entries of one directory: directories with a slash at the end, files with their size, links with what
/// they point to. Ignored and hidden files are included. For files further down use find_files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectory {
    /// The directory, relative to the workspace; "." for the workspace itself.
    path: String,
}

/// A checked call.
pub(crate) struct List {
    path: ModelPath,
}

impl Arguments for ListDirectory {
    const NAME: &'static str = "list_directory";
    type Call = List;

    fn check(self) -> Result<List, ArgumentError> {
        Ok(List { path: ModelPath::new(self.path) })
    }
}

impl Call for List {
    fn demand(&self) -> Demand {
        Demand { reads: vec![self.path.named()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let path = self.path.tree()?;
        Ok(ToolEffect::Output(show(&view.list(path)?)))
    }
}

fn show(entries: &[Entry]) -> String {
    let mut output = Lines::within(MAX_OUTPUT);
    if entries.is_empty() {
        output.note("the directory is empty");
    }
    let shown = entries.iter().take(MAX_SHOWN).take_while(|entry| output.push(&line(entry))).count();
    if shown < entries.len() {
        output.note(&format!("{shown} of {} entries shown; find files with find_files", entries.len()));
    }
    output.finish()
}

fn line(entry: &Entry) -> String {
    let name = &entry.name;
    match &entry.kind {
        EntryKind::Directory => format!("{name}/"),
        EntryKind::File(len) => format!("{name} ({len} bytes)"),
        EntryKind::Link(target) => format!("{name} -> {target}"),
        EntryKind::Other => format!("{name} (not a regular file)"),
    }
}
