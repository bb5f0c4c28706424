//! A file's text in, its definitions and uses of names out.
//!
//! Walks a syntax tree once, with a cursor, asking a table what each kind of node means; queries would visit most nodes
//! several times. Knows nothing of files. Names of functions' own variables are uses, never definitions. A text with
//! syntax errors gives what can be made out; one that takes too long gives nothing.

mod define;
mod head;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use loggia_domain::ReferenceKind;
use tree_sitter::{ParseOptions, Tree, TreeCursor};

use crate::facts::{Facts, NameHash, Use};
use crate::grammar::{Grammar, Node as Meaning, Role};
use crate::language::Language;

/// How long one file is parsed: a thousand times what a usual one takes.
const PATIENCE: Duration = Duration::from_secs(3);

/// Parses files, one after the other.
#[derive(Default)]
pub(crate) struct Parser {
    parser: tree_sitter::Parser,
    language: Option<Language>,
}

impl std::fmt::Debug for Parser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parser").field("language", &self.language).finish_non_exhaustive()
    }
}

impl Parser {
    /// What a text defines and uses: nothing if its language has no grammar here.
    pub(crate) fn facts(&mut self, language: Language, text: &str) -> Facts {
        let Some(grammar) = Grammar::of(language) else { return Facts::default() };
        if self.language != Some(language) {
            if let Err(error) = self.parser.set_language(&grammar.language) {
                tracing::error!(?language, %error, "a grammar does not fit the parser");
                return Facts::default();
            }
            self.language = Some(language);
        }
        match self.tree(text) {
            Some(tree) => Walk::new(grammar, language, text).run(&tree),
            None => Facts::default(),
        }
    }

    fn tree(&mut self, text: &str) -> Option<Tree> {
        let began = Instant::now();
        let mut too_long = |_: &tree_sitter::ParseState| match began.elapsed() > PATIENCE {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut too_long);
        let bytes = text.as_bytes();
        let tree = self.parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or_default(),
            None,
            Some(options),
        );
        if tree.is_none() {
            // Else the next text would be taken for the rest of this one.
            self.parser.reset();
        }
        tree
    }
}

/// A tree being walked.
struct Walk<'t> {
    grammar: &'static Grammar,
    language: Language,
    text: &'t str,
    facts: Facts,
    /// The nodes above the one we are at.
    above: Vec<Frame>,
    /// The definitions we are in.
    open: Vec<Open<'t>>,
    /// How deep the import is that we are in.
    import: Option<usize>,
    /// Where names of definitions start that are still ahead.
    defined: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Frame {
    meaning: Meaning,
    /// Its field in the node above it, where that matters.
    field: Option<u16>,
}

/// A definition, or a scope, that we are in.
struct Open<'t> {
    depth: usize,
    name: &'t str,
    kind: OpenKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenKind {
    Function,
    Type,
    Other,
}

impl<'t> Walk<'t> {
    fn new(grammar: &'static Grammar, language: Language, text: &'t str) -> Self {
        Self {
            grammar,
            language,
            text,
            facts: Facts::default(),
            above: Vec::new(),
            open: Vec::new(),
            import: None,
            defined: Vec::new(),
        }
    }

    fn run(mut self, tree: &Tree) -> Facts {
        let mut cursor = tree.walk();
        loop {
            let meaning = self.visit(&cursor);
            let field = meaning.member.and_then(|_| cursor.field_id()).map(std::num::NonZero::get);
            if !meaning.is_leaf && cursor.goto_first_child() {
                self.above.push(Frame { meaning, field });
                continue;
            }
            self.leave(self.above.len());
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return self.finish();
                }
                self.above.pop();
                self.leave(self.above.len());
            }
        }
    }

    /// Looks at the node under the cursor.
    fn visit(&mut self, cursor: &TreeCursor<'_>) -> Meaning {
        let node = cursor.node();
        let meaning = self.grammar.node(node.kind_id());
        match meaning.role {
            Role::Plain | Role::Type | Role::Call => {}
            Role::Name(kind) => self.name(cursor, kind),
            Role::CallName => {
                if self.above.last().is_some_and(|above| above.meaning.role == Role::Call) {
                    self.used(&node, ReferenceKind::Call);
                }
            }
            Role::Define(kind, naming) => self.define(&node, kind, naming),
            Role::Scope => self.scope(&node),
            Role::Import => {
                self.import.get_or_insert(self.above.len());
            }
        }
        meaning
    }

    /// What was at this depth is over.
    fn leave(&mut self, depth: usize) {
        while self.open.last().is_some_and(|open| open.depth >= depth) {
            self.open.pop();
        }
        if self.import.is_some_and(|import| import >= depth) {
            self.import = None;
        }
    }

    fn name(&mut self, cursor: &TreeCursor<'_>, usual: ReferenceKind) {
        let node = cursor.node();
        let start = node.start_byte();
        if let Some(at) = self.defined.iter().rposition(|defined| *defined == start) {
            self.defined.swap_remove(at);
            return;
        }
        let kind =
            if self.import.is_some() { ReferenceKind::Import } else { self.kind_of_use(cursor, usual) };
        self.used(&node, kind);
    }

    /// How a name is used, by what is above it.
    fn kind_of_use(&self, cursor: &TreeCursor<'_>, usual: ReferenceKind) -> ReferenceKind {
        let mut field = None;
        for (place, frame) in self.above.iter().rev().enumerate() {
            match frame.meaning.role {
                Role::Type => return ReferenceKind::Type,
                Role::Call => return ReferenceKind::Call,
                _ => {}
            }
            if frame.meaning.calls.is_none() && frame.meaning.member.is_none() && place > 0 {
                break;
            }
            if place == 0 {
                field = cursor.field_id().map(std::num::NonZero::get);
            }
            if field.is_some() && frame.meaning.calls == field {
                return ReferenceKind::Call;
            }
            if field.is_none() || frame.meaning.member != field {
                break;
            }
            field = frame.field;
        }
        let is_type = || cursor.field_id().map(std::num::NonZero::get) == self.grammar.kind_field;
        match usual {
            ReferenceKind::Value if self.grammar.kind_field.is_some() && is_type() => ReferenceKind::Type,
            usual => usual,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a file has fewer lines than bytes, and those are bounded"
    )]
    fn used(&mut self, node: &tree_sitter::Node<'_>, kind: ReferenceKind) {
        let name = &self.text.as_bytes()[node.byte_range()];
        let line = node.start_position().row as u32 + 1;
        self.facts.uses.push(Use { name: NameHash::of(name), line, kind });
    }

    fn finish(mut self) -> Facts {
        self.facts.uses.sort_unstable();
        self.facts.uses.dedup();
        self.facts.symbols.sort_by_key(|symbol| symbol.start_line);
        self.facts
    }
}

#[cfg(test)]
mod tests;
