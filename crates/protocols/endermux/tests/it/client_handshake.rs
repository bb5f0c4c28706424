//! The client's offer, and its checks of the answer in their order.

use loggia_protocol_endermux::{
    ClientOffer, ColorLevel, Envelope, Epoch, HandshakeFailure, Message, RejectReason,
};

use crate::{message, text};

/// Judges an answer to a `HELLO` with the id `h`.
fn judge(reply: &str) -> Result<Vec<String>, HandshakeFailure> {
    let client = ClientOffer::baseline(Epoch::Fifteen, ColorLevel::None);
    let selected = client.check_reply(&"h".into(), &message(reply))?;
    Ok(selected.capabilities.into_keys().collect())
}

fn welcome(epoch: i32, selected: &str) -> String {
    format!(
        r#"{{"type":"WELCOME","requestId":"h","data":{{"transportEpoch":{epoch},"selectedCapabilities":{selected}}}}}"#
    )
}

fn reject(reason: &str, epoch: &str, missing: &str) -> String {
    format!(
        r#"{{"type":"REJECT","requestId":"h","data":{{"reason":"{reason}","message":"m","expectedTransportEpoch":{epoch},"missingRequiredCapabilities":{missing}}}}}"#
    )
}

const REQUIRED: &str = r#"{"command_execute":1,"log_forward":1,"interactivity_status":1}"#;

#[test]
fn hello_has_the_form_of_its_epoch() {
    let hello = |epoch| {
        let mut client = ClientOffer::baseline(epoch, ColorLevel::Indexed256);
        client.capabilities.retain(|name, _| name == "parse");
        client.required.clear();
        text(&Envelope::with_id("h".into(), Message::Hello(client.hello())))
    };
    assert_eq!(
        hello(Epoch::Fifteen),
        concat!(
            r#"{"type":"HELLO","requestId":"h","data":{"transportEpoch":15,"colorLevel":"INDEXED_256","#,
            r#""capabilities":{"parse":{"min":1,"max":1}},"requiredCapabilities":[]}}"#
        )
    );
    for (epoch, number) in [(Epoch::Sixteen, 16), (Epoch::Seventeen, 17)] {
        assert_eq!(
            hello(epoch),
            format!(
                concat!(
                    r#"{{"type":"HELLO","requestId":"h","data":{{"#,
                    r#""transportEpochRange":{{"min":{0},"max":{0},"exclude":[]}},"colorLevel":"INDEXED_256","#,
                    r#""capabilities":{{"parse":{{"min":1,"max":1,"exclude":[]}}}},"requiredCapabilities":[]}}}}"#
                ),
                number
            )
        );
    }
}

#[test]
fn a_good_welcome_is_accepted_and_unknown_names_in_it_are_ignored() {
    assert_eq!(
        judge(&welcome(15, REQUIRED)).unwrap(),
        ["command_execute", "interactivity_status", "log_forward"]
    );
    let more = r#"{"command_execute":1,"log_forward":1,"interactivity_status":1,"parse":1,"unheard_of":7}"#;
    assert_eq!(judge(&welcome(15, more)).unwrap().len(), 4);
}

