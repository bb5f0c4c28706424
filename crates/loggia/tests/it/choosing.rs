//! Which model counts, who says so, and what is told of what people get wrong.

use std::os::unix::fs::PermissionsExt as _;

use crate::auto::AutoStage;
use crate::stage::{Stage, Transcript};

/// Two models that can be named; nobody asks them.
const LAB: &str = "[models.lab]\nkind = \"ollama\"\nbase_url = \"http://127.0.0.1:9\"\n";

/// A project whose user's file says this.
fn stage(text: &str) -> AutoStage {
    let stage = Stage::new();
    stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
    stage.user_file(text);
    AutoStage(stage)
}

fn configured() -> AutoStage {
    stage(&format!("[model]\ndefault = \"lab:big\"\n{LAB}"))
}

/// What a run said on stderr, if it ended so.
fn told(shown: &Transcript, code: i32) -> &str {
    assert_eq!(shown.code, Some(code), "{shown}");
    &shown.stderr
}

#[test]
fn a_choice_counts_before_the_file_until_it_is_forgotten() {
    let stage = configured();
    let list = || stage.0.run(&["model", "list"]).stderr;
    assert!(
        list().contains("New sessions use lab:big, set by [STAGE]/home/.config/loggia/config.toml:2."),
        "{}",
        list()
    );
    let used = stage.0.run(&["model", "use", "lab:small"]);
    assert_eq!((used.code, used.stdout.as_str()), (Some(0), "New sessions use lab:small.\n"), "{used}");
    assert!(list().contains("New sessions use lab:small, chosen with `loggia model use`"), "{}", list());
    let shown = stage.0.run(&["config", "show", "model.default"]).stdout;
    assert!(shown.contains("chosen     \"lab:small\" with `loggia model use`"), "{shown}");
    assert!(stage.0.run(&["config", "show"]).stdout.contains("`loggia model use --unset` forgets it"));
    let shown = stage.0.run(&["config", "show", "--json", "model.default"]).stdout;
    assert!(shown.contains("\"chosen\": \"lab:small\""), "{shown}");
    // A variable counts before it.
    let shown =
        stage.0.run_with(&[("LOGGIA_MODEL", "lab:other")], &["config", "show", "model.default"]).stdout;
    assert!(!shown.contains("chosen"), "{shown}");
    let doctor = stage.0.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("model: new sessions use `lab:small`, chosen with `loggia model use`"),
        "{doctor}"
    );
    let unset = stage.0.run(&["model", "use", "--unset"]);
    assert_eq!(unset.stdout, "The choice is forgotten; new sessions use lab:big.\n", "{unset}");
    assert!(list().contains("lab:big, set by "), "{}", list());
    assert!(!stage.0.run(&["config", "show"]).stdout.contains("--unset"));
}

#[test]
fn a_choice_that_is_gone_is_told_with_the_way_out() {
    let stage = configured();
    assert_eq!(stage.0.run(&["model", "use", "lab:small"]).code, Some(0));
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    let script = stage.0.write("script.toml", "[[reply]]\nrepeat = true\nparts = [{ text = \"Hello.\" }]\n");
    stage.0.user_file(&format!("[model]\ndefault = \"scripted:{}\"\n", script.display()));
    let listed = stage.0.run(&["model", "list"]).stderr;
    assert!(listed.contains("! lab:small, chosen with `loggia model use`, cannot be used: "), "{listed}");
    assert!(listed.contains("hint: `loggia model use --unset` forgets the choice"), "{listed}");
    let doctor = stage.0.run(&["doctor"]);
    assert!(told(&doctor, 4).is_empty(), "{doctor}");
    assert!(doctor.stdout.contains("hint: `loggia model use --unset` forgets the choice"), "{doctor}");
    let asked = stage.0.run(&["ask", "hello"]);
    assert!(told(&asked, 8).contains("hint: `loggia model use --unset` forgets the choice"), "{asked}");
    assert_eq!(stage.0.run(&["model", "use", "--unset"]).code, Some(0));
    let asked = stage.0.run(&["ask", "hello"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(0), "Hello.\n"), "{asked}");
}

#[test]
fn a_server_with_a_model_of_its_own_follows_no_choice() {
    let stage = configured();
    assert_eq!(stage.0.run(&["model", "use", "lab:small"]).code, Some(0));
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    let arguments = ["serve", "--detach", "--addr", "127.0.0.1:0", "--model", "lab:flag"];
    assert_eq!(stage.0.run(&arguments).code, Some(0));
    let refused = stage.0.run(&["model", "use", "lab:big"]);
    assert!(
        told(&refused, 2).starts_with("error: the server was started with a model of its own"),
        "{refused}"
    );
    assert!(refused.stderr.contains("hint: start the server without `--model`"), "{refused}");
    let status = stage.0.run(&["status", "--json"]).stdout;
    assert!(status.contains("\"lab:flag\""), "{status}");
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    // The choice was kept all the while.
    let listed = stage.0.run(&["model", "list"]).stderr;
    assert!(listed.contains("lab:small, chosen with"), "{listed}");
}

