//! The protocol's table: every message, who sends it and how it shares the connection.

use loggia_jsonrpc::MethodInfo;

use crate::{
    CloseWindow, CommandExecute, GetMessage, Initialize, MessageChanged, MessageOpened, MessageSaved,
    OpenFile, OpenFiles, OpenWindow, PatchMessage, SaveFile, SelectDirectory, SetMessage, ShowConfirm,
    ShowMessage, Shutdown, WindowClosed,
};

const HOST: &str = "host";
const EXTENSION: &str = "extension";

/// Every message, in the specification's order; then those that only existing peers define.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo::request::<Initialize>(HOST),
    MethodInfo::request::<Shutdown>(HOST),
    MethodInfo::notification::<CommandExecute>(HOST),
    MethodInfo::request::<GetMessage>(EXTENSION),
    MethodInfo::request::<PatchMessage>(EXTENSION),
    MethodInfo::request::<SetMessage>(EXTENSION),
    MethodInfo::request::<OpenWindow>(EXTENSION),
    MethodInfo::request::<CloseWindow>(EXTENSION),
    MethodInfo::request::<ShowMessage>(EXTENSION),
    MethodInfo::request::<ShowConfirm>(EXTENSION),
    MethodInfo::request::<OpenFile>(EXTENSION),
    MethodInfo::request::<OpenFiles>(EXTENSION),
    MethodInfo::request::<SaveFile>(EXTENSION),
    MethodInfo::request::<SelectDirectory>(EXTENSION),
    MethodInfo::notification::<WindowClosed>(HOST).from_peers(),
    MethodInfo::notification::<MessageChanged>(HOST).from_peers(),
    MethodInfo::notification::<MessageOpened>(HOST).from_peers(),
    MethodInfo::notification::<MessageSaved>(HOST).from_peers(),
];
