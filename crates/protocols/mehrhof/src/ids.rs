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
    /// What `provider.parse` made of a reference; the name of a task in every later call to its provider.
    ReferenceId;
    /// The provider's internal name of a work unit. Not a [`ReferenceId`]: `provider.fetch` would not know it.
    WorkUnitId;
    /// One comment.
    CommentId;
    /// One attachment.
    AttachmentId;
    /// One tool call of an agent.
    ToolUseId;
}
