//! Names the two sides give to things. All are opaque text: nobody may read meaning out of them.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )*};
}

ids! {
    /// One conversation with the agent.
    SessionId;
    /// One instruction and everything done for it.
    TurnId;
    /// One response of the model, or one entry of the history.
    MessageId;
    /// One tool call; the model's own call id where there is one.
    ToolId;
    /// One question to the user: a tool's permission or access to a directory.
    PermissionRequestId;
    /// One set of previewed changes.
    BatchId;
    /// One previewed change of one file.
    ChangeId;
    /// One step of a turn that the client may stop.
    StepId;
}