#[test]
fn a_foreign_request_id_is_fatal_whatever_the_message() {
    let other = |id: Option<&str>| HandshakeFailure::OtherRequestId { found: id.map(Into::into) };
    assert_eq!(judge(r#"{"type":"PONG","requestId":"x","data":{}}"#).unwrap_err(), other(Some("x")));
    // The refusal of a HELLO without id has none either.
    assert_eq!(
        judge(r#"{"type":"REJECT","data":{"reason":"missing_request_id"}}"#).unwrap_err(),
        other(None)
    );
}

#[test]
fn a_reply_of_another_type_is_fatal() {
    let error = judge(r#"{"type":"PONG","requestId":"h","data":{}}"#).unwrap_err();
    assert_eq!(error.to_string(), "HELLO was answered with PONG");
    let error =
        judge(r#"{"type":"INTERACTIVITY_STATUS","requestId":"h","data":{"available":true}}"#).unwrap_err();
    assert_eq!(error.to_string(), "HELLO was answered with INTERACTIVITY_STATUS");
}

#[test]
fn a_reject_for_the_epoch_names_both_epochs() {
    let error = judge(&reject("unsupported_transport_epoch", "16", "[]")).unwrap_err();
    assert_eq!(error, HandshakeFailure::EpochMismatch { server: 16, client: 15 });
}

#[test]
fn a_server_that_misses_a_range_of_epochs_names_its_own() {
    let error = judge(&reject("invalid_transport_epoch_range", "16", "[]")).unwrap_err();
    assert_eq!(error, HandshakeFailure::EpochMismatch { server: 16, client: 15 });
    // One of our own epoch found the range, and did not like it.
    for epoch in ["15", "null"] {
        let error = judge(&reject("invalid_transport_epoch_range", epoch, "[]")).unwrap_err();
        let reason = RejectReason::InvalidTransportEpochRange;
        assert_eq!(error, HandshakeFailure::Rejected { reason, message: "m".to_owned() });
    }
}

#[test]
fn a_reject_for_capabilities_names_them_sorted() {
    let error =
        judge(&reject("missing_required_capabilities", "null", r#"["parse","log_forward"]"#)).unwrap_err();
    let names = vec!["log_forward".to_owned(), "parse".to_owned()];
    let reason = Some(RejectReason::MissingRequiredCapabilities);
    assert_eq!(error, HandshakeFailure::MissingCapabilities { names, reason });
    assert_eq!(error.to_string(), "the server lacks required capabilities: log_forward, parse");
}

#[test]
fn every_other_reject_is_fatal_and_keeps_its_reason() {
    for (reason, epoch, missing) in [
        ("server_is_full", "null", "[]"),
        ("missing_color_level", "15", "[]"),
        ("", "15", "[]"),
        ("unsupported_transport_epoch", "null", "[]"),
        ("missing_required_capabilities", "null", "[]"),
    ] {
        let error = judge(&reject(reason, epoch, missing)).unwrap_err();
        let reason = RejectReason::from(reason.to_owned());
        assert_eq!(error, HandshakeFailure::Rejected { reason, message: "m".to_owned() });
    }
}

#[test]
fn a_welcome_of_another_epoch_is_fatal() {
    assert_eq!(
        judge(&welcome(16, REQUIRED)).unwrap_err(),
        HandshakeFailure::EpochMismatch { server: 16, client: 15 }
    );
    // The epoch is looked at before the selection.
    assert_eq!(
        judge(r#"{"type":"WELCOME","requestId":"h"}"#).unwrap_err(),
        HandshakeFailure::EpochMismatch { server: 0, client: 15 }
    );
}

#[test]
fn a_welcome_without_a_selection_is_fatal() {
    assert_eq!(judge(&welcome(15, "null")).unwrap_err(), HandshakeFailure::NoSelection);
}

#[test]
fn a_version_that_was_not_offered_is_fatal() {
    for (selected, version) in [
        (r#"{"completion":999}"#, Some(999)),
        (r#"{"completion":0}"#, Some(0)),
        (r#"{"completion":null}"#, None),
    ] {
        let error = judge(&welcome(15, selected)).unwrap_err();
        assert_eq!(error, HandshakeFailure::BadSelection { capability: "completion".to_owned(), version });
    }
    for selected in [r#"{"unheard_of":0}"#, r#"{"unheard_of":null}"#] {
        assert!(matches!(judge(&welcome(15, selected)).unwrap_err(), HandshakeFailure::BadSelection { .. }));
    }
}

#[test]
fn a_welcome_without_a_required_capability_is_fatal() {
    let error = judge(&welcome(15, r#"{"command_execute":1,"log_forward":1}"#)).unwrap_err();
    let names = vec!["interactivity_status".to_owned()];
    assert_eq!(error, HandshakeFailure::MissingCapabilities { names, reason: None });
}
