//! Tests of the wire crate through its public face.

#![expect(clippy::unwrap_used, reason = "a step that fails is the test's failure")]

mod framing;
mod framing_properties;
mod peer_calls;
mod peer_order;
mod peer_protocol;
mod support;
