//! Dialogs: a message, a question, and the choice of files. A cancelled one is an answer; one that cannot be shown is an
//! error, and so is one of an extension that is being stopped.

use std::path::PathBuf;
use std::sync::Arc;

use loggia_domain::{ConfirmWords, Dialog, DialogAnswer, DialogBody, DialogId, DialogWeight, FileKind};
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_hermes::{
    ConfirmButtons, FileFilter, MessageKind, OpenFile, OpenFileParams, OpenFiles, PathResult, PathsResult,
    SaveFile, SaveFileParams, SelectDirectory, SelectDirectoryParams, ShowConfirm, ShowConfirmParams,
    ShowConfirmResult, ShowMessage, ShowMessageParams, ShowMessageResult, codes,
};
use loggia_wire::peer::Router;

use super::on;
use crate::guest::Guest;
use crate::traffic::Aim;

pub(super) fn serve(router: Router, guest: &Arc<Guest>) -> Router {
    let router = on::<ShowMessage, _, _>(router, guest, Aim::People, |guest, params| async move {
        show_message(&guest, params).await.into()
    });
    let router = on::<ShowConfirm, _, _>(router, guest, Aim::People, |guest, params| async move {
        confirm(&guest, params).await.into()
    });
    let router = on::<OpenFile, _, _>(router, guest, Aim::People, |guest, params| async move {
        open_files(&guest, params, false).await.and_then(one).into()
    });
    let router = on::<OpenFiles, _, _>(router, guest, Aim::People, |guest, params| async move {
        let chosen = open_files(&guest, params, true).await;
        chosen.and_then(texts).map(|paths| PathsResult { paths }).into()
    });
    let router = on::<SaveFile, _, _>(router, guest, Aim::People, |guest, params| async move {
        save_file(&guest, params).await.and_then(one).into()
    });
    on::<SelectDirectory, _, _>(router, guest, Aim::People, |guest, params| async move {
        select_directory(&guest, params).await.and_then(one).into()
    })
}

/// What was chosen, if the choice was not cancelled.
type Chosen = Option<Vec<PathBuf>>;

async fn show_message(guest: &Guest, params: ShowMessageParams) -> Result<ShowMessageResult, ErrorObject> {
    let weight = match params.kind.unwrap_or_default() {
        MessageKind::Info => DialogWeight::Info,
        MessageKind::Warning => DialogWeight::Warning,
        MessageKind::Error => DialogWeight::Error,
    };
    let body = DialogBody::Message { text: params.message, weight };
    match ask(guest, params.title, body).await? {
        // However it was closed, it was there to be seen.
        DialogAnswer::Seen | DialogAnswer::Confirmed(_) => Ok(ShowMessageResult { acknowledged: true }),
        DialogAnswer::Chosen(_) => Err(unfit()),
    }
}

async fn confirm(guest: &Guest, params: ShowConfirmParams) -> Result<ShowConfirmResult, ErrorObject> {
    let words = match params.buttons.unwrap_or_default() {
        ConfirmButtons::YesNo => ConfirmWords::YesNo,
        ConfirmButtons::OkCancel => ConfirmWords::OkCancel,
    };
    let body = DialogBody::Confirm { text: params.message, words };
    match ask(guest, params.title, body).await? {
        DialogAnswer::Confirmed(confirmed) => Ok(ShowConfirmResult { confirmed }),
        DialogAnswer::Seen | DialogAnswer::Chosen(_) => Err(unfit()),
    }
}

async fn open_files(guest: &Guest, params: OpenFileParams, several: bool) -> Result<Chosen, ErrorObject> {
    let body = DialogBody::ChooseFiles {
        several,
        start: params.default_path.map(PathBuf::from),
        kinds: kinds(params.filters),
    };
    chosen(ask(guest, params.title, body).await?)
}

async fn save_file(guest: &Guest, params: SaveFileParams) -> Result<Chosen, ErrorObject> {
    let body = DialogBody::ChoosePlace {
        start: params.default_path.map(PathBuf::from),
        name: params.default_name,
        kinds: kinds(params.filters),
    };
    chosen(ask(guest, params.title, body).await?)
}

async fn select_directory(guest: &Guest, params: SelectDirectoryParams) -> Result<Chosen, ErrorObject> {
    let body = DialogBody::ChooseDirectory { start: params.default_path.map(PathBuf::from) };
    chosen(ask(guest, params.title, body).await?)
}

async fn ask(guest: &Guest, title: Option<String>, body: DialogBody) -> Result<DialogAnswer, ErrorObject> {
    let dialog = Dialog {
        id: DialogId::new(),
        workspace: guest.context.workspace.id,
        guest: guest.name.clone(),
        title,
        body,
    };
    tokio::select! {
        biased;
        () = guest.leaving.cancelled() => {
            Err(ErrorObject::new(codes::DIALOG_ERROR, "the extension is being stopped"))
        }
        answer = guest.context.dialogs.ask(dialog) => {
            answer.map_err(|error| ErrorObject::new(codes::DIALOG_ERROR, error.to_string()))
        }
    }
}

fn kinds(filters: Vec<FileFilter>) -> Vec<FileKind> {
    filters.into_iter().map(|filter| FileKind { name: filter.name, endings: filter.extensions }).collect()
}

fn chosen(answer: DialogAnswer) -> Result<Chosen, ErrorObject> {
    match answer {
        DialogAnswer::Chosen(paths) => Ok(paths.filter(|paths| !paths.is_empty())),
        DialogAnswer::Seen | DialogAnswer::Confirmed(_) => Err(unfit()),
    }
}

fn one(chosen: Chosen) -> Result<PathResult, ErrorObject> {
    let paths = texts(chosen)?;
    Ok(PathResult { path: paths.and_then(|paths| paths.into_iter().next()) })
}

fn texts(chosen: Chosen) -> Result<Option<Vec<String>>, ErrorObject> {
    let text = |path: PathBuf| {
        path.into_os_string().into_string().map_err(|path| {
            let words = format!("the name of `{}` is not UTF-8", path.display());
            ErrorObject::new(codes::DIALOG_ERROR, words)
        })
    };
    chosen.map(|paths| paths.into_iter().map(text).collect()).transpose()
}

fn unfit() -> ErrorObject {
    ErrorObject::new(codes::DIALOG_ERROR, "the answer does not fit the dialog")
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_name_that_is_not_utf8_is_an_error_and_not_another_name() {
        let path = PathBuf::from(std::ffi::OsString::from_vec(b"/a/\xff.hl7".to_vec()));
        let error = one(Some(vec![path])).unwrap_err();
        assert_eq!(error.code, codes::DIALOG_ERROR);
    }

    #[test]
    fn nothing_chosen_is_the_same_as_cancelled() {
        assert_eq!(one(chosen(DialogAnswer::Chosen(Some(Vec::new()))).unwrap()).unwrap().path, None);
        assert_eq!(one(chosen(DialogAnswer::Chosen(None)).unwrap()).unwrap().path, None);
        assert_eq!(chosen(DialogAnswer::Seen).unwrap_err().code, codes::DIALOG_ERROR);
    }
}
