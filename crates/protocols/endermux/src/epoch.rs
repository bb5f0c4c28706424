//! Transport epochs: framing, envelope and handshake as one number.

use crate::{Envelope, Message};

/// A transport epoch this crate speaks. Messages, capabilities and times are the same in all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Epoch {
    /// Plain frames; `HELLO` names one epoch.
    Fifteen,
    /// Plain frames; `HELLO` names a range, and ranges can exclude versions.
    Sixteen,
    /// As 16, in frames that can be compressed.
    Seventeen,
}

/// How the frames of a connection look; the first one shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Length, then JSON.
    Plain,
    /// Length, a compression byte, then JSON or compressed JSON.
    Compressed,
}

impl Epoch {
    /// The epoch the specification describes.
    pub const SPECIFIED: Self = Self::Fifteen;

    /// The number on the wire.
    pub const fn number(self) -> i32 {
        match self {
            Self::Fifteen => 15,
            Self::Sixteen => 16,
            Self::Seventeen => 17,
        }
    }

    /// How its frames look.
    pub const fn framing(self) -> Framing {
        match self {
            Self::Fifteen | Self::Sixteen => Framing::Plain,
            Self::Seventeen => Framing::Compressed,
        }
    }

    /// Whether `HELLO` names a range of epochs and ranges can exclude versions.
    pub const fn has_ranges(self) -> bool {
        !matches!(self, Self::Fifteen)
    }

    /// The epoch in which to answer a client, from its frames and its first message.
    ///
    /// The answer, a refusal included, goes out in the framing of the question.
    pub fn of_client(framing: Framing, first: &Envelope<Message>) -> Self {
        match (framing, &first.data) {
            (Framing::Compressed, _) => Self::Seventeen,
            (Framing::Plain, Message::Hello(hello))
                if hello.transport_epoch.is_none() && hello.transport_epoch_range.is_some() =>
            {
                Self::Sixteen
            }
            (Framing::Plain, _) => Self::Fifteen,
        }
    }
}
