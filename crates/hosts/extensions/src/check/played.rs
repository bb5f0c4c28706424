//! The other side as an extension finds it in a run: a message that can be read and set, people who cancel; or everything
//! refused.

use loggia_jsonrpc::{ErrorObject, Method, decode};
use loggia_protocol_hermes::{
    CloseWindow, CloseWindowResult, GetMessage, GetMessageParams, GetMessageResult, MessageFormat, OpenFile,
    OpenFiles, OpenWindow, OpenWindowResult, PatchMessage, PatchMessageParams, PatchMessageResult,
    PathResult, PathsResult, SaveFile, SelectDirectory, SetMessage, SetMessageParams, SetMessageResult,
    ShowConfirm, ShowConfirmResult, ShowMessage, ShowMessageResult, WindowId, codes,
};
use serde_json::value::{RawValue, to_raw_value};

/// How requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// There is a message, and people are there; they cancel everything.
    Helpful,
    /// There is neither.
    Refusing,
}

/// What plays the other side.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) mood: Mood,
    message: String,
    windows: u64,
}

/// What became of a request.
pub(super) struct Served {
    pub(super) answer: Result<Box<RawValue>, ErrorObject>,
    /// What hosts would object to.
    pub(super) objection: Option<String>,
}

impl Played {
    pub(super) fn new(message: &str) -> Self {
        Self { mood: Mood::Helpful, message: message.to_owned(), windows: 0 }
    }

    /// Answers a request.
    pub(super) fn serve(&mut self, method: &str, params: Option<&str>) -> Served {
        let Some(params) = params.filter(|params| *params != "null") else {
            let error = ErrorObject::invalid_params("`params` must be an object");
            return objected(method, error);
        };
        match method {
            GetMessage::NAME => self.with::<GetMessage>(params, Self::get),
            SetMessage::NAME => self.with::<SetMessage>(params, Self::set),
            PatchMessage::NAME => self.with::<PatchMessage>(params, Self::patch),
            ShowMessage::NAME => {
                self.with::<ShowMessage>(params, |it, _| it.person(ShowMessageResult { acknowledged: true }))
            }
            ShowConfirm::NAME => {
                self.with::<ShowConfirm>(params, |it, _| it.person(ShowConfirmResult { confirmed: false }))
            }
            OpenFile::NAME => self.with::<OpenFile>(params, |it, _| it.person(PathResult { path: None })),
            OpenFiles::NAME => self.with::<OpenFiles>(params, |it, _| it.person(PathsResult { paths: None })),
            SaveFile::NAME => self.with::<SaveFile>(params, |it, _| it.person(PathResult { path: None })),
            SelectDirectory::NAME => {
                self.with::<SelectDirectory>(params, |it, _| it.person(PathResult { path: None }))
            }
            OpenWindow::NAME => self.with::<OpenWindow>(params, |it, _| {
                it.windows += 1;
                let window_id = WindowId(format!("window-{}", it.windows));
                it.shown(OpenWindowResult { window_id })
            }),
            CloseWindow::NAME => {
                self.with::<CloseWindow>(params, |it, _| it.shown(CloseWindowResult { success: true }))
            }
            _ => objected(method, ErrorObject::method_not_found(method)),
        }
    }

    fn with<M: Method>(
        &mut self,
        params: &str,
        answer: impl FnOnce(&mut Self, M::Params) -> Result<M::Result, ErrorObject>,
    ) -> Served {
        let params = match decode::<M::Params>(params) {
            Ok(params) => params,
            Err(error) => return objected(M::NAME, ErrorObject::invalid_params(error)),
        };
        let answer =
            answer(self, params).and_then(|result| to_raw_value(&result).map_err(ErrorObject::internal));
        Served { answer, objection: None }
    }

    fn get(&mut self, params: GetMessageParams) -> Result<GetMessageResult, ErrorObject> {
        let message = match (self.mood, params.format) {
            (Mood::Refusing, MessageFormat::Hl7) => "",
            (Mood::Refusing, _) => return Err(no_message()),
            (Mood::Helpful, MessageFormat::Hl7) => &self.message,
            // A tree without segments: what is in it is not what is checked.
            (Mood::Helpful, MessageFormat::Json) => r#"{"segments":[]}"#,
            (Mood::Helpful, MessageFormat::Yaml) => "segments: []\n",
            (Mood::Helpful, MessageFormat::Toml) => "segments = []\n",
        };
        let message = message.to_owned();
        Ok(GetMessageResult { message, has_file: false, file_path: None })
    }

    fn set(&mut self, params: SetMessageParams) -> Result<SetMessageResult, ErrorObject> {
        if self.mood == Mood::Refusing {
            return Ok(SetMessageResult {
                success: false,
                error: Some("the text is not a message".to_owned()),
            });
        }
        if params.format == MessageFormat::Hl7 {
            self.message = params.message;
        }
        Ok(SetMessageResult { success: true, error: None })
    }

    fn patch(&mut self, params: PatchMessageParams) -> Result<PatchMessageResult, ErrorObject> {
        match self.mood {
            Mood::Refusing => Err(no_message()),
            Mood::Helpful => Ok(PatchMessageResult {
                success: true,
                patches_applied: params.patches.len() as u64,
                errors: Vec::new(),
            }),
        }
    }

    fn person<R>(&self, result: R) -> Result<R, ErrorObject> {
        match self.mood {
            Mood::Helpful => Ok(result),
            Mood::Refusing => Err(ErrorObject::new(codes::DIALOG_ERROR, "nobody is there to answer")),
        }
    }

    fn shown<R>(&self, result: R) -> Result<R, ErrorObject> {
        match self.mood {
            Mood::Helpful => Ok(result),
            Mood::Refusing => Err(ErrorObject::new(codes::WINDOW_ERROR, "nobody is there to look")),
        }
    }
}

fn no_message() -> ErrorObject {
    ErrorObject::new(codes::NO_MESSAGE, "no message is open")
}

fn objected(method: &str, error: ErrorObject) -> Served {
    let objection = Some(format!("`{}`, which hosts answer with {error}", super::judge::cut(method)));
    Served { answer: Err(error), objection }
}
