//! Whether a walk would come across a path, asked for one path at a time.
//!
//! Reads the same rules as a walk and understands them the same way. What was read is remembered as long as the value
//! lives, so that many paths of one directory cost little; who keeps it keeps old rules.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::TreeError;
use crate::path::TreePath;
use crate::root::Root;
use crate::rules::{self, Rules};
use crate::walk::{Walk, WalkOptions};

/// Answers whether paths are ignored.
#[derive(Debug)]
pub struct Ignoring {
    walk: Walk,
    known: HashMap<TreePath, Arc<Rules>>,
}

impl Root {
    /// Begins to ask whether paths are ignored.
    #[must_use]
    pub fn ignoring(&self) -> Ignoring {
        Ignoring { walk: self.walk(&WalkOptions::default()), known: HashMap::new() }
    }
}

impl Ignoring {
    /// Whether a walk of the whole tree would not find this file, or not enter this directory, if it is there.
    pub fn is_ignored(&mut self, path: &TreePath, is_directory: bool) -> Result<bool, TreeError> {
        if path.parts().any(|part| part == ".git") {
            return Ok(true);
        }
        let mut above: Vec<TreePath> = path.ancestors().collect();
        above.reverse();
        let mut levels: Vec<(TreePath, Arc<Rules>)> = Vec::with_capacity(above.len());
        for directory in above {
            if !directory.is_root() && matched(&levels, &directory, true) {
                return Ok(true);
            }
            let rules = self.rules(&directory)?;
            levels.push((directory, rules));
        }
        Ok(!path.is_root() && matched(&levels, path, is_directory))
    }

    fn rules(&mut self, directory: &TreePath) -> Result<Arc<Rules>, TreeError> {
        if let Some(rules) = self.known.get(directory) {
            return Ok(Arc::clone(rules));
        }
        let rules = Arc::new(self.walk.rules_of(directory)?);
        self.known.insert(directory.clone(), Arc::clone(&rules));
        Ok(rules)
    }
}

fn matched(levels: &[(TreePath, Arc<Rules>)], path: &TreePath, is_directory: bool) -> bool {
    let levels = levels.iter().map(|(level, rules)| {
        let from = if level.is_root() { 0 } else { level.as_str().len() + 1 };
        (&**rules, &path.as_str()[from..])
    });
    rules::is_ignored(levels, is_directory)
}
