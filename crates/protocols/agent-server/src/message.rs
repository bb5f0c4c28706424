//! What all WebSocket messages share, and the table that lists them.

use std::fmt;
use std::marker::PhantomData;

use loggia_jsonrpc::MessageInfo;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::client::{
    ApprovalResponse, Cancel, ClientHello, CommandResult, ContextUpdate, FileChanges, PatchApplyResult,
    UserMessage,
};
use crate::error::ServerError;
use crate::schema::SchemaInfo;
use crate::server::{
    ClientEcho, CommandRequestApproval, MessageFinal, PatchProposed, Plan, RetrieveStatus, ServerHello,
    SessionNotice, SessionStateUpdate, Thinking, Token, ToolExecute, ToolOutput, ToolRequestApproval,
};
use crate::ui::{DialogClosed, DialogRequest, DialogResponse, WindowClosed, WindowOpened};

/// The [`MessageInfo::sender`] of what an editor, a browser or a script sends.
pub const CLIENT: &str = "client";
/// The [`MessageInfo::sender`] of what the server sends.
pub const SERVER: &str = "server";

/// A WebSocket message. It writes its own `type`; reading trusts the caller to have looked at it.
pub trait Message: Serialize + DeserializeOwned {
    /// The `type` on the wire.
    const TYPE: &'static str;
}

/// Declares the messages once, as what can be read and written and as what is described.
macro_rules! messages {
    ($(#[doc = $doc:literal])+ $( $message:ident from $sender:ident $(.$mark:ident())?, )+) => {
        $(#[doc = $doc])+
        pub const MESSAGES: &[MessageInfo] = &[$( row::<$message>($sender)$(.$mark())? ),+];
        pub(crate) const MESSAGE_SCHEMAS: &[SchemaInfo] = &[$( SchemaInfo::message::<$message>($sender) ),+];
    };
}

messages! {
    /// Every message of the stream, in the order of the specification.
    ClientHello from CLIENT,
    UserMessage from CLIENT,
    ContextUpdate from CLIENT,
    ApprovalResponse from CLIENT,
    PatchApplyResult from CLIENT,
    CommandResult from CLIENT,
    Cancel from CLIENT,
    FileChanges from CLIENT,
    ServerHello from SERVER,
    Thinking from SERVER,
    Plan from SERVER,
    RetrieveStatus from SERVER,
    ToolExecute from SERVER,
    PatchProposed from SERVER,
    ToolRequestApproval from SERVER,
    CommandRequestApproval from SERVER,
    Token from SERVER,
    MessageFinal from SERVER,
    ServerError from SERVER,
    SessionStateUpdate from SERVER,
    ToolOutput from SERVER.from_peers(),
    ClientEcho from SERVER.from_peers(),
    SessionNotice from SERVER.from_peers(),
    DialogRequest from SERVER.from_peers(),
    DialogResponse from CLIENT.from_peers(),
    DialogClosed from SERVER.from_peers(),
    WindowOpened from SERVER.from_peers(),
    WindowClosed from SERVER.from_peers(),
}

const fn row<M: Message>(sender: &'static str) -> MessageInfo {
    MessageInfo::new::<Tagged<M>>(M::TYPE, sender)
}

/// A message read together with its `type`: one that is missing or names another message is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Tagged<M>(pub M);

impl<M: Message> Serialize for Tagged<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, M: Message> Deserialize<'de> for Tagged<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TaggedVisitor(PhantomData))
    }
}

struct TaggedVisitor<M>(PhantomData<M>);

impl<'de, M: Message> Visitor<'de> for TaggedVisitor<M> {
    type Value = Tagged<M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of type `{}`", M::TYPE)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Tagged<M>, A::Error> {
        let checked = CheckType { fields, expected: M::TYPE, seen: false };
        M::deserialize(MapAccessDeserializer::new(checked)).map(Tagged)
    }
}

/// Passes all fields on but `type`, which it checks. Nothing is buffered, so an error keeps its path.
struct CheckType<A> {
    fields: A,
    expected: &'static str,
    seen: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for CheckType<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.fields.next_key::<String>()? {
            if key != "type" {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            let found: String = self.fields.next_value()?;
            if found != self.expected {
                return Err(A::Error::custom(format!("is of type `{found}`, not `{}`", self.expected)));
            }
            self.seen = true;
        }
        if self.seen { Ok(None) } else { Err(A::Error::missing_field("type")) }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.fields.next_value_seed(seed)
    }
}
