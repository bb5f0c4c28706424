//! `loggia inspect`: the built-in samples, recorded files, and recordings that lie.

use crate::stage::Stage;

fn framed(bodies: &[&str]) -> Vec<u8> {
    bodies
        .iter()
        .flat_map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
        .collect()
}

#[test]
fn the_sample_of_every_protocol_is_without_faults() {
    let shown = Stage::new().run(&["inspect"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown}");
    for protocol in ["agent-server", "autohand", "endermux", "hermes", "mehrhof"] {
        assert!(shown.stdout.contains(&format!("{protocol}: a sample conversation\n")), "{shown}");
    }
    assert_eq!(shown.stdout.matches(" messages, no faults\n").count(), 5, "{shown}");
}

#[test]
fn a_conversation_is_told_line_by_line() {
    insta::assert_snapshot!(Stage::new().run(&["inspect", "hermes"]), @r"
    exit: 0
    --- stdout
    hermes: a sample conversation
        1  host       request       initialize           1              153 B
        2  extension  result        initialize           1              215 B
        3  host       notification  command/execute      -               82 B
        4  extension  request       editor/getMessage    1               79 B
        5  host       result        editor/getMessage    1              132 B
        6  extension  request       editor/patchMessage  2              109 B
        7  host       result        editor/patchMessage  2               69 B
        8  extension  request       ui/showMessage       3              101 B
        9  host       result        ui/showMessage       3               55 B
       10  extension  request       ui/closeWindow       4               87 B
       11  host       error         ui/closeWindow       4              110 B  no such window (-32008)
       12  host       request       shutdown             2               74 B
       13  extension  result        shutdown             2               50 B
    13 messages, no faults
    [END]
    ");
}

#[test]
fn json_is_one_object_per_message() {
    insta::assert_snapshot!(Stage::new().run(&["inspect", "endermux", "--json", "--limit", "3"]), @r#"
    exit: 0
    --- stdout
    {"protocol":"endermux","number":1,"sender":"client","kind":"message","name":"HELLO","id":"1b9c","bytes":353,"faults":[]}
    {"protocol":"endermux","number":2,"sender":"server","kind":"message","name":"WELCOME","id":"1b9c","bytes":167,"faults":[]}
    {"protocol":"endermux","number":3,"sender":"server","kind":"message","name":"INTERACTIVITY_STATUS","id":null,"bytes":57,"faults":[]}
    [END]
    "#);
}

#[test]
fn a_file_and_stdin_are_read_alike() {
    let stage = Stage::new();
    let recording = framed(&[r#"{"jsonrpc":"2.0","method":"command/execute","params":{"command":"a"}}"#]);
    let path = stage.write("session.bin", &recording);
    let file = stage.run(&["inspect", "hermes", path.to_str().unwrap()]);
    let stdin = stage.run_on(&recording, &["inspect", "hermes", "-"]);
    assert_eq!(file.stdout, stdin.stdout);
    insta::assert_snapshot!(stdin, @r"
    exit: 0
    --- stdout
        1  host       notification  command/execute      -               69 B
    1 message, no faults
    [END]
    ");
}

#[test]
fn faults_are_told_with_the_path_of_the_field() {
    let recording = framed(&[
        r#"{"jsonrpc":"2.0","id":1,"method":"initialise","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"editor/patchMessage","params":{"patches":[{"path":"PID.5"},{"path":7}]}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"success":"yes"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"ui/openFile"}"#,
        r#"{"id":4,"method":"shutdown","params":{}}"#,
        "{\"jsonrpc\":\"2.0\",\"method\":\"\\u001b[2J\",\"params\":{}}",
        "[]",
        "{",
    ]);
    insta::assert_snapshot!(Stage::new().run_on(&recording, &["inspect", "hermes", "-"]), @r#"
    exit: 4
    --- stdout
        1  ?          request       initialise           1               58 B
           fault: method: unknown; the nearest known one is `initialize`
        2  extension  request       editor/patchMessage  2              106 B
           fault: params.patches[1].path: invalid type: integer `7`, expected a string
        3  host       result        editor/patchMessage  2               51 B
           fault: result.success: invalid type: string "yes", expected a boolean
        4  extension  request       ui/openFile          3               47 B
           fault: `params` must be an object
        5  ?          invalid       -                    -               40 B
           fault: `jsonrpc` must be "2.0"
        6  ?          notification  \u{1b}[2J            -               50 B
           fault: method: unknown
        7  ?          invalid       -                    -                2 B
           fault: this protocol has no batches
        8  ?          broken        -                    -                1 B
           fault: Parse error: EOF while parsing an object at line 1 column 1
    8 messages, 8 with faults
    [END]
    "#);
}

#[test]
fn faults_are_red_where_colours_are() {
    let shown = Stage::new().run_on(b"{\n", &["--color", "always", "inspect", "mehrhof", "-"]);
    assert!(shown.stdout.contains("\u{1b}[31mfault: "), "{shown}");
}

#[test]
fn a_length_that_lies_ends_the_stream_with_a_fault() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.run_on(b"Content-Length: 99\r\n\r\n{}", &["inspect", "hermes", "-"]), @r"
    exit: 4
    --- stdout
        1  ?          broken        -                    -                0 B
           fault: stream ended 97 bytes before the frame did
    1 message, 1 with faults
    [END]
    ");
    insta::assert_snapshot!(stage.run_on(b"\xff\xff\xff\xff{}", &["inspect", "endermux", "-"]), @r"
    exit: 4
    --- stdout
        1  ?       broken        -                          -                0 B
           fault: frame length -1 is not positive
    1 message, 1 with faults
    [END]
    ");
    insta::assert_snapshot!(stage.run_on(b"\x7f\xff\xff\xff{}", &["inspect", "endermux", "-"]), @r"
    exit: 4
    --- stdout
        1  ?       broken        -                          -                0 B
           fault: frame of 2147483647 bytes is over the limit of 1048577
    1 message, 1 with faults
    [END]
    ");
}

#[test]
fn a_broken_line_does_not_hide_the_next() {
    let recording = b"not JSON\n\xff\xfe\n\n{\"type\":\"client.cancel\"}\r\n{\"type\":\"client.cancle\"}";
    insta::assert_snapshot!(Stage::new().run_on(recording, &["inspect", "agent-server", "-"]), @r"
    exit: 4
    --- stdout
        1  ?       broken        -                          -                8 B
           fault: Parse error: expected ident at line 1 column 2
        2  ?       broken        -                          -                2 B
           fault: invalid utf-8 sequence of 1 bytes from index 0
        3  client  message       client.cancel              -               24 B
        4  ?       message       client.cancle              -               24 B
           fault: type: unknown; the nearest known one is `client.cancel`
    4 messages, 3 with faults
    [END]
    ");
}

#[test]
fn a_batch_counts_as_its_members_also_for_the_limit() {
    let recording = br#"[{"jsonrpc":"2.0","id":1,"method":"autohand.abort"},{"jsonrpc":"2.0","id":2,"method":"autohand.reset"}]"#;
    insta::assert_snapshot!(Stage::new().run_on(recording, &["inspect", "autohand", "-"]), @r"
    exit: 0
    --- stdout
        1  client  request       autohand.abort                        1               50 B
        2  client  request       autohand.reset                        2               50 B
    2 messages, no faults
    [END]
    ");
    let shown = Stage::new().run_on(recording, &["inspect", "autohand", "-", "--limit", "1"]);
    assert!(shown.stdout.ends_with("\n1 message, no faults\n"), "{shown}");
}

#[test]
fn a_file_where_the_protocol_should_be_gets_a_hint() {
    let stage = Stage::new();
    stage.write("outside/talk.jsonl", "{}\n");
    let shown = stage.run(&["inspect", "talk.jsonl"]);
    assert!(
        shown.stderr.ends_with("hint: the protocol comes first, as in `loggia inspect hermes talk.jsonl`\n"),
        "{shown}"
    );
}

#[test]
fn an_empty_recording_is_clean() {
    insta::assert_snapshot!(Stage::new().run_on(b"", &["inspect", "mehrhof", "-"]), @r"
    exit: 0
    --- stdout
    no messages: the recording is empty
    [END]
    ");
}

#[test]
fn a_file_that_is_not_there_is_told() {
    insta::assert_snapshot!(Stage::new().run(&["inspect", "hermes", "missing.bin"]), @r"
    exit: 5
    --- stderr
    error: cannot read `missing.bin`
      cause: No such file or directory (os error 2)

    hint: see that it exists and can be read
    [END]
    ");
}

#[test]
fn an_unknown_protocol_is_a_usage_error() {
    insta::assert_snapshot!(Stage::new().run(&["inspect", "hermess"]), @r"
    exit: 2
    --- stderr
    error: invalid value 'hermess' for '[PROTOCOL]'
      [possible values: agent-server, autohand, endermux, hermes, mehrhof]

      tip: a similar value exists: 'hermes'

    For more information, try '--help'.
    [END]
    ");
}
