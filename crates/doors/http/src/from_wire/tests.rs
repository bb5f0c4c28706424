//! Messages in, intents out.

use loggia_domain::{
    ApprovalScope, ClientId, CodeContext, EventBody, Intent, JsonText, PatchId, Question, WhenBusy,
};
use loggia_protocol_agent_server::{ClientCapability, ClientMessage, Scope};

use crate::from_wire::{
    Buffer, Heard, answer, changed_paths, command_report, greeting, patch_report, prompt, sorted, update,
};
use crate::to_wire::tests::{Story, call, client, command, patch, patch_id};
use crate::{Identity, Proof};

fn decode(text: &str) -> ClientMessage {
    ClientMessage::decode(text).unwrap()
}

/// What a message of a client becomes, given what is open in the session.
fn becomes(text: &str, story: &Story) -> String {
    let state = story.state();
    let mut heard = Heard::default();
    story.events.iter().for_each(|event| heard.note(&event.body));
    let intents = match decode(text) {
        ClientMessage::UserMessage(message) => {
            let unsaved = message.context.as_ref().and_then(Buffer::of);
            Ok(vec![prompt(message, unsaved.as_ref(), WhenBusy::Refuse)])
        }
        ClientMessage::ContextUpdate(news) => Ok(update(&news, None).into_iter().collect()),
        ClientMessage::ApprovalResponse(response) => answer(&response, &state, &heard),
        ClientMessage::PatchApplyResult(result) => patch_report(result).map(|intent| vec![intent]),
        ClientMessage::CommandResult(result) => command_report(result).map(|intent| vec![intent]),
        ClientMessage::Cancel(cancel) => Ok(vec![Intent::Cancel { reason: cancel.reason }]),
        other => panic!("{other:?} is no intent"),
    };
    match intents {
        Ok(intents) => intents.iter().map(shown).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("refused: {}", serde_json::to_string(&error).unwrap()),
    }
}

