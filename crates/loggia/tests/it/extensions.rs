//! Extensions as people use them: configured, listed, started, run on a message, stopped.

use std::path::Path;

use serde_json::Value;

use crate::auto::AutoStage;
use crate::plugins::{House, noted, until_gone};
use crate::stage::Stage;

const SCRIPT: &str = include_str!("extensions/extension.py");

/// A message with what tests look at. Its segments end as they should.
pub(crate) const MESSAGE: &str =
    "MSH|^~\\&|LAB|NORTH|EHR|SOUTH|20250101||ADT^A01|42|P|2.5.1\rPID|1||77||ROE^ANN|||F\rNK1|1|ROE^BOB\r";

/// Where the extension of a name lies.
fn directory(name: &str) -> String {
    format!("outside/{name}")
}

/// Puts an extension with these habits somewhere, and returns its table.
pub(crate) fn extension(stage: &Stage, name: &str, habits: &[&str]) -> String {
    let program = stage.write(&format!("{}/extension.py", directory(name)), SCRIPT);
    let arguments: Vec<String> = std::iter::once(program.to_str().unwrap())
        .chain(habits.iter().copied())
        .map(|word| format!("{word:?}"))
        .collect();
    format!("\n[[extensions]]\nname = {name:?}\npath = \"python3\"\nargs = [{}]\n", arguments.join(", "))
}

/// Appends to the user's configuration.
pub(crate) fn configure(stage: &Stage, text: &str) {
    let file = stage.read("home/.config/loggia/config.toml");
    stage.user_file(&format!("{file}{text}"));
}

/// A house with extensions of the user: a name and habits each, and a message in the project.
pub(crate) fn house(extensions: &[(&str, &[&str])]) -> House {
    let stage = AutoStage::new();
    stage.0.write("project/adt.hl7", MESSAGE);
    let tables: String = extensions.iter().map(|(name, habits)| extension(&stage.0, name, habits)).collect();
    configure(&stage.0, &tables);
    House::around(stage)
}

pub(crate) fn starts(house: &House, name: &str) -> Vec<i32> {
    noted(&house.stage.0, &format!("{}/starts.log", directory(name)))
}

fn ends(house: &House, name: &str) -> Vec<i32> {
    noted(&house.stage.0, &format!("{}/ends.log", directory(name)))
}

/// How an extension is, in a word.
pub(crate) fn state(house: &House, name: &str) -> String {
    house.json(&["ext", "info", name, "--json"])["state"].as_str().unwrap().to_owned()
}

