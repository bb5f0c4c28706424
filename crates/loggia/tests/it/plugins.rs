//! Plugins as people look after them: listed, tried, turned on and off, fetched and removed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::auto::AutoStage;
use crate::server::Server;
use crate::stage::{Stage, Transcript};

/// Whatever is waited for takes less than a second, or as long as a plugin may take to leave; a busy machine gets more.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often to look: nobody tells of the end of somebody else's process.
const LOOK: Duration = Duration::from_millis(10);

const SCRIPT: &str = include_str!("plugins/plugin.py");

/// Where plugins lie that a workspace brings, and those of the user.
pub(crate) const PROJECT: &str = "project/.mehrhof/plugins";
pub(crate) const OWN: &str = "home/.local/share/loggia/plugins";
const MEHRHOF: &str = "home/.mehrhof/plugins";

/// A stage with a server, whose plugins find Python.
pub(crate) struct House {
    pub(crate) stage: AutoStage,
    pub(crate) server: Server,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::around(AutoStage::new())
    }

    pub(crate) fn around(stage: AutoStage) -> Self {
        let server = Self::serve(&stage.0);
        Self { stage, server }
    }

    pub(crate) fn serve(stage: &Stage) -> Server {
        let path = std::env::var("PATH").unwrap();
        Server::start_with(stage, &[("PATH", &path), ("PYTHONDONTWRITEBYTECODE", "1")], &[])
    }

    /// A plugin of some kind with these habits.
    pub(crate) fn plugin(&self, place: &str, kind: &str, name: &str, habits: &[&str]) {
        plugin(&self.stage.0, place, kind, name, habits);
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Transcript {
        self.stage.0.run(arguments)
    }

    /// Runs what is to go well.
    pub(crate) fn done(&self, arguments: &[&str]) -> Transcript {
        let shown = self.run(arguments);
        assert_eq!(shown.code, Some(0), "{arguments:?}: {shown}");
        shown
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let shown = self.done(arguments);
        serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {shown}"))
    }

    /// Ends its server, which may have warned of what it ignores in a workspace that is not trusted.
    pub(crate) fn end(self) {
        self.server.signal(rustix::process::Signal::TERM);
        let (code, stdout, stderr) = self.server.wait();
        assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    }

    /// How a plugin is, in a word.
    pub(crate) fn state(&self, name: &str) -> String {
        self.json(&["plugin", "info", name, "--json"])["state"].as_str().unwrap().to_owned()
    }
}

