//! A workspace in a temporary directory, and calls as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use loggia_domain::{Demand, JsonText, PreparedCall, Tool, ToolContext, ToolEffect, ToolError};
use loggia_tree::{HardLinkRule, Root, RootSettings};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with files, and the tools for it.
pub(crate) struct Workspace {
    directory: TempDir,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) overlay: BTreeMap<String, Option<Vec<u8>>>,
    pub(crate) denied: Vec<String>,
}

impl Workspace {
    /// With these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // One level down, so that there is an outside to lead to.
        std::fs::create_dir(directory.path().join("workspace")).unwrap();
        let settings = RootSettings { hard_links: HardLinkRule::Refuse, home: None };
        let root = Root::open(&directory.path().join("workspace"), settings).unwrap();
        let tools = loggia_tools::standard(Arc::new(root));
        let workspace = Self { directory, tools, overlay: BTreeMap::new(), denied: Vec::new() };
        for (path, content) in files {
            workspace.write(path, content.as_bytes());
        }
        workspace
    }

    /// The workspace's directory.
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("workspace")
    }

    /// A directory beside the workspace.
    pub(crate) fn outside(&self) -> &Path {
        self.directory.path()
    }

    /// Puts a file on the disk.
    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Makes a symbolic link.
    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path().join(path)).unwrap();
    }

    /// Puts a file into the overlay.
    pub(crate) fn overlay(&mut self, path: &str, content: Option<&str>) {
        self.overlay.insert(path.to_owned(), content.map(|content| content.as_bytes().to_vec()));
    }

    /// Lets the policy deny whatever begins like this.
    pub(crate) fn deny(&mut self, prefix: &str) {
        self.denied.push(prefix.to_owned());
    }

    /// The tool with this name.
    pub(crate) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        Arc::clone(self.tools.iter().find(|tool| tool.spec().name == name).unwrap())
    }

    /// Prepares a call.
    pub(crate) fn prepare(&self, tool: &str, arguments: &Value) -> Result<Box<dyn PreparedCall>, String> {
        let arguments = JsonText(arguments.to_string());
        self.tool(tool).prepare(&arguments).map_err(|error| error.to_string())
    }

    /// What a call would touch.
    pub(crate) fn demand(&self, tool: &str, arguments: &Value) -> Demand {
        self.prepare(tool, arguments).unwrap().demand()
    }

    /// What a call comes to.
    pub(crate) fn run(&self, tool: &str, arguments: &Value) -> Result<ToolEffect, ToolError> {
        let call = self.prepare(tool, arguments).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(call.run(self.context()))
    }

    /// What a call comes to, as text.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> String {
        if let Err(error) = self.prepare(tool, &arguments) {
            return format!("wrong: {error}");
        }
        match self.run(tool, &arguments) {
            Ok(ToolEffect::Output(text)) => text,
            Ok(ToolEffect::Edits(edits)) => {
                let mut text = String::new();
                for edit in edits {
                    let side = |side: &Option<Vec<u8>>| match side {
                        Some(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
                        None => "nothing".to_owned(),
                    };
                    writeln!(text, "{}: {} -> {}", edit.path, side(&edit.before), side(&edit.after)).unwrap();
                }
                text.trim_end().to_owned()
            }
            Ok(other) => format!("{other:?}"),
            Err(ToolError::Failed(text)) => format!("failed: {text}"),
            Err(ToolError::Forbidden(text)) => format!("forbidden: {text}"),
        }
    }

    /// What calls may look at.
    pub(crate) fn context(&self) -> ToolContext {
        let denied = self.denied.clone();
        ToolContext {
            may_read: Arc::new(move |path| !denied.iter().any(|prefix| path.starts_with(prefix.as_str()))),
            overlay: Arc::new(self.overlay.clone()),
        }
    }
}

/// Numbered lines, for files whose length matters.
pub(crate) fn numbered(count: usize) -> String {
    (1..=count).fold(String::new(), |mut text, number| {
        writeln!(text, "line {number}").unwrap();
        text
    })
}
