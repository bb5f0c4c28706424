//! The open message of a workspace, as people work on it with `loggia message`.

use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::auto::AutoStage;
use crate::extensions::{MESSAGE, configure, extension, house};
use crate::plugins::House;
use crate::server::Server;
use crate::stage::Transcript;

/// Runs with something on stdin.
fn fed(house: &House, arguments: &[&str], input: &str) -> Transcript {
    let mut command = house.stage.0.command(arguments);
    command.stdin(Stdio::piped());
    house.stage.0.finish(command, input.as_bytes())
}

#[test]
fn a_message_is_opened_looked_at_changed_and_saved() {
    let house = house(&[]);
    insta::assert_snapshot!(house.run(&["message"]), @"
    exit: 0
    --- stderr
    No message is open; `loggia message open FILE` opens one.
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "open", "adt.hl7"]), @"
    exit: 0
    --- stdout
    adt.hl7: hl7, 95 bytes, revision 1
    [END]
    ");
    assert_eq!(house.done(&["message", "show"]).stdout, MESSAGE.replace('\r', "\n"));
    assert_eq!(house.done(&["message", "show", "--format", "hl7"]).stdout, MESSAGE);
    assert_eq!(house.done(&["message", "get", "PID.5.2"]).stdout, "ANN\n");
    insta::assert_snapshot!(house.run(&["message", "patch", "PID.5.1=DOE", "PID.8=", "NK1.2.1=POE"]), @"
    exit: 0
    --- stdout
    3 places changed; adt.hl7: hl7, 94 bytes, revision 2, not saved
    [END]
    ");
    assert_eq!(house.stage.0.read("project/adt.hl7"), MESSAGE, "not before it is saved");
    insta::assert_snapshot!(house.run(&["message"]), @"
    exit: 0
    --- stdout
    adt.hl7: hl7, 94 bytes, revision 2, not saved
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "undo"]), @"
    exit: 0
    --- stdout
    one step back; adt.hl7: hl7, 95 bytes, revision 3
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "redo"]), @"
    exit: 0
    --- stdout
    one step made again; adt.hl7: hl7, 94 bytes, revision 4, not saved
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "redo"]), @"
    exit: 2
    --- stderr
    error: there is no step to make again

    hint: `loggia message` tells how it stands
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "close"]), @"
    exit: 2
    --- stderr
    error: the open message has changes that are not saved: save it, or close it and discard them

    hint: save it with `loggia message save`, or give up what is not saved with `loggia message close --discard`
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "save"]), @"
    exit: 0
    --- stdout
    saved adt.hl7
    [END]
    ");
    let expected =
        MESSAGE.replace("PID|1||77||ROE^ANN|||F", "PID|1||77||DOE^ANN|||").replace("ROE^BOB", "POE^BOB");
    assert_eq!(house.stage.0.read("project/adt.hl7"), expected);
    insta::assert_snapshot!(house.run(&["message", "save", "--as", "copy.hl7"]), @"
    exit: 0
    --- stdout
    saved copy.hl7
    [END]
    ");
    assert_eq!(house.stage.0.read("project/copy.hl7"), expected);
    insta::assert_snapshot!(house.run(&["message", "close"]), @"
    exit: 0
    --- stdout
    closed copy.hl7
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "get", "PID.5"]), @"
    exit: 2
    --- stderr
    error: no message is open in this workspace

    hint: `loggia message open FILE` opens one
    [END]
    ");
    house.end();
}

#[test]
fn places_are_made_and_taken_away() {
    let house = house(&[]);
    house.done(&["message", "open", "adt.hl7"]);
    let patched = house.json(&[
        "message",
        "patch",
        "--remove",
        "NK1",
        "--create",
        "NTE.3=late",
        "PID.5.1=A^B",
        "--json",
    ]);
    assert_eq!((&patched["applied"], patched.get("refused")), (&3.into(), None), "{patched}");
    let text = house.done(&["message", "show"]).stdout;
    assert!(!text.contains("NK1") && text.contains("NTE|||late") && text.contains("A\\S\\B^ANN"), "{text}");
    insta::assert_snapshot!(
        house.run(&["message", "patch", "PID.0=x", "PID.5[99999999999]=x", "ZZZ.1=x", "PID.3=78", "--save"]),
        @"
    exit: 4
    --- stdout
    1 place changed; adt.hl7: hl7, 94 bytes, revision 3, not saved
    --- stderr
    warning: `PID.0` did not change: `PID.0` has the number 0: they are from 1 to 9999
    warning: `PID.5[99999999999]` did not change: `PID.5[99999999999]` has the number 99999999999: they are from 1 to 9999
    warning: `ZZZ.1` did not change: segment ZZZ is not in the message
    warning: it is not saved, since not all changed
    [END]
    "
    );
    assert_eq!(house.done(&["message", "get", "PID.3"]).stdout, "78\n");
    insta::assert_snapshot!(house.run(&["message", "get", "ZZZ.1"]), @"
    exit: 4
    --- stderr
    warning: `ZZZ.1` leads nowhere in this message
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "get", "PID..1"]), @"
    exit: 2
    --- stderr
    error: path: `PID..1` is no path from `..1` on: such as `PID`, `OBX[2].5`, `PID.13[2].1` and `PID.3.4.2` are

    hint: paths are written like `PID.5.1`, `OBX[2].5` or `PID.13[2]`; in trees like `a.b[0]`
    [END]
    ");
    house.end();
}

