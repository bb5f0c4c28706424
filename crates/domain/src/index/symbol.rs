//! Definitions and uses of names.

/// What kind of thing a name stands for. Languages differ; these are the kinds people look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A module, namespace or package.
    Module,
    /// A class.
    Class,
    /// A struct, record or union.
    Struct,
    /// An enumeration.
    Enum,
    /// One value of an enumeration.
    EnumMember,
    /// An interface or protocol.
    Interface,
    /// A trait or mixin.
    Trait,
    /// Another name for a type.
    TypeAlias,
    /// A function that belongs to no type.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A macro.
    Macro,
    /// A constant.
    Constant,
    /// A variable that is no function's own.
    Variable,
    /// A field or property.
    Field,
}

impl SymbolKind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 14] = [
        Self::Module,
        Self::Class,
        Self::Struct,
        Self::Enum,
        Self::EnumMember,
        Self::Interface,
        Self::Trait,
        Self::TypeAlias,
        Self::Function,
        Self::Method,
        Self::Macro,
        Self::Constant,
        Self::Variable,
        Self::Field,
    ];

    /// Its word, as people give and read it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::EnumMember => "enum_member",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::TypeAlias => "type",
            Self::Function => "function",
            Self::Method => "method",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// What is known of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What it defines.
    pub kind: SymbolKind,
    /// The name of what it is in, if it is in something.
    pub container: Option<String>,
    /// Its head, on one line.
    pub signature: String,
    /// The first line of its documentation; empty if it has none.
    pub doc: String,
}

/// Which uses of a name are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceQuery {
    /// The name, as it is written.
    pub name: String,
    /// At most so many.
    pub limit: usize,
    /// Only files whose path matches one of these globs; one that begins with `!` leaves files out.
    pub paths: Vec<String>,
}

/// A place where a name is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeReference {
    /// The file, relative to the root.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// How it is used.
    pub kind: ReferenceKind,
    /// The line's text.
    pub text: String,
}

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceKind {
    /// It is called, or something is made of it.
    Call,
    /// It stands for a type.
    Type,
    /// It is brought in from elsewhere.
    Import,
    /// It is read, written or passed on.
    Value,
}
