//! Reading and changing the open message.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use loggia_domain::{MessageError, MessageFormat, MessagePatch, Opening};
use loggia_jsonrpc::{ErrorObject, codes as standard};
use loggia_protocol_hermes::{
    GetMessage, GetMessageParams, GetMessageResult, Patch, PatchError, PatchMessage, PatchMessageParams,
    PatchMessageResult, SetMessage, SetMessageParams, SetMessageResult, codes,
};
use loggia_wire::peer::Router;

use super::{format_of, on};
use crate::guest::Guest;
use crate::traffic::Aim;

pub(super) fn serve(router: Router, guest: &Arc<Guest>) -> Router {
    let router = on::<GetMessage, _, _>(router, guest, Aim::Editor, |guest, params| async move {
        get(&guest, params).await.into()
    });
    let router = on::<SetMessage, _, _>(router, guest, Aim::Editor, |guest, params| async move {
        set(&guest, params).await.into()
    });
    on::<PatchMessage, _, _>(router, guest, Aim::Editor, |guest, params| async move {
        patch(&guest, params).await.into()
    })
}

async fn get(guest: &Guest, params: GetMessageParams) -> Result<GetMessageResult, ErrorObject> {
    let format = format_of(params.format);
    match guest.context.desk.read(format).await {
        Ok(read) => Ok(GetMessageResult {
            message: with_returns(read.text, format),
            has_file: read.message.file.is_some(),
            file_path: read.message.file.as_deref().map(text_of),
        }),
        // An empty editor is an empty text; there is no empty tree.
        Err(MessageError::NoneOpen) if format == MessageFormat::Hl7 => {
            Ok(GetMessageResult { message: String::new(), has_file: false, file_path: None })
        }
        Err(error) => Err(refused(&error)),
    }
}

async fn set(guest: &Guest, params: SetMessageParams) -> Result<SetMessageResult, ErrorObject> {
    let format = format_of(params.format);
    let desk = &guest.context.desk;
    let replaced = match desk.replace(params.message.clone(), format).await {
        Err(MessageError::NoneOpen) => desk.open(Opening::New { text: params.message, format }).await,
        replaced => replaced,
    };
    match replaced {
        Ok(_) => Ok(SetMessageResult { success: true, error: None }),
        // That a text is no HL7 is an answer; that a tree cannot be read is an error.
        Err(error @ MessageError::BadText(_)) if format == MessageFormat::Hl7 => {
            Ok(SetMessageResult { success: false, error: Some(error.to_string()) })
        }
        Err(error) => Err(refused(&error)),
    }
}

async fn patch(guest: &Guest, params: PatchMessageParams) -> Result<PatchMessageResult, ErrorObject> {
    let patches = params.patches.into_iter().map(|patch| {
        let Patch { path, value, remove, create } = patch;
        MessagePatch { path, value, remove: remove == Some(true), create: create == Some(true) }
    });
    let patched = guest.context.desk.patch(patches.collect()).await.map_err(|error| refused(&error))?;
    let errors = patched.refused.into_iter().map(|refused| PatchError {
        index: refused.index as u64,
        path: refused.path,
        message: refused.why,
    });
    let errors: Vec<PatchError> = errors.collect();
    Ok(PatchMessageResult { success: errors.is_empty(), patches_applied: patched.applied as u64, errors })
}

/// Segments end in CR on the wire: published extensions split at nothing else.
pub(crate) fn with_returns(text: String, format: MessageFormat) -> String {
    if format != MessageFormat::Hl7 || !text.contains('\n') {
        return text;
    }
    text.replace("\r\n", "\r").replace('\n', "\r")
}

/// A path as the protocol has it.
pub(crate) fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn refused(error: &MessageError) -> ErrorObject {
    let code = match error {
        // To extensions an empty editor is one without a message.
        MessageError::NoneOpen | MessageError::Empty => codes::NO_MESSAGE,
        MessageError::BadText(_) => codes::INVALID_MESSAGE,
        MessageError::BadPath(_) => codes::INVALID_PATH,
        MessageError::BadFormat(_) => standard::INTERNAL_ERROR,
        MessageError::BadFile(_)
        | MessageError::NoFile
        | MessageError::Conflict(_)
        | MessageError::NoStep(_) => codes::GENERAL,
    };
    ErrorObject::new(code, Cow::Owned(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_end_in_cr_on_the_wire() {
        let check = |text: &str, expected: &str| {
            assert_eq!(with_returns(text.to_owned(), MessageFormat::Hl7), expected);
        };
        check("MSH|a\nPID|1\r\nNTE\rEND", "MSH|a\rPID|1\rNTE\rEND");
        check("MSH|a\rPID|1", "MSH|a\rPID|1");
        assert_eq!(with_returns("a:\n  b".to_owned(), MessageFormat::Yaml), "a:\n  b");
    }

    #[test]
    fn refusals_have_their_documented_codes() {
        let check = |error: MessageError, code: i64| assert_eq!(refused(&error).code, code, "{error}");
        let words = String::new;
        check(MessageError::NoneOpen, -32003);
        check(MessageError::Empty, -32003);
        check(MessageError::BadText(words()), -32004);
        check(MessageError::BadPath(words()), -32005);
        check(MessageError::BadFormat(words()), -32603);
        check(MessageError::BadFile(words()), -32000);
        check(MessageError::Conflict(words()), -32000);
    }
}
