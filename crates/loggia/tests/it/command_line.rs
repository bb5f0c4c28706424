//! Help, version, wrong usage, and the end of a pipe.

use std::process::Stdio;

use crate::stage::Stage;

#[test]
fn help_reads_well() {
    insta::assert_snapshot!(Stage::new().run(&["-h"]), @r#"
    exit: 0
    --- stdout
    One coding agent, many doors

    Usage: loggia [OPTIONS] <COMMAND>

    Commands:
      ask          Ask the agent, or give it something to do
      chat         Converse with the agent
      attach       Put a terminal on the console of a server
      sessions     Look after sessions; without a command, list them
      undo         Take back what the agent changed
      redo         Make again what was taken back
      model        Look after models; without a command, list them
      policy       Look after what the agent may do; without a command, show it
      task         Have pieces of work done, step by step; without a command, list them
      search       Look for code in the workspace's index
      index        Look after the code index; without a command, show how it is
      plugin       Look after plugins; without a command, list them
      ext          Look after extensions, and run their commands; without a command, list them
      message      Work on the open message of a workspace; without a command, tell what is open
      trust        Let a workspace's own files name programs and loosen rules
      init         Set up a model, and its key if it needs one
      doctor       Tell what is set up, what works, and what to do about the rest
      serve        Run the server
      rpc          Be the agent that a client of the Autohand protocol starts
      wrap         Run any program and give it a console that terminals attach to
      open         Show the page of the server that runs
      status       Tell whether a server runs, and how it is
      stop         Stop the server that runs
      inspect      Check a recorded conversation of one of the five protocols
      config       Look at the configuration
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Configuration:
          --set <KEY=VALUE>  Set a configuration key for this run; may be repeated

    Output:
          --color <WHEN>         Colour the output [possible values: auto, always, never]
      -v, --verbose...           Say more on stderr: -v for debug, -vv for trace
      -q, --quiet                Say only what is an error
          --log-format <FORMAT>  Write the log like this [possible values: text, json]
          --log-level <LEVEL>    Say what is at least this important on stderr [possible values: off,
                                 error, warn, info, debug, trace]

    Examples:
      loggia init                                set up a model, the first time
      loggia ask "why does login fail?"         ask the agent about the workspace around this directory
      loggia serve                               run the server for the workspace around this directory
      loggia serve --detach --addr 127.0.0.1:0   run it in the background, on a free port
      loggia rpc                                 be an Autohand client's agent, also as `--mode rpc`
      loggia attach                              a live console on the server; any number of terminals
      loggia wrap -- java -jar server.jar nogui  give a program a console that terminals attach to
      loggia task start file:tasks/login.md      begin a task on a branch; `task plan` comes next
      loggia search "token is checked"         find code by words, names and meaning
      loggia plugin                              list the plugins there are, and how they are
      loggia plugin new tasks --type provider    write a plugin to start from; `plugin check` tries it
      loggia message open adt.hl7                open an HL7 message to work on
      loggia ext run hello hello/greet --save    run an extension's command on it, and save
      loggia trust                               show what a workspace would run, and let it
      loggia open                                show the page of the server that runs
      loggia status                              whether a server runs, and how it is
      loggia inspect                             look at a recorded conversation of each protocol
      loggia inspect hermes session.bin          check a recorded byte stream
      loggia config show                         every setting and where its value came from
      loggia --set policy.preset=read-only config show policy.preset
      loggia completions bash > ~/.local/share/bash-completion/completions/loggia

    Exit codes: 0 done, 2 wrong usage, 3 wrong configuration, 4 faults found, 5 not reachable, 6
    refused, 7 cancelled, 8 the model failed; all are in docs/reference/exit-codes.md.
    [END]
    "#);
}

#[test]
fn without_a_command_the_help_is_shown_as_a_usage_error() {
    let stage = Stage::new();
    let shown = stage.run(&[]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""));
    assert_eq!(shown.stderr, stage.run(&["-h"]).stdout);
}

