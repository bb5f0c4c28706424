//! What an instruction is for and about, where a client says so.
//!
//! The engine looks up by itself what belongs to it and was not sent along. Knows purposes and places in files; refuses
//! to know the words with which people ask for them.

/// What an instruction is for and about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aim {
    /// What for.
    pub purpose: Purpose,
    /// The files it is about: the one in front of the user first, then those that were named.
    pub files: Vec<AimedFile>,
    /// Whether the client sent what a command printed along: then no other is looked for.
    pub has_output: bool,
}

/// What an instruction is for. It decides what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Something is broken: what was changed last, and what failed last.
    Fix,
    /// Tests are wanted: those there are, the code they are about, and how they went last.
    Test,
    /// Something is not understood: just that.
    Explain,
    /// Code is to get better: the file, what it uses and what uses it.
    Refactor,
}

/// A file an instruction is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AimedFile {
    /// Relative to the root.
    pub path: String,
    /// Where in it, if the client said.
    pub spot: Option<Spot>,
}

/// A place in a file. Lines are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// These lines are selected.
    Selected {
        /// The first of them.
        first: u32,
        /// The last of them.
        last: u32,
    },
    /// What stands on this line was named.
    Named {
        /// The line.
        line: u32,
    },
    /// The cursor is on this line, and nothing is selected.
    Cursor {
        /// The line.
        line: u32,
    },
    /// These lines are on the screen, and no more is known.
    Visible {
        /// The first of them.
        first: u32,
        /// The last of them.
        last: u32,
    },
}
