//! Changing YAML in place: comments, order, styles and everything else stay.
//!
//! A guess at what to write, from where things stand; whoever asks reads the result and compares. Nothing where no
//! guess is worth it.

use std::ops::Range;

use crate::tree::edit::{Edit, What};
use crate::tree::json;
use crate::tree::node::{Node, Value};
use crate::tree::yaml::{self, in_quotes, key};

/// The text after an edit.
pub(crate) fn spliced(text: &str, root: &Node, edit: &Edit) -> Option<String> {
    let node = edit.way.iter().try_fold(root, |node, step| node.step(step))?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let is_flow = text[node.range.clone()].starts_with(['{', '[']);
    let parts = parts(text, node);
    match &edit.what {
        What::Replace(new) => Some(replaced(text, node, new)),
        What::Add(name, new) => {
            let entry = format!("{}: {}", key(name), written(new, true));
            inserted(text, node, &parts, &entry, is_flow, newline)
        }
        What::Append(new) => {
            let part = if is_flow || parts.is_empty() {
                written(new, true)
            } else {
                format!("- {}", written(new, true))
            };
            inserted(text, node, &parts, &part, is_flow, newline)
        }
        What::RemoveKey(name) => {
            let Value::Map(entries) = &node.value else { return None };
            removed(text, node, &parts, entries.iter().position(|entry| entry.key == *name)?, is_flow)
        }
        What::RemoveIndex(index) => removed(text, node, &parts, *index, is_flow),
    }
}

/// Where entries and values stand, with their dashes, and without what is white space at their ends.
fn parts(text: &str, node: &Node) -> Vec<Range<usize>> {
    let end = |range: &Range<usize>| text[..range.end].trim_end().len().max(range.start);
    match &node.value {
        Value::Map(entries) => entries
            .iter()
            .map(|entry| entry.key_range.start..end(&entry.node.range).max(entry.key_range.end))
            .collect(),
        Value::List(nodes) => {
            let is_flow = text[node.range.clone()].starts_with('[');
            let start = |range: &Range<usize>| match text[..range.start].rfind('-') {
                Some(dash) if !is_flow => dash,
                _ => range.start,
            };
            nodes.iter().map(|node| start(&node.range)..end(&node.range)).collect()
        }
        _ => Vec::new(),
    }
}

fn put(text: &str, range: Range<usize>, new: &str) -> String {
    [&text[..range.start], new, &text[range.end..]].concat()
}

fn replaced(text: &str, node: &Node, new: &Node) -> String {
    let old = &text[node.range.clone()];
    if old.trim().is_empty() {
        // Nothing stands there yet: behind the colon or the dash.
        let is_colon = text[node.range.start..].starts_with(':');
        let place = if is_colon { node.range.start + 1 } else { text[..node.range.start].trim_end().len() };
        return put(text, place..place, &format!(" {}", written(new, true)));
    }
    let start = block_start(text, node.range.start);
    let is_plain = start == node.range.start && !old.starts_with(['"', '\'', '{', '[']);
    let end = node.range.start + old.trim_end().len();
    put(text, start..end, &written(new, is_plain))
}

/// Where a text of several lines begins that is announced on the line before.
fn block_start(text: &str, start: usize) -> usize {
    let before = text[..start].trim_end();
    let announced = before.trim_end_matches(|last: char| matches!(last, '+' | '-') || last.is_ascii_digit());
    let is_block = announced.ends_with(['|', '>']) && text[before.len()..start].contains('\n');
    if is_block { announced.len() - 1 } else { start }
}

fn inserted(
    text: &str,
    node: &Node,
    parts: &[Range<usize>],
    part: &str,
    is_flow: bool,
    newline: &str,
) -> Option<String> {
    let Some(last) = parts.last() else {
        let (open, close) = if matches!(node.value, Value::Map(_)) { ('{', '}') } else { ('[', ']') };
        return Some(put(text, node.range.clone(), &format!("{open}{part}{close}")));
    };
    if is_flow {
        return Some(put(text, last.end..last.end, &format!(", {part}")));
    }
    let first = parts.first()?;
    let line = text[..first.start].rfind('\n').map_or(0, |line| line + 1);
    // Below the first one, which may stand behind dashes.
    let indent = " ".repeat(text[line..first.start].chars().count());
    let end = text[last.end..].find(['\r', '\n']).map_or(text.len(), |end| last.end + end);
    Some(put(text, end..end, &format!("{newline}{indent}{part}")))
}

fn removed(text: &str, node: &Node, parts: &[Range<usize>], index: usize, is_flow: bool) -> Option<String> {
    let part = parts.get(index)?;
    if parts.len() == 1 {
        let empty = if matches!(node.value, Value::Map(_)) { "{}" } else { "[]" };
        let end = if is_flow { node.range.end } else { part.end };
        let start = if is_flow { node.range.start } else { part.start };
        return Some(put(text, start..end, empty));
    }
    if let Some(next) = parts.get(index + 1) {
        return Some(put(text, part.start..next.start, ""));
    }
    let before = parts.get(index.checked_sub(1)?)?;
    if is_flow {
        return Some(put(text, before.end..part.end, ""));
    }
    // Its lines, with what is noted behind it.
    let start = text[..part.start].rfind('\n').map_or(0, |line| line + 1);
    let end = text[part.end..].find('\n').map_or(text.len(), |end| part.end + end + 1);
    Some(put(text, start..end, ""))
}

/// A value on one line.
fn written(node: &Node, plain: bool) -> String {
    match &node.value {
        Value::Text(text) if plain && is_plain(text) => text.clone(),
        Value::Text(text) => in_quotes(text),
        Value::List(nodes) => {
            let parts: Vec<_> = nodes.iter().map(|node| written(node, false)).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Map(entries) => {
            let parts: Vec<_> = entries
                .iter()
                .map(|entry| format!("{}: {}", key(&entry.key), written(&entry.node, false)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        _ => json::write_compact(node),
    }
}

/// Whether a text needs no quotes, for this reader and for older ones.
fn is_plain(text: &str) -> bool {
    let is_word =
        |character: char| character.is_alphanumeric() || matches!(character, ' ' | '_' | '.' | '/' | '-');
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic());
    starts
        && !text.ends_with(' ')
        && text.chars().all(is_word)
        && (text.contains(' ') || yaml::key(text) == text)
}
