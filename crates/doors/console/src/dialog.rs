//! What extensions ask and show, as text for a terminal. Pure.

use std::path::Path;

use loggia_domain::{ConfirmWords, Dialog, DialogBody, DialogWeight, FileKind, GuestWindow};
use loggia_engine::dialogs::{DialogEnd, DialogNews, WindowEnd};

use crate::ids::short;
use crate::paint::{Painted, Style, brief};
use crate::tell::name;

/// How much of a text is shown.
const TEXT: usize = 2000;

/// How much of a name or a path is shown.
const BRIEF: usize = 200;

/// What happened.
pub(crate) fn news(news: &DialogNews) -> Painted {
    match news {
        DialogNews::Asked(dialog) => asked(dialog),
        DialogNews::Opened(window) => opened(window),
        DialogNews::Ended { dialog, end } => {
            let text = Painted::new().plain("dialog ").with(Style::Name, short(dialog));
            match end {
                DialogEnd::Answered { by } => text.plain(format!(" was answered by {}", name(by))).line(),
                DialogEnd::Withdrawn => text.plain(" was withdrawn").line(),
            }
        }
        DialogNews::Closed { window, end } => {
            let text = Painted::new().plain("window ").with(Style::Name, short(window));
            match end {
                WindowEnd::ByPerson { by } => text.plain(format!(" was closed by {}", name(by))).line(),
                WindowEnd::ByGuest => text.plain(" was closed").line(),
            }
        }
    }
}

/// A dialog, with how it is answered.
pub(crate) fn asked(dialog: &Dialog) -> Painted {
    let id = short(&dialog.id);
    let mut text = Painted::of(Style::Name, brief(&dialog.guest, BRIEF)).plain(" ");
    let (what, said, style, hint) = match &dialog.body {
        DialogBody::Message { text, weight } => {
            let style = match weight {
                DialogWeight::Info => Style::Plain,
                DialogWeight::Warning => Style::Warning,
                DialogWeight::Error => Style::Bad,
            };
            ("says", brief(text, TEXT), style, format!("`answer {id}`"))
        }
        DialogBody::Confirm { text, words } => {
            let words = match words {
                ConfirmWords::YesNo => format!("`answer {id} yes` or `answer {id} no`"),
                ConfirmWords::OkCancel => format!("`answer {id} ok` or `answer {id} cancel`"),
            };
            ("asks", brief(text, TEXT), Style::Plain, words)
        }
        DialogBody::ChooseFiles { several, start, kinds } => {
            let what = if *several { "files" } else { "a file" };
            ("asks for", format!("{what}{}{}", from(start.as_deref()), of(kinds)), Style::Plain, path(&id))
        }
        DialogBody::ChoosePlace { start, name, kinds } => {
            let name =
                name.as_ref().map(|name| format!(" such as `{}`", brief(name, BRIEF))).unwrap_or_default();
            let said = format!("a place for a file{name}{}{}", from(start.as_deref()), of(kinds));
            ("asks for", said, Style::Plain, path(&id))
        }
        DialogBody::ChooseDirectory { start } => {
            ("asks for", format!("a directory{}", from(start.as_deref())), Style::Plain, path(&id))
        }
    };
    text = text.plain(format!("{what}, dialog ")).with(Style::Name, &id).plain(": ");
    if let Some(title) = &dialog.title {
        text = text.with(Style::Subject, brief(title, BRIEF)).plain(": ");
    }
    text.with(style, said).with(Style::Aside, format!("  answer with {hint}")).line()
}

/// A window, with how it is closed.
pub(crate) fn opened(window: &GuestWindow) -> Painted {
    let id = short(&window.id);
    Painted::of(Style::Name, brief(&window.guest, BRIEF))
        .plain(" shows, window ")
        .with(Style::Name, &id)
        .plain(": ")
        .with(Style::Subject, brief(&window.title, BRIEF))
        .plain(format!(" at {}", brief(&window.url, BRIEF)))
        .with(Style::Aside, format!("  close with `window close {id}`"))
        .line()
}

fn path(id: &str) -> String {
    format!("`answer {id} PATH` or `answer {id} cancel`")
}

fn from(start: Option<&Path>) -> String {
    start
        .map(|start| format!(" from `{}` on", brief(&start.display().to_string(), BRIEF)))
        .unwrap_or_default()
}

fn of(kinds: &[FileKind]) -> String {
    let names: Vec<String> = kinds.iter().map(|kind| brief(&kind.name, BRIEF)).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", brief(&names.join(", "), BRIEF)) }
}
