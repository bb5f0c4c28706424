//! Words as a task.

use loggia_domain::{GuestError, JsonText, WorkItem};

use crate::heading::first_line;
use crate::limits::MAX_WORDS;
use crate::provider::Source;

/// Words as a task. They are their own key.
#[derive(Debug)]
pub(crate) struct TextSource;

impl Source for TextSource {
    const NAME: &'static str = "text";
    const SCHEME: &'static str = "text";
    const PRIORITY: i64 = 0;

    /// Anything could be words, and a reference with a mistake in it is not meant as such.
    fn claims(&self, _reference: &str) -> bool {
        false
    }

    fn resolve(&self, rest: &str) -> Result<String, GuestError> {
        let words = rest.trim();
        if first_line(words).is_none() {
            return Err(GuestError::Refused("the task has no words".to_owned()));
        }
        if words.len() > MAX_WORDS {
            return Err(GuestError::Refused(format!(
                "the task has {} bytes and at most {MAX_WORDS} are taken: put it into a file",
                words.len()
            )));
        }
        Ok(words.to_owned())
    }

    fn fetch(&self, key: &str) -> Result<WorkItem, GuestError> {
        let words = self.resolve(key)?;
        Ok(WorkItem {
            title: first_line(&words).unwrap_or_default(),
            description: words.clone(),
            key: words,
            label: None,
            kind: None,
            status: None,
            priority: None,
            tags: Vec::new(),
            location: None,
            provider: Some(Self::NAME.to_owned()),
            more: JsonText("{}".to_owned()),
        })
    }

    fn snapshot(&self, key: &str) -> Result<String, GuestError> {
        self.resolve(key)
    }
}