#[test]
fn a_message_is_shown_and_set_in_other_formats() {
    let house = house(&[]);
    house.done(&["message", "open", "adt.hl7"]);
    let json = house.done(&["message", "show", "--format", "json"]).stdout;
    let tree: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(tree["segments"][1]["fields"]["5"]["1"], "ROE");
    let changed = json.replace("ROE", "DOE");
    let set = fed(&house, &["message", "set", "--format", "json"], &changed);
    assert_eq!(set.code, Some(0), "{set}");
    assert_eq!(house.done(&["message", "get", "PID.5.1"]).stdout, "DOE\n");
    insta::assert_snapshot!(fed(&house, &["message", "set"], "no message"), @"
    exit: 2
    --- stderr
    error: the text is not a message: it does not begin with `MSH` and its delimiters

    hint: `--format` says what the text is written in, or is to be: hl7, json, yaml or toml
    [END]
    ");
    insta::assert_snapshot!(fed(&house, &["message", "set", "nothing.hl7"], ""), @"
    exit: 2
    --- stderr
    error: there is no file `nothing.hl7`

    hint: see that its name is right; `-` reads what is piped in
    [END]
    ");
    for format in ["yaml", "toml"] {
        assert!(house.done(&["message", "show", "--format", format]).stdout.contains("DOE"), "{format}");
    }
    house.end();
}

#[test]
fn documents_of_other_kinds_are_worked_on_by_path_too() {
    let house = house(&[]);
    house.stage.0.write("project/a.json", "{\n  \"name\": \"Ann\",\n  \"tags\": [\"x\"]\n}\n");
    house.done(&["message", "open", "a.json"]);
    house.done(&["message", "patch", "name=Bob", "--save"]);
    let written = house.stage.0.read("project/a.json");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap()["name"], "Bob", "{written}");
    assert_eq!(house.done(&["message", "get", "name"]).stdout, "Bob\n");
    // An empty value clears, and an empty text is said.
    house.stage.0.write("project/b.json", "{\"n\": 1, \"m\": 2, \"t\": \"x\", \"l\": [1]}");
    house.done(&["message", "open", "b.json"]);
    house.done(&["message", "patch", "n=", "m=\"\"", "t=", "l=", "--save"]);
    assert_eq!(house.stage.0.read("project/b.json"), "{\"n\": null, \"m\": \"\", \"t\": \"\", \"l\": []}");
    house.end();
}

#[test]
fn an_empty_message_says_what_it_needs_and_an_empty_document_can_be_filled() {
    let house = house(&[]);
    fed(&house, &["message", "open", "--new"], "");
    insta::assert_snapshot!(house.run(&["message", "patch", "--create", "PID.5=x"]), @"
    exit: 2
    --- stderr
    error: the message is empty: it needs a text that begins with an MSH segment first

    hint: `loggia message set FILE` gives it a text, `loggia message open FILE` opens one that has one
    [END]
    ");
    let doubtful = house.run(&["message", "validate"]);
    assert_eq!(doubtful.stdout, "error   the message is empty\n");
    // What older systems write is set as it is opened.
    let latin: Vec<u8> = MESSAGE.replace("ROE^ANN", "ROE^ZO").bytes().chain(*b"NTE|1||Zo\xeb\r").collect();
    std::fs::write(house.stage.0.path("project/lat.hl7"), latin).unwrap();
    house.done(&["message", "set", "lat.hl7"]);
    assert_eq!(house.done(&["message", "get", "NTE.3"]).stdout, "Zoë\n");
    insta::assert_snapshot!(house.run(&["message", "open", "adt.hl7"]), @"
    exit: 2
    --- stderr
    error: the open message has changes that are not saved: save it, or close it and discard them

    hint: save it with `loggia message save`, or give up what is not saved with `loggia message close --discard`
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "save", "--as", "names/"]), @"
    exit: 2
    --- stderr
    error: `names/` names a directory, not a file

    hint: name a file, without `/` at its end
    [END]
    ");
    let sealed = house.run(&["message", "save", "--as", ".git/x.hl7"]);
    assert_eq!(sealed.code, Some(6), "{sealed}");
    for format in ["json", "yaml", "toml"] {
        house.done(&["message", "close", "--discard"]);
        fed(&house, &["message", "open", "--new", "--format", format], "");
        house.done(&["message", "patch", "--create", "a.b=x"]);
        assert_eq!(house.done(&["message", "get", "a.b"]).stdout, "x\n", "{format}");
        assert_eq!(house.json(&["message", "--json"])["format"], format);
    }
    house.end();
}

#[test]
fn a_long_message_is_shown_as_a_tree_and_its_findings_end_somewhere() {
    let house = house(&[]);
    let segments = "OBX|1|NM|GLU^Glucose^L||5.4|mmol/L|3.9-5.5||||F|||nonsense\r".repeat(120_000);
    house.stage.0.write("project/long.hl7", format!("{MESSAGE}{segments}"));
    house.done(&["message", "open", "long.hl7"]);
    let shown = house.done(&["message", "show", "--format", "json"]).stdout;
    assert!(shown.len() > 32 << 20, "{}", shown.len());
    let doubtful = house.run(&["message", "validate"]);
    assert_eq!(doubtful.stderr, "warning: no more than 1000 findings are told, and there may be others\n");
    house.end();
}

#[test]
fn a_new_message_comes_from_stdin_and_has_no_file_until_it_is_saved() {
    let house = house(&[]);
    insta::assert_snapshot!(fed(&house, &["message", "open", "--new"], MESSAGE), @"
    exit: 0
    --- stdout
    a message without a file: hl7, 95 bytes, revision 1, not saved
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "save"]), @"
    exit: 2
    --- stderr
    error: the message has no file yet

    hint: `loggia message save --as FILE` names a file, also another one than before
    [END]
    ");
    house.done(&["message", "save", "--as", "new.hl7"]);
    assert_eq!(house.stage.0.read("project/new.hl7"), MESSAGE);
    insta::assert_snapshot!(house.run(&["message", "open", "nothing.hl7"]), @"
    exit: 2
    --- stderr
    error: the message's file cannot be used: `nothing.hl7` does not exist

    hint: name a file of the workspace; `--new` begins a message without one
    [END]
    ");
    insta::assert_snapshot!(house.run(&["message", "open"]), @"
    exit: 2
    --- stderr
    error: the following required arguments were not provided:
      <FILE>

    Usage: loggia message open <FILE>

    For more information, try '--help'.
    [END]
    ");
    house.end();
}

#[test]
fn what_is_doubtful_is_told_with_what_extensions_lay_over_the_schema() {
    let house = house(&[]);
    house.stage.0.write("project/adt.hl7", MESSAGE.replace("|||F", "|||"));
    house.done(&["message", "open", "adt.hl7"]);
    assert!(!house.run(&["message", "validate"]).stdout.contains("PID.8"));
    house.done(&["message", "close"]);
    let table = extension(&house.stage.0, "test", &["schema"]);
    configure(&house.stage.0, &table);
    house.done(&["message", "open", "adt.hl7"]);
    insta::assert_snapshot!(house.run(&["message", "validate"]), @"
    exit: 4
    --- stdout
    warning MSH.7: Date and time of the message is `20250101`, which is not a moment, as in 20240131235959+0100
    error   PID.8: Sex must not be empty
    [END]
    ");
    let told = house.run(&["message", "validate", "--json"]);
    assert_eq!(told.code, Some(4), "{told}");
    house.end();
}

#[test]
fn a_server_with_a_message_that_is_not_saved_stops_only_if_that_is_meant() {
    let house = house(&[]);
    house.done(&["message", "open", "adt.hl7"]);
    house.done(&["message", "patch", "PID.5.1=DOE"]);
    let refused = house.run(&["stop"]).to_string();
    assert!(refused.contains("exit: 6") && refused.contains("is not saved"), "{refused}");
    assert!(refused.contains("loggia message save") && refused.contains("--discard"), "{refused}");
    assert_eq!(house.done(&["message", "get", "PID.5.1"]).stdout, "DOE\n", "nothing is lost");
    house.done(&["stop", "--discard"]);
    assert_eq!(house.stage.0.read("project/adt.hl7"), MESSAGE);
}

#[test]
fn a_server_that_would_leave_stays_while_something_is_not_saved() {
    // Long enough for a loaded machine to get the message opened.
    const IDLE: Duration = Duration::from_secs(2);
    let stage = AutoStage::new();
    stage.0.write("project/adt.hl7", MESSAGE);
    let arguments = ["serve", "--auto", "--idle-exit-ms", "2000", "--json"];
    let server = Server::spawn(stage.0.command(&arguments));
    for arguments in [&["message", "open", "adt.hl7"][..], &["message", "patch", "PID.5.1=DOE"]] {
        let shown = stage.0.run(arguments);
        assert_eq!(shown.code, Some(0), "{shown}");
    }
    let since = Instant::now();
    while since.elapsed() < 2 * IDLE {
        assert!(UnixStream::connect(server.socket()).is_ok(), "it left");
        std::thread::sleep(IDLE / 20);
    }
    // It is the same one that is asked to save, and then it may go.
    let saved = stage.0.run(&["message", "save"]);
    assert_eq!(saved.code, Some(0), "{saved}");
    assert_eq!(server.wait().0, Some(0));
    assert_eq!(stage.0.read("project/adt.hl7"), MESSAGE.replace("ROE^ANN", "DOE^ANN"));
}