/// Puts a plugin somewhere.
pub(crate) fn plugin(stage: &Stage, place: &str, kind: &str, name: &str, habits: &[&str]) {
    let part = match kind {
        "provider" => {
            format!("provider:\n  name: {name}\n  schemes: [{name}]\n  capabilities: [read, list]\n")
        }
        "agent" => format!("agent:\n  name: {name}\n"),
        _ => "workflow:\n  guards:\n    - name: tests\n".to_owned(),
    };
    let habits: Vec<String> = habits.iter().map(|habit| format!(", {habit}")).collect();
    let manifest = format!(
        "version: \"2\"\nname: {name}\ntype: {kind}\nprotocol: \"1\"\ndescription: The {name} of tests\n\
         executable:\n  command: [python3, ./plugin.py{}]\n{part}",
        habits.concat()
    );
    stage.write(&format!("{place}/{name}/plugin.yaml"), manifest);
    stage.write(&format!("{place}/{name}/plugin.py"), SCRIPT);
    // Where a server keeps its data, nobody else may look in.
    let data = stage.path("home/.local/share/loggia");
    if data.exists() {
        std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
}

/// The process ids that a plugin noted.
pub(crate) fn noted(stage: &Stage, file: &str) -> Vec<i32> {
    let text = std::fs::read_to_string(stage.path(file)).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// Waits until none of these processes is there.
pub(crate) fn until_gone(pids: &[i32]) {
    assert!(!pids.is_empty(), "nothing was started");
    let begin = Instant::now();
    for pid in pids {
        while Path::new(&format!("/proc/{pid}")).exists() {
            assert!(begin.elapsed() < PATIENCE, "process {pid} is still there");
            std::thread::sleep(LOOK);
        }
    }
}

#[test]
fn plugins_are_listed_with_how_they_are_and_what_is_wrong() {
    let house = House::new();
    house.plugin(MEHRHOF, "provider", "link", &[]);
    house.plugin(OWN, "agent", "echo", &[]);
    house.plugin(PROJECT, "workflow", "gate", &[]);
    house.stage.0.write(&format!("{PROJECT}/bad/plugin.yaml"), "version: 1\nname: bad\ntype: spell\n");
    house.done(&["plugin", "enable", "echo"]);
    house.done(&["plugin", "enable", "gate"]);
    insta::assert_snapshot!(house.run(&["plugin"]), @"
    exit: 0
    --- stdout
    NAME  TYPE      SCOPE    ENABLED  STATE        DESCRIPTION
    bad   -         project  no       broken       `[STAGE]/project/.mehrhof/plugins/bad/plugin.yaml`: `type` is `spell`; it must be `provider`, `agent` or `workflow`
    echo  agent     global   yes      ready        The echo of tests
    gate  workflow  project  yes      not trusted  The gate of tests
    link  provider  global   no       off          The link of tests
    --- stderr
    warning: plugins of this workspace are not trusted; `loggia trust` shows what would run, and lets it
    [END]
    ");
    insta::assert_snapshot!(house.run(&["plugin", "list", "--global"]), @"
    exit: 0
    --- stdout
    NAME  TYPE      SCOPE   ENABLED  STATE  DESCRIPTION
    echo  agent     global  no       off    The echo of tests
    link  provider  global  no       off    The link of tests
    [END]
    ");
    let listed = house.json(&["plugin", "list", "--json"]);
    let states: Vec<_> = listed["plugins"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["broken", "ready", "untrusted", "disabled"]);
    for started in [format!("{OWN}/echo"), format!("{MEHRHOF}/link"), format!("{PROJECT}/gate")] {
        assert_eq!(noted(&house.stage.0, &format!("{started}/starts.log")), [0; 0], "{started}");
    }
    let console = house.done(&["attach", "-c", "plugins"]);
    assert!(console.stdout.contains("gate  workflow, project  not trusted  The gate of tests"), "{console}");
    house.end();
}

#[test]
fn fifty_plugins_are_listed_and_none_is_started() {
    let house = House::new();
    let names: Vec<String> = (0..50).map(|number| format!("p{number:02}")).collect();
    for name in &names {
        house.plugin(OWN, "provider", name, &[]);
    }
    let enabled = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let file = house.stage.0.read("home/.config/loggia/config.toml");
    house.stage.0.user_file(&format!("{file}[plugins]\nenabled = [{enabled}]\n"));
    let listed = house.json(&["plugin", "list", "--json"]);
    let ready = |one: &Value| one["state"] == "ready" && one["enabled"] == true;
    let plugins = listed["plugins"].as_array().unwrap();
    assert!(plugins.len() == 50 && plugins.iter().all(ready), "{listed}");
    for name in &names {
        assert!(!house.stage.0.path(&format!("{OWN}/{name}/starts.log")).exists(), "{name}");
    }
    house.end();
}

#[test]
fn a_plugin_tells_all_about_itself() {
    let house = House::new();
    house.plugin(OWN, "provider", "link", &[]);
    let manifest = house.stage.0.read(&format!("{OWN}/link/plugin.yaml"));
    let more = "author: somebody\nenv:\n  LINK_TOKEN: {description: for private pages, required: true}\n  LINK_MODE: {default: fast}\n";
    house.stage.0.write(&format!("{OWN}/link/plugin.yaml"), manifest + more);
    insta::assert_snapshot!(house.run(&["plugin", "info", "link"]), @"
    exit: 0
    --- stdout
    link
      about        The link of tests
      type         provider
      scope        global
      enabled      no
      state        off
      version      2
      protocol     1
      author       somebody
      directory    [STAGE]/home/.local/share/loggia/plugins/link
      command      python3 ./plugin.py
      schemes      link
      can          read, list
      variable     LINK_MODE (set)
      variable     LINK_TOKEN (not set, needed): for private pages
      warning      it needs the variable `LINK_TOKEN`, which the server does not have; `plugins.variables` names those that it is given
    [END]
    ");
    insta::assert_snapshot!(house.run(&["plugin", "info", "lnik"]), @"
    exit: 2
    --- stderr
    error: there is no such plugin here; `/v1/plugins` lists what there is

    hint: `loggia plugin list` tells which plugins there are
    [END]
    ");
    house.end();
}

#[test]
fn a_plugin_is_turned_on_and_off_without_touching_the_workspace() {
    let house = House::new();
    house.plugin(OWN, "provider", "link", &[]);
    let config = house.stage.0.read("home/.config/loggia/config.toml");
    insta::assert_snapshot!(house.run(&["plugin", "enable", "link"]), @"
    exit: 0
    --- stdout
    link is on in [STAGE]/project
    [END]
    ");
    let switches = "home/.local/share/loggia/plugins.toml";
    assert!(house.stage.0.read(switches).ends_with("enabled = [\"link\"]\n"));
    assert_eq!(house.stage.0.read("home/.config/loggia/config.toml"), config);
    house.done(&["plugin", "disable", "link"]);
    assert_eq!(house.state("link"), "disabled");

    insta::assert_snapshot!(house.run(&["plugin", "enable", "--global", "link"]), @"
    exit: 0
    --- stdout
    link is on everywhere
    [END]
    ");
    let written = house.stage.0.read("home/.config/loggia/config.toml");
    assert_eq!(written, format!("{config}\n[plugins]\nenabled = [\"link\"]\n"));
    assert_eq!(house.state("link"), "ready");
    // Off here, and on everywhere else.
    house.done(&["plugin", "disable", "link"]);
    assert_eq!(house.state("link"), "disabled");
    assert_eq!(house.json(&["plugin", "info", "link", "--global", "--json"])["state"], "ready");
    house.done(&["plugin", "enable", "link"]);
    house.done(&["plugin", "disable", "--global", "link"]);
    assert_eq!(house.state("link"), "disabled");
    assert!(
        !house.stage.0.path("project/.mehrhof").exists() && !house.stage.0.path("project/.loggia").exists()
    );
    house.end();
}

#[test]
fn what_cannot_be_turned_on_is_told() {
    let house = House::new();
    house.stage.0.write(&format!("{OWN}/bad/plugin.yaml"), "name: bad\n");
    insta::assert_snapshot!(house.run(&["plugin", "enable", "bad"]), @"
    exit: 2
    --- stderr
    error: the plugin `bad` cannot be used: `[STAGE]/home/.local/share/loggia/plugins/bad/plugin.yaml`: `version` is required

    hint: `loggia plugin info NAME` tells how a plugin is
    [END]
    ");
    insta::assert_snapshot!(house.run(&["plugin", "enable", "nothing"]), @"
    exit: 2
    --- stderr
    error: there is no plugin `nothing` here; `loggia plugin list` tells which there are

    hint: `loggia plugin list` tells which plugins there are
    [END]
    ");
    let mut outside = house.stage.0.command(&["plugin", "enable", "bad"]);
    outside.current_dir(house.stage.0.path("outside"));
    insta::assert_snapshot!(house.stage.0.finish(outside, b""), @"
    exit: 2
    --- stderr
    error: there is no workspace around this directory

    hint: name one with `-w DIR`, or say `--global` for all of them; a directory with `.git` or `.loggia` is one
    [END]
    ");
    // Somebody wrote a name wrong, and can take it back.
    let file = house.stage.0.read("home/.config/loggia/config.toml");
    house.stage.0.user_file(&format!("{file}[plugins]\nenabled = \"jria\"\n"));
    insta::assert_snapshot!(house.run(&["plugin"]), @"
    exit: 0
    --- stdout
    NAME  TYPE  SCOPE   ENABLED  STATE   DESCRIPTION
    bad   -     global  no       broken  `[STAGE]/home/.local/share/loggia/plugins/bad/plugin.yaml`: `version` is required
    --- stderr
    warning: `jria` is enabled, and there is no such plugin
    [END]
    ");
    house.done(&["plugin", "disable", "--global", "jria"]);
    assert_eq!(house.json(&["plugin", "--json"]).get("unknown"), None);
    house.end();
}

#[test]
fn a_plugin_is_tried_and_its_last_words_are_told() {
    let house = House::new();
    house.plugin(OWN, "provider", "link", &[]);
    insta::assert_snapshot!(house.run(&["plugin", "validate"]), @"
    exit: 0
    --- stdout
    OK    link
    [END]
    ");
    house.plugin(OWN, "agent", "broken", &["die"]);
    house.plugin(PROJECT, "workflow", "gate", &[]);
    insta::assert_snapshot!(house.run(&["plugin", "validate"]), @"
    exit: 4
    --- stdout
    ERROR broken: plugin `broken`, `agent.init`: it ended with exit status 3
            stderr: no licence
    OK    link
    --- stderr
    warning: `gate` is not tried: it is not trusted; `loggia trust` shows what would run, and lets it
    [END]
    ");
    let told = house.run(&["plugin", "validate", "gate", "--json"]);
    assert_eq!(told.code, Some(4), "{told}");
    assert!(told.stdout.contains("it is not trusted"), "{told}");
    let started = noted(&house.stage.0, &format!("{OWN}/link/starts.log"));
    assert_eq!(noted(&house.stage.0, &format!("{OWN}/link/shutdowns.log")), started);
    assert!(!house.stage.0.path(&format!("{PROJECT}/gate/starts.log")).exists());
    house.end();
}

#[test]
fn a_plugin_is_copied_from_a_directory_and_removed() {
    let house = House::new();
    house.plugin("outside/source", "provider", "link", &[]);
    let source = house.stage.0.path("outside/source/link");
    let source = source.to_str().unwrap();
    insta::assert_snapshot!(house.run(&["plugin", "install", source]), @"
    exit: 0
    --- stdout
    link is in [STAGE]/project/.loggia/plugins/link
    --- stderr
    It does not run yet; `loggia plugin enable link` lets it.
    [END]
    ");
    assert!(house.stage.0.path("project/.loggia/plugins/link/plugin.py").exists());
    assert_eq!(house.state("link"), "untrusted");
    insta::assert_snapshot!(house.run(&["plugin", "install", source]), @"
    exit: 2
    --- stderr
    error: there is one already, in `[STAGE]/project/.loggia/plugins/link`; remove it first

    hint: `loggia plugin info NAME` tells how a plugin is
    [END]
    ");
    house.done(&["plugin", "install", "--global", source]);
    assert_eq!(house.state("link"), "disabled", "the one that may run counts");
    insta::assert_snapshot!(house.run(&["plugin", "remove", "link"]), @"
    exit: 2
    --- stderr
    error: not done without a yes: Delete [STAGE]/project/.loggia/plugins/link?

    hint: say yes beforehand, with `--yes`, or run it in a terminal
    [END]
    ");
    insta::assert_snapshot!(house.run(&["plugin", "remove", "link", "--yes"]), @"
    exit: 0
    --- stdout
    link is gone from [STAGE]/project/.loggia/plugins/link
    [END]
    ");
    assert!(!house.stage.0.path("project/.loggia/plugins/link").exists());
    insta::assert_snapshot!(house.run(&["plugin", "remove", "link", "--yes"]), @"
    exit: 2
    --- stderr
    error: there is no such plugin `link` here; it is yours, for all workspaces: add `--global`

    hint: `loggia plugin list` tells which plugins there are
    [END]
    ");
    house.done(&["plugin", "remove", "--global", "link", "--yes"]);
    assert!(house.stage.0.path("outside/source/link").exists());

    house.stage.0.write("outside/empty/readme", "no plugin");
    let empty = house.stage.0.path("outside/empty");
    insta::assert_snapshot!(house.run(&["plugin", "install", empty.to_str().unwrap()]), @"
    exit: 2
    --- stderr
    error: this is no plugin: cannot read `[STAGE]/outside/empty/plugin.yaml`: No such file or directory (os error 2)

    hint: correct what the message names
    [END]
    ");
    let left: Vec<_> = std::fs::read_dir(house.stage.0.path("project/.loggia")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing but the place of plugins: {left:?}");
    house.end();
}

/// A repository with what is in a directory of the stage.
fn repository(stage: &Stage, directory: &str) -> String {
    let git = |arguments: &[&str]| {
        let mut git = stage.program("git");
        git.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(stage.path(directory));
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let done = git.args(identity).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "all"]);
    format!("file://{}", stage.path(directory).display())
}

#[test]
fn a_plugin_is_cloned_with_the_users_git() {
    let house = House::new();
    house.plugin("outside", "provider", "mehrhof-link", &[]);
    let url = repository(&house.stage.0, "outside/mehrhof-link");
    house.done(&["plugin", "install", "--global", &url]);
    assert!(house.stage.0.path(&format!("{OWN}/link/plugin.py")).exists());
    assert_eq!(house.state("mehrhof-link"), "disabled");
    assert_eq!(house.run(&["plugin", "install", "--global", &url]).code, Some(2));

    house.stage.0.write("outside/bare/readme", "no plugin");
    let bare = repository(&house.stage.0, "outside/bare");
    insta::assert_snapshot!(house.run(&["plugin", "install", "--global", &bare]), @"
    exit: 2
    --- stderr
    error: this is no plugin: cannot read `plugin.yaml`: No such file or directory (os error 2)

    hint: correct what the message names
    [END]
    ");
    assert!(!house.stage.0.path(&format!("{OWN}/bare")).exists());
    let absent = format!("{bare}-absent");
    let told = house.run(&["plugin", "install", "--global", &absent]);
    assert_eq!(told.code, Some(5), "{told}");
    assert!(told.stderr.contains("does not exist") || told.stderr.contains("not appear"), "{told}");
    let marker = house.stage.0.path("outside/marker");
    let evil = format!("ext::sh -c touch% {}://evil", marker.display());
    let told = house.run(&["plugin", "install", "--global", &evil]);
    assert_eq!(told.code, Some(5), "{told}");
    assert!(told.stderr.contains("not allowed") && !marker.exists(), "{told}");
    house.end();
}
