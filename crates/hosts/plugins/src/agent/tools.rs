//! What tools are called, here and there.

/// The engine's names that agents know under others.
const RENAMED: [(&str, &str); 2] = [("list_directory", "list_files"), ("search_text", "search")];

/// The name an agent knows a tool by.
pub(super) fn to_wire(name: &str) -> &str {
    RENAMED.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| theirs)
}

/// The tool an agent means.
pub(super) fn from_wire(name: &str) -> &str {
    RENAMED.iter().find(|(_, theirs)| *theirs == name).map_or(name, |(ours, _)| ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for name in ["read_file", "list_directory", "search_text", "unheard_of"] {
            assert_eq!(from_wire(to_wire(name)), name);
        }
        assert_eq!(to_wire("list_directory"), "list_files");
        assert_eq!(from_wire("search_text"), "search_text", "our own name is understood as well");
    }
}