#[test]
fn a_model_that_cannot_be_used_is_told_with_its_file_and_line() {
    let stage = stage("# Mine.\n[model]\ndefault = \"nobody:model\"\n");
    let shown = stage.0.run(&["ask", "hello"]);
    let expected =
        "error: there is no provider `nobody` (set by `[STAGE]/home/.config/loggia/config.toml:3`)\n";
    assert!(told(&shown, 3).starts_with(expected), "{shown}");
    let shown = stage.0.run_with(&[("LOGGIA_MODEL", "nobody:model")], &["ask", "--ephemeral", "hello"]);
    assert!(told(&shown, 3).contains("(set by `LOGGIA_MODEL`)"), "{shown}");
}

#[test]
fn a_missing_key_ends_the_turn_and_nothing_else() {
    let file = "[models.openai]\nkind = \"openai\"\nkey_file = \"/nowhere/openai\"\n";
    let told_of = ["set OPENAI_API_KEY or run `loggia init`", "cannot read the key in `/nowhere/openai`"];
    for (more, missing) in ["", file].into_iter().zip(told_of) {
        let stage = stage(&format!("[model]\ndefault = \"openai:gpt-5\"\n{LAB}{more}"));
        let asked = stage.0.run(&["ask", "hello"]);
        assert!(told(&asked, 8).contains(missing), "{asked}");
        assert_eq!(asked.stdout, "", "no search answers in its place: {asked}");
        for well in [&["sessions"][..], &["policy", "show"], &["status"]] {
            let shown = stage.0.run(well);
            assert_eq!(shown.code, Some(0), "{shown}");
        }
        let doctor = stage.0.run(&["doctor"]);
        assert!(told(&doctor, 4).is_empty(), "{doctor}");
        assert!(
            doctor.stdout.contains("✗ model: `openai:gpt-5`, as configured, cannot be used: "),
            "{doctor}"
        );
        assert!(doctor.stdout.contains(missing), "{doctor}");
        let listed = stage.0.run(&["model", "list"]);
        assert!(told(&listed, 0).contains("! openai:gpt-5, set by "), "{listed}");
        assert_eq!(listed.stderr.matches(missing).count(), 1, "{listed}");
        // The way out.
        let used = stage.0.run(&["model", "use", "lab:small"]);
        assert_eq!(used.code, Some(0), "{used}");
        let doctor = stage.0.run(&["doctor"]).stdout;
        assert!(doctor.contains("✓ model: new sessions use `lab:small`"), "{doctor}");
    }
}

#[test]
fn a_file_that_was_changed_since_is_told_from_what_the_server_uses() {
    let stage = configured();
    let list = || stage.0.run(&["model", "list"]).stderr;
    assert!(list().contains("New sessions use lab:big, set by "), "{}", list());
    stage.0.user_file(&format!("[model]\ndefault = \"lab:new\"\n{LAB}"));
    let told = "New sessions use lab:big.\n[STAGE]/home/.config/loggia/config.toml:2 now says lab:new; `loggia stop` lets it \
                count.\n";
    assert!(list().ends_with(told), "{}", list());
    let shown = stage.0.run_with(&[("LOGGIA_MODEL", "lab:other")], &["model", "list"]).stderr;
    assert!(shown.contains("New sessions use lab:other, set by "), "{shown}");
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    assert!(list().contains("New sessions use lab:new, set by "), "{}", list());
}

#[test]
fn doctor_tells_what_is_wrong_with_the_configuration_and_goes_on() {
    let stage = configured();
    assert_eq!(stage.0.run(&["sessions"]).code, Some(0));
    stage.0.user_file("[server]\nadress = \"127.0.0.1:2\"\n");
    let wrong = "✗ configuration: unknown key `server.adress` in `[STAGE]/home/.config/loggia/config.toml:2:1`\n  hint: did \
                 you mean `server.addr`?\n";
    let running = stage.0.run(&["doctor"]);
    assert!(told(&running, 4).is_empty(), "{running}");
    assert!(running.stdout.starts_with(wrong) && running.stdout.contains("\n✓ store: "), "{running}");
    assert_eq!(stage.0.run(&["stop"]).code, Some(0));
    let alone = stage.0.run(&["doctor"]);
    assert!(told(&alone, 4).is_empty(), "{alone}");
    assert!(alone.stdout.starts_with(wrong) && alone.stdout.contains("– server: none runs"), "{alone}");
    stage.0.user_file("[server\n");
    let broken = stage.0.run(&["doctor"]);
    assert!(told(&broken, 4).is_empty(), "{broken}");
    assert!(broken.stdout.starts_with("✗ configuration: "), "{broken}");
}

