//! For fixing: what was changed since the last commit, and the files in question.

use std::sync::Arc;

use loggia_domain::{Aim, Decision, JsonText, ToolContext, ToolEffect};

use crate::policy::Judge;
use crate::turn::Turn;
use crate::turn::excerpt::Excerpt;
use crate::turn::gather::files::Files;
use crate::turn::gather::{Gathered, PATIENCE, piece};

/// Files that are told of those an instruction is about.
pub(super) const MOST_FILES: usize = 4;

/// The tool that reads git, how it is called, and what comes of it.
const TOOL: &str = "git_diff";
const DIFFS: [(&str, &str); 2] = [
    ("{}", "git diff of what is changed and not staged"),
    (r#"{"staged":true}"#, "git diff of what is staged for the next commit"),
];

/// What is said if nothing comes of it. The tool leaves out what the policy does, so no more than this is known.
const CLEAN: &str =
    "In the files that may be read without asking, git shows no change since the last commit.";

impl Turn {
    /// What differs from the last commit, if there is a repository and the policy lets it be read without asking.
    pub(super) async fn uncommitted(
        &self,
        judge: &Arc<Judge>,
        context: &ToolContext,
        gathered: &mut Gathered,
    ) {
        let mut is_clean = true;
        for (arguments, place) in DIFFS {
            match self.diff(judge, context, arguments).await {
                None => return,
                Some(text) if is_diff(&text) => {
                    is_clean = false;
                    gathered.add(Excerpt { place: place.to_owned(), lines: None, role: None, text });
                }
                Some(_) => {}
            }
        }
        if is_clean {
            gathered.note(CLEAN.to_owned());
        }
    }

    async fn diff(&self, judge: &Arc<Judge>, context: &ToolContext, arguments: &str) -> Option<String> {
        let tool = self.workspace.tool(TOOL).ok()?;
        let prepared = tool.prepare(&JsonText(arguments.to_owned())).ok()?;
        if judge.judge(TOOL, &prepared.demand()).decision != Decision::Allow {
            return None;
        }
        match tokio::time::timeout(PATIENCE, prepared.run(context.clone())).await {
            Ok(Ok(ToolEffect::Output(output))) => Some(output),
            Ok(Ok(_)) => None,
            Ok(Err(error)) => {
                tracing::debug!(session = %self.session, %error, "what is changed cannot be looked up");
                None
            }
            Err(_) => {
                tracing::warn!(session = %self.session, "what is changed was looked up for too long");
                None
            }
        }
    }
}

/// Whether it shows a difference; else it says that there is none.
fn is_diff(text: &str) -> bool {
    text.starts_with("diff --git ") || text.starts_with("* Unmerged")
}

/// The files an instruction is about.
pub(super) fn files(aim: &Aim, files: &Files, gathered: &mut Gathered) {
    for aimed in aim.files.iter().take(MOST_FILES) {
        if let Some(text) = files.read(&aimed.path) {
            gathered.add(piece::file(&aimed.path, &text, aimed.spot, None, files.patience()));
        }
    }
}
