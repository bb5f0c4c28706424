//! A command line as flags and their values.
//!
//! Forgiving on purpose: clients send flags that no agent has, and an agent that stops at them starts for nobody.

use std::collections::HashMap;

/// Flags that are followed by a value, or may be. Every other flag stands alone, and words that belong to no flag are
/// skipped: so the value of a flag nobody knows is, too.
const WITH_VALUE: &[&str] = &[
    "append-sys-prompt",
    "append-system-prompt",
    "append-system-prompt-file",
    "client-context",
    "client-name",
    "dir",
    "end-of-turn",
    "merge-updates",
    "fork",
    "mode",
    "model",
    "path",
    "permission-allow-list",
    "permission-deny-list",
    "permission-mode",
    "resume",
    "session-id",
    "sys-prompt",
    "system-prompt",
    "system-prompt-file",
    "thinking",
    "timeout",
    "yolo",
    "yolo-timeout",
];

/// Of these, flags that are always followed by a text, whatever it begins with: `---` begins many a prompt.
const WITH_TEXT: &[&str] = &["append-sys-prompt", "append-system-prompt", "sys-prompt", "system-prompt"];

/// What a command line says.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Each flag's last value, with its place; a flag without one has none.
    given: HashMap<String, (usize, Option<String>)>,
}

impl Arguments {
    pub(super) fn read<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let mut read = Self::default();
        let mut arguments = arguments.into_iter().enumerate().peekable();
        while let Some((place, argument)) = arguments.next() {
            let Some(name) = flag(argument.as_ref()) else { continue };
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None if WITH_VALUE.contains(&name) => {
                    let is_text = WITH_TEXT.contains(&name);
                    let value = arguments.next_if(|(_, next)| is_text || flag(next.as_ref()).is_none());
                    (name, value.map(|(_, value)| value.as_ref().to_owned()))
                }
                None => (name, None),
            };
            read.given.insert(name.to_owned(), (place, value));
        }
        read
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Whether a flag stands there without a value; an empty one is a value.
    pub(super) fn stands_alone(&self, name: &str) -> bool {
        self.given.get(name).is_some_and(|(_, value)| value.is_none())
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.given.get(name)?.1.as_deref().filter(|value| !value.is_empty())
    }

    /// The value of whichever of these flags came last.
    pub(super) fn last_of(&self, names: &[&str]) -> Option<&str> {
        let given = names.iter().filter(|name| self.value(name).is_some());
        let last = given.max_by_key(|name| self.given.get(**name).map(|(place, _)| *place))?;
        self.value(last)
    }
}

/// A flag's name, with `=` and what follows; nothing if it is none.
fn flag(word: &str) -> Option<&str> {
    match word {
        "-y" | "--y" => Some("yes"),
        word => word.strip_prefix("--"),
    }
}
