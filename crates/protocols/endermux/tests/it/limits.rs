//! The numbers of the protocol.

use loggia_protocol_endermux::{Epoch, Framing, limits};

#[test]
fn times_are_those_of_the_specification() {
    assert_eq!(limits::HANDSHAKE_TIMEOUT.as_millis(), 2000);
    assert_eq!(limits::HANDSHAKE_JOIN_GRACE.as_millis(), 1000);
    assert_eq!(limits::COMPLETION_TIMEOUT.as_millis(), 5000);
    assert_eq!(limits::SYNTAX_HIGHLIGHT_TIMEOUT.as_millis(), 1000);
    assert_eq!(limits::PARSE_TIMEOUT, limits::COMPLETION_TIMEOUT);
}

#[test]
fn a_frame_has_at_most_one_mebibyte() {
    assert_eq!(limits::MAX_FRAME, 1_048_576);
}

#[test]
fn compressed_frames_have_caps_before_and_after_inflating() {
    assert_eq!(limits::MAX_COMPRESSED_FRAME, 1_048_577);
    assert_eq!(limits::MAX_INFLATED, 4_194_304);
    assert_eq!(limits::COMPRESS_FROM, 1024);
}

#[test]
fn the_transport_epoch_of_the_specification_is_15() {
    assert_eq!(Epoch::SPECIFIED.number(), 15);
    assert_eq!(Epoch::SPECIFIED.framing(), Framing::Plain);
}

#[test]
fn epochs_16_and_17_have_ranges_and_17_has_compression() {
    assert_eq!([15, 16, 17], [Epoch::Fifteen, Epoch::Sixteen, Epoch::Seventeen].map(Epoch::number));
    assert_eq!(
        [Epoch::Fifteen, Epoch::Sixteen, Epoch::Seventeen].map(|epoch| (epoch.has_ranges(), epoch.framing())),
        [(false, Framing::Plain), (true, Framing::Plain), (true, Framing::Compressed)]
    );
}