/// What extensions said in a run.
pub(crate) fn said(run: &Value) -> Vec<String> {
    let entries = run["run"]["said"].as_array().cloned().unwrap_or_default();
    entries.iter().map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn extensions_are_listed_with_how_they_are_and_none_is_started() {
    let house = house(&[("test", &[])]);
    let stage = &house.stage.0;
    configure(stage, "\n[[extensions]]\npath = \"/opt/wizard --quiet\"\nenabled = false\n");
    stage.write("project/.loggia/config.toml", "[[extensions]]\npath = \"python3 tools/lab.py\"\n");
    insta::assert_snapshot!(house.run(&["-q", "ext"]), @"
    exit: 0
    --- stdout
    NAME    SCOPE    STATE        ABOUT
    test    global   ready        python3 [STAGE]/outside/test/extension.py
    wizard  global   off          /opt/wizard --quiet
    lab     project  not trusted  its workspace is not trusted; `loggia trust` there shows what would run
    --- stderr
    warning: extensions of this workspace are not trusted; `loggia trust` shows what would run, and lets it
    [END]
    ");
    insta::assert_snapshot!(house.run(&["-q", "ext", "info", "test"]), @"
    exit: 0
    --- stdout
    test
      state        ready
      scope        global
      started as   python3 [STAGE]/outside/test/extension.py
      commands     known once it runs; `loggia ext start` starts it
    [END]
    ");
    insta::assert_snapshot!(house.run(&["-q", "ext", "info", "tset"]), @"
    exit: 2
    --- stderr
    error: there is no such extension here

    hint: `loggia ext list` tells which extensions there are, `loggia ext info NAME` what one offers once it runs
    [END]
    ");
    let listed = house.json(&["-q", "ext", "list", "--json"]);
    let states: Vec<_> = listed["extensions"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["idle", "disabled", "untrusted"]);
    assert_eq!(starts(&house, "test"), [0; 0]);
    house.end();
}

#[test]
fn an_extension_is_started_stopped_and_started_again() {
    let house = house(&[("test", &["schema"])]);
    assert_eq!(house.run(&["ext", "start"]).code, Some(0));
    let info = house.json(&["ext", "info", "test", "--json"]);
    assert_eq!((&info["state"], &info["about"]["version"]), (&"running".into(), &"1.2.3".into()), "{info}");
    assert_eq!(info["pid"], serde_json::json!(starts(&house, "test")[0]));
    assert_eq!(info["commands"][0]["title"], "Patch it");
    assert_eq!(info["has_schema"], true);
    insta::assert_snapshot!(house.run(&["ext", "stop", "test"]), @"
    exit: 0
    --- stdout
    test is stopped
    [END]
    ");
    assert_eq!(ends(&house, "test"), starts(&house, "test"));
    until_gone(&starts(&house, "test"));
    // One that was stopped stays so, whoever asks for all of them.
    let left = house.done(&["ext", "start"]).stderr;
    assert_eq!(left, "warning: test stays stopped; `loggia ext restart test` starts it again\n");
    assert_eq!(state(&house, "test"), "stopped");
    insta::assert_snapshot!(house.run(&["ext", "restart", "test"]), @"
    exit: 0
    --- stdout
    test is running
    [END]
    ");
    assert_eq!(starts(&house, "test").len(), 2);
    let log = house.json(&["ext", "logs", "test", "--json"]);
    assert!(log["entries"].as_array().unwrap().len() > 2, "{log}");
    house.end();
}

#[test]
fn a_command_works_on_the_message_and_its_file_is_saved_byte_by_byte() {
    let house = house(&[("test", &[])]);
    let shown = house.done(&["ext", "run", "test", "t/patch", "--message", "adt.hl7", "--save"]);
    assert_eq!(shown.stdout, "test: t/patch is done; saved adt.hl7\n");
    // It may hear of its own change before the run is over, or after.
    assert!(shown.stderr.contains("test: patched: {\"patchesApplied\": 1, \"success\": true}\n"), "{shown}");
    assert_eq!(house.stage.0.read("project/adt.hl7"), MESSAGE.replace("ROE^ANN", "TEST^ANN"));
    // It began before the message was opened, so it heard of all of it.
    let log = house.done(&["ext", "logs", "test"]).stdout;
    for heard in ["heard message/opened filePath,isNew", "heard message/saved filePath,saveAs"] {
        assert!(log.contains(heard), "{log}");
    }
    let run = house.json(&["ext", "run", "test", "t/env", "--json"]);
    let told = said(&run).join("\n");
    assert!(told.contains("HERMES_API_VERSION=1.0 EXT_SETTING=-"), "{told}");
    assert!(told.contains("cwd [STAGE]/project\n") && told.contains("data True"), "{told}");
    assert_eq!((&run["run"]["still_busy"], &run["saved"]), (&Value::Bool(false), &Value::Null));
    assert_eq!(starts(&house, "test").len(), 1);
    house.end();
}

#[test]
fn a_table_says_where_and_with_what_an_extension_runs() {
    let house = house(&[]);
    let table = extension(&house.stage.0, "test", &[]);
    house.stage.0.write("project/sub/readme", "");
    configure(&house.stage.0, &format!("{table}cwd = \"sub\"\nenv = {{ EXT_SETTING = \"north\" }}\n"));
    let told = said(&house.json(&["ext", "run", "test", "t/env", "--json"])).join("\n");
    assert!(told.contains("EXT_SETTING=north") && told.contains("cwd [STAGE]/project/sub\n"), "{told}");
    let file = house.stage.0.read("home/.config/loggia/config.toml").replace("\"sub\"", "\"nowhere\"");
    house.stage.0.user_file(&file);
    insta::assert_snapshot!(house.run(&["ext", "restart", "test"]), @"
    exit: 4
    --- stderr
    error: extension `test`: it cannot be started: its `cwd` is `[STAGE]/project/nowhere`, and there is no such directory

    hint: `loggia ext logs NAME` tells what happened to it, `loggia ext restart NAME` starts it again
    [END]
    ");
    house.end();
}

#[test]
fn what_cannot_be_run_is_told() {
    let house = house(&[("test", &[])]);
    insta::assert_snapshot!(house.run(&["ext", "run", "test", "t/nothing"]), @"
    exit: 2
    --- stderr
    error: no extension that runs here has the command `t/nothing`

    hint: `loggia ext list` tells which extensions there are, `loggia ext info NAME` what one offers once it runs
    [END]
    ");
    insta::assert_snapshot!(house.run(&["ext", "run", "nobody", "t/patch"]), @"
    exit: 2
    --- stderr
    error: there is no extension `nobody` here; there are `test`

    hint: `loggia ext list` tells which extensions there are, `loggia ext info NAME` what one offers once it runs
    [END]
    ");
    insta::assert_snapshot!(house.run(&["ext", "run", "test", "t/patch", "--message", "nothing.hl7"]), @"
    exit: 2
    --- stderr
    error: the message's file cannot be used: `nothing.hl7` does not exist

    hint: name a file of the workspace; `--new` begins a message without one
    [END]
    ");
    insta::assert_snapshot!(house.run(&["ext", "run", "test", "t/patch", "--message", "../outside/x.hl7"]), @"
    exit: 2
    --- stderr
    error: `../outside/x.hl7` is not in the workspace `[STAGE]/project`

    hint: name a file of the workspace, or the workspace that has it with `-w DIR`
    [END]
    ");
    insta::assert_snapshot!(house.run(&["ext", "run", "test", "t/patch", "--answer", "message=ok"]), @"
    exit: 2
    --- stderr
    error: invalid value 'message=ok' for '--answer <KIND=VALUE>': expected `confirm=yes`, `confirm=no`, `file=PATH` or `directory=PATH`

    For more information, try '--help'.
    [END]
    ");
    insta::assert_snapshot!(house.run(&["ext", "run", "test", "t/env", "--save"]), @"
    exit: 2
    --- stderr
    error: no message is open in this workspace

    hint: `loggia message open FILE` opens one
    [END]
    ");
    house.end();
}

#[test]
fn extensions_that_do_not_start_are_told_and_keep_nobody_out() {
    let house = house(&[("dead", &["die"]), ("rude", &["refuse"]), ("good", &[])]);
    configure(
        &house.stage.0,
        "\n[[extensions]]\npath = \"/nowhere/wizard\"\n[[extensions]]\npath = \"python3 'x.py\"\n",
    );
    insta::assert_snapshot!(house.run(&["ext", "start"]), @"
    exit: 4
    --- stdout
    NAME        SCOPE   STATE    ABOUT
    dead        global  failed   it ended with exit status 3
    rude        global  failed   it refused `initialize`: not on this host (-32000)
    good        global  running  Extension of tests 1.2.3: Does what tests need
    wizard      global  failed   it cannot be started: cannot start `/nowhere/wizard`: No such file or directory (os error 2)
    python3-'x  global  failed   it cannot be started: its `path` is a command line with a quote that is not closed: `python3 'x.py`
    --- stderr
    warning: dead stays failed; `loggia ext restart dead` starts it again
    warning: rude stays failed; `loggia ext restart rude` starts it again
    warning: wizard stays failed; `loggia ext restart wizard` starts it again
    warning: python3-'x stays failed; `loggia ext restart python3-'x` starts it again
    [END]
    ");
    insta::assert_snapshot!(house.run(&["ext", "run", "dead", "t/patch"]), @"
    exit: 4
    --- stderr
    error: extension `dead`, `t/patch`: it ended with exit status 3; it is started again when somebody restarts it

    hint: `loggia ext logs NAME` tells what happened to it, `loggia ext restart NAME` starts it again
    [END]
    ");
    house.done(&["ext", "run", "good", "t/env"]);
    let log = house.done(&["ext", "logs", "dead"]).stdout;
    assert!(log.contains("error   no licence"), "{log}");
    insta::assert_snapshot!(house.run(&["ext", "restart", "dead"]), @"
    exit: 4
    --- stderr
    error: extension `dead`: it ended with exit status 3

    hint: `loggia ext logs NAME` tells what happened to it, `loggia ext restart NAME` starts it again
    [END]
    ");
    house.end();
}

#[test]
fn a_crash_is_told_and_others_go_on() {
    let house = house(&[("test", &[]), ("other", &[])]);
    house.done(&["ext", "start"]);
    insta::assert_snapshot!(house.run(&["ext", "run", "test", "t/crash"]), @"
    exit: 4
    --- stderr
    error: extension `test`, `t/crash`: it ended with exit status 7; it is started again when somebody restarts it

    hint: `loggia ext logs NAME` tells what happened to it, `loggia ext restart NAME` starts it again
    [END]
    ");
    assert_eq!((state(&house, "test").as_str(), state(&house, "other").as_str()), ("failed", "running"));
    // Nobody starts it again but somebody who says so.
    assert_ne!(house.run(&["ext", "run", "test", "t/env"]).code, Some(0));
    house.done(&["ext", "restart", "test"]);
    house.done(&["ext", "run", "test", "t/env"]);
    assert_eq!(starts(&house, "other").len(), 1);
    house.end();
}

#[test]
fn an_extension_that_stays_busy_is_not_waited_for_longer_than_said() {
    let house = house(&[("test", &[])]);
    house.done(&["message", "open", "adt.hl7"]);
    insta::assert_snapshot!(house.run(&["ext", "run", "test", "t/busy", "--yes", "--timeout", "2"]), @"
    exit: 9
    --- stdout
    test: t/busy is still busy; it is not waited for any longer
    [END]
    ");
    house.end();
}

#[test]
fn a_message_is_saved_only_if_the_command_went_well() {
    let house = house(&[("test", &[])]);
    house.done(&["message", "open", "adt.hl7"]);
    house.done(&["message", "patch", "PID.5.1=DOE"]);
    // Nobody can be asked, which the extension tells as an error.
    let failed = house.run(&["ext", "run", "test", "t/confirm", "--save"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(4), "test: t/confirm is done\n"), "{failed}");
    let why = "warning: the message is not saved, since the extension told of an error\n";
    assert!(failed.stderr.ends_with(why), "{failed}");
    let busy = house.run(&["ext", "run", "test", "t/busy", "--yes", "--timeout", "1", "--save"]);
    let why = "warning: the message is not saved, since the command is not done\n";
    assert_eq!((busy.code, busy.stderr.ends_with(why)), (Some(9), true), "{busy}");
    house.done(&["ext", "restart", "test"]);
    let outside = "file=/etc/passwd";
    let refused = house.run(&["ext", "run", "test", "t/open", "--answer", outside, "--save"]);
    let why = "warning: the message is not saved, since an answer of `--answer` was refused\n";
    assert_eq!((refused.code, refused.stderr.ends_with(why)), (Some(6), true), "{refused}");
    let crashed = house.run(&["ext", "run", "test", "t/crash", "--save"]);
    assert_eq!(crashed.code, Some(4), "{crashed}");
    assert_eq!(house.stage.0.read("project/adt.hl7"), MESSAGE);
    house.done(&["ext", "restart", "test"]);
    house.done(&["ext", "run", "test", "t/env", "--save"]);
    assert_eq!(house.stage.0.read("project/adt.hl7"), MESSAGE.replace("ROE^ANN", "DOE^ANN"));
    house.end();
}

#[test]
fn only_what_changed_in_the_configuration_is_started_anew() {
    let house = house(&[("same", &[]), ("changes", &[]), ("goes", &[])]);
    house.done(&["ext", "start"]);
    let gone = starts(&house, "goes");
    let file = house.stage.0.read("home/.config/loggia/config.toml");
    let (kept, _) = file.split_once("\n[[extensions]]\nname = \"goes\"").unwrap();
    let changed =
        kept.replace("name = \"changes\"\n", "name = \"changes\"\nenv = { EXT_SETTING = \"new\" }\n");
    house.stage.0.user_file(&changed);
    let listed = house.json(&["ext", "list", "--json"]);
    let names: Vec<_> = listed["extensions"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["same", "changes"]);
    let told = said(&house.json(&["ext", "run", "changes", "t/env", "--json"])).join("\n");
    assert!(told.contains("EXT_SETTING=new"), "{told}");
    assert_eq!((starts(&house, "same").len(), starts(&house, "changes").len()), (1, 2));
    assert_eq!(ends(&house, "goes"), gone);
    // A file that makes no sense disturbs nobody who runs.
    house.stage.0.user_file(&format!("{changed}\n[[extensions]]\npth = 1\n"));
    let broken = house.run(&["ext", "list"]);
    assert_eq!(broken.code, Some(3), "{broken}");
    house.stage.0.user_file(&changed);
    assert_eq!(state(&house, "same"), "running");
    assert_eq!(starts(&house, "same").len(), 1);
    house.end();
}

#[test]
fn extensions_of_a_workspace_run_only_while_it_is_trusted() {
    let house = house(&[]);
    let stage = &house.stage.0;
    let table = extension(stage, "lab", &[]);
    stage.write(
        "project/.loggia/config.toml",
        table.replace("\"lab\"", "\"lab\"\nenv = { LAB = \"secret\" }"),
    );
    let refused = house.run(&["-q", "ext", "run", "lab", "t/env"]);
    assert_eq!(refused.code, Some(6), "{refused}");
    assert!(refused.stderr.contains("`loggia trust` shows what would run"), "{refused}");
    let shown = house.run(&["-q", "trust"]);
    let runs = ".loggia/config.toml: runs the extension `lab` when it is needed: python3 [STAGE]/outside/lab/extension.py\n";
    assert!(shown.stderr.contains(runs) && !shown.stderr.contains("secret"), "{shown}");
    assert_eq!(starts(&house, "lab"), [0; 0]);
    // Stopping it would keep it from running once it may.
    let stopped = house.run(&["-q", "ext", "stop", "lab"]);
    assert_eq!((stopped.code, stopped.stderr.contains("is not trusted")), (Some(6), true), "{stopped}");
    house.done(&["-q", "trust", "--yes"]);
    house.done(&["ext", "run", "lab", "t/env"]);
    assert_eq!(state(&house, "lab"), "running");
    house.done(&["trust", "--revoke"]);
    assert_eq!(house.json(&["-q", "ext", "info", "lab", "--json"])["state"], "untrusted");
    until_gone(&starts(&house, "lab"));
    assert_ne!(house.run(&["-q", "ext", "run", "lab", "t/env"]).code, Some(0));
    assert_eq!(starts(&house, "lab").len(), 1, "it was not started again");
    // And it comes back with trust.
    house.done(&["-q", "trust", "--yes"]);
    house.done(&["ext", "run", "lab", "t/env"]);
    assert_eq!(starts(&house, "lab").len(), 2);
    house.end();
}

#[test]
fn trust_for_one_run_ends_with_it_for_extensions_too() {
    let house = house(&[]);
    let stage = &house.stage.0;
    stage.write("project/.loggia/config.toml", extension(stage, "lab", &[]));
    house.done(&["-q", "ask", "--trust", "hello"]);
    assert_ne!(house.run(&["-q", "ext", "run", "lab", "t/env"]).code, Some(0));
    assert!(!Path::new(&stage.path("outside/lab/starts.log")).exists());
    house.end();
}
