//! Definitions: which node has the name, what it belongs to, and whether it counts.
//!
//! Knows how languages hide a name in a definition. A definition whose name cannot be found is none.

use loggia_domain::SymbolKind;
use tree_sitter::Node;

use crate::facts::Symbol;
use crate::grammar::{Naming, Role};
use crate::language::Language;
use crate::parse::{Open, OpenKind, Walk, head};

/// How deep a name may be hidden: pointers to functions that return pointers are deep, and less than this.
const MAX_HIDING: usize = 16;

/// How many names one definition may have.
const MAX_NAMES: usize = 64;

impl<'t> Walk<'t> {
    /// Takes a definition, if it is one.
    pub(super) fn define(&mut self, node: &Node<'_>, kind: SymbolKind, naming: Naming) {
        let is_local = matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field)
            && self.open.iter().any(|open| open.kind == OpenKind::Function);
        if is_local {
            return;
        }
        let Some(first) = self.name_of(node, naming) else { return };
        let kind = self.kind_of(node, kind, naming, &first);
        self.add(node, &first, kind);
        if matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field) {
            self.further_names(node, &first, kind);
        }
        let opened = match kind {
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro => OpenKind::Function,
            SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Interface
            | SymbolKind::Trait => OpenKind::Type,
            _ => OpenKind::Other,
        };
        self.open.push(Open { depth: self.above.len(), name: self.text_of(&first.name), kind: opened });
    }

    /// Takes what is in an `impl` as belonging to its type.
    pub(super) fn scope(&mut self, node: &Node<'_>) {
        let kind = self.grammar.kind_field.and_then(|field| node.child_by_field_id(field));
        let name = kind.and_then(|kind| self.first_name(kind)).map_or("", |name| self.text_of(&name));
        self.open.push(Open { depth: self.above.len(), name, kind: OpenKind::Type });
    }

    fn add(&mut self, node: &Node<'_>, named: &Named<'_>, kind: SymbolKind) {
        let container = match &named.scope {
            Some(scope) => self.text_of(scope),
            None => self.open.iter().rev().map(|open| open.name).find(|name| !name.is_empty()).unwrap_or(""),
        };
        let body = self.grammar.body.and_then(|body| node.child_by_field_id(body));
        // Ruby's bodies begin after the comments in them.
        let body = body.filter(|_| self.language != Language::Ruby);
        let lines = head::lines(node);
        self.facts.symbols.push(Symbol {
            name: self.text_of(&named.name).into(),
            kind,
            container: container.into(),
            signature: head::signature(self.text, node, body.as_ref()).into(),
            doc: head::doc(self.text, node, body.as_ref(), self.language).into(),
            start_line: lines.0,
            end_line: lines.1,
        });
        self.defined.push(named.name.start_byte());
    }

    /// `a` and `b` of `int a, b;`.
    fn further_names(&mut self, node: &Node<'_>, first: &Named<'_>, kind: SymbolKind) {
        let mut before = first.top;
        for _ in 0..MAX_NAMES {
            let Some(comma) = before.next_sibling().filter(|comma| comma.kind() == ",") else { return };
            let Some(next) = comma.next_sibling() else { return };
            let Some(named) = self.declared(next) else { return };
            self.add(node, &named, kind);
            before = next;
        }
    }

    fn kind_of(&self, node: &Node<'_>, kind: SymbolKind, naming: Naming, named: &Named<'_>) -> SymbolKind {
        let in_type =
            named.scope.is_some() || self.open.last().is_some_and(|open| open.kind == OpenKind::Type);
        let field = |field: Option<u16>| field.and_then(|field| node.child_by_field_id(field));
        let kind = match naming {
            Naming::Variable => match field(self.grammar.value).map_or("", |value| value.kind()) {
                "arrow_function" | "function_expression" | "function" | "generator_function" => {
                    SymbolKind::Function
                }
                "class" => SymbolKind::Class,
                _ => kind,
            },
            Naming::TypeSpec => match field(self.grammar.kind_field).map_or("", |kind| kind.kind()) {
                "struct_type" => SymbolKind::Struct,
                "interface_type" => SymbolKind::Interface,
                _ => kind,
            },
            Naming::Declarator
                if named.is_function && matches!(kind, SymbolKind::Variable | SymbolKind::Field) =>
            {
                SymbolKind::Function
            }
            _ => kind,
        };
        match kind {
            SymbolKind::Function if in_type => SymbolKind::Method,
            SymbolKind::Variable if in_type => SymbolKind::Field,
            kind => kind,
        }
    }

    fn name_of<'n>(&self, node: &Node<'n>, naming: Naming) -> Option<Named<'n>> {
        let field = |field: Option<u16>| field.and_then(|field| node.child_by_field_id(field));
        match naming {
            Naming::Name | Naming::TypeSpec => field(self.grammar.name).and_then(|name| self.last_name(name)),
            Naming::IfBody => {
                field(self.grammar.body)?;
                field(self.grammar.name).and_then(|name| self.last_name(name))
            }
            Naming::Variable => {
                field(self.grammar.name).filter(|name| name.kind() == "identifier").map(Named::plain)
            }
            Naming::Left => {
                let wanted = |name: &Node<'_>| matches!(name.kind(), "identifier" | "constant");
                let is_constant = node.language().name() == Some("ruby");
                field(self.grammar.left)
                    .filter(wanted)
                    .filter(|name| !is_constant || name.kind() == "constant")
                    .map(Named::plain)
            }
            Naming::Declarator => field(self.grammar.declarator).and_then(|top| self.declared(top)),
            Naming::FirstName => self.first_name(*node).map(Named::plain),
            Naming::Receiver => {
                let name = field(self.grammar.name)?;
                let scope = field(self.grammar.receiver).and_then(|receiver| self.last_type(receiver));
                Some(Named { scope, ..Named::plain(name) })
            }
        }
    }

    /// The name at the end of a chain of declarators.
    fn declared<'n>(&self, top: Node<'n>) -> Option<Named<'n>> {
        let mut node = top;
        let mut named = Named { top, ..Named::plain(top) };
        for _ in 0..MAX_HIDING {
            if matches!(self.grammar.node(node.kind_id()).role, Role::Name(_)) {
                return Some(Named { name: node, ..named });
            }
            named.is_function |= node.kind() == "function_declarator";
            let field = |field: Option<u16>| field.and_then(|field| node.child_by_field_id(field));
            node = match node.kind() {
                "qualified_identifier" => {
                    named.scope = node.child_by_field_name("scope").or(named.scope);
                    field(self.grammar.name)?
                }
                "template_function" | "template_method" => field(self.grammar.name)?,
                "destructor_name" => node.named_child(0)?,
                _ => field(self.grammar.declarator).or_else(|| node.named_child(0))?,
            };
        }
        None
    }

    /// The last part of a name that may have several.
    fn last_name<'n>(&self, top: Node<'n>) -> Option<Named<'n>> {
        let mut node = top;
        for _ in 0..MAX_HIDING {
            if matches!(self.grammar.node(node.kind_id()).role, Role::Name(_) | Role::CallName) {
                return Some(Named { top, ..Named::plain(node) });
            }
            let last = u32::try_from(node.named_child_count()).ok()?.checked_sub(1)?;
            node = node.named_child(last)?;
        }
        None
    }

    /// The first name among a node, its children and theirs.
    fn first_name<'n>(&self, node: Node<'n>) -> Option<Node<'n>> {
        let is_name = |node: &Node<'_>| matches!(self.grammar.node(node.kind_id()).role, Role::Name(_));
        let mut next = Some(node);
        for _ in 0..MAX_HIDING {
            let here = next?;
            if is_name(&here) {
                return Some(here);
            }
            next = here.named_child(0);
        }
        None
    }

    /// The last name of a type below a node.
    fn last_type<'n>(&self, node: Node<'n>) -> Option<Node<'n>> {
        let is_type = |node: &Node<'_>| node.kind() == "type_identifier";
        let mut next = Some(node);
        for _ in 0..MAX_HIDING {
            let here = next?;
            if is_type(&here) {
                return Some(here);
            }
            next = match self.grammar.kind_field.and_then(|field| here.child_by_field_id(field)) {
                Some(kind) => Some(kind),
                None => here.named_child(0),
            };
        }
        None
    }

    fn text_of(&self, node: &Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }
}

/// A name and what was learnt on the way to it.
pub(super) struct Named<'n> {
    name: Node<'n>,
    /// The node in the definition that has the name in it.
    top: Node<'n>,
    /// The type it belongs to, if the name says so.
    scope: Option<Node<'n>>,
    is_function: bool,
}

impl<'n> Named<'n> {
    fn plain(name: Node<'n>) -> Self {
        Self { name, top: name, scope: None, is_function: false }
    }
}