#[test]
fn doctor_tells_each_thing_once() {
    for stage in [configured(), stage("")] {
        let doctor = stage.0.run(&["doctor"]);
        let names: Vec<_> = doctor
            .stdout
            .lines()
            .filter(|line| !line.starts_with(' '))
            .filter_map(|line| line.split_once(' ')?.1.split_once(": ").map(|(name, _)| name))
            .collect();
        let hints: Vec<_> = doctor.stdout.lines().filter(|line| line.starts_with("  hint: ")).collect();
        for list in [&names, &hints] {
            let mut once = list.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), list.len(), "{doctor}");
        }
        assert!(names.contains(&"model"), "{doctor}");
    }
}

#[test]
fn wrong_input_is_told_in_the_words_of_the_command_line() {
    let stage = configured();
    stage.0.write("project/a-file", "");
    let cases: &[(&[&str], &str, &str)] = &[
        (&["model", "use", "nope"], "`nope` is no name of a model", "write it as `PROVIDER:MODEL`"),
        (&["model", "use", "openai:"], "`openai:` is no name of a model", "write it as `PROVIDER:MODEL`"),
        (&["model", "use", "nobody:x"], "there is no provider `nobody`", "`loggia model list` tells"),
        (&["model", "test", "nobody:x"], "there is no provider `nobody`", "`loggia model list` tells"),
        (&["ask", "-m", "nobody:x", "hello"], "there is no provider `nobody`", "`loggia model list` tells"),
        (&["ask", "-m", "nope", "hello"], "`nope` is no name of a model", "write it as `PROVIDER:MODEL`"),
        (
            &["ask", "--session", "0123abcd", "hello"],
            "there is no session `0123abcd`",
            "`loggia sessions list --all`",
        ),
        (&["ask", "--continue", "hello"], "there is no session here to go on with", "ask without"),
        (&["ask", " "], "there is nothing to ask", "write what you want"),
        (
            &["ask", "-w", "/nope", "hello"],
            "`/nope` is no directory to work in",
            "name a directory that exists",
        ),
        (
            &["ask", "-w", "a-file", "hello"],
            "`a-file` is no directory to work in",
            "name a directory that exists",
        ),
        (&["sessions", "list", "-w", "/nope"], "`/nope` is no directory to work in", "name a directory"),
        (&["sessions", "show", "xyz"], "`xyz` is too short", "give at least four characters"),
        (&["sessions", "show", "xyzx"], "there is no session `xyzx`", "`loggia sessions list --all`"),
        (&["sessions", "rename", "xyzx", "a"], "there is no session `xyzx`", "`loggia sessions list --all`"),
        (&["sessions", "fork", "xyzx"], "there is no session `xyzx`", "`loggia sessions list --all`"),
        (&["sessions", "delete", "-y", "xyzx"], "there is no session `xyzx`", "`loggia sessions list --all`"),
        (&["sessions", "export", "xyzx"], "there is no session `xyzx`", "`loggia sessions list --all`"),
        (
            &["sessions", "resume", "xyzx", "hello"],
            "there is no session `xyzx`",
            "`loggia sessions list --all`",
        ),
        (&["undo", "--session", "xyzx"], "there is no session `xyzx`", "`loggia sessions list --all`"),
        (&["undo"], "there is no session here to go on with", "ask without"),
        (
            &["policy", "check", "--tool", "nope"],
            "there is no tool `nope`; there are ",
            "name one of the agent's",
        ),
        (&["policy", "check", "--tool", "run_command"], "name the `command`", "name a command line"),
        (&["policy", "show", "-w", "/nope"], "`/nope` is no directory to work in", "name a directory"),
        (
            &["config", "show", "model.defautl"],
            "there is no key `model.defautl`",
            "did you mean `model.default`?",
        ),
    ];
    for (arguments, words, hint) in cases {
        let shown = stage.0.run(arguments);
        let told = told(&shown, 2);
        assert!(told.starts_with(&format!("error: {words}")), "{arguments:?}: {shown}");
        assert!(told.contains(&format!("\nhint: {hint}")), "{arguments:?}: {shown}");
    }
    for arguments in [
        &["undo", "--steps", "0"][..],
        &["policy", "check"],
        &["model", "use"],
        &["model", "use", "--unset", "lab:big"],
        &["sessions", "rename", "xyzx"],
        &["ask", "--budget", "nope", "hello"],
    ] {
        let shown = stage.0.run(arguments);
        assert!(told(&shown, 2).contains("Usage:") || shown.stderr.contains("--help"), "{shown}");
    }
    assert_eq!(stage.0.run(&["ask", "hello"]).code, Some(8));
    let listed: serde_json::Value =
        serde_json::from_str(&stage.0.run(&["sessions", "list", "--json"]).stdout).unwrap();
    let id = listed["sessions"][0]["session_id"].as_str().unwrap();
    let shown = stage.0.run(&["sessions", "rename", id, ""]);
    assert!(told(&shown, 2).starts_with("error: the title must not be empty\n"), "{shown}");
    let shown = stage.0.run(&["sessions", "fork", id, "--at", "999"]);
    assert!(told(&shown, 2).starts_with("error: the session has no event 999"), "{shown}");
}

