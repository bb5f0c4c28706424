//! The envelope around every message: `{type, requestId?, data}`.
//!
//! Reading is in two steps: the envelope, then the payload by its type, so that a refusal can name both.

use loggia_jsonrpc::{FieldError, Json, decode, exceeds_depth};
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{DecodeError, Message, MessageType, RequestId, limits};

/// A message with its id. `P` is one payload type, or [`crate::Message`] for any of them.
///
/// What is read leniently, as existing peers do: bytes that are not UTF-8 become U+FFFD and a byte order mark is
/// skipped; unknown fields are ignored and of a key given twice the last counts; `data` that is absent or no object
/// is an empty payload; `requestId` may be a number or a boolean, and `null` means absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope<P> {
    /// What ties an answer to its request.
    pub request_id: Option<RequestId>,
    /// The payload.
    pub data: P,
}

/// What can be under `data`.
pub trait Payload: Serialize + Sized {
    /// The message's type.
    fn message_type(&self) -> MessageType;

    /// Reads a payload of that type. Anything but an object counts as an empty one.
    ///
    /// # Errors
    /// [`PayloadError`] when the type is not this payload's or the fields do not fit.
    fn read(message_type: MessageType, data: Json) -> Result<Self, PayloadError>;
}

/// A payload that belongs to one message type.
pub trait TypedPayload: Serialize + DeserializeOwned + Default {
    /// That type.
    const TYPE: MessageType;

    /// Takes the payload out of a message of any type.
    ///
    /// # Errors
    /// The message itself, when it is of another type.
    fn from_message(message: Message) -> Result<Self, Message>;
}

/// Why a payload cannot be read.
#[derive(Debug)]
pub enum PayloadError {
    /// It belongs to another message; this is the one wanted.
    OtherType(MessageType),
    /// A field does not fit.
    Field(FieldError),
}

impl<T: TypedPayload> Payload for T {
    fn message_type(&self) -> MessageType {
        T::TYPE
    }

    fn read(message_type: MessageType, Json(data): Json) -> Result<Self, PayloadError> {
        if message_type != T::TYPE {
            return Err(PayloadError::OtherType(T::TYPE));
        }
        if !data.is_object() {
            return Ok(T::default());
        }
        // The path of a wrong field is looked for only after a failure, so good input pays nothing for it.
        T::deserialize(&data).map_err(|error| {
            let located = decode::<T>(&data.to_string()).err();
            PayloadError::Field(located.unwrap_or_else(|| FieldError::whole(error.to_string())))
        })
    }
}

impl<P> Envelope<P> {
    /// A message that answers nothing and asks for no answer.
    pub fn plain(data: P) -> Self {
        Self { request_id: None, data }
    }

    /// A message with an id.
    pub fn with_id(request_id: RequestId, data: P) -> Self {
        Self { request_id: Some(request_id), data }
    }

    /// An answer: it carries the id of what it answers, if that had one.
    pub fn answering<Q>(asked: &Envelope<Q>, data: P) -> Self {
        Self { request_id: asked.request_id.clone(), data }
    }
}

impl<P: Payload> Envelope<P> {
    /// Reads the body of a frame.
    ///
    /// # Errors
    /// [`DecodeError`] when the body is not such a message.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let text = String::from_utf8_lossy(body);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if exceeds_depth(text, limits::MAX_DEPTH) {
            return Err(DecodeError::TooDeep);
        }
        let value: Value =
            serde_json::from_str(text).map_err(|error| DecodeError::NotJson(error.to_string()))?;
        Self::from_value(value)
    }

    /// Writes the body of a frame: `type`, `requestId` if there is one, `data`.
    ///
    /// # Errors
    /// When a payload cannot be written as JSON, which none of this crate's does.
    pub fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    fn from_value(value: Value) -> Result<Self, DecodeError> {
        let Value::Object(mut fields) = value else { return Err(DecodeError::NotAnObject) };
        let message_type = read_type(&fields)?;
        let request_id = read_id(&mut fields)?;
        let data = Json(fields.remove("data").unwrap_or_default());
        match P::read(message_type, data) {
            Ok(data) => Ok(Self { request_id, data }),
            Err(PayloadError::OtherType(expected)) => {
                Err(DecodeError::OtherType { expected, found: message_type })
            }
            Err(PayloadError::Field(error)) => Err(DecodeError::Payload { message_type, request_id, error }),
        }
    }
}

fn read_type(fields: &Map<String, Value>) -> Result<MessageType, DecodeError> {
    let Some(Value::String(name)) = fields.get("type") else { return Err(DecodeError::NoType) };
    MessageType::from_name(name).ok_or_else(|| DecodeError::UnknownType(name.clone()))
}

fn read_id(fields: &mut Map<String, Value>) -> Result<Option<RequestId>, DecodeError> {
    match fields.remove("requestId") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => RequestId::deserialize(value).map(Some).map_err(|_| DecodeError::RequestId),
    }
}

impl<P: Payload> Serialize for Envelope<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = if self.request_id.is_some() { 3 } else { 2 };
        let mut fields = serializer.serialize_struct("Envelope", length)?;
        fields.serialize_field("type", self.data.message_type().name())?;
        match &self.request_id {
            Some(id) => fields.serialize_field("requestId", id)?,
            None => fields.skip_field("requestId")?,
        }
        fields.serialize_field("data", &self.data)?;
        fields.end()
    }
}

impl<'de, P: Payload> Deserialize<'de> for Envelope<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
