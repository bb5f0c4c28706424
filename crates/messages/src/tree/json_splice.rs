//! Changing JSON in place: key order, white space and the spelling of everything else stay.

use std::ops::Range;

use crate::tree::edit::{Edit, What};
use crate::tree::json::{Layout, push, quoted};
use crate::tree::node::{Node, Value};

/// The text after an edit.
pub(crate) fn spliced(text: &str, root: &Node, edit: &Edit) -> String {
    let style = Style::of(text, root);
    let level = edit.way.len();
    let Some(node) = edit.way.iter().try_fold(root, |node, step| node.step(step)) else {
        return text.to_owned();
    };
    let parts = parts(node);
    match &edit.what {
        What::Replace(new) => put(text, &node.range, &style.written(new, level)),
        What::Add(key, new) => {
            let entry = format!("{}{}{}", quoted(key), style.colon, style.written(new, level + 1));
            insert(text, node, &parts, &entry, &style, level)
        }
        What::Append(new) => insert(text, node, &parts, &style.written(new, level + 1), &style, level),
        What::RemoveKey(key) => {
            let Value::Map(entries) = &node.value else { return text.to_owned() };
            let index = entries.iter().position(|entry| entry.key == *key);
            index.map_or_else(|| text.to_owned(), |index| remove(text, node, &parts, index))
        }
        What::RemoveIndex(index) => remove(text, node, &parts, *index),
    }
}

/// How a document is laid out.
struct Style<'t> {
    indent: Option<&'t str>,
    newline: &'static str,
    colon: &'static str,
}

impl<'t> Style<'t> {
    fn of(text: &'t str, root: &Node) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = parts(root).first().map_or(root.range.start + 1, |part| part.start);
        let before = &text[root.range.start..first.min(root.range.end)];
        let indent = before.rfind('\n').map(|line| &before[line + 1..]).filter(|indent| !indent.is_empty());
        let spaced = indent.is_some() || text.contains("\": ");
        Self { indent, newline, colon: if spaced { ": " } else { ":" } }
    }

    fn written(&self, node: &Node, level: usize) -> String {
        let mut text = String::new();
        push(
            &mut text,
            node,
            &Layout { indent: self.indent, newline: self.newline, colon: self.colon },
            level,
        );
        text
    }
}

/// Where the entries of a map or the values of a list stand.
fn parts(node: &Node) -> Vec<Range<usize>> {
    match &node.value {
        Value::Map(entries) => {
            entries.iter().map(|entry| entry.key_range.start..entry.node.range.end).collect()
        }
        Value::List(nodes) => nodes.iter().map(|node| node.range.clone()).collect(),
        _ => Vec::new(),
    }
}

fn put(text: &str, range: &Range<usize>, new: &str) -> String {
    [&text[..range.start], new, &text[range.end..]].concat()
}

fn insert(
    text: &str,
    node: &Node,
    parts: &[Range<usize>],
    part: &str,
    style: &Style<'_>,
    level: usize,
) -> String {
    if let Some(last) = parts.last() {
        // As far from the comma as the last one is.
        let before = &text[..last.start];
        let space = &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..];
        let space = if space.is_empty() && parts.len() == 1 && style.indent.is_none() && style.colon == ": " {
            " "
        } else {
            space
        };
        return put(text, &(last.end..last.end), &format!(",{space}{part}"));
    }
    let (open, close) = if matches!(node.value, Value::Map(_)) { ('{', '}') } else { ('[', ']') };
    let line = |level: usize| {
        style.indent.map_or_else(String::new, |indent| format!("{}{}", style.newline, indent.repeat(level)))
    };
    put(text, &node.range, &format!("{open}{}{part}{}{close}", line(level + 1), line(level)))
}

fn remove(text: &str, node: &Node, parts: &[Range<usize>], index: usize) -> String {
    let Some(part) = parts.get(index) else { return text.to_owned() };
    let range = match (index.checked_sub(1).and_then(|before| parts.get(before)), parts.get(index + 1)) {
        (_, Some(next)) => part.start..next.start,
        (Some(before), None) => before.end..part.end,
        (None, None) => node.range.start + 1..node.range.end - 1,
    };
    put(text, &range, "")
}
