//! Refusing a connection: the reason as a word, and the sentence that goes with it.

use serde::{Deserialize, Serialize};

use crate::{Epoch, lenient};

/// Why a connection is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RejectReason {
    /// The first message has no request id.
    MissingRequestId,
    /// The first message is not `HELLO`.
    ExpectedHello,
    /// The range of epochs is missing or makes no sense. Epochs 16 and 17 only.
    InvalidTransportEpochRange,
    /// The server does not speak the client's epoch.
    UnsupportedTransportEpoch,
    /// The colour level is missing or unknown.
    MissingColorLevel,
    /// The capabilities or the list of required ones are missing.
    MissingCapabilityNegotiationData,
    /// A range of versions makes no sense.
    InvalidCapabilityVersionRange,
    /// The list of required capabilities has a `null` in it.
    InvalidRequiredCapabilityDeclaration,
    /// A required capability could not be negotiated.
    MissingRequiredCapabilities,
    /// A reason of another version, kept as it came. To a client it is a fatal incompatibility.
    Other(String),
}

impl RejectReason {
    /// Every reason with its word and its sentence, in the order of the checks.
    const TABLE: [(Self, &'static str, &'static str); 9] = [
        (Self::MissingRequestId, "missing_request_id", "Missing requestId"),
        (Self::ExpectedHello, "expected_hello", "Expected HELLO"),
        (Self::InvalidTransportEpochRange, "invalid_transport_epoch_range", "Invalid transport epoch range"),
        (Self::UnsupportedTransportEpoch, "unsupported_transport_epoch", "Unsupported transport epoch"),
        (Self::MissingColorLevel, "missing_color_level", "Missing color level"),
        (
            Self::MissingCapabilityNegotiationData,
            "missing_capability_negotiation_data",
            "Missing capability negotiation data",
        ),
        (
            Self::InvalidCapabilityVersionRange,
            "invalid_capability_version_range",
            "Invalid capability version range",
        ),
        (
            Self::InvalidRequiredCapabilityDeclaration,
            "invalid_required_capability_declaration",
            "Invalid required capability declaration",
        ),
        (Self::MissingRequiredCapabilities, "missing_required_capabilities", "Missing required capabilities"),
    ];

    /// Every known reason, in the order of the checks.
    pub fn known() -> impl Iterator<Item = Self> {
        Self::TABLE.into_iter().map(|(reason, ..)| reason)
    }

    /// The word on the wire.
    pub fn code(&self) -> &str {
        match self {
            Self::Other(code) => code,
            known => Self::TABLE.iter().find(|(reason, ..)| reason == known).map_or("", |(_, code, _)| *code),
        }
    }

    /// The sentence a server sends with it; an unknown reason has none.
    pub fn message(&self) -> Option<&'static str> {
        Self::TABLE.iter().find(|(reason, ..)| reason == self).map(|(_, _, message)| *message)
    }
}

impl From<String> for RejectReason {
    fn from(code: String) -> Self {
        Self::known().find(|reason| reason.code() == code).unwrap_or(Self::Other(code))
    }
}

impl Serialize for RejectReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for RejectReason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient::text(deserializer).map(Self::from)
    }
}

/// An absent reason is an unknown one.
impl Default for RejectReason {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// Refuses a connection. The connection closes after it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reject {
    /// Why, for programs.
    pub reason: RejectReason,
    /// Why, for people.
    #[serde(deserialize_with = "lenient::text")]
    pub message: String,
    /// What the server speaks. Written as `null` where it is not the point, as existing servers do.
    #[serde(deserialize_with = "lenient::nullable_int")]
    pub expected_transport_epoch: Option<i32>,
    /// Which required capabilities could not be negotiated.
    #[serde(deserialize_with = "lenient::texts")]
    pub missing_required_capabilities: Vec<String>,
}

impl Reject {
    /// A refusal by a server of that epoch.
    pub fn new(reason: RejectReason, epoch: Epoch) -> Self {
        let message = reason.message().unwrap_or_default().to_owned();
        Self {
            reason,
            message,
            expected_transport_epoch: Some(epoch.number()),
            missing_required_capabilities: vec![],
        }
    }

    /// A refusal because of capabilities; the epoch was fine and is not told.
    pub fn missing_capabilities(names: Vec<String>) -> Self {
        Self {
            expected_transport_epoch: None,
            missing_required_capabilities: names,
            ..Self::new(RejectReason::MissingRequiredCapabilities, Epoch::SPECIFIED)
        }
    }
}
