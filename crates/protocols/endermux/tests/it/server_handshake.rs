//! The server's checks of the first message, in their order.

use loggia_protocol_endermux::{
    Capability, ClientOffer, ColorLevel, Envelope, Epoch, Framing, Message, ServerOffer, VersionRange,
};

use crate::{message, text};

const GOOD: &str = r#""colorLevel":"NONE","capabilities":{},"requiredCapabilities":[]"#;

/// What a server of that epoch answers to a first message.
fn answer(epoch: Epoch, first: &str) -> String {
    let server = ServerOffer::baseline(epoch);
    let first = message(first);
    let outcome = server.negotiate(&first);
    text(&server.answer(&first, &outcome))
}

/// What a server answers to a `HELLO` with that payload.
fn hello(epoch: Epoch, payload: &str) -> String {
    answer(epoch, &format!(r#"{{"type":"HELLO","requestId":"h","data":{{{payload}}}}}"#))
}

/// Checks for a refusal.
fn refused(answer: &str, reason: &str, sentence: &str, epoch: &str) {
    let expected = format!(
        r#"{{"type":"REJECT","requestId":"h","data":{{"reason":"{reason}","message":"{sentence}","expectedTransportEpoch":{epoch},"missingRequiredCapabilities":[]}}}}"#
    );
    assert_eq!(answer, expected);
}

#[test]
fn a_good_hello_is_welcomed_with_id_epoch_and_versions() {
    for epoch in [Epoch::Fifteen, Epoch::Sixteen, Epoch::Seventeen] {
        let client = ClientOffer::baseline(epoch, ColorLevel::TrueColor);
        let first = Envelope::with_id("h".into(), Message::Hello(client.hello()));
        let server = ServerOffer::baseline(epoch);
        let outcome = server.negotiate(&first);
        let selected = outcome.clone().unwrap();
        assert_eq!((selected.epoch, selected.color_level), (epoch, ColorLevel::TrueColor));
        assert!(Capability::ALL.into_iter().all(|capability| selected.has(capability)));
        let welcome = text(&server.answer(&first, &outcome));
        assert_eq!(
            welcome,
            format!(
                concat!(
                    r#"{{"type":"WELCOME","requestId":"h","data":{{"transportEpoch":{},"selectedCapabilities":{{"#,
                    r#""command_execute":1,"completion":1,"interactivity_status":1,"log_forward":1,"parse":1,"#,
                    r#""syntax_highlight":1}}}}}}"#
                ),
                epoch.number()
            )
        );
    }
}

#[test]
fn nothing_offered_and_nothing_required_is_welcome() {
    let welcome =
        r#"{"type":"WELCOME","requestId":"h","data":{"transportEpoch":15,"selectedCapabilities":{}}}"#;
    assert_eq!(hello(Epoch::Fifteen, &format!(r#""transportEpoch":15,{GOOD}"#)), welcome);
}

#[test]
fn a_first_message_without_request_id_is_refused_without_one() {
    let expected = concat!(
        r#"{"type":"REJECT","data":{"reason":"missing_request_id","message":"Missing requestId","#,
        r#""expectedTransportEpoch":15,"missingRequiredCapabilities":[]}}"#
    );
    assert_eq!(answer(Epoch::Fifteen, r#"{"type":"HELLO","data":{"transportEpoch":15}}"#), expected);
    assert_eq!(answer(Epoch::Fifteen, r#"{"type":"HELLO","requestId":null}"#), expected);
    // The id is looked at before the type.
    assert_eq!(answer(Epoch::Fifteen, r#"{"type":"PING","data":{}}"#), expected);
}

#[test]
fn a_first_message_that_is_not_hello_is_refused_under_its_id() {
    let answer = answer(Epoch::Fifteen, r#"{"type":"PING","requestId":"h","data":{}}"#);
    refused(&answer, "expected_hello", "Expected HELLO", "15");
}

#[test]
fn another_epoch_is_refused_with_the_servers_own() {
    let check = |payload: &str| {
        let answer = hello(Epoch::Fifteen, payload);
        refused(&answer, "unsupported_transport_epoch", "Unsupported transport epoch", "15");
    };
    check(&format!(r#""transportEpoch":16,{GOOD}"#));
    check(&format!(r#""transportEpoch":14,{GOOD}"#));
    // Absent counts as 0, and the epoch is looked at before all that is missing here.
    check("");
}

#[test]
fn a_missing_or_unknown_colour_level_is_refused() {
    for color in ["", r#","colorLevel":"MANY""#, r#","colorLevel":null"#] {
        let answer = hello(Epoch::Fifteen, &format!(r#""transportEpoch":15{color}"#));
        refused(&answer, "missing_color_level", "Missing color level", "15");
    }
}

#[test]
fn missing_capabilities_or_requirements_are_refused() {
    for data in
        ["", r#","capabilities":{}"#, r#","requiredCapabilities":[null]"#, r#","capabilities":{"a":null}"#]
    {
        let answer = hello(Epoch::Fifteen, &format!(r#""transportEpoch":15,"colorLevel":"NONE"{data}"#));
        let sentence = "Missing capability negotiation data";
        refused(&answer, "missing_capability_negotiation_data", sentence, "15");
    }
}

#[test]
fn a_range_that_makes_no_sense_is_refused_also_of_an_unknown_capability() {
    for range in ["null", "{}", r#"{"min":0,"max":1}"#, r#"{"min":-1,"max":1}"#, r#"{"min":2,"max":1}"#] {
        for name in ["parse", "unheard_of"] {
            let payload = format!(
                r#""transportEpoch":15,"colorLevel":"NONE","capabilities":{{"{name}":{range}}},"requiredCapabilities":[null]"#
            );
            let answer = hello(Epoch::Fifteen, &payload);
            refused(&answer, "invalid_capability_version_range", "Invalid capability version range", "15");
        }
    }
}

#[test]
fn a_null_among_the_requirements_is_refused() {
    let payload =
        r#""transportEpoch":15,"colorLevel":"NONE","capabilities":{},"requiredCapabilities":["parse",null]"#;
    let sentence = "Invalid required capability declaration";
    refused(&hello(Epoch::Fifteen, payload), "invalid_required_capability_declaration", sentence, "15");
}

#[test]
fn a_requirement_that_cannot_be_met_is_refused_with_its_name_and_no_epoch() {
    let missing = |capabilities: &str, required: &str| {
        hello(
            Epoch::Fifteen,
            &format!(
                r#""transportEpoch":15,"colorLevel":"NONE","capabilities":{capabilities},"requiredCapabilities":{required}"#
            ),
        )
    };
    let expected = |names: &str| {
        format!(
            r#"{{"type":"REJECT","requestId":"h","data":{{"reason":"missing_required_capabilities","message":"Missing required capabilities","expectedTransportEpoch":null,"missingRequiredCapabilities":{names}}}}}"#
        )
    };
    // Required but not offered; required twice; unknown to the server; no common version; another case.
    assert_eq!(missing("{}", r#"["log_forward"]"#), expected(r#"["log_forward"]"#));
    assert_eq!(missing("{}", r#"["parse","parse"]"#), expected(r#"["parse"]"#));
    assert_eq!(missing(r#"{"new":{"min":1,"max":1}}"#, r#"["new"]"#), expected(r#"["new"]"#));
    assert_eq!(missing(r#"{"parse":{"min":2,"max":3}}"#, r#"["parse"]"#), expected(r#"["parse"]"#));
    assert_eq!(missing(r#"{"PARSE":{"min":1,"max":1}}"#, r#"["PARSE"]"#), expected(r#"["PARSE"]"#));
}

#[test]
fn the_highest_common_version_is_selected_and_unknown_names_are_ignored() {
    let mut server = ServerOffer::baseline(Epoch::Fifteen);
    server.capabilities.insert("parse".to_owned(), VersionRange { min: 2, max: 5, exclude: None });
    let first = message(
        r#"{"type":"HELLO","requestId":"h","data":{"transportEpoch":15,"colorLevel":"NONE","requiredCapabilities":[],
        "capabilities":{"parse":{"min":1,"max":4},"completion":{"min":1,"max":9},"unheard_of":{"min":1,"max":1}}}}"#,
    );
    let selected = server.negotiate(&first).unwrap();
    assert_eq!(selected.capabilities, [("completion".to_owned(), 1), ("parse".to_owned(), 4)].into());
}

#[test]
fn epoch_15_knows_no_exclude() {
    let payload = r#""transportEpoch":15,"colorLevel":"NONE","capabilities":{"parse":{"min":1,"max":1,"exclude":[1,9]}},"requiredCapabilities":["parse"]"#;
    assert!(hello(Epoch::Fifteen, payload).contains(r#""selectedCapabilities":{"parse":1}"#));
}

#[test]
fn later_epochs_honour_exclude() {
    let check = |exclude: &str, expected: &str| {
        let payload = format!(
            r#""transportEpochRange":{{"min":17,"max":17}},"colorLevel":"NONE","capabilities":{{"parse":{{"min":1,"max":2,"exclude":{exclude}}}}},"requiredCapabilities":["parse"]"#
        );
        let answer = hello(Epoch::Seventeen, &payload);
        assert!(answer.contains(expected), "{exclude}: {answer}");
    };
    check("[2]", r#""selectedCapabilities":{"parse":1}"#);
    check("[1]", "missing_required_capabilities");
    check("[3]", "invalid_capability_version_range");
}

#[test]
fn a_missing_or_senseless_epoch_range_is_refused_before_the_epoch_itself() {
    for (epoch, number) in [(Epoch::Sixteen, "16"), (Epoch::Seventeen, "17")] {
        for range in [
            "",
            r#""transportEpoch":15,"#,
            r#""transportEpochRange":null,"#,
            r#""transportEpochRange":{"min":18,"max":17},"#,
            r#""transportEpochRange":{"min":0,"max":17},"#,
            r#""transportEpochRange":{"min":16,"max":17,"exclude":[18]},"#,
        ] {
            let answer = hello(epoch, &format!("{range}{GOOD}"));
            refused(&answer, "invalid_transport_epoch_range", "Invalid transport epoch range", number);
        }
    }
}

#[test]
fn the_servers_epoch_must_be_in_the_clients_range() {
    let check = |range: &str, welcome: bool| {
        let answer = hello(Epoch::Seventeen, &format!(r#""transportEpochRange":{range},{GOOD}"#));
        if welcome {
            assert!(
                answer.contains(r#""type":"WELCOME","requestId":"h","data":{"transportEpoch":17"#),
                "{answer}"
            );
        } else {
            refused(&answer, "unsupported_transport_epoch", "Unsupported transport epoch", "17");
        }
    };
    check(r#"{"min":17,"max":17,"exclude":[]}"#, true);
    check(r#"{"min":15,"max":20}"#, true);
    check(r#"{"min":15,"max":20,"exclude":[17]}"#, false);
    check(r#"{"min":18,"max":20}"#, false);
}

#[test]
fn the_first_message_tells_the_clients_epoch() {
    let check =
        |framing, first: &str, expected| assert_eq!(Epoch::of_client(framing, &message(first)), expected);
    let number = r#"{"type":"HELLO","requestId":"h","data":{"transportEpoch":15}}"#;
    let range = r#"{"type":"HELLO","requestId":"h","data":{"transportEpochRange":{"min":16,"max":16}}}"#;
    check(Framing::Plain, number, Epoch::Fifteen);
    check(Framing::Plain, range, Epoch::Sixteen);
    check(Framing::Plain, r#"{"type":"PING"}"#, Epoch::Fifteen);
    check(Framing::Compressed, range, Epoch::Seventeen);
    check(Framing::Compressed, number, Epoch::Seventeen);
    for epoch in [Epoch::Fifteen, Epoch::Sixteen, Epoch::Seventeen] {
        let hello = ClientOffer::baseline(epoch, ColorLevel::None).hello();
        let first = Envelope::with_id("h".into(), Message::Hello(hello));
        assert_eq!(Epoch::of_client(epoch.framing(), &first), epoch);
    }
}