#[test]
fn flags_without_a_command_are_a_usage_error() {
    insta::assert_snapshot!(Stage::new().run(&["-v"]), @"
    exit: 2
    --- stderr
    error: 'loggia' requires a subcommand but one was not provided
      [subcommands: ask, chat, attach, sessions, undo, redo, model, policy, task, search, index, plugin, ext, message, trust, init, doctor, serve, rpc, wrap, open, status, stop, inspect, config, completions, help]

    Usage: loggia [OPTIONS] <COMMAND>

    For more information, try '--help'.
    [END]
    ");
}

#[test]
fn every_public_command_has_its_own_help() {
    let stage = Stage::new();
    for arguments in [
        &["ask"][..],
        &["chat"],
        &["sessions"],
        &["sessions", "list"],
        &["sessions", "import"],
        &["undo"],
        &["redo"],
        &["model", "test"],
        &["policy", "check"],
        &["init"],
        &["doctor"],
        &["serve"],
        &["rpc"],
        &["status"],
        &["stop"],
        &["inspect"],
        &["config"],
        &["config", "show"],
        &["config", "path"],
        &["completions"],
    ] {
        let shown = stage.run(&[arguments, &["--help"]].concat());
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(shown.stdout.contains(&format!("Usage: loggia {}", arguments.join(" "))), "{arguments:?}");
    }
}

#[test]
fn the_version_is_told() {
    insta::assert_snapshot!(Stage::new().run(&["--version"]), @r"
    exit: 0
    --- stdout
    loggia [VERSION]
    [END]
    ");
}

#[test]
fn an_unknown_command_suggests_the_nearest() {
    insta::assert_snapshot!(Stage::new().run(&["confg"]), @r"
    exit: 2
    --- stderr
    error: unrecognized subcommand 'confg'

      tip: a similar subcommand exists: 'config'

    Usage: loggia [OPTIONS] <COMMAND>

    For more information, try '--help'.
    [END]
    ");
}

#[test]
fn an_unknown_flag_suggests_the_nearest() {
    insta::assert_snapshot!(Stage::new().run(&["config", "show", "--jsn"]), @r"
    exit: 2
    --- stderr
    error: unexpected argument '--jsn' found

      tip: a similar argument exists: '--json'

    Usage: loggia config show --json [KEY]

    For more information, try '--help'.
    [END]
    ");
}

#[test]
fn verbose_and_quiet_exclude_each_other() {
    let shown = Stage::new().run(&["-v", "-q", "config", "show"]);
    assert_eq!(shown.code, Some(2));
    assert!(shown.stderr.contains("cannot be used with"), "{shown}");
}

#[test]
fn a_set_without_a_value_is_a_usage_error() {
    insta::assert_snapshot!(Stage::new().run(&["--set", "policy.preset", "config", "show"]), @r"
    exit: 2
    --- stderr
    error: invalid value 'policy.preset' for '--set <KEY=VALUE>': expected KEY=VALUE, as in `policy.preset=read-only`

    For more information, try '--help'.
    [END]
    ");
}

#[test]
fn the_log_goes_to_stderr_when_asked_for() {
    let stage = Stage::new();
    let quiet = stage.run(&["config", "show", "--json"]);
    let loud = stage.run(&["-vv", "config", "show", "--json", "server.addr"]);
    assert_eq!(quiet.stderr, "");
    assert!(loud.stderr.contains("DEBUG"), "{loud}");
    assert!(!loud.stdout.contains("DEBUG"), "{loud}");
}

#[test]
fn a_reader_that_leaves_early_is_a_normal_end() {
    let stage = Stage::new();
    let all: [&[&str]; 5] =
        [&["completions", "bash"], &["config", "show"], &["config", "path"], &["inspect"], &["--help"]];
    for arguments in all {
        let mut child =
            stage.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let stage = Stage::new();
    let output = stage.command(&["completions", "zsh"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    error: cannot write to standard output
      cause: No space left on device (os error 28)
    ");
}

#[test]
fn hidden_commands_stay_hidden() {
    let stage = Stage::new();
    for arguments in [&["--help"][..], &["-v"], &["help"], &["supervise"]] {
        let shown = stage.run(arguments);
        assert!(!shown.to_string().contains("__"), "{shown}");
    }
}

#[test]
fn help_can_also_be_asked_for_as_a_command() {
    let stage = Stage::new();
    assert_eq!(
        stage.run(&["help", "config", "show"]).stdout,
        stage.run(&["config", "show", "--help"]).stdout
    );
}
