//! The host, to a command or an event.

use std::io;
use std::path::PathBuf;

use loggia_jsonrpc::{ErrorObject, Method};
use loggia_protocol_hermes::{
    CloseWindow, CloseWindowParams, GetMessage, GetMessageParams, GetMessageResult, MessageFormat,
    MessageKind, OpenFile, OpenFileParams, OpenFiles, OpenWindow, OpenWindowParams, Patch, PatchMessage,
    PatchMessageParams, PatchMessageResult, SaveFile, SaveFileParams, SelectDirectory, SelectDirectoryParams,
    SetMessage, SetMessageParams, ShowConfirm, ShowConfirmParams, ShowMessage, ShowMessageParams, WindowId,
    codes,
};

use crate::error::HostError;
use crate::wire::Wire;

/// The host. Every method waits for its answer; all clones are the same host and may be used on any thread.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) wire: Wire,
    pub(crate) name: String,
}

impl Host {
    /// The open message. As HL7 it is empty if none is open.
    ///
    /// # Errors
    /// [`HostError`] if the host refuses or has gone, here and below.
    pub fn get_message(&self, format: MessageFormat) -> Result<GetMessageResult, HostError> {
        self.ask::<GetMessage>(&GetMessageParams { format })
    }

    /// Puts another message in its place.
    ///
    /// # Errors
    /// Also if the host does not take it.
    pub fn set_message(&self, message: impl Into<String>, format: MessageFormat) -> Result<(), HostError> {
        let set = self.ask::<SetMessage>(&SetMessageParams { message: message.into(), format })?;
        if set.success {
            return Ok(());
        }
        let words = set.error.unwrap_or_else(|| "the host did not take the message".to_owned());
        Err(HostError::Refused(ErrorObject::new(codes::INVALID_MESSAGE, words)))
    }

    /// Changes single places, in order. Those that do not apply are told in what comes back.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn patch(&self, patches: impl IntoIterator<Item = Patch>) -> Result<PatchMessageResult, HostError> {
        let patches = patches.into_iter().collect();
        self.ask::<PatchMessage>(&PatchMessageParams { patches })
    }

    /// Shows something until it is seen.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn show_message(&self, message: impl Into<String>) -> Result<(), HostError> {
        self.show_message_of(MessageKind::Info, message)
    }

    /// Shows something of a kind until it is seen.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn show_message_of(&self, kind: MessageKind, message: impl Into<String>) -> Result<(), HostError> {
        let params = ShowMessageParams { message: message.into(), title: None, kind: Some(kind) };
        self.ask::<ShowMessage>(&params).map(drop)
    }

    /// Asks a question with yes and no.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn confirm(&self, message: impl Into<String>) -> Result<bool, HostError> {
        let params = ShowConfirmParams { message: message.into(), ..ShowConfirmParams::default() };
        Ok(self.ask::<ShowConfirm>(&params)?.confirmed)
    }

    /// Lets somebody choose a file; nothing if that was cancelled.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn open_file(&self, params: OpenFileParams) -> Result<Option<String>, HostError> {
        Ok(self.ask::<OpenFile>(&params)?.path)
    }

    /// Lets somebody choose files; nothing if that was cancelled.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn open_files(&self, params: OpenFileParams) -> Result<Option<Vec<String>>, HostError> {
        Ok(self.ask::<OpenFiles>(&params)?.paths)
    }

    /// Lets somebody choose where to save; nothing if that was cancelled. Writing the file is yours.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn save_file(&self, params: SaveFileParams) -> Result<Option<String>, HostError> {
        Ok(self.ask::<SaveFile>(&params)?.path)
    }

    /// Lets somebody choose a directory; nothing if that was cancelled.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn select_directory(&self, params: SelectDirectoryParams) -> Result<Option<String>, HostError> {
        Ok(self.ask::<SelectDirectory>(&params)?.path)
    }

    /// Shows a page of yours, over http or https. Serve it on 127.0.0.1, on a port that is free.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn open_window(&self, params: OpenWindowParams) -> Result<WindowId, HostError> {
        Ok(self.ask::<OpenWindow>(&params)?.window_id)
    }

    /// Closes a window of yours.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn close_window(&self, window: &WindowId) -> Result<(), HostError> {
        self.ask::<CloseWindow>(&CloseWindowParams { window_id: window.clone() }).map(drop)
    }

    /// Asks anything else.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn ask<M: Method>(&self, params: &M::Params) -> Result<M::Result, HostError> {
        self.wire.ask::<M>(params)
    }

    /// A directory for what you keep: the host's, and in it one with your name. It is made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn data_directory(&self) -> io::Result<PathBuf> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
        let own: String = self.name.chars().map(plain).collect();
        let own = own.trim_matches(['.', '-']);
        let place = self.wire.data_directory().join(if own.is_empty() { "extension" } else { own });
        std::fs::create_dir_all(&place)?;
        Ok(place)
    }
}
