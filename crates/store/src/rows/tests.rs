//! What the stored form promises: it comes back, it does not change, it tolerates additions and names faults.

use std::collections::BTreeSet;

use loggia_domain::EventBody;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::arbitrary::any_body;
use super::golden::samples;
use super::{EventRow, KINDS, MAX_REASON_CHARS, RowError, decode, encode};

/// Each event's word, said a second time. A new variant is added here, and a sample of it in `golden.rs`.
fn expected_kind(body: &EventBody) -> &'static str {
    match body {
        EventBody::SessionOpened { .. } => "session_opened",
        EventBody::SessionRenamed { .. } => "session_renamed",
        EventBody::ModelChanged { .. } => "model_changed",
        EventBody::ModelSwitched { .. } => "model_switched",
        EventBody::InstructionsChanged { .. } => "instructions_changed",
        EventBody::ThinkingChanged { .. } => "thinking_changed",
        EventBody::SessionClosed { .. } => "session_closed",
        EventBody::InstructionQueued { .. } => "instruction_queued",
        EventBody::TurnStarted { .. } => "turn_started",
        EventBody::ContextUpdated { .. } => "context_updated",
        EventBody::TurnContinued { .. } => "turn_continued",
        EventBody::Retrieved { .. } => "retrieved",
        EventBody::PlanChanged { .. } => "plan_changed",
        EventBody::MessageEnded { .. } => "message_ended",
        EventBody::ToolRequested { .. } => "tool_requested",
        EventBody::PatchProposed { .. } => "patch_proposed",
        EventBody::ApprovalAsked { .. } => "approval_asked",
        EventBody::ApprovalDecided { .. } => "approval_decided",
        EventBody::CallChanged { .. } => "call_changed",
        EventBody::ToolStarted { .. } => "tool_started",
        EventBody::ToolEnded { .. } => "tool_ended",
        EventBody::FilesChanged { .. } => "files_changed",
        EventBody::PatchApplied { .. } => "patch_applied",
        EventBody::PatchDropped { .. } => "patch_dropped",
        EventBody::BatchStarted { .. } => "batch_started",
        EventBody::ChangeCollected { .. } => "change_collected",
        EventBody::BatchEnded { .. } => "batch_ended",
        EventBody::CheckpointTaken { .. } => "checkpoint_taken",
        EventBody::Undone { .. } => "undone",
        EventBody::Redone { .. } => "redone",
        EventBody::HistoryCompacted { .. } => "history_compacted",
        EventBody::TurnEnded { .. } => "turn_ended",
        EventBody::Task(_) => "task",
    }
}

proptest! {
    #[test]
    fn every_event_comes_back_from_its_row(body in any_body()) {
        let row = encode(&body).unwrap();
        prop_assert_eq!(row.kind, expected_kind(&body));
        prop_assert!(!row.data.contains(|c: char| c < ' '), "one line of plain text: {}", row.data);
        prop_assert_eq!(decode(row.kind, &row.data), Ok(body));
    }

    #[test]
    fn a_row_that_was_cut_is_damaged(body in any_body(), share in 0.0..1.0_f64) {
        let EventRow { kind, data } = encode(&body).unwrap();
        let end = data.floor_char_boundary((data.len() as f64 * share) as usize);
        let Err(RowError::Damaged { kind: named, .. }) = decode(kind, &data[..end]) else {
            panic!("half a row was taken for a whole one");
        };
        prop_assert_eq!(named, kind);
    }
}

#[test]
fn the_arbitrary_events_are_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let drawn: BTreeSet<&str> =
        (0..2000).map(|_| expected_kind(&any_body().new_tree(&mut runner).unwrap().current())).collect();
    assert_eq!(drawn, KINDS.iter().copied().collect());
}

#[test]
fn the_stored_form_is_the_one_old_journals_have() {
    for (body, kind, data) in samples() {
        assert_eq!(encode(&body), Ok(EventRow { kind, data: data.to_owned() }));
        assert_eq!(decode(kind, data), Ok(body));
    }
}

#[test]
fn every_kind_has_its_own_word_and_a_sample() {
    let words: BTreeSet<&str> = KINDS.iter().copied().collect();
    assert_eq!(words.len(), KINDS.len(), "a word is used twice");
    let sampled: BTreeSet<&str> = samples().iter().map(|(body, ..)| expected_kind(body)).collect();
    assert_eq!(sampled, words);
}

