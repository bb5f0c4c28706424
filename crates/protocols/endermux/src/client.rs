//! The client's side of the handshake: what it offers, and how it judges the answer.
//!
//! Every failure here is final: the server answered and the two do not fit. A connection that ends without an answer
//! is another matter, may be tried again, and is not known here.

use std::collections::{BTreeMap, BTreeSet};

use crate::capability::{Capability, Selected};
use crate::{
    ColorLevel, Envelope, Epoch, Hello, Message, MessageType, Payload, Reject, RejectReason, RequestId,
    VersionRange, Welcome,
};

/// What a client offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOffer {
    /// The epoch it speaks.
    pub epoch: Epoch,
    /// Its colours.
    pub color_level: ColorLevel,
    /// What it can do, in which versions.
    pub capabilities: BTreeMap<String, VersionRange>,
    /// What it cannot do without.
    pub required: BTreeSet<String>,
}

/// Why an answer to `HELLO` ends the attempt for good.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeFailure {
    /// The answer carries another id, or none.
    #[error("the answer to HELLO carries the id {found:?}")]
    OtherRequestId {
        /// That id.
        found: Option<RequestId>,
    },
    /// The answer is neither `WELCOME` nor `REJECT`.
    #[error("HELLO was answered with {found}")]
    UnexpectedType {
        /// What it is.
        found: MessageType,
    },
    /// The server speaks another epoch.
    #[error("the server speaks transport epoch {server}, this client {client}")]
    EpochMismatch {
        /// The server's.
        server: i32,
        /// The client's.
        client: i32,
    },
    /// A required capability is not there.
    #[error("the server lacks required capabilities: {}", names.join(", "))]
    MissingCapabilities {
        /// Their names, sorted.
        names: Vec<String>,
        /// The server's reason, when it was the server that noticed.
        reason: Option<RejectReason>,
    },
    /// The server refuses for a reason this client does not handle.
    #[error("the server refuses with `{}`: {message}", reason.code())]
    Rejected {
        /// The reason.
        reason: RejectReason,
        /// The server's sentence.
        message: String,
    },
    /// `WELCOME` says nothing of capabilities.
    #[error("WELCOME has no selected capabilities")]
    NoSelection,
    /// `WELCOME` selects a version that was not offered.
    #[error("WELCOME selects version {version:?} of `{capability}`")]
    BadSelection {
        /// Of which capability.
        capability: String,
        /// The version.
        version: Option<i32>,
    },
}

impl ClientOffer {
    /// A client with the six capabilities of the protocol, three of them required.
    pub fn baseline(epoch: Epoch, color_level: ColorLevel) -> Self {
        let required = Capability::REQUIRED.map(|capability| capability.name().to_owned());
        Self { epoch, color_level, capabilities: Capability::baseline(epoch), required: required.into() }
    }

    /// The message that tells the server.
    pub fn hello(&self) -> Hello {
        let number = self.epoch.number();
        let ranges = self.epoch.has_ranges();
        let capabilities = self.capabilities.iter().map(|(name, range)| {
            // Existing peers of epochs 16 and 17 write `exclude` in every range; epoch 15 has no such field.
            let exclude = ranges.then(|| range.exclude.clone().unwrap_or_default());
            (name.clone(), Some(VersionRange { exclude, ..*range }))
        });
        Hello {
            transport_epoch: (!ranges).then_some(number),
            transport_epoch_range: ranges.then(|| VersionRange::new(self.epoch, number, number)),
            color_level: Some(self.color_level),
            capabilities: Some(capabilities.collect()),
            required_capabilities: Some(self.required.iter().cloned().map(Some).collect()),
        }
    }

    /// Judges the answer to a `HELLO` with that id.
    ///
    /// # Errors
    /// [`HandshakeFailure`], for the first check that fails.
    pub fn check_reply(
        &self,
        hello_id: &RequestId,
        reply: &Envelope<Message>,
    ) -> Result<Selected, HandshakeFailure> {
        if reply.request_id.as_ref() != Some(hello_id) {
            return Err(HandshakeFailure::OtherRequestId { found: reply.request_id.clone() });
        }
        match &reply.data {
            Message::Reject(reject) => Err(self.rejected(reject)),
            Message::Welcome(welcome) => self.check_welcome(welcome),
            other => Err(HandshakeFailure::UnexpectedType { found: other.message_type() }),
        }
    }

    fn rejected(&self, reject: &Reject) -> HandshakeFailure {
        let missing = &reject.missing_required_capabilities;
        match (&reject.reason, reject.expected_transport_epoch) {
            (RejectReason::UnsupportedTransportEpoch, Some(server)) => {
                HandshakeFailure::EpochMismatch { server, client: self.epoch.number() }
            }
            // A server of epoch 16 looks for a range before it looks at epochs, and finds none in a `HELLO` of epoch 15.
            (RejectReason::InvalidTransportEpochRange, Some(server)) if server != self.epoch.number() => {
                HandshakeFailure::EpochMismatch { server, client: self.epoch.number() }
            }
            (RejectReason::MissingRequiredCapabilities, _) if !missing.is_empty() => {
                let mut names = missing.clone();
                names.sort();
                HandshakeFailure::MissingCapabilities { names, reason: Some(reject.reason.clone()) }
            }
            (reason, _) => {
                HandshakeFailure::Rejected { reason: reason.clone(), message: reject.message.clone() }
            }
        }
    }

    fn check_welcome(&self, welcome: &Welcome) -> Result<Selected, HandshakeFailure> {
        if welcome.transport_epoch != self.epoch.number() {
            return Err(HandshakeFailure::EpochMismatch {
                server: welcome.transport_epoch,
                client: self.epoch.number(),
            });
        }
        let Some(selected) = &welcome.selected_capabilities else {
            return Err(HandshakeFailure::NoSelection);
        };
        let mut capabilities = BTreeMap::new();
        for (name, version) in selected {
            let own = self.capabilities.get(name);
            let offered = |version: &i32| *version >= 1 && own.is_none_or(|range| range.contains(*version));
            match version.filter(offered) {
                // A name the client never offered is somebody else's affair.
                Some(version) if own.is_some() => drop(capabilities.insert(name.clone(), version)),
                Some(_) => {}
                None => {
                    let capability = name.clone();
                    return Err(HandshakeFailure::BadSelection { capability, version: *version });
                }
            }
        }
        let names: Vec<String> =
            self.required.iter().filter(|name| !capabilities.contains_key(*name)).cloned().collect();
        if !names.is_empty() {
            return Err(HandshakeFailure::MissingCapabilities { names, reason: None });
        }
        Ok(Selected { epoch: self.epoch, color_level: self.color_level, capabilities })
    }
}
