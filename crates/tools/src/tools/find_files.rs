//! `find_files`: files by glob.

use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::glob::PathGlob;
use crate::text::{Lines, counted};
use crate::view::View;

/// How many files are shown: enough to choose from, and a narrower glob finds the rest.
const MAX_SHOWN: usize = 500;

/// How much is shown.
const MAX_OUTPUT: usize = 64 * 1024;

/// Finds files by glob, sorted by path. A glob without a slash is matched against names in all directories ("*.rs"),
/// one with a slash against paths ("src/**/*_test.py"). Files that .gitignore or .ignore exclude are left out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindFiles {
    /// The glob: * within a directory, ** across directories, ? for one character, [abc], {one,other}.
    glob: String,
}

/// A checked call.
pub(crate) struct Find {
    glob: PathGlob,
}

impl Arguments for FindFiles {
    const NAME: &'static str = "find_files";
    type Call = Find;

    fn check(self) -> Result<Find, ArgumentError> {
        Ok(Find { glob: PathGlob::parse(&self.glob)? })
    }
}

impl Call for Find {
    fn demand(&self) -> Demand {
        Demand { reads: vec![".".to_owned()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let mut output = Lines::within(MAX_OUTPUT);
        let (mut shown, mut found) = (0, 0);
        let mut files = view.files();
        while let Some(file) = files.next()? {
            if !self.glob.matches(file.path.as_str()) {
                continue;
            }
            found += 1;
            // Once one did not fit none is shown, so that what is shown is the beginning of what was found.
            if shown + 1 == found && shown < MAX_SHOWN && output.push(file.path.as_str()) {
                shown += 1;
            }
        }
        if found == 0 {
            output.note("no file matches; ignored files are not looked at");
        }
        if shown < found {
            output.note(&format!("{} of {} shown; narrow the glob", shown, counted(found, "file")));
        }
        files.unseen().note(&mut output);
        Ok(ToolEffect::Output(output.finish()))
    }
}
