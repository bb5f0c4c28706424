use std::time::Duration;

use loggia_protocol_agent_server::{
    BEARER_SUBPROTOCOL_PREFIX, DEFAULT_PORT, HELLO_DEADLINE, MAX_BODY_BYTES, MAX_HEADER_BYTES,
    MAX_JSON_DEPTH, MAX_MESSAGE_BYTES, MAX_PAIRING_TRIES, MAX_SOCKETS_PER_TOKEN, PAGE_CODE_LIFETIME,
    PAGE_LIFETIME, PAIRING_CODE_LENGTH, PAIRING_CODE_LIFETIME, PING_INTERVAL, SILENCE_DEADLINE,
    STREAM_SUBPROTOCOL, close,
};

#[test]
fn the_default_port_is_3199() {
    assert_eq!(DEFAULT_PORT, 3199);
}

#[test]
fn sizes_and_counts_are_the_documented_ones() {
    assert_eq!(MAX_BODY_BYTES, 8_388_608);
    assert_eq!(MAX_MESSAGE_BYTES, 4_194_304);
    assert_eq!(MAX_HEADER_BYTES, 16_384);
    assert_eq!(MAX_JSON_DEPTH, 64);
    assert_eq!(MAX_SOCKETS_PER_TOKEN, 64);
    assert_eq!((PAIRING_CODE_LENGTH, MAX_PAIRING_TRIES), (8, 5));
}

#[test]
fn times_are_the_documented_ones() {
    assert_eq!(PING_INTERVAL, Duration::from_secs(20));
    assert_eq!(SILENCE_DEADLINE, Duration::from_secs(60));
    assert_eq!(HELLO_DEADLINE, Duration::from_secs(10));
    assert_eq!(PAIRING_CODE_LIFETIME, Duration::from_secs(120));
    assert_eq!(PAGE_CODE_LIFETIME, Duration::from_secs(120));
    assert_eq!(PAGE_LIFETIME, Duration::from_secs(30 * 86_400));
}

#[test]
fn close_codes_are_the_documented_ones() {
    assert_eq!((close::GOING_AWAY, close::UNSUPPORTED_DATA, close::MESSAGE_TOO_BIG), (1001, 1003, 1009));
    assert_eq!((close::SESSION_GONE, close::HELLO_TIMEOUT, close::TOO_SLOW), (4404, 4408, 4409));
    assert_eq!((close::TOKEN_REVOKED, close::STOPPED), (4401, 4410));
}

#[test]
fn subprotocols_are_the_documented_ones() {
    assert_eq!((STREAM_SUBPROTOCOL, BEARER_SUBPROTOCOL_PREFIX), ("loggia.v1", "bearer."));
}
