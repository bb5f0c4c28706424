//! What is known of a file beyond its words: the names it defines and the names it uses.
//!
//! Knows lines, names and how both are written down; refuses to know where a file is. Names that are used are kept as
//! hashes: whoever asks for one has its text, and checks the line that is found.

mod code;

use loggia_domain::{Definition, ReferenceKind, SymbolKind};
use xxhash_rust::xxh3::xxh3_64;

use crate::chunks::Chunk;

pub(crate) use code::{decode, decode_outline, decode_pieces, encode};

/// Definitions and uses of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// In the order of their first line.
    pub(crate) symbols: Vec<Symbol>,
    /// Sorted by name, line and kind.
    pub(crate) uses: Vec<Use>,
    /// The pieces it is cut into, in order.
    pub(crate) chunks: Vec<Chunk>,
}

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: Box<str>,
    pub(crate) kind: SymbolKind,
    /// The name of what it is in; empty if it is in nothing.
    pub(crate) container: Box<str>,
    /// Its head, on one line, cut to a bound.
    pub(crate) signature: Box<str>,
    /// The first line of its documentation.
    pub(crate) doc: Box<str>,
    /// The first line, counted from 1.
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
}

/// A use of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) name: NameHash,
    pub(crate) line: u32,
    pub(crate) kind: ReferenceKind,
}

/// The hash of a name as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameHash(pub(crate) u32);

impl NameHash {
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash is hash enough")]
    pub(crate) fn of(name: &[u8]) -> Self {
        Self(xxh3_64(name) as u32)
    }
}

impl From<&Symbol> for Definition {
    fn from(symbol: &Symbol) -> Self {
        Self {
            kind: symbol.kind,
            container: (!symbol.container.is_empty()).then(|| symbol.container.to_string()),
            signature: symbol.signature.to_string(),
            doc: symbol.doc.to_string(),
        }
    }
}

impl Facts {
    /// The uses of a name.
    pub(crate) fn uses_of(&self, name: NameHash) -> &[Use] {
        let from = self.uses.partition_point(|used| used.name < name);
        let to = self.uses.partition_point(|used| used.name <= name);
        &self.uses[from..to]
    }
}
