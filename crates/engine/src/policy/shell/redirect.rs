//! The files a shell opens for a command.
//!
//! Knows every redirection. A copy of a descriptor (`2>&1`) opens nothing.

use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect};

use super::directories::Directories;
use super::walk::Walker;
use super::word::Word;
use super::{Redirection, RedirectionAccess};

/// What redirections come to.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// The files.
    pub(super) files: Vec<Redirection>,
    /// Whether one of them is the command's input.
    pub(super) feeds: bool,
    /// Whether there was a `&>`: dash takes its `&` for the end of the command.
    pub(super) ends_for_dash: bool,
    /// The text that is the command's input, if it stands in the line and is known.
    pub(super) text: Option<String>,
}

impl Walker<'_> {
    pub(super) fn redirection(
        &mut self,
        redirection: &IoRedirect,
        directories: &Directories,
        opened: &mut Opened,
    ) {
        match redirection {
            IoRedirect::File(_, kind, target) => self.file(kind, target, directories, opened),
            IoRedirect::OutputAndError(target, _) => {
                let target = self.word(&target.value, directories);
                opened.files.push(Redirection { access: RedirectionAccess::Writes, target });
                opened.ends_for_dash = true;
            }
            IoRedirect::HereDocument(_, document) => {
                // Where one ends is what shells and their versions disagree on most.
                self.unruled("it has a here-document");
                let expanded =
                    document.requires_expansion.then(|| self.expanded(&document.doc.value, directories));
                opened.feeds = true;
                opened.text =
                    expanded.is_none_or(|word| word.certain().is_some()).then(|| document.doc.value.clone());
            }
            IoRedirect::HereString(_, word) => {
                let word = self.word(&word.value, directories);
                opened.feeds = true;
                opened.text = word.certain().map(ToOwned::to_owned);
            }
        }
    }

    fn file(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        directories: &Directories,
        opened: &mut Opened,
    ) {
        let is_input = matches!(
            kind,
            IoFileRedirectKind::Read | IoFileRedirectKind::ReadAndWrite | IoFileRedirectKind::DuplicateInput
        );
        opened.feeds |= is_input;
        let target = match target {
            IoFileRedirectTarget::Fd(_) => return,
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.process_substitution(subshell, directories);
                return;
            }
            IoFileRedirectTarget::Filename(word) => self.word(&word.value, directories),
            IoFileRedirectTarget::Duplicate(word) => {
                let word = self.word(&word.value, directories);
                if is_descriptor(&word) {
                    return;
                }
                word
            }
        };
        if is_input {
            opened.files.push(Redirection { access: RedirectionAccess::Reads, target: target.clone() });
        }
        if !matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput) {
            opened.files.push(Redirection { access: RedirectionAccess::Writes, target });
        }
    }
}

/// `1`, `-` or `1-` after `>&`.
fn is_descriptor(word: &Word) -> bool {
    word.certain().is_some_and(|text| {
        let digits = text.strip_suffix('-').unwrap_or(text);
        !text.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
