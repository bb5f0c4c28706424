//! Pieces that rows of several subjects share: ids, hashes, words, and who did something.
//!
//! Knows how a piece is written inside a row. Refuses to know which row it is in.
//! Invariant: every word of every plain enum stands once in this file, and a piece has exactly one spelling.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use loggia_domain::{
    Actor, ApprovalId, BatchId, CallId, CheckpointId, ClientId, ContentHash, Door, FileChangeKind, MessageId,
    ModelTrouble, Occasion, PatchId, Preset, Purpose, Remember, RetrievalStage, Risk, Role, SandboxLevel,
    SessionId, TurnId, Usage, WorkspaceId,
};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Text that is borrowed from the event when writing and owned when reading.
pub(crate) type Str<'a> = Cow<'a, str>;

/// A small value whose stored form is a text.
pub(crate) trait AsText: Sized {
    /// What the text should be, for messages.
    const WANTED: &'static str;

    /// Writes the value's one spelling.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads that spelling and no other.
    fn read<E: de::Error>(text: &str) -> Result<Self, E>;
}

/// Such a value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: AsText> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

impl<'de, T: AsText> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor(PhantomData))
    }
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: AsText> Visitor<'_> for TextVisitor<T> {
    type Value = Text<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WANTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<T>, E> {
        T::read(text).map(Text)
    }
}

macro_rules! ids {
    ($($id:ident),* $(,)?) => {$(
        impl AsText for $id {
            const WANTED: &'static str = "an id";

            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }

            fn read<E: de::Error>(text: &str) -> Result<Self, E> {
                text.parse().map_err(E::custom)
            }
        }
    )*};
}

ids! {
    ApprovalId, BatchId, CallId, CheckpointId, ClientId, MessageId, PatchId, SessionId, TurnId,
    WorkspaceId,
}

impl AsText for ContentHash {
    const WANTED: &'static str = "a hash of 64 hexadecimal digits";

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }

    fn read<E: de::Error>(text: &str) -> Result<Self, E> {
        ContentHash::from_hex(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &Self::WANTED))
    }
}

/// A plain enum, each of whose values is one word wherever it is stored.
pub(crate) trait Word: Sized {
    /// The value's word.
    fn word(&self) -> &'static str;

    /// The value with this word.
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),* $(,)? })*) => {$(
        impl Word for $name {
            fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl AsText for $name {
            const WANTED: &'static str = concat!("one of", $(" `", $word, "`",)*);

            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }

            fn read<E: de::Error>(text: &str) -> Result<Self, E> {
                Self::from_word(text).ok_or_else(|| E::unknown_variant(text, &[$($word),*]))
            }
        }
    )*};
}

words! {
    Door { Http = "http", Rpc = "rpc", Console = "console", Inside = "inside" }
    FileChangeKind { Created = "created", Modified = "modified", Deleted = "deleted" }
    Occasion {
        TaskStarted = "task_started",
        StepEntered = "step_entered",
        StepLeft = "step_left",
        CheckpointMade = "checkpoint_made",
        TaskDone = "task_done",
    }
    Preset { ReadOnly = "read_only", Ask = "ask", AutoEdit = "auto_edit", Full = "full" }
    Purpose { Fix = "fix", Test = "test", Explain = "explain", Refactor = "refactor" }
    Remember { Once = "once", Session = "session", Workspace = "workspace" }
    ModelTrouble {
        Network = "network",
        TimedOut = "timed_out",
        Server = "server",
        TooOften = "too_often",
        Key = "key",
        Payment = "payment",
        NoModel = "no_model",
        TooLong = "too_long",
        Unknown = "unknown",
    }
    RetrievalStage { Symbols = "symbols", Text = "text", Vectors = "vectors", Ranking = "ranking" }
    Risk { Low = "low", Medium = "medium", High = "high" }
    Role { Watch = "watch", Drive = "drive", Admin = "admin" }
    SandboxLevel { None = "none", Partial = "partial", Confined = "confined", Isolated = "isolated" }
}

/// Who did something.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredActor<'a> {
    Client { id: Text<ClientId>, name: Str<'a>, door: Text<Door>, role: Text<Role> },
    Policy {},
    Engine {},
}

impl<'a> From<&'a Actor> for StoredActor<'a> {
    fn from(actor: &'a Actor) -> Self {
        match actor {
            Actor::Client { id, name, door, role } => {
                Self::Client { id: Text(*id), name: name.into(), door: Text(*door), role: Text(*role) }
            }
            Actor::Policy => Self::Policy {},
            Actor::Engine => Self::Engine {},
        }
    }
}

impl From<StoredActor<'_>> for Actor {
    fn from(row: StoredActor<'_>) -> Self {
        match row {
            StoredActor::Client { id, name, door, role } => {
                Self::Client { id: id.0, name: name.into(), door: door.0, role: role.0 }
            }
            StoredActor::Policy {} => Self::Policy,
            StoredActor::Engine {} => Self::Engine,
        }
    }
}

/// What a model call or a turn used.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredUsage {
    input: u64,
    cached: u64,
    output: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    micro_dollars: Option<u64>,
}

impl From<&Usage> for StoredUsage {
    fn from(usage: &Usage) -> Self {
        let Usage { input, cached, output, micro_dollars } = *usage;
        Self { input, cached, output, micro_dollars }
    }
}

impl From<StoredUsage> for Usage {
    fn from(row: StoredUsage) -> Self {
        let StoredUsage { input, cached, output, micro_dollars } = row;
        Self { input, cached, output, micro_dollars }
    }
}

/// The rows of a list.
pub(super) fn list<'a, T, R: From<&'a T>>(items: &'a [T]) -> Vec<R> {
    items.iter().map(Into::into).collect()
}

/// The list of some rows.
pub(super) fn unlist<R: Into<T>, T>(rows: Vec<R>) -> Vec<T> {
    rows.into_iter().map(Into::into).collect()
}

/// A list of small values as their texts.
pub(super) fn texts<T: Copy>(items: &[T]) -> Vec<Text<T>> {
    items.iter().copied().map(Text).collect()
}

/// The list of small values that were texts.
pub(super) fn untext<T>(texts: Vec<Text<T>>) -> Vec<T> {
    texts.into_iter().map(|text| text.0).collect()
}
