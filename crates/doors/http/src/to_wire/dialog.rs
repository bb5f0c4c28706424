//! Dialogs and windows of extensions, as messages.

use std::path::Path;

use loggia_domain::{ConfirmWords, Dialog, DialogBody, DialogWeight, FileKind, GuestWindow};
use loggia_engine::dialogs::{AnswerError, DialogEnd, DialogNews, WindowEnd};
use loggia_protocol_agent_server as wire;
use serde_json::json;
use wire::{
    DialogButtons, DialogCloseReason, DialogClosed, DialogKind, DialogLevel, DialogRequest, ErrorBody,
    ErrorCode, FileFilter, ServerMessage, WindowCloseReason, WindowClosed, WindowOpened,
};

use crate::to_wire::error::{fault, invalid};
use crate::to_wire::names::actor_name;

/// What happened on the board.
pub(crate) fn news(news: &DialogNews) -> ServerMessage {
    match news {
        DialogNews::Asked(dialog) => ServerMessage::DialogRequest(request(dialog)),
        DialogNews::Ended { dialog, end } => {
            let (reason, by) = match end {
                DialogEnd::Answered { by } => (DialogCloseReason::Answered, Some(actor_name(by).to_owned())),
                DialogEnd::Withdrawn => (DialogCloseReason::Withdrawn, None),
            };
            ServerMessage::DialogClosed(DialogClosed {
                dialog_id: wire::DialogId(dialog.to_string()),
                reason,
                by,
            })
        }
        DialogNews::Opened(window) => ServerMessage::WindowOpened(opened(window)),
        DialogNews::Closed { window, end } => {
            let (reason, by) = match end {
                WindowEnd::ByPerson { by } => (WindowCloseReason::User, Some(actor_name(by).to_owned())),
                WindowEnd::ByGuest => (WindowCloseReason::Extension, None),
            };
            let window_id = wire::WindowId(window.to_string());
            ServerMessage::WindowClosed(WindowClosed { window_id, reason: Some(reason), by })
        }
    }
}

fn request(dialog: &Dialog) -> DialogRequest {
    let plain = DialogRequest {
        dialog_id: wire::DialogId(dialog.id.to_string()),
        workspace_id: wire::WorkspaceId(dialog.workspace.to_string()),
        extension: dialog.guest.clone(),
        kind: DialogKind::Message,
        title: dialog.title.clone(),
        message: None,
        level: None,
        buttons: None,
        start_path: None,
        suggested_name: None,
        filters: Vec::new(),
    };
    match &dialog.body {
        DialogBody::Message { text, weight } => DialogRequest {
            message: Some(text.clone()),
            level: Some(match weight {
                DialogWeight::Info => DialogLevel::Info,
                DialogWeight::Warning => DialogLevel::Warning,
                DialogWeight::Error => DialogLevel::Error,
            }),
            ..plain
        },
        DialogBody::Confirm { text, words } => DialogRequest {
            kind: DialogKind::Confirm,
            message: Some(text.clone()),
            buttons: Some(match words {
                ConfirmWords::YesNo => DialogButtons::YesNo,
                ConfirmWords::OkCancel => DialogButtons::OkCancel,
            }),
            ..plain
        },
        DialogBody::ChooseFiles { several, start, kinds } => DialogRequest {
            kind: if *several { DialogKind::OpenFiles } else { DialogKind::OpenFile },
            start_path: start.as_deref().map(shown),
            filters: kinds.iter().map(filter).collect(),
            ..plain
        },
        DialogBody::ChoosePlace { start, name, kinds } => DialogRequest {
            kind: DialogKind::SaveFile,
            start_path: start.as_deref().map(shown),
            suggested_name: name.clone(),
            filters: kinds.iter().map(filter).collect(),
            ..plain
        },
        DialogBody::ChooseDirectory { start } => DialogRequest {
            kind: DialogKind::SelectDirectory,
            start_path: start.as_deref().map(shown),
            ..plain
        },
    }
}

fn opened(window: &GuestWindow) -> WindowOpened {
    WindowOpened {
        window_id: wire::WindowId(window.id.to_string()),
        workspace_id: wire::WorkspaceId(window.workspace.to_string()),
        extension: window.guest.clone(),
        url: window.url.clone(),
        title: window.title.clone(),
        width: window.width,
        height: window.height,
        modal: window.modal,
        resizable: window.resizable,
    }
}

