//! Which language a file is in, as far as its name says.

/// What matters of a language here: how its definitions look and how it imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
    /// JavaScript and TypeScript.
    Script,
    Go,
    /// Java and what else runs beside it with its imports.
    Java,
    /// C and C++.
    C,
    /// Another one with braces.
    Braces,
    /// Any other: what is indented belongs to what is above it.
    Indented,
}

impl Language {
    pub(super) fn of(path: &str) -> Self {
        match extension(path) {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => Self::Script,
            "go" => Self::Go,
            "java" | "kt" | "kts" | "scala" | "groovy" => Self::Java,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "m" | "mm" => Self::C,
            "cs" | "php" | "swift" | "dart" | "zig" | "css" | "scss" | "proto" => Self::Braces,
            _ => Self::Indented,
        }
    }

    /// Whether a definition ends with a brace.
    pub(super) fn has_braces(self) -> bool {
        !matches!(self, Self::Python | Self::Indented)
    }
}

/// What follows the last dot of a path's last part; nothing if there is none.
pub(super) fn extension(path: &str) -> &str {
    name(path).rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The last part of a path without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The directory a path is in; empty for the root.
pub(super) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// A path below a directory, tidied; nothing if it leads out of the root.
pub(super) fn join(directory: &str, below: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in below.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_and_joined() {
        assert_eq!(
            (name("a/b.test.ts"), stem("a/b.test.ts"), extension("a/b.test.ts")),
            ("b.test.ts", "b.test", "ts")
        );
        assert_eq!((name("a"), stem("a"), extension("a"), directory("a")), ("a", "a", "", ""));
        assert_eq!(directory("a/b/c"), "a/b");
        let joined = |directory, below| join(directory, below).unwrap_or_else(|| "outside".to_owned());
        assert_eq!(joined("a/b", "../c/./d"), "a/c/d");
        assert_eq!(joined("", "x.h"), "x.h");
        assert_eq!(joined("a", "../../x"), "outside");
    }
}
