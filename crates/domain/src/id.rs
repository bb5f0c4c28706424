//! Ids: a prefix that says what is named, then a UUIDv7 in plain hexadecimal.
//!
//! Version 7 begins with the time, so ids sort by age and a database index over them stays compact.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// A text that is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id of the form `{prefix}…`")]
pub struct IdError {
    /// What was given.
    pub text: String,
    /// The prefix such an id has.
    pub prefix: &'static str,
}

fn parse(text: &str, prefix: &'static str) -> Result<Uuid, IdError> {
    let wrong = || IdError { text: text.chars().take(64).collect(), prefix };
    let digits = text.strip_prefix(prefix).ok_or_else(wrong)?;
    // One spelling per id: the parser alone would also take braces, hyphens and capitals.
    let plain = digits.len() == 32 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !plain {
        return Err(wrong());
    }
    Uuid::try_parse(digits).map_err(|_| wrong())
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &'static str = $prefix;

            /// A new id, different from every other.
            #[expect(clippy::new_without_default, reason = "a default that differs each time would surprise")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            /// The id's sixteen bytes, for stores that keep them without the prefix.
            pub fn bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The id with these sixteen bytes.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", Self::PREFIX, self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text, Self::PREFIX).map(Self)
            }
        }
    )*};
}

ids! {
    /// A registered project directory.
    WorkspaceId = "ws_";
    /// A conversation.
    SessionId = "ses_";
    /// One instruction and what follows from it.
    TurnId = "turn_";
    /// One reply of a model.
    MessageId = "msg_";
    /// One call of a tool.
    CallId = "call_";
    /// A question put to people.
    ApprovalId = "req_";
    /// A proposed change to one file.
    PatchId = "patch_";
    /// Changes that are collected now and decided later.
    BatchId = "batch_";
    /// What is needed to undo a change.
    CheckpointId = "cp_";
    /// Somebody who is connected.
    ClientId = "cl_";
    /// A message that is or was open on a desk.
    DocumentId = "doc_";
    /// A dialog that a guest wants shown.
    DialogId = "dlg_";
    /// A window of a guest.
    WindowId = "win_";
}

impl SessionId {
    /// The session that an imported journal is said to be split from: none that is or will be here.
    pub const ELSEWHERE: Self = Self(Uuid::nil());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back_from_their_text() {
        let id = SessionId::new();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(SessionId::from_bytes(*id.bytes()), id);
        assert!(id.to_string().starts_with("ses_"));
    }

    #[test]
    fn each_id_has_one_spelling() {
        let good = "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f";
        assert_eq!(good.parse::<SessionId>().unwrap().to_string(), good);
        for text in [
            "",
            "ses_",
            "0192f7c0a1b27c3d8e4f5a6b7c8d9e0f",
            "turn_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f",
            "ses_0192F7C0A1B27C3D8E4F5A6B7C8D9E0F",
            "ses_0192f7c0-a1b2-7c3d-8e4f-5a6b7c8d9e0f",
            "ses_{0192f7c0a1b27c3d8e4f5a6b7c8d9e0f}",
            "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0",
            "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f0",
            "ses_../../etc/passwd",
        ] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }

    #[test]
    fn later_ids_sort_after_earlier_ones() {
        let ids: Vec<TurnId> = (0..100).map(|_| TurnId::new()).collect();
        assert!(ids.is_sorted());
    }
}
