//! The part of the table about extensions: the list of them, the fields of each, and what their dialogs and commands may do.

use loggia_jsonrpc::Json;

use super::{Key, Tightness, WorkspaceRule, text};
use crate::config::value::{Value, ValueType};

/// Choices of `dialogs.unattended`.
pub(crate) const UNATTENDED: [&str; 2] = ["fail", "wait"];

/// Why a workspace that is not trusted names none.
const PROGRAMS: WorkspaceRule = WorkspaceRule::Never("it decides which programs run");

/// Which extensions there are.
pub(crate) static EXTENSIONS: Key = Key {
    path: "extensions",
    kind: ValueType::Entries,
    default: Value::Object(Json(serde_json::Value::Array(Vec::new()))),
    doc: "Extensions, each in a table `[[extensions]]` of its own, in the order in which they count. Those of the workspace's file come after those of the user's.",
    used_by: "`loggia serve`",
    workspace: PROGRAMS,
};

/// What an extension is called.
pub(crate) static EXTENSION_NAME: Key = Key {
    path: "extensions[].name",
    kind: ValueType::Text,
    default: text(""),
    doc: "What the extension is called here. Empty means the name of its file without its ending.",
    used_by: "`loggia serve`",
    workspace: PROGRAMS,
};

/// What is started.
pub(crate) static EXTENSION_PATH: Key = Key {
    path: "extensions[].path",
    kind: ValueType::Text,
    default: text(""),
    doc: "The program, or a whole command line if `args` is empty, in the quotes of a shell and without its variables. It must be there.",
    used_by: "`loggia serve`",
    workspace: PROGRAMS,
};

/// With which arguments.
pub(crate) static EXTENSION_ARGS: Key = Key {
    path: "extensions[].args",
    kind: ValueType::Texts,
    default: Value::Object(Json(serde_json::Value::Array(Vec::new()))),
    doc: "The program's arguments. With them, `path` is the program alone.",
    used_by: "`loggia serve`",
    workspace: PROGRAMS,
};

/// With which variables.
pub(crate) static EXTENSION_ENV: Key = Key {
    path: "extensions[].env",
    kind: ValueType::Variables,
    default: Value::Object(Json(serde_json::Value::Null)),
    doc: "Variables that the extension has besides the server's own, as a table of texts.",
    used_by: "`loggia serve`",
    workspace: PROGRAMS,
};

/// Where.
pub(crate) static EXTENSION_CWD: Key = Key {
    path: "extensions[].cwd",
    kind: ValueType::Text,
    default: text(""),
    doc: "The directory it is started in, from the workspace's root on. Empty means that root.",
    used_by: "`loggia serve`",
    workspace: PROGRAMS,
};

/// Whether it may run.
pub(crate) static EXTENSION_ENABLED: Key = Key {
    path: "extensions[].enabled",
    kind: ValueType::Switch,
    default: Value::Switch(true),
    doc: "Whether it may run.",
    used_by: "`loggia serve`",
    workspace: PROGRAMS,
};

/// What dialogs do while nobody is there.
pub(crate) static DIALOGS_UNATTENDED: Key = Key {
    path: "dialogs.unattended",
    kind: ValueType::Choice(&UNATTENDED),
    default: text("fail"),
    doc: "What becomes of an extension's dialog while nobody is there to answer it: the extension is told so at once, or it waits until somebody comes.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("the server has one way for every workspace"),
};

/// Where files may be chosen.
pub(crate) static DIALOGS_DIRECTORIES: Key = Key {
    path: "dialogs.directories",
    kind: ValueType::Directories,
    default: text(""),
    doc: "Directories besides the workspace in which files may be chosen for an extension.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides which files a program is shown"),
};

/// How long a command of an extension is waited for.
pub(crate) static RUNNER_EXTENSION_TIMEOUT_S: Key = Key {
    path: "runner.extension_timeout_s",
    kind: ValueType::Count,
    default: Value::Count(600),
    doc: "Seconds for which an extension's command is waited for, unless somebody says otherwise. It is not ended then, only not waited for.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// The fields of each table of a list, in documentation order.
pub(crate) static FIELDS: &[&Key] =
    &[&EXTENSION_NAME, &EXTENSION_PATH, &EXTENSION_ARGS, &EXTENSION_ENV, &EXTENSION_CWD, &EXTENSION_ENABLED];

/// What stands between the name of a list and that of a field.
const OF_EACH: &str = "[].";

/// The field of that name in the tables of a list.
pub(crate) fn field(list: &Key, name: &str) -> Option<&'static Key> {
    FIELDS.iter().copied().find(|field| field.field_of(list) == Some(name))
}

impl Key {
    /// Its name as a field of a list's tables, if it is one.
    pub(crate) fn field_of(&self, list: &Key) -> Option<&'static str> {
        self.path.strip_prefix(list.path)?.strip_prefix(OF_EACH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_of_a_list_and_its_default_fits() {
        for key in FIELDS {
            assert!(key.field_of(&EXTENSIONS).is_some(), "{}", key.path);
            assert!(key.kind.check(key.default.clone()).is_some(), "{}", key.path);
        }
        assert_eq!(field(&EXTENSIONS, "cwd").map(|key| key.path), Some("extensions[].cwd"));
        assert!(field(&EXTENSIONS, "pth").is_none() && field(&EXTENSIONS, "").is_none());
        assert!(EXTENSIONS.variable().is_none());
    }
}
