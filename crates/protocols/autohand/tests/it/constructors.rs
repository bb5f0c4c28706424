//! Constructors that fill what the specification and existing clients want side by side.

use loggia_protocol_autohand::{
    AgentEndReason, EndOfTurnMarker, GetSessionResult, PermissionContext, PermissionMode,
    PermissionRequestParams, PingParams, Quantity, TurnEndParams, TurnEndReason,
};
use serde::Serialize;

const NOW: &str = "2026-01-31T08:15:30.250Z";

fn check(value: &impl Serialize, expected: &str) {
    assert_eq!(serde_json::to_string(value).expect("a value that can be written"), expected);
}

#[test]
fn a_turns_end_carries_its_numbers_nested_and_flat() {
    let percent = Quantity::try_from(92.5).unwrap();
    let end = |tokens| {
        TurnEndParams::new(
            "t".into(),
            "s".into(),
            tokens,
            42,
            percent.clone(),
            TurnEndReason::Completed,
            NOW.into(),
        )
    };
    check(
        &end(Some(7)),
        r#"{"turnId":"t","sessionId":"s","stats":{"tokensUsed":7,"duration":42,"contextPercent":92.5},"tokensUsed":7,"tokensUsageStatus":"actual","durationMs":42,"contextPercent":92.5,"reason":"completed","timestamp":"2026-01-31T08:15:30.250Z"}"#,
    );
    let unknown = serde_json::to_string(&end(None)).unwrap();
    assert!(unknown.contains(r#""tokensUsed":0,"tokensUsageStatus":"unavailable""#), "{unknown}");
}

#[test]
fn the_end_of_turn_marker_is_a_ping_with_a_type() {
    let marker = EndOfTurnMarker::new("s".into(), AgentEndReason::Completed, NOW.into());
    let text =
        r#"{"type":"agent_end","sessionId":"s","reason":"completed","timestamp":"2026-01-31T08:15:30.250Z"}"#;
    check(&PingParams::EndOfTurn(marker.clone()), text);
    assert_eq!(serde_json::from_str::<PingParams>(text).unwrap(), PingParams::EndOfTurn(marker));
}

#[test]
fn a_question_is_asked_in_every_clients_words() {
    let context = PermissionContext { path: Some("a.txt".to_owned()), ..PermissionContext::default() };
    let question =
        PermissionRequestParams::new("p".into(), "write_file", "Write a.txt?", context, NOW.into());
    let text = serde_json::to_string(&question).unwrap();
    for part in [
        r#""tool":"write_file""#,
        r#""toolName":"write_file""#,
        r#""filePath":"a.txt""#,
        r#""options":["allow_once","#,
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    let bare = PermissionRequestParams::new("p".into(), "t", "d", PermissionContext::default(), NOW.into());
    assert!(serde_json::to_string(&bare).unwrap().contains(r#""context":{}"#));
}

#[test]
fn whole_numbers_are_written_without_a_fraction() {
    for (value, text) in [(100.0, "100"), (0.0, "0"), (92.5, "92.5"), (-1.5, "-1.5")] {
        check(&Quantity::try_from(value).unwrap(), text);
    }
    assert!(Quantity::try_from(f64::NAN).is_err());
    assert!(Quantity::try_from(f64::INFINITY).is_err());
    assert!((Quantity::from(7).value() - 7.0).abs() < f64::EPSILON);
}

#[test]
fn older_words_for_modes_have_todays_meaning() {
    assert_eq!(PermissionMode::Default.modern(), PermissionMode::Interactive);
    assert_eq!(PermissionMode::BypassPermissions.modern(), PermissionMode::Unrestricted);
    assert_eq!(PermissionMode::Plan.modern(), PermissionMode::Plan);
}

#[test]
fn a_session_that_cannot_be_read_is_told_without_its_fields() {
    check(&GetSessionResult::failed("gone"), r#"{"success":false,"error":"gone"}"#);
}
