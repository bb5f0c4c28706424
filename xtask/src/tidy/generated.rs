//! Generated files hold what their generator would write now.

use crate::generate::{COMMAND, GENERATORS};
use crate::tidy::Fault;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for generator in GENERATORS {
        let found = std::fs::read_to_string(workspace.root.join(generator.path)).unwrap_or_default();
        if let Some(line) = first_difference(&found, &(generator.text)(workspace)) {
            faults.push(Fault::new(generator.path, line, "is not current", format!("run `{COMMAND}`")));
        }
    }
    Ok(faults)
}

/// The first line in which two texts differ.
fn first_difference(found: &str, wanted: &str) -> Option<usize> {
    if found == wanted {
        return None;
    }
    let same = found.lines().zip(wanted.lines()).take_while(|(left, right)| left == right).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_different_line_is_found() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("", "a\n"), Some(1));
        assert_eq!(first_difference("a\n", "a"), Some(2));
    }
}
