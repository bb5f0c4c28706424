//! Browser windows an extension opens on its own pages.

use loggia_jsonrpc::{Method, Notification};
use serde::{Deserialize, Serialize};

/// A window's name, chosen by the host and opaque to the extension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WindowId(pub String);

/// Opens a window.
#[derive(Debug)]
pub struct OpenWindow;

impl Method for OpenWindow {
    const NAME: &'static str = "ui/openWindow";
    type Params = OpenWindowParams;
    type Result = OpenWindowResult;
}

/// Which window.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenWindowParams {
    /// The page; http or https.
    pub url: String,
    /// The window's title.
    pub title: String,
    /// Absent means [`crate::limits::DEFAULT_WINDOW_WIDTH`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Absent means [`crate::limits::DEFAULT_WINDOW_HEIGHT`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// Absent means no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modal: Option<bool>,
    /// Absent means yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resizable: Option<bool>,
}

/// The opened window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenWindowResult {
    /// Its name.
    pub window_id: WindowId,
}

/// Closes a window.
#[derive(Debug)]
pub struct CloseWindow;

impl Method for CloseWindow {
    const NAME: &'static str = "ui/closeWindow";
    type Params = CloseWindowParams;
    type Result = CloseWindowResult;
}

/// Which window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseWindowParams {
    /// Its name.
    pub window_id: WindowId,
}

/// Whether the window is closed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseWindowResult {
    /// It is.
    pub success: bool,
}

/// Tells a window's owner that it is gone. Needs no subscription.
#[derive(Debug)]
pub struct WindowClosed;

impl Notification for WindowClosed {
    const NAME: &'static str = "window/closed";
    type Params = WindowClosedParams;
}

/// Which window, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowClosedParams {
    /// Its name.
    pub window_id: WindowId,
    /// A host always says why; extensions cope without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<WindowCloseReason>,
}

/// Why a window is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WindowCloseReason {
    /// The user closed it.
    User,
    /// Its extension closed it.
    Extension,
    /// Its extension is being stopped.
    Shutdown,
    /// A reason of another version; the window is gone whatever it is.
    #[serde(untagged)]
    Other(String),
}
