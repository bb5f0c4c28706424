//! The grammars, and which of their nodes define or use names.
//!
//! Knows languages as tables: kinds of nodes, and what each means here. [`crate::parse`] walks the trees. A grammar is
//! there if its feature is on; its table is turned from names into numbers once.

mod tables;

use std::sync::OnceLock;

use loggia_domain::{ReferenceKind, SymbolKind};

use crate::language::Language;

/// How a language's trees are read.
#[derive(Debug)]
pub(crate) struct Grammar {
    pub(crate) language: tree_sitter::Language,
    /// By the number of a node's kind.
    pub(crate) nodes: Vec<Node>,
    /// The number of the field in which definitions have their name.
    pub(crate) name: Option<u16>,
    pub(crate) body: Option<u16>,
    pub(crate) declarator: Option<u16>,
    pub(crate) kind_field: Option<u16>,
    pub(crate) value: Option<u16>,
    pub(crate) receiver: Option<u16>,
    pub(crate) left: Option<u16>,
}

/// What a kind of node means.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) role: Role,
    /// The field of this node in which a name is called.
    pub(crate) calls: Option<u16>,
    /// The field of this node in which the last part of a longer name is.
    pub(crate) member: Option<u16>,
    /// Nothing in it is of use: it is a word or a sign, or text that people read.
    pub(crate) is_leaf: bool,
}

/// Kinds of nodes, in any language, that hold no names of code.
const LEAVES: [&str; 21] = [
    "block_comment",
    "boolean_literal",
    "char_literal",
    "comment",
    "constant",
    "decimal_integer_literal",
    "doc_comment",
    "field_identifier",
    "float_literal",
    "identifier",
    "integer_literal",
    "label",
    "lifetime",
    "line_comment",
    "number_literal",
    "primitive_type",
    "property_identifier",
    "raw_string_literal",
    "string_literal",
    "type_identifier",
    "visibility_modifier",
];

/// What a kind of node is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing by itself.
    #[default]
    Plain,
    /// A name.
    Name(ReferenceKind),
    /// A name only where something is called by it.
    CallName,
    /// A definition.
    Define(SymbolKind, Naming),
    /// What is in it belongs to a type that is defined elsewhere.
    Scope,
    /// Names in it come from elsewhere.
    Import,
    /// A name in it is a type.
    Type,
    /// A name in it is called.
    Call,
}

/// Where a definition has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// In the field `name`.
    Name,
    /// In the field `name`; it is a variable, whose value may be a function.
    Variable,
    /// On the left, if a lone name is there.
    Left,
    /// At the end of a chain of declarators, as C has them.
    Declarator,
    /// As [`Naming::Name`], if there is a body; without one it only mentions a type.
    IfBody,
    /// In its first child that is a name.
    FirstName,
    /// In the field `name`; the field `type` says what it is.
    TypeSpec,
    /// In the field `name`; the type it belongs to is in the field `receiver`.
    Receiver,
}

/// A language's nodes by name.
pub(crate) struct Table {
    pub(crate) definitions: &'static [(&'static str, SymbolKind, Naming)],
    pub(crate) names: &'static [(&'static str, ReferenceKind)],
    pub(crate) call_names: &'static [&'static str],
    pub(crate) scopes: &'static [&'static str],
    pub(crate) imports: &'static [&'static str],
    pub(crate) types: &'static [&'static str],
    pub(crate) called: &'static [&'static str],
    pub(crate) calls: &'static [(&'static str, &'static str)],
    pub(crate) members: &'static [(&'static str, &'static str)],
}

impl Grammar {
    /// The grammar of a language, if it has one and that is part of this build.
    pub(crate) fn of(language: Language) -> Option<&'static Self> {
        static GRAMMARS: [OnceLock<Option<Grammar>>; 20] = [const { OnceLock::new() }; 20];
        let slot = GRAMMARS.get(language as usize)?;
        slot.get_or_init(|| tables::of(language).map(|(language, table)| Self::new(language, table))).as_ref()
    }

    fn new(language: tree_sitter::Language, table: &Table) -> Self {
        let mut nodes: Vec<Node> = (0..language.node_kind_count())
            .map_while(|number| u16::try_from(number).ok())
            .map(|number| {
                let is_known = language.node_kind_for_id(number).is_some_and(|kind| LEAVES.contains(&kind));
                Node { is_leaf: is_known || !language.node_kind_is_named(number), ..Node::default() }
            })
            .collect();
        // A kind may have several numbers, where the grammar calls one thing by the name of another.
        let mut each = |kind: &str, change: &dyn Fn(&mut Node)| {
            for (number, node) in nodes.iter_mut().enumerate() {
                let Ok(number) = u16::try_from(number) else { break };
                if language.node_kind_is_named(number) && language.node_kind_for_id(number) == Some(kind) {
                    change(node);
                }
            }
        };
        for (kind, reference) in table.names {
            each(kind, &|node| node.role = Role::Name(*reference));
        }
        for kind in table.call_names {
            each(kind, &|node| node.role = Role::CallName);
        }
        for (kind, symbol, naming) in table.definitions {
            each(kind, &|node| node.role = Role::Define(*symbol, *naming));
        }
        for (kinds, role) in [
            (table.scopes, Role::Scope),
            (table.imports, Role::Import),
            (table.types, Role::Type),
            (table.called, Role::Call),
        ] {
            kinds.iter().for_each(|kind| each(kind, &|node| node.role = role));
        }
        let field = |name: &str| language.field_id_for_name(name).map(std::num::NonZero::get);
        for (kind, name) in table.calls {
            each(kind, &|node| node.calls = field(name));
        }
        for (kind, name) in table.members {
            each(kind, &|node| node.member = field(name));
        }
        Self {
            name: field("name"),
            body: field("body"),
            declarator: field("declarator"),
            kind_field: field("type"),
            value: field("value"),
            receiver: field("receiver"),
            left: field("left"),
            nodes,
            language,
        }
    }

    /// What a node's kind means.
    pub(crate) fn node(&self, kind: u16) -> Node {
        self.nodes.get(usize::from(kind)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_tables_is_in_its_grammar() {
        let mut faults = Vec::new();
        for number in 0..20 {
            let Some(language) = Language::from_number(number) else { continue };
            let Some((grammar, table)) = tables::of(language) else { continue };
            let kinds = table.definitions.iter().map(|(kind, ..)| *kind);
            let kinds = kinds.chain(table.names.iter().map(|(kind, _)| *kind));
            let lists = [table.call_names, table.scopes, table.imports, table.types, table.called];
            let kinds = kinds.chain(lists.into_iter().flatten().copied());
            let pairs = || table.calls.iter().chain(table.members);
            for kind in kinds.chain(pairs().map(|(kind, _)| *kind)) {
                if grammar.id_for_node_kind(kind, true) == 0 {
                    faults.push(format!("{language:?}: no kind `{kind}`"));
                }
            }
            for (kind, field) in pairs() {
                if grammar.field_id_for_name(field).is_none() {
                    faults.push(format!("{language:?}: no field `{field}` of `{kind}`"));
                }
            }
        }
        assert_eq!(faults, Vec::<String>::new());
    }
}
