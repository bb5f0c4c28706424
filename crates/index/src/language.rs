//! Which language a file is in, and how that language writes its comments.
//!
//! Knows names, endings and first lines; the grammars are for [`crate::grammar`]. A language without a grammar, or
//! whose grammar was left out of this build, is indexed by its words alone.

/// A language, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Language {
    Other = 0,
    Prose = 1,
    Data = 2,
    Rust = 3,
    Python = 4,
    TypeScript = 5,
    Tsx = 6,
    JavaScript = 7,
    Go = 8,
    Java = 9,
    C = 10,
    Cpp = 11,
    CSharp = 12,
    Ruby = 13,
    Php = 14,
    Bash = 15,
    /// Other languages that write comments like C does.
    CLike = 16,
    /// Other languages whose comments begin with `#`.
    HashLike = 17,
    /// Languages whose comments begin with `--`.
    DashLike = 18,
    Markup = 19,
}

/// How comments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommentStyle {
    /// What begins a comment that ends with its line.
    pub(crate) line: &'static str,
    /// What begins and ends one that may go on.
    pub(crate) block: Option<(&'static str, &'static str)>,
    /// What else begins and ends text that explains, as Python's documentation does.
    pub(crate) docs: &'static [&'static str],
    /// What begins and ends a text within a line, in which no comment begins.
    pub(crate) quotes: &'static [u8],
}

impl Language {
    const ALL: [Self; 20] = [
        Self::Other,
        Self::Prose,
        Self::Data,
        Self::Rust,
        Self::Python,
        Self::TypeScript,
        Self::Tsx,
        Self::JavaScript,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Ruby,
        Self::Php,
        Self::Bash,
        Self::CLike,
        Self::HashLike,
        Self::DashLike,
        Self::Markup,
    ];

    /// The language with a stored number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The language of a file, by its name and, where that does not tell, its text.
    pub(crate) fn of(path: &str, text: &str) -> Self {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let by_name = match name.rsplit_once('.') {
            Some((_, ending)) => Self::by_ending(ending),
            None => Self::by_whole_name(name),
        };
        match by_name {
            Self::C if name.ends_with(".h") && is_cpp(text) => Self::Cpp,
            Self::Other => Self::by_first_line(text),
            language => language,
        }
    }

    fn by_ending(ending: &str) -> Self {
        match ending {
            "rs" => Self::Rust,
            "py" | "pyi" | "pyw" => Self::Python,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" | "h" => Self::C,
            "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" => Self::Cpp,
            "cs" => Self::CSharp,
            "rb" | "rake" | "gemspec" | "ru" => Self::Ruby,
            "php" | "phtml" => Self::Php,
            "sh" | "bash" | "zsh" | "bats" => Self::Bash,
            "md" | "markdown" | "rst" | "txt" | "adoc" | "org" | "tex" => Self::Prose,
            "json" | "json5" | "jsonc" | "csv" | "lock" | "svg" | "po" | "snap" => Self::Data,
            "toml" | "yaml" | "yml" | "ini" | "cfg" | "conf" | "properties" | "env" | "mk" | "cmake"
            | "nix" | "pl" | "pm" | "r" | "jl" | "ex" | "exs" | "tcl" | "awk" | "dockerfile" => {
                Self::HashLike
            }
            "kt" | "kts" | "scala" | "swift" | "dart" | "zig" | "proto" | "css" | "scss" | "less"
            | "groovy" | "gradle" | "m" | "mm" | "v" | "sv" | "d" | "glsl" | "wgsl" | "cu" | "vue"
            | "svelte" | "sol" => Self::CLike,
            "sql" | "lua" | "hs" | "elm" | "ada" | "vhdl" => Self::DashLike,
            "html" | "htm" | "xml" | "xhtml" => Self::Markup,
            _ => Self::Other,
        }
    }

    fn by_whole_name(name: &str) -> Self {
        match name {
            "Makefile" | "makefile" | "GNUmakefile" | "Dockerfile" | "Justfile" | "justfile" => {
                Self::HashLike
            }
            "Rakefile" | "Gemfile" | "Vagrantfile" | "Brewfile" => Self::Ruby,
            "README" | "LICENSE" | "COPYING" | "CHANGELOG" | "AUTHORS" | "NEWS" | "HACKING" => Self::Prose,
            _ => Self::Other,
        }
    }

    fn by_first_line(text: &str) -> Self {
        let Some(line) = text.strip_prefix("#!") else { return Self::Other };
        let line = line.lines().next().unwrap_or_default();
        let program = line.split_whitespace().flat_map(|word| word.rsplit('/').next());
        for word in program {
            match word.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.') {
                "sh" | "bash" | "zsh" | "dash" => return Self::Bash,
                "python" => return Self::Python,
                "node" | "deno" | "bun" => return Self::JavaScript,
                "ruby" => return Self::Ruby,
                "php" => return Self::Php,
                "env" => {}
                _ => return Self::HashLike,
            }
        }
        Self::HashLike
    }

    /// How it writes comments; nothing if it has none.
    pub(crate) const fn comments(self) -> Option<CommentStyle> {
        const C: CommentStyle =
            CommentStyle { line: "//", block: Some(("/*", "*/")), docs: &[], quotes: b"\"" };
        const SCRIPT: CommentStyle = CommentStyle { quotes: b"\"'", ..C };
        const HASH: CommentStyle = CommentStyle { line: "#", block: None, docs: &[], quotes: b"\"'" };
        match self {
            Self::Other | Self::Prose | Self::Data => None,
            Self::Rust | Self::C | Self::Cpp | Self::Java | Self::CSharp | Self::CLike => Some(C),
            Self::Go | Self::TypeScript | Self::Tsx | Self::JavaScript | Self::Php => Some(SCRIPT),
            Self::Python => Some(CommentStyle { docs: &["\"\"\"", "'''"], ..HASH }),
            Self::Ruby | Self::Bash | Self::HashLike => Some(HASH),
            Self::DashLike => Some(CommentStyle { line: "--", ..HASH }),
            Self::Markup => {
                Some(CommentStyle { line: "<!--", block: Some(("<!--", "-->")), docs: &[], quotes: b"" })
            }
        }
    }
}

/// Whether a header is written in C++.
fn is_cpp(text: &str) -> bool {
    /// Where the first class or namespace shows, if there is one.
    const LOOKED_AT: usize = 64 * 1024;
    let bytes = &text.as_bytes()[..text.len().min(LOOKED_AT)];
    ["\nclass ", "\nnamespace ", "\ntemplate", "std::", "\npublic:", "\n#include <c"]
        .iter()
        .any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_name_ending_and_first_line() {
        let check = |path, text, expected| assert_eq!(Language::of(path, text), expected, "{path}");
        check("src/lib.rs", "", Language::Rust);
        check("a/b.tsx", "", Language::Tsx);
        check("a.h", "int f(void);", Language::C);
        check("a.h", "#pragma once\nnamespace a {}", Language::Cpp);
        check("run", "#!/usr/bin/env python3\n", Language::Python);
        check("run", "#!/bin/bash -e\n", Language::Bash);
        check("run", "#!/usr/bin/awk\n", Language::HashLike);
        check("Makefile", "", Language::HashLike);
        check("data", "x", Language::Other);
    }

    #[test]
    fn stored_numbers_lead_back() {
        for language in Language::ALL {
            assert_eq!(Language::from_number(language as u8), Some(language));
        }
        assert_eq!(Language::from_number(Language::ALL.len() as u8), None);
    }
}
