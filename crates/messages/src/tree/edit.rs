//! What a patch does to a tree, before anything is written.

use loggia_domain::MessagePatch;
use thiserror::Error;

use crate::limits::MAX_MESSAGE;
use crate::tree::WriteError;
use crate::tree::json;
use crate::tree::node::{Entry, Node, Value};
use crate::tree::path::{Step, TreePathError, parse, shown};

/// A change of one place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edit {
    /// The way to the list or map that changes, or to the value that is replaced.
    pub(crate) way: Vec<Step>,
    pub(crate) what: What,
}

/// What happens at the end of the way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Replace(Node),
    /// A new entry of a map, behind the others.
    Add(String, Node),
    /// A new value of a list, behind the others.
    Append(Node),
    RemoveKey(String),
    RemoveIndex(usize),
}

/// Why a patch does not apply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Path(#[from] TreePathError),
    #[error("`{0}` is not in the document")]
    Missing(String),
    #[error("`{at}` is {kind}, which has no `{step}`")]
    NoWay { at: String, kind: &'static str, step: String },
    #[error("`{0}` stands for something elsewhere in the document: change it there")]
    Alias(String),
    #[error("this place cannot be changed without writing the document anew: put another text in its place")]
    NotInPlace,
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("the document would have more than {MAX_MESSAGE} bytes")]
    TooLong,
}

impl Node {
    /// The value one step further.
    pub(crate) fn step(&self, step: &Step) -> Option<&Node> {
        match (step, &self.value) {
            (Step::Key(key), Value::Map(_)) => self.entry(key),
            (Step::Index(index), Value::List(nodes)) => nodes.get(*index),
            _ => None,
        }
    }

    fn step_mut(&mut self, step: &Step) -> Option<&mut Node> {
        match (step, &mut self.value) {
            (Step::Key(key), Value::Map(entries)) => {
                entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.node)
            }
            (Step::Index(index), Value::List(nodes)) => nodes.get_mut(*index),
            _ => None,
        }
    }
}

impl Edit {
    /// Makes the change.
    pub(crate) fn apply(&self, root: &mut Node) {
        let Some(node) = self.way.iter().try_fold(root, |node, step| node.step_mut(step)) else { return };
        match (&self.what, &mut node.value) {
            (What::Replace(new), value) => *value = new.value.clone(),
            (What::Add(key, new), Value::Map(entries)) => entries.push(Entry::new(key, new.clone())),
            (What::Append(new), Value::List(nodes)) => nodes.push(new.clone()),
            (What::RemoveKey(key), Value::Map(entries)) => entries.retain(|entry| entry.key != *key),
            (What::RemoveIndex(index), Value::List(nodes)) if *index < nodes.len() => {
                nodes.remove(*index);
            }
            _ => {}
        }
    }
}

/// What a patch does; nothing if there is nothing to do.
pub(crate) fn edit_for(root: &Node, patch: &MessagePatch) -> Result<Option<Edit>, Refusal> {
    let steps = parse(&patch.path)?;
    let mut node = root;
    for (at, step) in steps.iter().enumerate() {
        if node.is_alias {
            return Err(Refusal::Alias(shown(&steps[..at])));
        }
        match node.step(step) {
            Some(next) => node = next,
            None if patch.remove && !patch.create => return Ok(None),
            None => return make(node, &steps, at, patch).map(Some),
        }
    }
    if node.is_alias && !patch.remove {
        return Err(Refusal::Alias(shown(&steps)));
    }
    let Some((last, way)) = steps.split_last() else { return Ok(None) };
    if patch.remove && !patch.create {
        let what = match last {
            Step::Key(key) => What::RemoveKey(key.clone()),
            Step::Index(index) => What::RemoveIndex(*index),
        };
        return Ok(Some(Edit { way: way.to_vec(), what }));
    }
    let new = wanted(patch.value.as_deref(), Some(node));
    if new == *node {
        return Ok(None);
    }
    Ok(Some(Edit { way: steps, what: What::Replace(new) }))
}

/// Makes a place that is not there, and what leads to it if that is meant.
fn make(parent: &Node, steps: &[Step], at: usize, patch: &MessagePatch) -> Result<Edit, Refusal> {
    let (way, rest) = steps.split_at(at);
    let is_last = rest.len() == 1;
    let missing = || Refusal::Missing(shown(&steps[..=at]));
    if !is_last && !patch.create {
        return Err(missing());
    }
    let mut new = wanted(patch.value.as_deref(), None);
    for step in rest[1..].iter().rev() {
        new = match step {
            Step::Key(key) => Node::map(vec![Entry::new(key, new)]),
            Step::Index(0) => Node::new(Value::List(vec![new])),
            Step::Index(_) => return Err(missing()),
        };
    }
    let what = match (&rest[0], &parent.value) {
        (Step::Key(key), Value::Map(_)) => What::Add(key.clone(), new),
        (Step::Index(index), Value::List(nodes)) if *index == nodes.len() && patch.create => {
            What::Append(new)
        }
        (Step::Index(_), Value::List(_)) => return Err(missing()),
        // Nothing becomes what is needed.
        (Step::Key(key), Value::Null) if patch.create => What::Replace(Node::map(vec![Entry::new(key, new)])),
        (Step::Index(0), Value::Null) if patch.create => What::Replace(Node::new(Value::List(vec![new]))),
        (step, _) => {
            let (at, step) = (shown(way), shown(std::slice::from_ref(step)));
            return Err(Refusal::NoWay { at, kind: parent.kind(), step });
        }
    };
    Ok(Edit { way: way.to_vec(), what })
}

/// The value that a patch wants: text where a text stands, and else JSON if it is JSON.
fn wanted(value: Option<&str>, there: Option<&Node>) -> Node {
    let text_stands = there.is_some_and(|node| matches!(node.value, Value::Text(_)));
    match value {
        Some(text) if text_stands => Node::text(text),
        Some(text) => json::read(text).unwrap_or_else(|_| Node::text(text)),
        None => Node::new(match there.map(|node| &node.value) {
            Some(Value::Text(_)) => Value::Text(String::new()),
            Some(Value::List(_)) => Value::List(Vec::new()),
            Some(Value::Map(_)) => Value::Map(Vec::new()),
            _ => Value::Null,
        }),
    }
}
