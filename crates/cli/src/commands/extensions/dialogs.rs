//! Dialogs of extensions, put to whoever sits at the terminal.
//!
//! What always holds: what an extension wrote cannot steer the terminal, and the terminal is as it was after each dialog,
//! whoever ended it.

use std::path::{Path, PathBuf};

use loggia_protocol_agent_server::{
    DialogButtons, DialogKind, DialogLevel, DialogRequest, DialogResponse, WindowOpened,
};

use super::super::confirm;
use crate::paint::{ASIDE, CODE, ERROR, QUESTION, SUBJECT, WARNING, printable};
use crate::{CliError, Interrupts, Terminal};

/// What somebody answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Seen,
    Confirmed(bool),
    Chosen(Vec<PathBuf>),
    Cancelled,
}

impl Answer {
    /// As the server hears it. Paths are told from the directory on in which they were typed.
    pub(super) fn to(self, dialog: &DialogRequest, here: &Path) -> DialogResponse {
        let mut response = DialogResponse {
            dialog_id: dialog.dialog_id.clone(),
            acknowledged: None,
            confirmed: None,
            paths: None,
            cancelled: None,
        };
        match self {
            Self::Seen => response.acknowledged = Some(true),
            Self::Confirmed(yes) => response.confirmed = Some(yes),
            Self::Chosen(paths) => {
                let path = |path: PathBuf| here.join(path).to_string_lossy().into_owned();
                response.paths = Some(paths.into_iter().map(path).collect());
            }
            Self::Cancelled => response.cancelled = Some(true),
        }
        response
    }
}

/// Puts a dialog to whoever sits there. An interrupt cancels it.
pub(super) async fn ask(
    dialog: &DialogRequest,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Answer, CliError> {
    let text = dialog.message.as_deref().unwrap_or_default();
    match dialog.kind {
        DialogKind::Message => {
            show(dialog, text, terminal)?;
            Ok(Answer::Seen)
        }
        DialogKind::Confirm => {
            let words = if dialog.buttons == Some(DialogButtons::OkCancel) { " (OK or cancel)" } else { "" };
            let question = format!("{}{text}{words}", before(dialog));
            Ok(Answer::Confirmed(confirm(terminal, &question, interrupts).await?))
        }
        DialogKind::OpenFile | DialogKind::OpenFiles | DialogKind::SaveFile | DialogKind::SelectDirectory => {
            choose(dialog, terminal, interrupts).await
        }
        // One of a later version: we cannot know what it asks.
        _ => Ok(Answer::Cancelled),
    }
}

/// Who asks, and under which title.
fn before(dialog: &DialogRequest) -> String {
    let title = dialog.title.as_ref().map(|title| format!("{title}: ")).unwrap_or_default();
    format!("{}: {title}", dialog.extension)
}

fn show(dialog: &DialogRequest, text: &str, terminal: &mut Terminal) -> Result<(), CliError> {
    let paint = terminal.paint_err();
    let mark = match dialog.level {
        Some(DialogLevel::Error) => paint.text(ERROR, "error: "),
        Some(DialogLevel::Warning) => paint.text(WARNING, "warning: "),
        _ => "".into(),
    };
    let lines: Vec<_> = text.lines().map(printable).collect();
    let head = paint.foreign(SUBJECT, &before(dialog));
    terminal.err(&format!("{head}{mark}{}\n", lines.join("\n  "))).map_err(CliError::Output)
}

/// Files, a place for one, or a directory, by typing paths.
async fn choose(
    dialog: &DialogRequest,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Answer, CliError> {
    let paint = terminal.paint_err();
    let what = match dialog.kind {
        DialogKind::SaveFile => "where to save",
        DialogKind::SelectDirectory => "which directory",
        DialogKind::OpenFiles => "which files, one a line",
        _ => "which file",
    };
    let kinds = dialog.filters.iter().map(|kind| format!("{} ({})", kind.name, kind.extensions.join(", ")));
    let kinds: Vec<String> = kinds.collect();
    let asides = [
        dialog.start_path.as_ref().map(|path| format!("from {path}")),
        dialog.suggested_name.as_ref().map(|name| format!("suggested: {name}")),
        (!kinds.is_empty()).then(|| kinds.join("; ")),
        Some("an empty line cancels".to_owned()),
    ];
    let asides = asides.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let head = printable(&before(dialog)).into_owned();
    let question = format!("{} {head}{what}? {}\n", paint.text(QUESTION, "?"), paint.foreign(ASIDE, &asides));
    terminal.err(&question).map_err(CliError::Output)?;
    let prompt = format!("{} ", paint.text(CODE, "path>"));
    let several = dialog.kind == DialogKind::OpenFiles;
    let mut chosen = Vec::new();
    loop {
        let line = terminal.line(&prompt, false, interrupts).await?;
        match line.as_deref().map(str::trim) {
            // Somebody left: that cancels all of it.
            None => return Ok(Answer::Cancelled),
            Some("") if chosen.is_empty() => return Ok(Answer::Cancelled),
            Some("") => return Ok(Answer::Chosen(chosen)),
            Some(path) => chosen.push(home(path)),
        }
        if !several {
            return Ok(Answer::Chosen(chosen));
        }
    }
}

/// What people type for their own directory.
fn home(path: &str) -> PathBuf {
    let rest = path.strip_prefix("~/");
    match (rest, std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Tells where a window's page is.
pub(super) fn tell_window(window: &WindowOpened, terminal: &mut Terminal) -> Result<(), CliError> {
    let paint = terminal.paint_err();
    let (name, title) = (printable(&window.extension), printable(&window.title));
    let url = paint.text(CODE, printable(&window.url)).into_owned();
    terminal.err(&format!("{name}: \"{title}\" is at {url}\n")).map_err(CliError::Output)
}