#[test]
fn a_directory_of_ours_that_cannot_be_used_is_told_with_the_way_out() {
    let stage = configured();
    let file = stage.0.write("in-the-way", "");
    for variable in ["LOGGIA_DATA_DIR", "LOGGIA_RUNTIME_DIR"] {
        let shown = stage.0.run_with(&[(variable, file.to_str().unwrap())], &["doctor"]);
        assert!(
            told(&shown, 5).starts_with("error: cannot use the directory `[STAGE]/in-the-way"),
            "{shown}"
        );
        assert!(shown.stderr.contains("hint: something that is no directory is in its way"), "{shown}");
    }
}

#[test]
fn a_policy_is_not_edited_where_nobody_could() {
    let stage = configured();
    let shown = stage.0.run_with(&[("EDITOR", ""), ("VISUAL", "")], &["policy", "edit"]);
    assert!(told(&shown, 2).starts_with("error: there is no terminal to edit in\n\nhint: "), "{shown}");
}

#[test]
fn a_policy_that_was_not_taken_is_kept() {
    let stage = configured();
    let editor = |script: &str| {
        let path = stage.0.write("editor", format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let temporary = stage.0.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let edit = |script: &str, more: &[&str]| {
        let editor = editor(script);
        let variables = [("EDITOR", editor.as_str()), ("TMPDIR", temporary.to_str().unwrap())];
        stage.0.run_with(&variables, &[&["policy", "edit"], more].concat())
    };
    let kept =
        || -> Vec<_> { std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let shown = edit("sed -i 's/\"preset\": \"ask\"/\"preset\": \"wrong\"/' \"$1\"", &[]);
    assert!(told(&shown, 2).starts_with("error: the policy was not changed: "), "{shown}");
    let [draft] = kept().try_into().unwrap();
    let draft = draft.join("policy.json");
    assert!(std::fs::read_to_string(&draft).unwrap().contains("\"preset\": \"wrong\""));
    let hint = format!("hint: what you wrote is kept; `loggia policy edit --from '{}'`", draft.display());
    assert!(
        shown
            .stderr
            .replace("[STAGE]", stage.0.path("").to_str().unwrap().trim_end_matches('/'))
            .contains(&hint),
        "{shown}"
    );
    // It goes on with what was written.
    let draft = draft.to_str().unwrap();
    let shown =
        edit("grep -q wrong \"$1\" && sed -i 's/\"wrong\"/\"read-only\"/' \"$1\"", &["--from", draft]);
    assert_eq!(
        (shown.code, shown.stdout.as_str()),
        (Some(0), "the policy is changed; this is revision 1\n"),
        "{shown}"
    );
    // What the server refuses is kept, too.
    let rule = "s/\"rules\": \\[\\]/\"rules\": [{\"decision\": \"allow\", \"tool\": \"{a\"}]/";
    let shown = edit(&format!("sed -i '{rule}' \"$1\""), &[]);
    assert!(told(&shown, 2).contains("rule 1"), "{shown}");
    assert_eq!(kept().len(), 2);
    // An editor that fails has changed nothing.
    let shown = edit("exit 3", &[]);
    assert!(told(&shown, 5).contains("ended with exit status: 3, so the policy was not changed"), "{shown}");
    let shown = stage.0.run_with(&[("EDITOR", "no-such-editor")], &["policy", "edit"]);
    assert!(told(&shown, 5).contains("error: the editor `no-such-editor` cannot be started"), "{shown}");
    assert!(shown.stderr.contains("hint: name an editor in `VISUAL` or `EDITOR`"), "{shown}");
    let shown = edit("true", &[]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "nothing was changed\n"), "{shown}");
    assert_eq!(kept().len(), 2, "what nobody wrote is not kept");
}