#[test]
fn a_prompt_for_reading_only_holds_its_turn_to_it() {
    let restraint = |text: &str| {
        let ClientMessage::UserMessage(message) = decode(text) else { panic!() };
        let Intent::Prompt { instruction, .. } = prompt(message, None, WhenBusy::Refuse) else { panic!() };
        instruction.restraint
    };
    assert!(restraint(r#"{"type":"client.user_message","message":"x","read_only":true}"#).reading_only);
    assert!(restraint(r#"{"type":"client.user_message","message":"x"}"#).is_none());
}

#[test]
fn what_is_open_named_faulty_or_changed_is_nearby() {
    let text = r#"{"type":"client.user_message","message":"x","context":{
        "active_editor":{"file_path":"a.rs"},
        "open_editors":[{"file_path":"a.rs"},{"file_path":"b.rs"},{"file_path":"/etc/passwd"},{"file_path":"../c"}],
        "diagnostics":[{"file_path":"d.rs","severity":"error","message":"no","line":3}],
        "git_context":{"staged_files":["e.rs"],"modified_files":["f.rs","e.rs"]},
        "mentions":[{"type":"file","path":"g.rs"},{"type":"symbol","name":"Thing","file_path":"h.rs"},{"type":"odd"}]}}"#;
    let ClientMessage::UserMessage(message) = decode(text) else { panic!() };
    let Intent::Prompt { instruction, .. } = prompt(message, None, WhenBusy::Refuse) else { panic!() };
    let owned = |paths: &[&str]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = CodeContext {
        open_files: owned(&["a.rs", "b.rs"]),
        mentions: owned(&["g.rs", "Thing", "h.rs"]),
        diagnostics: owned(&["d.rs"]),
        recent: owned(&["e.rs", "f.rs"]),
    };
    assert_eq!(instruction.nearby, expected);
}

fn shown(intent: &Intent) -> String {
    match intent {
        Intent::Prompt { instruction, when_busy } => {
            let context = instruction.context.as_ref().map_or("nothing", |JsonText(text)| text);
            let aim = instruction.aim.as_ref().map(|aim| format!("\nfor {aim:?}")).unwrap_or_default();
            format!("prompt ({when_busy:?}) {:?} with {context}{aim}", instruction.text)
        }
        intent => format!("{intent:?}"),
    }
}

fn table(story: &Story, rows: &[&str]) -> String {
    let line = |row: &&str| format!("{row}\n  → {}", becomes(row, story).replace('\n', "\n  → "));
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A session in which a change of two files, another change, a command and a tool wait for an answer, and one
/// question has been answered.
fn waiting() -> Story {
    let mut story = Story::new();
    let patches = |ids: &[u8]| {
        let patches: Vec<PatchId> = ids.iter().copied().map(patch_id).collect();
        Question::Patches { tool: "apply_patch".to_owned(), patches }
    };
    let fetch = Question::Tool { tool: "fetch".to_owned(), arguments: JsonText::empty_object() };
    story
        .prompt((&client(2, "editor")).into(), "go")
        .request(&[
            call(1, "apply_patch", "{}"),
            call(2, "write_file", "{}"),
            call(3, "run_command", "{}"),
            call(4, "fetch", "{}"),
            call(5, "run_command", "{}"),
        ])
        .propose(&[patch(1, 1, "a.rs", 2), patch(2, 1, "b.rs", 1), patch(3, 2, "c.rs", 2)])
        .ask(1, 1, patches(&[1, 2]))
        .ask(2, 2, patches(&[3]))
        .ask(3, 3, command("npm test"))
        .ask(4, 4, fetch)
        .ask(5, 5, command("npm ci"))
        .decide(5, ApprovalScope::All, (&client(3, "page")).into());
    story
}

#[test]
fn answers_become_decisions() {
    let id = |prefix: &str, number: u8| format!("{prefix}_{}", format!("{number:02x}").repeat(16));
    let row = |id: String, rest: &str| {
        format!(r#"{{"type":"client.approval_response","request_id":"{id}","approved":{rest}}}"#)
    };
    let rows = [
        row(id("req", 1), "true"),
        row(id("req", 1), "false"),
        row(id("req", 1), r#"true,"scope":"all""#),
        row(id("req", 1), r#"false,"scope":"all""#),
        row(id("req", 1), r#"true,"scope":"file","file_path":"a.rs""#),
        row(id("req", 1), r#"false,"scope":"file","file_path":"a.rs""#),
        row(id("req", 1), r#"true,"scope":"file","file_path":"z.rs""#),
        row(id("req", 1), r#"true,"scope":"hunk","file_path":"a.rs","hunk_index":1"#),
        row(id("req", 1), r#"false,"scope":"hunk","file_path":"a.rs","hunk_index":1"#),
        row(id("req", 1), r#"true,"scope":"hunk","file_path":"b.rs","hunk_index":1"#),
        row(id("req", 1), r#"true,"remember":"once""#),
        row(id("req", 1), r#"true,"remember":"session""#),
        row(id("req", 1), r#"true,"remember":"workspace""#),
        row(id("req", 1), r#"true,"scope":"all","remember":"workspace""#),
        row(id("req", 1), r#"false,"scope":"file","file_path":"a.rs","remember":"workspace""#),
        row(id("req", 1), r#"false,"comment":" not so ""#),
        row(id("req", 1), r#"false,"comment":"  ""#),
        row(id("req", 1), r#"true,"comment":"but tidy up""#),
        row(id("req", 1), r#"false,"scope":"file","file_path":"a.rs","comment":"leave it""#),
        row(id("req", 1), r#"false,"scope":"all","comment":"none of it""#),
        row(id("patch", 2), "true"),
        row(id("patch", 2), "false"),
        row(id("patch", 2), r#"true,"scope":"all""#),
        row(id("patch", 3), "true"),
        row(id("req", 2), r#"true,"scope":"file","file_path":"c.rs""#),
        row(id("cmd", 3), "true"),
        row(id("cmd", 3), r#"true,"scope":"all""#),
        row(id("cmd", 3), r#"true,"scope":"file","file_path":"a.rs""#),
        row(id("req", 3), "false"),
        row(id("req", 4), "true"),
        // Decided already: the session is asked and will say so; whatever comes of it, nothing is allowed.
        row(id("req", 5), "true"),
        row(id("cmd", 5), "true"),
        // Never asked.
        row(id("req", 9), "true"),
        row(id("cmd", 9), "true"),
        row(id("patch", 9), "true"),
        row(id("cmd", 1), "true"),
        row("nonsense".to_owned(), "true"),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    insta::assert_snapshot!(table(&waiting(), &rows));
}

#[test]
fn reports_become_reports() {
    let rows = [
        r#"{"type":"client.patch_apply_result","patch_id":"patch_01010101010101010101010101010101","file_path":"a.rs","success":true,"error":null,"applied_hash":"sha256:ABcd000000000000000000000000000000000000000000000000000000000012"}"#,
        r#"{"type":"client.patch_apply_result","patch_id":"patch_01010101010101010101010101010101","file_path":"a.rs","success":true,"applied_hash":"sha256:12"}"#,
        r#"{"type":"client.patch_apply_result","patch_id":"patch_01010101010101010101010101010101","file_path":"a.rs","success":false,"error":{"message":"changed","type":"conflict"}}"#,
        r#"{"type":"client.patch_apply_result","patch_id":"patch_01010101010101010101010101010101","file_path":"a.rs","success":false,"error":{"message":"read-only","type":"io"}}"#,
        r#"{"type":"client.patch_apply_result","patch_id":"patch_01010101010101010101010101010101","file_path":"a.rs","success":false}"#,
        r#"{"type":"client.patch_apply_result","patch_id":"nonsense","file_path":"a.rs","success":true}"#,
        r#"{"type":"client.command_result","command_id":"cmd_03030303030303030303030303030303","command":"npm test","exit_code":1,"stdout":"out","stderr":"err","duration_ms":2340}"#,
        r#"{"type":"client.command_result","command_id":"cmd_03030303030303030303030303030303","command":"npm test"}"#,
        r#"{"type":"client.command_result","command_id":"call_03030303030303030303030303030303","command":"npm test"}"#,
        r#"{"type":"client.cancel","reason":"user_cancelled"}"#,
        r#"{"type":"client.cancel"}"#,
    ];
    insta::assert_snapshot!(table(&waiting(), &rows));
}

#[test]
fn instructions_carry_what_the_editor_knows() {
    let hash = "0".repeat(64);
    let unsaved = format!(
        r#"{{"type":"client.user_message","message":"Fix it","context":{{"active_editor":{{"file_path":"a.rs","content_hash":"sha256:{hash}"}},"open_editors":[{{"file_path":"a.rs","is_dirty":true}},{{"file_path":"b.rs","is_dirty":true}},{{"file_path":"c.rs","is_dirty":false}}]}}}}"#
    );
    let rows = [
        r#"{"type":"client.user_message","message":"Hello"}"#,
        r#"{"type":"client.user_message","message":"Hello","context":{}}"#,
        r#"{"type":"client.user_message","message":"Hello","context":{"diagnostics":[]}}"#,
        r#"{"type":"client.user_message","message":"It fails","context":{"command":"/fix"}}"#,
        r#"{"type":"client.user_message","message":"/fix it","context":{"diagnostics":[],"terminal_output":{"command":"make"}}}"#,
        r#"{"type":"client.user_message","message":"/fix","context":{"active_editor":{"file_path":"a.rs"},"diagnostics":[{"file_path":"a.rs","severity":"error","message":"no","line":3},{"file_path":"b.rs","severity":"error","message":"no","line":4}]}}"#,
        r#"{"type":"client.user_message","message":"this","context":{"command":"/test"}}"#,
        r#"{"type":"client.user_message","message":"this","context":{"command":"/explain"}}"#,
        r#"{"type":"client.user_message","message":"this","context":{"command":"/explain","active_editor":{"file_path":"a.rs","selection":{"start":{"line":1,"character":0},"end":{"line":2,"character":0}}}}}"#,
        r#"{"type":"client.user_message","message":"this","context":{"command":"/refactor"}}"#,
        r#"{"type":"client.user_message","message":"/explain","context":{"active_editor":{"file_path":"a.rs","selection":{"start":{"line":7,"character":2},"end":{"line":7,"character":2}}}}}"#,
        r#"{"type":"client.user_message","message":"/explain","context":{"active_editor":{"file_path":"a.rs","visible_range":{"start":1,"end":40}}}}"#,
        r#"{"type":"client.user_message","message":"/test","context":{"active_editor":{"file_path":"/etc/passwd"},"mentions":[{"type":"file","path":"b.rs"},{"type":"file","path":"../c.rs"},{"type":"symbol","name":"f","file_path":"d.rs","line":12},{"type":"symbol","name":"g"}],"terminal_output":{"command":"make"}}}"#,
        r#"{"type":"client.user_message","message":"this","context":{"command":"/dance"}}"#,
        r#"{"type":"client.user_message","message":"/usr/bin is a path"}"#,
        unsaved.as_str(),
        r#"{"type":"client.context_update","updates":{}}"#,
        r#"{"type":"client.context_update","updates":{"diagnostics":[]}}"#,
    ];
    insta::assert_snapshot!(table(&Story::new(), &rows));
}

#[test]
fn only_a_buffer_whose_content_is_known_is_compared() {
    let buffer = |editor: &str| {
        let text = format!(
            r#"{{"type":"client.user_message","message":"m","context":{{"active_editor":{editor}}}}}"#
        );
        let ClientMessage::UserMessage(message) = decode(&text) else { panic!() };
        Buffer::of(&message.context.unwrap()).map(|buffer| buffer.path)
    };
    let hash = "a".repeat(64);
    let with = |path: &str, hash: &str| format!(r#"{{"file_path":"{path}","content_hash":"{hash}"}}"#);
    assert_eq!(buffer(&with("a.rs", &format!("sha256:{hash}"))), Some("a.rs".to_owned()));
    assert_eq!(buffer(&with("a.rs", "sha256:abc123...")), None);
    assert_eq!(buffer(&with("../a.rs", &hash)), None);
    assert_eq!(buffer(&with("/etc/passwd", &hash)), None);
    assert_eq!(buffer(r#"{"file_path":"a.rs"}"#), None);
}

#[test]
fn changed_files_outside_or_of_unknown_kinds_are_dropped_and_counted() {
    let text = r#"{"type":"client.file_changes","changes":[
        {"type":"created","file_path":"src/a.rs"},{"type":"deleted","file_path":"b c.rs"},
        {"type":"modified","file_path":"../x"},{"type":"modified","file_path":"/x"},{"type":"modified","file_path":"a/../x"},
        {"type":"modified","file_path":""},{"type":"modified","file_path":"a\u0000"},{"type":"moved","file_path":"y"}]}"#;
    let ClientMessage::FileChanges(changes) = decode(text) else { panic!() };
    assert_eq!(changed_paths(changes), (vec!["src/a.rs".to_owned(), "b c.rs".to_owned()], 6));
}

#[test]
fn a_hello_says_who_is_there_and_what_it_can_do() {
    let identity = |scope| Identity { name: "token".to_owned(), scope, proof: Proof::Token("1".to_owned()) };
    let hello = |info: &str, scope| {
        let text = format!(r#"{{"type":"client.hello","client_info":{info}}}"#);
        let ClientMessage::Hello(hello) = decode(&text) else { panic!() };
        greeting(&hello, &identity(scope), ClientId::from_bytes([1; 16]))
    };
    let all = r#"{"name":"editor","version":"1","capabilities":["diff_preview","terminal_exec","git_integration","queue","delta_only","juggling"]}"#;
    let long = format!(r#"{{"name":"{}","version":"1"}}"#, "n".repeat(1000));
    let greetings = [
        hello(all, Scope::Drive),
        hello(r#"{"name":" \u0007 ","version":"1"}"#, Scope::Read),
        hello(&long, Scope::Admin),
    ];
    insta::assert_debug_snapshot!(greetings);
}

#[test]
fn capabilities_nobody_knows_come_back_with_what_they_may_mean() {
    let named = |names: &[&str]| {
        names.iter().map(|name| ClientCapability::from((*name).to_owned())).collect::<Vec<_>>()
    };
    let (understood, unknown) =
        sorted(&named(&["queue", "diff-preview", "deltaonly", "juggling", "queue", "Terminal_Exec", ""]));
    assert_eq!(understood, [ClientCapability::Queue]);
    let unknown: Vec<(&str, Option<&str>)> = unknown
        .iter()
        .map(|unknown| (unknown.name.as_str(), unknown.did_you_mean.as_ref().map(ClientCapability::as_str)))
        .collect();
    let expected = [
        ("diff-preview", Some("diff_preview")),
        ("deltaonly", Some("delta_only")),
        ("juggling", None),
        ("Terminal_Exec", Some("terminal_exec")),
        ("", None),
    ];
    assert_eq!(unknown, expected);
    let long = vec!["x".repeat(1000); 1000];
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let (_, unknown) = sorted(&named(&long));
    assert!(unknown.len() <= 16 && unknown.iter().all(|unknown| unknown.name.len() <= 64));
}

#[test]
fn questions_are_remembered_up_to_a_limit() {
    let mut heard = Heard::default();
    let ask = |number: u16| {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&number.to_be_bytes());
        EventBody::ApprovalAsked {
            approval: loggia_domain::ApprovalId::from_bytes(bytes),
            call: Some(loggia_domain::CallId::from_bytes(bytes)),
            question: command("x"),
            risk: loggia_domain::Risk::Low,
            expires: None,
        }
    };
    (0..300).for_each(|number| heard.note(&ask(number)));
    let state = Story::new().state();
    let answered = |number: u16| {
        let id = format!("cmd_{number:04x}{}", "0".repeat(28));
        let text = format!(r#"{{"type":"client.approval_response","request_id":"{id}","approved":true}}"#);
        let ClientMessage::ApprovalResponse(response) = decode(&text) else { panic!() };
        answer(&response, &state, &heard).is_ok()
    };
    assert!(answered(299) && answered(44));
    assert!(!answered(43));
}