fn filter(kind: &FileKind) -> FileFilter {
    FileFilter { name: kind.name.clone(), extensions: kind.endings.clone() }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Why an answer does not count.
pub(crate) fn unanswered(error: &AnswerError) -> ErrorBody {
    let unknown =
        |id: String| fault(ErrorCode::UnknownRequest, error.to_string(), Some(json!({"id": id})), true);
    match error {
        AnswerError::Forbidden => fault(ErrorCode::Forbidden, error.to_string(), None, false),
        AnswerError::UnknownDialog(id) | AnswerError::Withdrawn(id) => unknown(id.to_string()),
        AnswerError::UnknownWindow(id) | AnswerError::AlreadyClosed(id) => unknown(id.to_string()),
        AnswerError::AlreadyAnswered { by, .. } => {
            let details = json!({"decided_by": actor_name(by)});
            fault(ErrorCode::AlreadyDecided, error.to_string(), Some(details), true)
        }
        AnswerError::DoesNotFit(_) => invalid("", error.to_string()),
        AnswerError::BadChoice { .. } => invalid("/paths", error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggia_domain::{Actor, DialogId, WorkspaceId};
    use serde_json::Value;

    use super::*;

    /// What a dialog says beyond its ids.
    fn told(body: DialogBody) -> Value {
        let dialog = Dialog {
            id: DialogId::new(),
            workspace: WorkspaceId::new(),
            guest: "demo".to_owned(),
            title: None,
            body,
        };
        let mut told: Value =
            serde_json::from_str(&news(&DialogNews::Asked(Arc::new(dialog))).encode()).unwrap();
        for name in ["type", "dialog_id", "workspace_id", "extension"] {
            assert!(told.as_object_mut().unwrap().remove(name).is_some(), "{name}");
        }
        told
    }

    #[test]
    fn every_dialog_has_its_kind_and_what_belongs_to_it() {
        let kinds = || vec![FileKind { name: "HL7".to_owned(), endings: vec!["hl7".to_owned()] }];
        let filters = json!([{"name": "HL7", "extensions": ["hl7"]}]);
        let text = || "t".to_owned();
        for (weight, level) in
            [(DialogWeight::Info, "info"), (DialogWeight::Warning, "warning"), (DialogWeight::Error, "error")]
        {
            let expected = json!({"kind": "message", "message": "t", "level": level});
            assert_eq!(told(DialogBody::Message { text: text(), weight }), expected);
        }
        for (words, buttons) in [(ConfirmWords::YesNo, "yes_no"), (ConfirmWords::OkCancel, "ok_cancel")] {
            let expected = json!({"kind": "confirm", "message": "t", "buttons": buttons});
            assert_eq!(told(DialogBody::Confirm { text: text(), words }), expected);
        }
        let start = || Some("/srv".into());
        let files = |several| DialogBody::ChooseFiles { several, start: start(), kinds: kinds() };
        assert_eq!(
            told(files(false)),
            json!({"kind": "open_file", "start_path": "/srv", "filters": filters})
        );
        assert_eq!(
            told(files(true)),
            json!({"kind": "open_files", "start_path": "/srv", "filters": filters})
        );
        let place =
            DialogBody::ChoosePlace { start: None, name: Some("a.hl7".to_owned()), kinds: Vec::new() };
        assert_eq!(told(place), json!({"kind": "save_file", "suggested_name": "a.hl7"}));
        let directory = DialogBody::ChooseDirectory { start: None };
        assert_eq!(told(directory), json!({"kind": "select_directory"}));
    }

    #[test]
    fn every_refusal_of_an_answer_has_its_code() {
        let (dialog, window) = (DialogId::new(), loggia_domain::WindowId::new());
        for (error, code, recoverable) in [
            (AnswerError::Forbidden, ErrorCode::Forbidden, false),
            (AnswerError::UnknownDialog(dialog), ErrorCode::UnknownRequest, true),
            (AnswerError::Withdrawn(dialog), ErrorCode::UnknownRequest, true),
            (AnswerError::UnknownWindow(window), ErrorCode::UnknownRequest, true),
            (AnswerError::AlreadyClosed(window), ErrorCode::UnknownRequest, true),
            (
                AnswerError::AlreadyAnswered { dialog, by: Box::new(Actor::Engine) },
                ErrorCode::AlreadyDecided,
                true,
            ),
            (AnswerError::DoesNotFit("x".to_owned()), ErrorCode::InvalidMessage, true),
            (
                AnswerError::BadChoice { path: "/a".into(), why: "x".to_owned() },
                ErrorCode::InvalidMessage,
                true,
            ),
        ] {
            let told = unanswered(&error);
            assert_eq!((told.code, told.recoverable), (code, recoverable), "{error}");
        }
    }
}
