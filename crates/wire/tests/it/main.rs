//! Tests of the wire crate through its public face.

mod framing;
mod framing_properties;
mod peer_calls;
mod peer_order;
mod peer_protocol;
mod support;