#[test]
fn fields_of_a_newer_version_are_ignored_in_every_row() {
    for (body, kind, data) in samples() {
        let newer = format!(r#"{{"from_later":[{{"deep":null}}],{}"#, &data[1..]);
        assert_eq!(decode(kind, &newer), Ok(body), "{newer}");
    }
}

/// Reads a row and writes it again, which leaves what we know.
fn check_tolerated(kind: &str, newer: &str, known: &str) {
    let row = encode(&decode(kind, newer).unwrap()).unwrap();
    assert_eq!((row.kind, row.data.as_str()), (kind, known));
}

#[test]
fn fields_of_a_newer_version_are_ignored_inside_pieces() {
    check_tolerated(
        "turn_ended",
        r#"{"end":{"cancelled":{"since":3}},"usage":{"input":1,"cached":0,"output":2,"thinking":9}}"#,
        r#"{"end":{"cancelled":{}},"usage":{"input":1,"cached":0,"output":2}}"#,
    );
    check_tolerated(
        "plan_changed",
        r#"{"plan":{"steps":[{"description":"a","files":[],"done":true}],"current":0,"rationale":"","by":{}}}"#,
        r#"{"plan":{"steps":[{"description":"a","files":[]}],"current":0,"rationale":""}}"#,
    );
    check_tolerated(
        "turn_started",
        r#"{"instruction":{"text":"x","preview":false,"sounds":[]},"by":{"policy":{"rule":"r"}}}"#,
        r#"{"instruction":{"text":"x","preview":false},"by":{"policy":{}}}"#,
    );
}

#[test]
fn null_is_read_as_absent_and_white_space_does_not_matter() {
    check_tolerated(
        "model_changed",
        "{ \"model\": \"a:b\",\n  \"reason\": null, \"by\": { \"engine\": {} } }",
        r#"{"model":"a:b","by":{"engine":{}}}"#,
    );
}

#[test]
fn an_unknown_kind_is_named() {
    let error = decode("session_paused", "{}").unwrap_err();
    assert_eq!(error, RowError::UnknownKind("session_paused".to_owned()));
    assert_eq!(error.to_string(), "`session_paused` is no kind of event we know");
    assert!(matches!(decode("SessionClosed", "{}"), Err(RowError::UnknownKind(_))));
}

fn check_damaged(kind: &str, data: &str, expected: &str) {
    let error = decode(kind, data).unwrap_err();
    assert!(matches!(error, RowError::Damaged { .. }), "{error:?}");
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap();
    assert_eq!(said, format!("a damaged `{kind}` row: {expected}"));
}

#[test]
fn what_is_no_json_is_damaged() {
    check_damaged("session_closed", "", "EOF while parsing a value");
    check_damaged("session_closed", "nonsense", "expected ident");
    check_damaged("session_closed", r#"{"by":{"engine":{}}} more"#, "trailing characters");
    check_damaged(
        "history_compacted",
        r#"{"through":4,"summary":"cut"#,
        "`summary`: EOF while parsing a string",
    );
    check_damaged(
        "history_compacted",
        "[]",
        "invalid length 0, expected struct HistoryCompacted with 3 elements",
    );
}

#[test]
fn a_missing_field_is_named() {
    check_damaged("session_closed", "{}", "missing field `by`");
    check_damaged(
        "turn_ended",
        r#"{"end":{"done":{}},"usage":{"input":1,"cached":0}}"#,
        "`usage`: missing field `output`",
    );
}

#[test]
fn an_id_of_another_kind_is_named_with_its_field() {
    check_damaged(
        "batch_started",
        r#"{"batch":"patch_07070707070707070707070707070707"}"#,
        "`batch`: `patch_07070707070707070707070707070707` is not an id of the form `batch_…`",
    );
    check_damaged(
        "approval_decided",
        r#"{"approval":"req_08080808080808080808080808080808","answer":{"scope":{"hunks":{"allowed":[{"patch":"patch_06060606060606060606060606060606","hunks":[]},{"patch":"x","hunks":[]}]}},"remember":"once"},"by":{"policy":{}}}"#,
        "`answer.scope.hunks.allowed[1].patch`: `x` is not an id of the form `patch_…`",
    );
    check_damaged("batch_started", r#"{"batch":7}"#, "`batch`: invalid type: integer `7`, expected an id");
}

#[test]
fn an_unknown_word_is_named_with_its_field() {
    check_damaged(
        "retrieved",
        r#"{"stage":"Symbols","results":0}"#,
        "`stage`: unknown variant `Symbols`, expected one of `symbols`, `text`, `vectors`, `ranking`",
    );
    check_damaged(
        "retrieved",
        r#"{"stage":null,"results":0}"#,
        "`stage`: invalid type: null, expected one of `symbols` `text` `vectors` `ranking`",
    );
    check_damaged(
        "session_closed",
        r#"{"by":{"ghost":{}}}"#,
        "`by.ghost`: unknown variant `ghost`, expected one of `client`, `policy`, `engine`",
    );
}

#[test]
fn a_hash_has_one_spelling() {
    let row = |hash: &str| {
        format!(
            r#"{{"patch":"patch_06060606060606060606060606060606","failure":{{"conflict":{{"found":"{hash}"}}}}}}"#
        )
    };
    assert!(decode("patch_dropped", &row(&"0a".repeat(32))).is_ok());
    for hash in
        ["".to_owned(), "0a".repeat(31), "0a".repeat(33), "0A".repeat(32), "+1".repeat(32), "é".repeat(32)]
    {
        check_damaged(
            "patch_dropped",
            &row(&hash),
            &format!(
                "`failure.conflict.found`: invalid value: string \"{hash}\", expected a hash of 64 hexadecimal digits"
            ),
        );
    }
}

#[test]
fn a_number_that_does_not_fit_is_named_with_its_field() {
    check_damaged(
        "retrieved",
        r#"{"stage":"text","results":-1}"#,
        "`results`: invalid value: integer `-1`, expected u32",
    );
    check_damaged(
        "history_compacted",
        r#"{"through":1.5,"summary":""}"#,
        "`through`: invalid type: floating point `1.5`, expected u64",
    );
}

#[test]
fn a_fault_does_not_quote_without_end() {
    let long = format!(r#"{{"through":"{}","summary":""}}"#, "é".repeat(100_000));
    let Err(RowError::Damaged { reason, .. }) = decode("history_compacted", &long) else {
        panic!("a text is no number");
    };
    assert_eq!(reason.chars().count(), MAX_REASON_CHARS + 1);
    let Err(RowError::UnknownKind(kind)) = decode(&"k".repeat(100_000), "{}") else {
        panic!("nothing is called that");
    };
    assert_eq!(kind.chars().count(), MAX_REASON_CHARS + 1);
}
