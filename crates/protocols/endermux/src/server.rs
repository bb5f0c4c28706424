//! The server's side of the handshake: one message in, agreement or refusal out.
//!
//! The checks come in one fixed order and the first that fails decides; clients of existing servers rely on it.

use std::collections::{BTreeMap, BTreeSet};

use crate::capability::{Capability, Selected};
use crate::{Envelope, Epoch, Hello, Message, Reject, RejectReason, VersionRange};

/// What a server offers to one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOffer {
    /// The epoch it answers in; see [`Epoch::of_client`].
    pub epoch: Epoch,
    /// What it can do, in which versions.
    pub capabilities: BTreeMap<String, VersionRange>,
}

impl ServerOffer {
    /// A server with the six capabilities of the protocol.
    pub fn baseline(epoch: Epoch) -> Self {
        Self { epoch, capabilities: Capability::baseline(epoch) }
    }

    /// Judges a client's first message.
    ///
    /// The server demands no capability by itself: only the client's own list counts.
    ///
    /// # Errors
    /// The [`Reject`] to answer with, under the message's id if it has one.
    pub fn negotiate(&self, first: &Envelope<Message>) -> Result<Selected, Reject> {
        if first.request_id.is_none() {
            return Err(self.refuse(RejectReason::MissingRequestId));
        }
        let Message::Hello(hello) = &first.data else {
            return Err(self.refuse(RejectReason::ExpectedHello));
        };
        self.check_epoch(hello)?;
        let Some(color_level) = hello.color_level else {
            return Err(self.refuse(RejectReason::MissingColorLevel));
        };
        let (Some(offered), Some(required)) = (&hello.capabilities, &hello.required_capabilities) else {
            return Err(self.refuse(RejectReason::MissingCapabilityNegotiationData));
        };
        let offered = self.check_ranges(offered)?;
        let Some(required) = required.iter().map(Option::as_deref).collect::<Option<BTreeSet<&str>>>() else {
            return Err(self.refuse(RejectReason::InvalidRequiredCapabilityDeclaration));
        };
        let capabilities = self.select(&offered);
        let missing: Vec<String> = required
            .into_iter()
            .filter(|name| !capabilities.contains_key(*name))
            .map(str::to_owned)
            .collect();
        if missing.is_empty() {
            Ok(Selected { epoch: self.epoch, color_level, capabilities })
        } else {
            Err(Reject::missing_capabilities(missing))
        }
    }

    /// The message that answers a client's first one.
    pub fn answer(&self, first: &Envelope<Message>, outcome: &Result<Selected, Reject>) -> Envelope<Message> {
        let data = match outcome {
            Ok(selected) => Message::Welcome(selected.welcome()),
            Err(reject) => Message::Reject(reject.clone()),
        };
        Envelope::answering(first, data)
    }

    fn refuse(&self, reason: RejectReason) -> Reject {
        Reject::new(reason, self.epoch)
    }

    fn check_epoch(&self, hello: &Hello) -> Result<(), Reject> {
        let own = self.epoch.number();
        let supported = if self.epoch.has_ranges() {
            match &hello.transport_epoch_range {
                Some(range) if range.is_valid() => range.contains(own),
                _ => return Err(self.refuse(RejectReason::InvalidTransportEpochRange)),
            }
        } else {
            hello.transport_epoch == Some(own)
        };
        if supported { Ok(()) } else { Err(self.refuse(RejectReason::UnsupportedTransportEpoch)) }
    }

    /// Every range must make sense, also of a capability this server does not know.
    fn check_ranges<'a>(
        &self,
        offered: &'a BTreeMap<String, Option<VersionRange>>,
    ) -> Result<BTreeMap<&'a str, VersionRange>, Reject> {
        let read = offered.iter().map(|(name, range)| {
            let range = range.as_ref().map(|range| range.as_of(self.epoch)).filter(VersionRange::is_valid);
            Some((name.as_str(), range?))
        });
        read.collect::<Option<_>>().ok_or_else(|| self.refuse(RejectReason::InvalidCapabilityVersionRange))
    }

    fn select(&self, offered: &BTreeMap<&str, VersionRange>) -> BTreeMap<String, i32> {
        let common = self.capabilities.iter().filter_map(|(name, own)| {
            let version = own.highest_common(offered.get(name.as_str())?)?;
            Some((name.clone(), version))
        });
        common.collect()
    }
}
